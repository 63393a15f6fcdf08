//! Labels of monitors, and what picks some of them.
//!
//! There are no regular expressions: what a matcher means can be read off it, and it costs nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The most labels of one monitor.
pub const MAX_LABELS: usize = 64;

/// The longest name of a label, in bytes.
pub const MAX_NAME_BYTES: usize = 64;

/// The longest value of a label, in bytes.
pub const MAX_VALUE_BYTES: usize = 256;

/// The most matchers of one thing, and the most values of one matcher.
pub const MAX_MATCHERS: usize = 32;

/// Labels by name.
pub type Labels = BTreeMap<String, String>;

/// Why labels or matchers are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    /// There are too many of them.
    #[error("at most {limit} {what} are allowed")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many may be.
        limit: usize,
    },
    /// A name is not as names are.
    #[error("`{0}` is no label: 1 to {MAX_NAME_BYTES} of a-z, 0-9 and _, and begins with a letter")]
    Name(String),
    /// A value is too long.
    #[error("the value of the label {0} has more than {MAX_VALUE_BYTES} bytes")]
    Value(String),
    /// A matcher without values would match nothing, or everything.
    #[error("the matcher of the label {0} needs a value")]
    NoValue(String),
}

/// How a matcher compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Operator {
    /// The label has one of the values.
    In,
    /// The label has none of the values.
    NotIn,
    /// The label begins with one of the values.
    Prefix,
}

/// Picks by one label. A label that is not there counts as the empty text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Matcher {
    /// The label's name.
    pub label: String,
    /// How it is compared.
    pub operator: Operator,
    /// With what; 1 or more.
    pub values: Vec<String>,
}

impl Matcher {
    /// Tells whether labels are as it says.
    pub fn matches(&self, labels: &Labels) -> bool {
        let value = labels.get(&self.label).map_or("", String::as_str);
        match self.operator {
            Operator::In => self.values.iter().any(|wanted| wanted == value),
            Operator::NotIn => self.values.iter().all(|unwanted| unwanted != value),
            Operator::Prefix => self.values.iter().any(|prefix| value.starts_with(prefix.as_str())),
        }
    }
}

/// Returns the first matcher that labels are not as; `None` if they are as all say, as they are with no matcher.
pub fn first_mismatch<'m>(matchers: &'m [Matcher], labels: &Labels) -> Option<&'m Matcher> {
    matchers.iter().find(|matcher| !matcher.matches(labels))
}

/// Checks labels that somebody wrote.
///
/// # Errors
/// The first that is not as labels are.
pub fn check_labels(labels: &Labels) -> Result<(), LabelError> {
    if labels.len() > MAX_LABELS {
        return Err(LabelError::TooMany { what: "labels", limit: MAX_LABELS });
    }
    labels.iter().try_for_each(|(name, value)| {
        check_name(name)?;
        check_value(name, value)
    })
}

/// Checks matchers that somebody wrote.
///
/// # Errors
/// The first that is not as matchers are.
pub fn check_matchers(matchers: &[Matcher]) -> Result<(), LabelError> {
    if matchers.len() > MAX_MATCHERS {
        return Err(LabelError::TooMany { what: "matchers", limit: MAX_MATCHERS });
    }
    matchers.iter().try_for_each(|matcher| {
        check_name(&matcher.label)?;
        if matcher.values.is_empty() {
            return Err(LabelError::NoValue(matcher.label.clone()));
        }
        if matcher.values.len() > MAX_MATCHERS {
            return Err(LabelError::TooMany { what: "values of a matcher", limit: MAX_MATCHERS });
        }
        matcher.values.iter().try_for_each(|value| check_value(&matcher.label, value))
    })
}

fn check_name(name: &str) -> Result<(), LabelError> {
    let begins_well = name.starts_with(|c: char| c.is_ascii_lowercase());
    let is_allowed = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_';
    if begins_well && name.len() <= MAX_NAME_BYTES && name.bytes().all(is_allowed) {
        Ok(())
    } else {
        Err(LabelError::Name(name.chars().take(MAX_NAME_BYTES).collect()))
    }
}

fn check_value(name: &str, value: &str) -> Result<(), LabelError> {
    if value.len() > MAX_VALUE_BYTES { Err(LabelError::Value(name.to_owned())) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn matcher(label: &str, operator: Operator, values: &[&str]) -> Matcher {
        Matcher {
            label: label.to_owned(),
            operator,
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        }
    }

    #[test]
    fn matchers_compare_whole_values_or_beginnings() {
        let labels = labels(&[("cluster", "eu-1"), ("kind", "http")]);
        let matches = |label, operator, values: &[&str]| matcher(label, operator, values).matches(&labels);
        assert!(matches("cluster", Operator::In, &["us-1", "eu-1"]));
        assert!(!matches("cluster", Operator::In, &["eu"]));
        assert!(matches("cluster", Operator::Prefix, &["eu"]));
        assert!(matches("kind", Operator::NotIn, &["tcp"]));
        assert!(!matches("kind", Operator::NotIn, &["tcp", "http"]));
    }

    #[test]
    fn a_label_that_is_not_there_is_the_empty_text() {
        let none = Labels::new();
        assert!(matcher("team", Operator::NotIn, &["data"]).matches(&none));
        assert!(matcher("team", Operator::In, &[""]).matches(&none));
        assert!(!matcher("team", Operator::In, &["data"]).matches(&none));
        assert_eq!(first_mismatch(&[], &none), None);
    }

    #[test]
    fn what_is_not_as_labels_are_is_refused_by_name() {
        assert_eq!(check_labels(&labels(&[("a_1", "ä".repeat(128).as_str())])), Ok(()));
        assert_eq!(
            check_labels(&labels(&[("a", "x".repeat(257).as_str())])),
            Err(LabelError::Value("a".into()))
        );
        for bad in ["", "A", "1a", "a-b", "a b", "x".repeat(65).as_str()] {
            assert!(matches!(check_labels(&labels(&[(bad, "")])), Err(LabelError::Name(_))), "{bad}");
        }
        assert_eq!(
            check_matchers(&[matcher("a", Operator::In, &[])]),
            Err(LabelError::NoValue("a".to_owned()))
        );
        let many = vec![matcher("a", Operator::In, &["x"]); 33];
        assert_eq!(check_matchers(&many).unwrap_err().to_string(), "at most 32 matchers are allowed");
    }
}
