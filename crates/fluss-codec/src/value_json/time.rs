//! Dates and times of day in the forms of ISO 8601.

use std::fmt::Write as _;

use crate::calendar::{civil_from_days, days_from_civil};
use crate::row::Timestamp;

const MILLIS_PER_DAY: i64 = 86_400_000;
const NANOS_PER_MILLI: i64 = 1_000_000;
const NANOS_PER_DAY: i64 = MILLIS_PER_DAY * NANOS_PER_MILLI;
const MILLIS_DIGITS: u8 = 3;
const MICROS_DIGITS: u8 = 6;
const NANOS_DIGITS: u8 = 9;
const NANOS_PER_SECOND: i64 = 1_000_000_000;

pub(super) fn write_date(days: i64, output: &mut String) {
    let (year, month, day) = civil_from_days(days);
    // A string takes all that is written to it.
    let _ = if (0..=9999).contains(&year) {
        write!(output, "{year:04}-{month:02}-{day:02}")
    } else {
        write!(output, "{year:+07}-{month:02}-{day:02}")
    };
}

/// Returns how many digits of the second the unit has in which times of this precision are kept.
pub(super) fn unit_digits(precision: u8) -> u8 {
    match precision {
        0 => 0,
        1..=3 => MILLIS_DIGITS,
        4..=6 => MICROS_DIGITS,
        _ => NANOS_DIGITS,
    }
}

/// Writes a time of day with the digits of its precision; if it has more, those of its unit or all.
pub(super) fn write_time(nanos_of_day: i64, precision: u8, output: &mut String) {
    let seconds = nanos_of_day / NANOS_PER_SECOND;
    let _ = write!(output, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let needed = digits_needed(nanos_of_day);
    let digits = [precision, unit_digits(precision)].into_iter().find(|digits| needed <= *digits);
    let fraction = format!("{:09}", nanos_of_day % NANOS_PER_SECOND);
    if let Some(shown) =
        fraction.get(..usize::from(digits.unwrap_or(NANOS_DIGITS))).filter(|shown| !shown.is_empty())
    {
        let _ = write!(output, ".{shown}");
    }
}

/// Writes milliseconds of the day; those outside of it as a number.
pub(super) fn write_millis_of_day(millis: i32, precision: u8, output: &mut String) {
    let wide = i64::from(millis);
    if (0..MILLIS_PER_DAY).contains(&wide) {
        write_time(wide * NANOS_PER_MILLI, precision.min(MILLIS_DIGITS), output);
    } else {
        let _ = write!(output, "{millis}ms");
    }
}

pub(super) fn write_timestamp(timestamp: Timestamp, precision: u8, output: &mut String) {
    write_date(timestamp.millis.div_euclid(MILLIS_PER_DAY), output);
    output.push('T');
    let nanos =
        timestamp.millis.rem_euclid(MILLIS_PER_DAY) * NANOS_PER_MILLI + i64::from(timestamp.nanos_of_milli);
    write_time(nanos, precision, output);
}

/// Reads a date that takes up all of the text.
pub(super) fn read_date(text: &str) -> Option<i64> {
    let (date, rest) = take_date(text)?;
    rest.is_empty().then_some(date)
}

/// Reads a time of day and returns its nanoseconds; or milliseconds outside the day.
pub(super) fn read_millis_of_day(text: &str) -> Option<Result<i64, i32>> {
    if let Some(millis) = text.strip_suffix("ms") {
        return millis.parse().ok().map(Err);
    }
    let (nanos, rest) = take_time(text)?;
    rest.is_empty().then_some(Ok(nanos))
}

/// Reads date and time, and whether the text ends with a zone; its offset is taken off.
pub(super) fn read_timestamp(text: &str) -> Option<(Timestamp, bool)> {
    let (days, rest) = take_date(text)?;
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let (nanos, rest) = take_time(rest)?;
    let (offset_seconds, zoned) = match rest {
        "" => (0, false),
        "Z" | "z" => (0, true),
        _ => (read_offset(rest)?, true),
    };
    // The day before the earliest instant begins out of range.
    let millis = i128::from(days) * i128::from(MILLIS_PER_DAY) + i128::from(nanos / NANOS_PER_MILLI);
    let millis = i64::try_from(millis - i128::from(offset_seconds) * 1000).ok()?;
    let nanos_of_milli = u32::try_from(nanos % NANOS_PER_MILLI).ok()?;
    Some((Timestamp::new(millis, nanos_of_milli)?, zoned))
}

/// Returns how many digits of the second nanoseconds need.
pub(super) fn digits_needed(nanos: i64) -> u8 {
    let mut rest = nanos.rem_euclid(NANOS_PER_SECOND);
    let mut digits = NANOS_DIGITS;
    while digits > 0 && rest % 10 == 0 {
        rest /= 10;
        digits -= 1;
    }
    digits
}

/// Takes as many digits as there are, but so many at least and at most.
fn take_number(text: &str, least: usize, most: usize) -> Option<(i64, &str)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    if length < least || length > most {
        return None;
    }
    let (digits, rest) = text.split_at_checked(length)?;
    Some((digits.parse().ok()?, rest))
}

fn take_date(text: &str) -> Option<(i64, &str)> {
    let (sign, unsigned) = match text.as_bytes().first()? {
        b'-' => (-1, text.get(1..)?),
        b'+' => (1, text.get(1..)?),
        _ => (0, text),
    };
    let (year, rest) = if sign == 0 { take_number(unsigned, 4, 4)? } else { take_number(unsigned, 6, 9)? };
    let (month, rest) = take_number(rest.strip_prefix('-')?, 2, 2)?;
    let (day, rest) = take_number(rest.strip_prefix('-')?, 2, 2)?;
    let year = if sign == 0 { year } else { year * sign };
    Some((days_from_civil(year, month, day)?, rest))
}

fn take_time(text: &str) -> Option<(i64, &str)> {
    let (hour, rest) = take_number(text, 2, 2)?;
    let (minute, rest) = take_number(rest.strip_prefix(':')?, 2, 2)?;
    let (second, mut rest) = match rest.strip_prefix(':') {
        Some(rest) => take_number(rest, 2, 2)?,
        None => (0, rest),
    };
    let mut nanos = 0;
    if let Some(after) = rest.strip_prefix('.') {
        let (fraction, left) = take_number(after, 1, usize::from(NANOS_DIGITS))?;
        let digits = u32::try_from(after.len() - left.len()).ok()?;
        nanos = fraction * 10_i64.pow(u32::from(NANOS_DIGITS).checked_sub(digits)?);
        rest = left;
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let of_day = (hour * 3600 + minute * 60 + second) * NANOS_PER_SECOND + nanos;
    (of_day < NANOS_PER_DAY).then_some((of_day, rest))
}

fn read_offset(text: &str) -> Option<i64> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'+' => (1, text.get(1..)?),
        b'-' => (-1, text.get(1..)?),
        _ => return None,
    };
    let (hours, rest) = take_number(rest, 2, 2)?;
    let (minutes, rest) = take_number(rest.strip_prefix(':')?, 2, 2)?;
    (rest.is_empty() && hours <= 23 && minutes <= 59).then_some(sign * (hours * 3600 + minutes * 60))
}
