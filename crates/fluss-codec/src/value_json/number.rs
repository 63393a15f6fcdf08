//! Numbers of JSON with all their digits.

/// A number: `digits` · 10^`exponent`, without zeros at the end of `digits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exact {
    digits: i128,
    exponent: i32,
}

/// Most digits that fit `i128` whatever they are.
const MAX_DIGITS: usize = 38;
/// Beyond it only zero is of any use, and zero has no exponent.
const MAX_EXPONENT: i32 = 1_000_000;

/// Why a text is not such a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberFault {
    Malformed,
    TooManyDigits,
}

impl Exact {
    /// Reads a number in the grammar of JSON.
    pub(super) fn parse(text: &str) -> Result<Self, NumberFault> {
        let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
            None => (rest, 0),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
            Some(_) => return Err(NumberFault::Malformed),
            None => (mantissa, ""),
        };
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_whole = !whole.is_empty() && (whole == "0" || !whole.starts_with('0'));
        if !is_whole || !are_digits(whole) || !are_digits(fraction) {
            return Err(NumberFault::Malformed);
        }
        let digits = format!("{whole}{fraction}");
        let significant = digits.trim_start_matches('0');
        let trimmed = significant.trim_end_matches('0');
        if trimmed.is_empty() {
            return Ok(Self { digits: 0, exponent: 0 });
        }
        if trimmed.len() > MAX_DIGITS {
            return Err(NumberFault::TooManyDigits);
        }
        let shift = |length: usize| i32::try_from(length).map_err(|_| NumberFault::TooManyDigits);
        let exponent = exponent - shift(fraction.len())? + shift(significant.len() - trimmed.len())?;
        let magnitude: i128 = trimmed.parse().map_err(|_| NumberFault::Malformed)?;
        Ok(Self { digits: if negative { -magnitude } else { magnitude }, exponent })
    }

    /// Returns the number times 10^`scale` if that is a whole number in range.
    pub(super) fn unscaled(self, scale: u8) -> Option<i128> {
        let power = u32::try_from(self.exponent.checked_add(i32::from(scale))?).ok()?;
        if self.digits == 0 { Some(0) } else { self.digits.checked_mul(10_i128.checked_pow(power)?) }
    }
}

fn parse_exponent(text: &str) -> Result<i32, NumberFault> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', ..] => (true, text.get(1..).unwrap_or_default()),
        [b'+', ..] => (false, text.get(1..).unwrap_or_default()),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NumberFault::Malformed);
    }
    let exponent = digits.parse().unwrap_or(MAX_EXPONENT).min(MAX_EXPONENT);
    Ok(if negative { -exponent } else { exponent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_all_their_digits() {
        let unscaled = |text: &str, scale: u8| Exact::parse(text).unwrap().unscaled(scale);
        assert_eq!(unscaled("12.340", 2), Some(1234));
        assert_eq!(unscaled("-0.5", 1), Some(-5));
        assert_eq!(unscaled("1.5e3", 0), Some(1500));
        assert_eq!(unscaled("1500e-2", 0), Some(15));
        assert_eq!(unscaled("1E+2", 1), Some(1000));
        assert_eq!(unscaled("0e99999999999", 0), Some(0));
        assert_eq!(unscaled("-0", 0), Some(0));
        assert_eq!(unscaled("99999999999999999999999999999999999999", 0), Some(10_i128.pow(38) - 1));
        assert_eq!(unscaled("12.345", 2), None);
        assert_eq!(unscaled("1e38", 0), Some(10_i128.pow(38)));
        assert_eq!(unscaled("1e39", 0), None);
        assert_eq!(unscaled("1e-99999999999", 38), None);
    }

    #[test]
    fn what_json_does_not_know_is_no_number() {
        for text in [
            "", "-", "+1", "01", ".5", "1.", "1e", "1e+", "0x1", "1 ", " 1", "1_0", "NaN", "--1", "1.2.3",
            "1e1.5",
        ] {
            assert_eq!(Exact::parse(text), Err(NumberFault::Malformed), "{text}");
        }
        assert_eq!(Exact::parse(&"9".repeat(39)), Err(NumberFault::TooManyDigits));
    }
}
