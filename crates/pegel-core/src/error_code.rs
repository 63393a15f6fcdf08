//! The codes of everything that can go wrong, as one table.
//!
//! A code is a promise to scripts: it is never renamed and never used for
//! something else. The table in `table.rs` holds for each code what a person
//! needs (what it means, why it usually happens, what to do) and what a program
//! needs (exit code, HTTP status). Codes of the Fluss client are taken over
//! under their own names; a server's own refusal gets a clearer name where
//! there is one thing to do about it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

mod define;
mod page;
mod table;

pub use page::{exit_code_page, reference_page};
pub use table::ErrorCode;

/// How a command ends that met an error, and what its exit code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExitClass {
    /// The question was answered, also when the answer is an empty list.
    Success,
    /// Pegel itself failed.
    Internal,
    /// The command line, a setting or an argument is invalid. Nothing was sent.
    Usage,
    /// A part of the answer is missing.
    Partial,
    /// The cluster could not be asked.
    Unavailable,
    /// The cluster refused: authentication or permission.
    Refused,
    /// What was asked for does not exist, or may not be seen.
    NotFound,
    /// The cluster cannot do this, or has it switched off.
    Unsupported,
}

impl ExitClass {
    /// All classes in the order of their exit codes.
    pub const ALL: [Self; 8] = [
        Self::Success,
        Self::Internal,
        Self::Usage,
        Self::Partial,
        Self::Unavailable,
        Self::Refused,
        Self::NotFound,
        Self::Unsupported,
    ];

    /// Returns the exit code of the process, 0 to 7.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Internal => 1,
            Self::Usage => 2,
            Self::Partial => 3,
            Self::Unavailable => 4,
            Self::Refused => 5,
            Self::NotFound => 6,
            Self::Unsupported => 7,
        }
    }

    /// Returns what the exit code means, in one short sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Success => "The question was answered; an empty list is an answer too.",
            Self::Internal => "Pegel itself failed.",
            Self::Usage => "The command line, a setting or an argument is invalid; nothing was sent.",
            Self::Partial => "A part of the answer is missing, or the cluster works with faults.",
            Self::Unavailable => "The cluster could not be asked.",
            Self::Refused => "The cluster refused: authentication or permission.",
            Self::NotFound => "What was asked for does not exist, or may not be seen.",
            Self::Unsupported => "The cluster cannot do this, or has it switched off.",
        }
    }
}

/// Says that a text is no error code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an error code")]
pub struct UnknownErrorCode(pub String);

impl FromStr for ErrorCode {
    type Err = UnknownErrorCode;

    fn from_str(text: &str) -> Result<Self, UnknownErrorCode> {
        let found = Self::ALL.iter().find(|code| code.as_str() == text);
        found.copied().ok_or_else(|| UnknownErrorCode(text.to_owned()))
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl PartialSchema for ErrorCode {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::new(Type::String))
            .enum_values(Some(Self::ALL.iter().map(|code| code.as_str())))
            .description(Some("A stable error code."))
            .into()
    }
}

impl ToSchema for ErrorCode {}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ErrorCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_stable() {
        let list: Vec<String> = ErrorCode::ALL
            .iter()
            .map(|code| format!("{code} exit={} http={}", code.exit_class().exit_code(), code.http_status()))
            .collect();
        insta::assert_snapshot!(list.join("\n"));
    }

    #[test]
    fn every_code_is_snake_case_unique_and_explained() {
        let mut seen = BTreeSet::new();
        for code in ErrorCode::ALL {
            let text = code.as_str();
            assert!(text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{text}");
            assert!(seen.insert(text), "{text} is listed twice");
            assert!((400..600).contains(&code.http_status()), "{text}");
            assert_ne!(code.exit_class(), ExitClass::Success, "{text}");
            for part in [code.title(), code.meaning(), code.likely_cause(), code.what_to_do()] {
                assert!(!part.is_empty(), "{text}");
            }
            for sentence in [code.meaning(), code.likely_cause(), code.what_to_do()] {
                assert!(sentence.ends_with('.'), "{text}: {sentence}");
            }
            assert!(!code.title().ends_with('.'), "{text}");
        }
    }

    #[test]
    fn codes_round_trip_as_text_and_json() {
        for code in ErrorCode::ALL {
            assert_eq!(code.as_str().parse::<ErrorCode>(), Ok(*code));
            let json = serde_json::to_string(code).unwrap();
            assert_eq!(json, format!("\"{code}\""));
            assert_eq!(serde_json::from_str::<ErrorCode>(&json).unwrap(), *code);
        }
        let error = "nope".parse::<ErrorCode>().unwrap_err();
        assert_eq!(error.to_string(), "`nope` is not an error code");
    }

    #[test]
    fn exit_codes_are_zero_to_seven() {
        let codes: Vec<u8> = ExitClass::ALL.iter().map(|class| class.exit_code()).collect();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
