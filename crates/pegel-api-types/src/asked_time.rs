//! Reads the times of a request.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

const EXPECTED: &str = "expected a time such as 2026-01-31T12:00:00Z";

/// Reads a time in RFC 3339 with a zone, or none.
///
/// Read by its own rules a time is refused in words of the library that reads it, and with the value.
pub(crate) fn optional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let Some(text) = Option::<Cow<'de, str>>::deserialize(deserializer)? else { return Ok(None) };
    text.parse().map(Some).map_err(|_| D::Error::custom(EXPECTED))
}

/// Reads a time as [`optional`] does; it has to be there.
pub(crate) fn required<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    optional(deserializer)?.ok_or_else(|| D::Error::custom(EXPECTED))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_time_that_has_to_be_there_is_not_null() {
        assert!(required(json!("2026-01-31T13:00:00Z")).is_ok());
        assert!(required(Value::Null).is_err());
    }

    #[test]
    fn a_time_has_a_zone_and_a_refusal_does_not_repeat_it() {
        let read = |value: Value| optional(value).map_err(|error| error.to_string());
        assert_eq!(read(Value::Null), Ok(None));
        let time = "2026-01-31T12:00:00Z".parse().unwrap();
        assert_eq!(read(json!("2026-01-31T13:00:00+01:00")), Ok(Some(time)));
        for wrong in [
            "hunter2",
            "",
            "2026-01-01hunter2",
            "2026-13-01T00:00:00Z",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00Z hunter2",
            "-009999-01-01T00:00:00Z",
            "2026-01-01T00:00:00+99:99",
            "2026-02-30T00:00:00Z",
            "9999999999999",
        ] {
            let refused = Err("expected a time such as 2026-01-31T12:00:00Z".to_owned());
            assert_eq!(read(json!(wrong)), refused, "{wrong}");
        }
        assert!(read(json!(12)).unwrap_err().contains("expected a string"));
    }
}
