//! Names that people give to things and that never change afterwards.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::schema::{Object, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The longest slug, in characters.
pub const MAX_SLUG_CHARS: usize = 63;

/// The name of a cluster in paths and settings: given at registration, never changed.
///
/// 1 to 63 characters of `a-z`, `0-9` and `-`, the first a letter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClusterSlug(String);

impl ClusterSlug {
    /// Returns the slug as it is written in paths.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ClusterSlug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a text is not the name of something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The slug is not as slugs are.
    #[error("a cluster's slug is 1 to 63 of a-z, 0-9 and -, and begins with a letter")]
    Slug,
    /// There is no such environment.
    #[error("an environment is production, staging, development or test")]
    Environment,
    /// There is no such role.
    #[error("a role is viewer, editor or admin")]
    Role,
}

impl FromStr for ClusterSlug {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let begins_well = text.starts_with(|c: char| c.is_ascii_lowercase());
        let is_allowed = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
        if begins_well && text.len() <= MAX_SLUG_CHARS && text.bytes().all(is_allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NameError::Slug)
        }
    }
}

impl Serialize for ClusterSlug {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ClusterSlug {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl PartialSchema for ClusterSlug {
    fn schema() -> RefOr<Schema> {
        Object::builder()
            .schema_type(Type::String)
            .description(Some("A cluster's name in paths, given at registration and never changed."))
            .pattern(Some("^[a-z][a-z0-9-]{0,62}$"))
            .examples(["orders-eu"])
            .into()
    }
}

impl ToSchema for ClusterSlug {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("ClusterSlug")
    }
}

/// What a cluster is for; cooldowns and the weight of warnings follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Environment {
    /// People depend on it.
    Production,
    /// Like production, and nobody depends on it.
    Staging,
    /// For those who build on it.
    Development,
    /// Thrown away after use.
    Test,
}

impl Environment {
    /// All environments, the most careful first.
    pub const ALL: [Self; 4] = [Self::Production, Self::Staging, Self::Development, Self::Test];

    /// Returns the environment as it is written in answers and confirmation phrases.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Production => "production",
            Self::Staging => "staging",
            Self::Development => "development",
            Self::Test => "test",
        }
    }
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Environment {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|known| known.as_str() == text).ok_or(NameError::Environment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_short_lower_case_and_begin_with_a_letter() {
        for good in ["a", "orders-eu-1", "a-", &"x".repeat(63)] {
            assert_eq!(good.parse::<ClusterSlug>().unwrap().as_str(), good);
        }
        for bad in ["", "1a", "-a", "A", "a_b", "a.b", "a/b", "ä", "a b", &"x".repeat(64)] {
            assert_eq!(bad.parse::<ClusterSlug>(), Err(NameError::Slug), "{bad:?}");
        }
    }

    #[test]
    fn a_slug_in_a_file_is_checked_like_any_other() {
        assert_eq!(serde_json::from_str::<ClusterSlug>("\"eu\"").unwrap().to_string(), "eu");
        let error = serde_json::from_str::<ClusterSlug>("\"../eu\"").unwrap_err().to_string();
        assert!(error.contains("begins with a letter"), "{error}");
    }

    #[test]
    fn environments_are_read_as_they_are_written() {
        for environment in Environment::ALL {
            assert_eq!(environment.to_string().parse(), Ok(environment));
            assert_eq!(serde_json::to_string(&environment).unwrap(), format!("\"{environment}\""));
        }
        assert_eq!("prod".parse::<Environment>(), Err(NameError::Environment));
    }
}
