//! Numbers and times that survive JSON exactly.
//!
//! A JSON number is a double to most readers and loses digits above 2^53, so
//! 64-bit counts and offsets are written as decimal strings. Times are RFC 3339
//! in UTC.

use std::fmt;

use jiff::Timestamp;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

/// A 64-bit number that is written as a JSON string. It is read from a string or a whole number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, ToSchema)]
#[schema(value_type = String, pattern = "^-?[0-9]+$", example = "9007199254740993")]
pub struct ExactInt(pub i64);

impl Serialize for ExactInt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ExactInt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ExactVisitor)
    }
}

/// Reads an [`ExactInt`].
struct ExactVisitor;

impl Visitor<'_> for ExactVisitor {
    type Value = ExactInt;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a 64-bit number, best as a string")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<ExactInt, E> {
        text.parse().map(ExactInt).map_err(E::custom)
    }

    fn visit_i64<E>(self, number: i64) -> Result<ExactInt, E> {
        Ok(ExactInt(number))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<ExactInt, E> {
        i64::try_from(number).map(ExactInt).map_err(E::custom)
    }
}

impl fmt::Display for ExactInt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl ExactInt {
    /// Adds up what is there; absent when there is nothing to add or the sum does not fit.
    pub fn sum(values: impl IntoIterator<Item = Self>) -> Option<Self> {
        values
            .into_iter()
            .try_fold(None, |sum: Option<i64>, value| {
                let sum = sum.unwrap_or(0).checked_add(value.0)?;
                Some(Some(sum))
            })?
            .map(Self)
    }

    /// Returns `self` minus `other`, absent when it does not fit.
    pub fn minus(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }
}

/// Returns the time that a server sent as milliseconds since the epoch.
///
/// Absent for a negative number, which servers send for "not known", and for one
/// that no calendar holds.
pub fn time_from_millis(millis: i64) -> Option<Timestamp> {
    if millis < 0 { None } else { Timestamp::from_millisecond(millis).ok() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn extremes_are_written_as_strings() {
        let json = serde_json::to_string(&[ExactInt(i64::MAX), ExactInt(i64::MIN), ExactInt(0)]).unwrap();
        assert_eq!(json, r#"["9223372036854775807","-9223372036854775808","0"]"#);
    }

    #[test]
    fn what_is_no_whole_number_of_64_bits_is_not_read() {
        for text in
            ["1.0", "\"1.0\"", "\"\"", "18446744073709551615", "\"9223372036854775808\"", "null", "true"]
        {
            assert!(serde_json::from_str::<ExactInt>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sum_of_nothing_and_of_too_much_is_absent() {
        assert_eq!(ExactInt::sum([]), None);
        assert_eq!(ExactInt::sum([ExactInt(2), ExactInt(3)]), Some(ExactInt(5)));
        assert_eq!(ExactInt::sum([ExactInt(i64::MAX), ExactInt(1)]), None);
        assert_eq!(ExactInt(i64::MIN).minus(ExactInt(1)), None);
    }

    #[test]
    fn times_are_utc_and_unknown_ones_absent() {
        let time = time_from_millis(1_767_225_600_123).unwrap();
        assert_eq!(serde_json::to_string(&time).unwrap(), r#""2026-01-01T00:00:00.123Z""#);
        assert_eq!(time_from_millis(-1), None);
        assert_eq!(time_from_millis(i64::MAX), None);
    }

    proptest! {
        #[test]
        fn every_number_reads_back_exactly(number in any::<i64>()) {
            let json = serde_json::to_string(&ExactInt(number)).unwrap();
            let text: String = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(text.parse::<i64>().unwrap(), number);
            prop_assert_eq!(serde_json::from_str::<ExactInt>(&json).unwrap(), ExactInt(number));
            prop_assert_eq!(serde_json::from_str::<ExactInt>(&number.to_string()).unwrap(), ExactInt(number));
        }
    }
}
