//! Floating point numbers as Java's `Float.toString` and `Double.toString` write them.
//!
//! Both choose the shortest decimal that reads back as the same number, as Rust does, but among those of two
//! digits if one would be enough; and they write from 10^-3 to below 10^7 plainly and the rest with `E`.
//! Source: the specification of `Double.toString` since Java 19.

use std::fmt::LowerExp;
use std::str::FromStr;

/// Returns the text of a `float`, with the names Fluss gives to what is not finite.
pub(super) fn float(value: f32) -> String {
    if value.is_finite() { finite(value) } else { special(f64::from(value)) }
}

/// Returns the text of a `double`, with the names Fluss gives to what is not finite.
pub(super) fn double(value: f64) -> String {
    if value.is_finite() { finite(value) } else { special(value) }
}

fn special(value: f64) -> String {
    let name = if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "Inf"
    } else {
        "-Inf"
    };
    name.to_owned()
}

fn finite<T: Copy + LowerExp + FromStr + PartialEq>(value: T) -> String {
    let mut scientific = format!("{value:e}");
    if !scientific.contains('.') {
        let two_digits = format!("{value:.1e}");
        if two_digits.parse::<T>().is_ok_and(|parsed| parsed == value) {
            scientific = two_digits;
        }
    }
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-3..7).contains(&exponent) {
        return format!("{sign}{whole}.{fraction}E{exponent}");
    }
    let digits = format!("{whole}{}", fraction.trim_end_matches('0'));
    if let Ok(zeros @ 1..) = usize::try_from(-exponent) {
        return format!("{sign}0.{}{digits}", "0".repeat(zeros - 1));
    }
    let places = usize::try_from(exponent).unwrap_or(0) + 1;
    let padded = format!("{digits:0<places$}");
    let (whole, fraction) = padded.split_at_checked(places).unwrap_or((&padded, ""));
    format!("{sign}{whole}.{}", if fraction.is_empty() { "0" } else { fraction })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_read_like_java() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-1.5, "-1.5"),
            (100.0, "100.0"),
            (123.456, "123.456"),
            (9_999_999.0, "9999999.0"),
            (1.0e7, "1.0E7"),
            (1.234_567_89e7, "1.23456789E7"),
            (0.001, "0.001"),
            (0.000_999, "9.99E-4"),
            (0.1, "0.1"),
            (0.012_5, "0.0125"),
            (1.0e10, "1.0E10"),
            (1.0e-5, "1.0E-5"),
            (f64::MIN_POSITIVE, "2.2250738585072014E-308"),
            (f64::MAX, "1.7976931348623157E308"),
            (5e-324, "4.9E-324"),
            (2e23, "2.0E23"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "Inf"),
            (f64::NEG_INFINITY, "-Inf"),
        ] {
            assert_eq!(double(value), text);
        }
    }

    #[test]
    fn floats_read_like_java() {
        for (value, text) in [
            (1.0_f32, "1.0"),
            (0.1, "0.1"),
            (16_777_216.0, "1.6777216E7"),
            (f32::MAX, "3.4028235E38"),
            (1e-45, "1.4E-45"),
            (0.333_333_34, "0.33333334"),
        ] {
            assert_eq!(float(value), text);
        }
    }
}
