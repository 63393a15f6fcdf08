//! Values in a JSON body, by path, and JSON without the space it does not need.
//!
//! Numbers keep their text: no digit of a 64-bit number is lost on the way to a comparison.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::error::Error;

/// The longest path, in bytes.
pub const MAX_PATH_BYTES: usize = 512;

/// The most steps of a path.
pub const MAX_STEPS: usize = 32;

/// How much of a value an error shows, in characters.
const SHOWN_CHARS: usize = 80;

/// A path such as `$.overview.jobs[0]["job name"]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPath {
    text: String,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Name(String),
    Index(usize),
}

/// Says that a text is no path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a path is written as $.name[0][\"other name\"], with at most {MAX_STEPS} steps")]
pub struct InvalidPath;

/// What a value should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Want {
    /// It is there, also if it is null.
    Exists,
    /// It is this: a string by its characters, anything else as JSON writes it.
    Equals(String),
    /// It is there and not this.
    Differs(String),
    /// It is a number and at least this.
    AtLeast(String),
    /// It is a number and at most this.
    AtMost(String),
}

/// A value that is looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JsonCheck {
    /// Where.
    pub path: JsonPath,
    /// What it should be.
    pub want: Want,
}

impl JsonCheck {
    /// Judges a body.
    ///
    /// # Errors
    /// `json_invalid`, `json_missing`, `json_unexpected`.
    pub fn judge(&self, body: &[u8]) -> Result<(), Error> {
        let invalid = |reason: &str| Error::JsonInvalid { reason: reason.to_owned() };
        let text = std::str::from_utf8(body).map_err(|_| invalid("it is not utf-8"))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut value: &RawValue = serde_json::from_str(text).map_err(|_| invalid("it does not parse"))?;
        let missing = || Error::JsonMissing { path: self.path.text.clone() };
        for step in &self.path.steps {
            value = step.enter(value).ok_or_else(missing)?;
        }
        let found = plain(value);
        let is_wanted = match &self.want {
            Want::Exists => true,
            Want::Equals(wanted) => {
                found == *wanted || numbers(&found, wanted) == Some(std::cmp::Ordering::Equal)
            }
            Want::Differs(other) => {
                found != *other && numbers(&found, other) != Some(std::cmp::Ordering::Equal)
            }
            Want::AtLeast(least) => numbers(&found, least).is_some_and(std::cmp::Ordering::is_ge),
            Want::AtMost(most) => numbers(&found, most).is_some_and(std::cmp::Ordering::is_le),
        };
        if is_wanted {
            return Ok(());
        }
        let shown: String = found.chars().filter(|c| !c.is_control()).take(SHOWN_CHARS).collect();
        Err(Error::JsonUnexpected { path: self.path.text.clone(), found: shown })
    }
}

impl Step {
    fn enter<'v>(&self, value: &'v RawValue) -> Option<&'v RawValue> {
        match self {
            Self::Name(name) => {
                let members: BTreeMap<Cow<'v, str>, &'v RawValue> = serde_json::from_str(value.get()).ok()?;
                members.get(name.as_str()).copied()
            }
            Self::Index(index) => {
                let items: Vec<&'v RawValue> = serde_json::from_str(value.get()).ok()?;
                items.get(*index).copied()
            }
        }
    }
}

/// A string without its quotes, anything else without space.
fn plain(value: &RawValue) -> String {
    serde_json::from_str::<String>(value.get()).unwrap_or_else(|_| compact(value.get()))
}

/// Compares two numbers, whole ones exactly.
fn numbers(one: &str, other: &str) -> Option<std::cmp::Ordering> {
    if let (Ok(one), Ok(other)) = (one.parse::<i128>(), other.parse::<i128>()) {
        return Some(one.cmp(&other));
    }
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    number(one)?.partial_cmp(&number(other)?)
}

/// Returns a JSON text without the space between its tokens; keys, their order and numbers stay as they are.
fn compact(text: &str) -> String {
    let (mut is_in_string, mut is_escaped) = (false, false);
    let keep = |c: &char| {
        let is_kept = is_in_string || !matches!(c, ' ' | '\t' | '\n' | '\r');
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_in_string => is_escaped = true,
            '"' => is_in_string = !is_in_string,
            _ => {}
        }
        is_kept
    };
    text.chars().filter(keep).collect()
}

/// Returns a body in compact form; `None` if it is not JSON.
pub(crate) fn compact_body(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value: &RawValue = serde_json::from_str(text).ok()?;
    Some(compact(value.get()))
}

impl FromStr for JsonPath {
    type Err = InvalidPath;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() > MAX_PATH_BYTES {
            return Err(InvalidPath);
        }
        let mut rest = text.strip_prefix('$').ok_or(InvalidPath)?;
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let step;
            (step, rest) = next_step(rest).ok_or(InvalidPath)?;
            steps.push(step);
        }
        if steps.len() > MAX_STEPS { Err(InvalidPath) } else { Ok(Self { text: text.to_owned(), steps }) }
    }
}

fn next_step(text: &str) -> Option<(Step, &str)> {
    if let Some(name) = text.strip_prefix('.') {
        let end = name.find(['.', '[']).unwrap_or(name.len());
        let (name, rest) = name.split_at_checked(end)?;
        return (!name.is_empty()).then(|| (Step::Name(name.to_owned()), rest));
    }
    let inside = text.strip_prefix('[')?;
    if inside.starts_with('"') {
        let mut stream = serde_json::Deserializer::from_str(inside).into_iter::<String>();
        let name = stream.next()?.ok()?;
        let rest = inside.get(stream.byte_offset()..)?.strip_prefix(']')?;
        return Some((Step::Name(name), rest));
    }
    let (index, rest) = inside.split_once(']')?;
    let is_number = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some((Step::Index(index.parse().ok()?), rest))
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for JsonPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for JsonPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn judge(body: &str, path: &str, want: Want) -> &'static str {
        let check = JsonCheck { path: path.parse().unwrap(), want };
        match check.judge(body.as_bytes()) {
            Ok(()) => "ok",
            Err(error) => error.code().as_str(),
        }
    }

    fn equals(text: &str) -> Want {
        Want::Equals(text.to_owned())
    }

    #[test]
    fn paths_go_through_names_and_indexes() {
        let body = r#"{"jobs":[{"job name":"a.b","n":1},{"n":2}],"":{"x":null}}"#;
        assert_eq!(judge(body, "$.jobs[1].n", equals("2")), "ok");
        assert_eq!(judge(body, r#"$.jobs[0]["job name"]"#, equals("a.b")), "ok");
        assert_eq!(judge(body, r#"$[""].x"#, equals("null")), "ok");
        assert_eq!(judge(body, r#"$[""].x"#, Want::Exists), "ok");
        assert_eq!(judge(body, "$.jobs[2]", Want::Exists), "json_missing");
        assert_eq!(judge(body, "$.jobs.n", Want::Exists), "json_missing");
        assert_eq!(judge(body, "$.jobs[1]", equals(r#"{"n":2}"#)), "ok");
    }

    #[test]
    fn numbers_are_compared_exactly() {
        let body = r#"{"n": 9007199254740993, "f": 1.50, "s": "7"}"#;
        assert_eq!(judge(body, "$.n", equals("9007199254740993")), "ok");
        assert_eq!(judge(body, "$.n", equals("9007199254740992")), "json_unexpected");
        assert_eq!(judge(body, "$.n", Want::AtMost("9007199254740992".to_owned())), "json_unexpected");
        assert_eq!(judge(body, "$.f", equals("1.5")), "ok");
        assert_eq!(judge(body, "$.f", Want::AtLeast("1.5".to_owned())), "ok");
        assert_eq!(judge(body, "$.f", Want::AtLeast("NaN".to_owned())), "json_unexpected");
        assert_eq!(judge(body, "$.s", Want::Differs("8".to_owned())), "ok");
    }

    #[test]
    fn what_is_no_json_is_told() {
        for body in ["", "<html>", "{", r#"{"a":1} x"#] {
            assert_eq!(judge(body, "$.a", Want::Exists), "json_invalid", "{body}");
        }
        let check = JsonCheck { path: "$".parse().unwrap(), want: Want::Exists };
        assert!(check.judge(b"\"\xff\"").is_err());
        assert!(check.judge("\u{feff}{}".as_bytes()).is_ok());
    }

    #[test]
    fn compact_json_keeps_order_numbers_and_strings() {
        let compact = |text: &str| compact_body(text.as_bytes());
        let body = "{ \"b\" : 1.0e2 ,\n\t\"a\" : \" x \\\" y \\\\\" }";
        assert_eq!(compact(body).unwrap(), r#"{"b":1.0e2,"a":" x \" y \\"}"#);
        assert_eq!(compact("{ a }"), None);
    }

    #[test]
    fn paths_that_lead_nowhere_are_refused() {
        for bad in ["", "a", ".a", "$.", "$a", "$[", "$[a]", "$[-1]", "$[\"a]", "$[\"a\"", "$..a", "$[1]b"] {
            assert_eq!(bad.parse::<JsonPath>(), Err(InvalidPath), "{bad}");
        }
        assert_eq!(format!("${}", ".a".repeat(33)).parse::<JsonPath>(), Err(InvalidPath));
        let json = serde_json::to_string(&"$.a[0]".parse::<JsonPath>().unwrap()).unwrap();
        assert_eq!(json, r#""$.a[0]""#);
    }

    #[test]
    fn deeply_nested_json_takes_no_stack() {
        let body = format!("{}{}", "[".repeat(500_000), "]".repeat(500_000));
        assert_eq!(judge(&body, "$[0][0]", Want::Exists), "ok");
        assert_eq!(judge(&"[".repeat(1_000_000), "$[0]", Want::Exists), "json_invalid");
    }

    proptest! {
        #[test]
        fn no_path_and_no_body_makes_it_panic(path in "\\$[.\\[\\]\"a-z0-9\\\\]{0,12}", body in "[\\[\\]{}\":,a0-9 ]{0,20}") {
            if let Ok(path) = path.parse() {
                let _ = JsonCheck { path, want: Want::Exists }.judge(body.as_bytes());
            }
        }
    }
}
