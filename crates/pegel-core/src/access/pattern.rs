//! Permission patterns: dotted names in which `*` stands for exactly one segment.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::schema::{Object, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The most segments a pattern may have.
pub const MAX_SEGMENTS: usize = 8;

/// The most characters a segment may have.
pub const MAX_SEGMENT_CHARS: usize = 32;

/// A dotted permission pattern such as `fluss-plugin.operations.*.read`.
///
/// A segment is `*` or lower-case letters, digits, `-` and `_`. `*` stands for one
/// whole segment: never for a part of one, never for several.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern(String);

impl Pattern {
    /// Returns the pattern as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the pattern covers a permission's full name.
    pub fn matches(&self, name: &str) -> bool {
        let mut own = self.0.split('.');
        let mut other = name.split('.');
        loop {
            match (own.next(), other.next()) {
                (None, None) => return true,
                (Some(own), Some(other)) if own == "*" || own == other => {}
                _ => return false,
            }
        }
    }

    /// Returns the pattern that covers exactly what both cover; `None` if they share nothing.
    pub fn intersect(&self, other: &Self) -> Option<Self> {
        let (own, theirs): (Vec<_>, Vec<_>) = (self.0.split('.').collect(), other.0.split('.').collect());
        if own.len() != theirs.len() {
            return None;
        }
        let both: Option<Vec<&str>> = own
            .into_iter()
            .zip(theirs)
            .map(|(own, theirs)| match (own, theirs) {
                ("*", segment) | (segment, "*") => Some(segment),
                (own, theirs) => (own == theirs).then_some(own),
            })
            .collect();
        Some(Self(both?.join(".")))
    }
}

/// Returns grants that cover what both lists cover and nothing more.
///
/// A token gets the intersection of its own grants with those of its owner.
pub fn narrow_grants(one: &[Pattern], other: &[Pattern]) -> Vec<Pattern> {
    let mut narrowed: Vec<Pattern> =
        one.iter().flat_map(|own| other.iter().filter_map(|theirs| own.intersect(theirs))).collect();
    narrowed.sort();
    narrowed.dedup();
    narrowed
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a text is not a permission pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Too many segments.
    #[error("a permission pattern has at most 8 segments")]
    Segments,
    /// A segment that is neither `*` nor a word.
    #[error("{0:?} is neither * nor 1 to 32 of a-z, 0-9, - and _")]
    Segment(String),
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.split('.').count() > MAX_SEGMENTS {
            return Err(PatternError::Segments);
        }
        let is_allowed = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, b'-' | b'_');
        let is_word = |segment: &str| {
            (1..=MAX_SEGMENT_CHARS).contains(&segment.len()) && segment.bytes().all(is_allowed)
        };
        match text.split('.').find(|segment| *segment != "*" && !is_word(segment)) {
            Some(segment) => Err(PatternError::Segment(segment.chars().take(MAX_SEGMENT_CHARS).collect())),
            None => Ok(Self(text.to_owned())),
        }
    }
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl PartialSchema for Pattern {
    fn schema() -> RefOr<Schema> {
        Object::builder()
            .schema_type(Type::String)
            .description(Some("Dotted permission pattern of at most 8 segments; `*` is exactly one."))
            .pattern(Some(r"^(\*|[a-z0-9_-]{1,32})(\.(\*|[a-z0-9_-]{1,32})){0,7}$"))
            .examples(["pegel.clusters.read"])
            .into()
    }
}

impl ToSchema for Pattern {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("Pattern")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pattern(text: &str) -> Pattern {
        text.parse().unwrap()
    }

    #[test]
    fn a_star_stands_for_exactly_one_segment() {
        let reads = pattern("fluss-plugin.operations.*.read");
        assert!(reads.matches("fluss-plugin.operations.data.read"));
        assert!(!reads.matches("fluss-plugin.operations.read"));
        assert!(!reads.matches("fluss-plugin.operations.data.more.read"));
        assert!(!reads.matches("fluss-plugin.operations.data.write"));
        assert!(!pattern("*").matches("pegel.audit.read"));
        assert!(pattern("pegel.*.*").matches("pegel.audit.read"));
    }

    #[test]
    fn patterns_that_are_not_dotted_words_are_refused() {
        for bad in ["", ".", "a.", ".a", "a..b", "a.**", "a.b*", "A.b", "a b", "a.ä"] {
            assert!(matches!(bad.parse::<Pattern>(), Err(PatternError::Segment(_))), "{bad:?}");
        }
        assert_eq!("a.a.a.a.a.a.a.a.a".parse::<Pattern>(), Err(PatternError::Segments));
        assert!("a".repeat(33).parse::<Pattern>().is_err());
    }

    #[test]
    fn what_two_patterns_share_is_a_pattern() {
        let shared = |a: &str, b: &str| pattern(a).intersect(&pattern(b)).map(|both| both.to_string());
        assert_eq!(shared("a.*.c", "*.b.c").as_deref(), Some("a.b.c"));
        assert_eq!(shared("a.*", "b.*"), None);
        assert_eq!(shared("a.*", "a.*.*"), None);
    }

    fn any_pattern() -> impl Strategy<Value = Pattern> {
        prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "*"]), 1..4)
            .prop_map(|segments| segments.join(".").parse().unwrap())
    }

    fn any_name() -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(vec!["a", "b", "c"]), 1..4).prop_map(|s| s.join("."))
    }

    proptest! {
        #[test]
        fn a_match_never_changes_the_number_of_segments(pattern in any_pattern(), name in any_name()) {
            if pattern.matches(&name) {
                prop_assert_eq!(pattern.as_str().split('.').count(), name.split('.').count());
            }
        }

        #[test]
        fn narrowed_grants_match_what_both_match(
            one in prop::collection::vec(any_pattern(), 0..4),
            other in prop::collection::vec(any_pattern(), 0..4),
            name in any_name(),
        ) {
            let has = |grants: &[Pattern]| grants.iter().any(|grant| grant.matches(&name));
            prop_assert_eq!(has(&narrow_grants(&one, &other)), has(&one) && has(&other));
        }

        #[test]
        fn no_text_makes_parsing_panic(text in "\\PC{0,80}") {
            if let Ok(pattern) = text.parse::<Pattern>() {
                prop_assert_eq!(pattern.to_string(), text);
            }
        }
    }
}
