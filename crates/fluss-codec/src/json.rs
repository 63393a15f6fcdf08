//! Reading of the JSON forms that Fluss carries inside byte fields: what they share, and their errors.
//!
//! Readers are strict about types and ranges, because a wrong guess here turns into wrong keys and rows, and
//! tolerant of keys they do not know, because newer servers add some. Every error names the place, such as
//! `columns[2].data_type.precision`.

use std::fmt;

use serde_json::{Map, Value};

use crate::data_type::DataTypeError;
use crate::schema::SchemaError;
use crate::table::TableError;

/// Largest JSON text that is read: 4 MiB, some ten thousand columns.
pub const MAX_JSON_BYTES: usize = 4 * 1024 * 1024;

/// Version that Fluss writes into each of its JSON forms.
const VERSION: i64 = 1;

/// Why a JSON form was refused.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// The text is longer than [`MAX_JSON_BYTES`].
    #[error("the JSON text of {size} bytes is above the limit of {MAX_JSON_BYTES} bytes")]
    TooLarge {
        /// Bytes in the text.
        size: usize,
    },
    /// The text is not JSON, or is nested too deeply for any Fluss form.
    #[error("the text is not valid JSON")]
    Syntax {
        /// Where and why.
        #[source]
        source: serde_json::Error,
    },
    /// A key is missing.
    #[error("{path} is missing")]
    Missing {
        /// Where the value should be.
        path: String,
    },
    /// A value has another JSON type than it must.
    #[error("{path} is {found} but must be {expected}")]
    WrongType {
        /// Where the value is.
        path: String,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A number is outside the range of its field.
    #[error("{path} is out of range")]
    OutOfRange {
        /// Where the value is.
        path: String,
    },
    /// The form has a version this crate does not know.
    #[error("{path} is {found}, only version {VERSION} is known")]
    UnknownVersion {
        /// Where the version is.
        path: String,
        /// The version found.
        found: i64,
    },
    /// A data type is impossible.
    #[error("{path} is not a valid data type")]
    DataType {
        /// Where the type is.
        path: String,
        /// What is wrong with it.
        #[source]
        source: DataTypeError,
    },
    /// The parts of a schema do not fit together.
    #[error("{path} is not a valid schema")]
    Schema {
        /// Where the schema is.
        path: String,
        /// What is wrong with it.
        #[source]
        source: SchemaError,
    },
    /// The parts of a table do not fit together.
    #[error("{path} is not a valid table")]
    Table {
        /// Where the table is.
        path: String,
        /// What is wrong with it.
        #[source]
        source: TableError,
    },
}

impl JsonError {
    /// Returns the stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "json_too_large",
            Self::Syntax { .. } => "json_syntax",
            Self::Missing { .. } => "json_value_missing",
            Self::WrongType { .. } => "json_value_type",
            Self::OutOfRange { .. } => "json_value_range",
            Self::UnknownVersion { .. } => "json_version_unknown",
            Self::DataType { source, .. } => source.code(),
            Self::Schema { source, .. } => source.code(),
            Self::Table { source, .. } => source.code(),
        }
    }
}

/// Parses a whole text.
pub(crate) fn parse(text: &[u8]) -> Result<Value, JsonError> {
    if text.len() > MAX_JSON_BYTES {
        return Err(JsonError::TooLarge { size: text.len() });
    }
    serde_json::from_slice(text).map_err(|source| JsonError::Syntax { source })
}

/// A value together with the way that led to it; the way is only rendered for an error.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    value: &'a Value,
    parent: Option<&'a Node<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Key(&'a str),
    Index(usize),
}

impl<'a> Node<'a> {
    pub(crate) fn root(value: &'a Value) -> Self {
        Self { value, parent: None, step: Step::Root }
    }

    /// Returns the value under a key; absent and `null` are the same.
    pub(crate) fn optional<'b>(&'b self, key: &'b str) -> Result<Option<Node<'b>>, JsonError> {
        match self.object()?.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => Ok(Some(Node { value, parent: Some(self), step: Step::Key(key) })),
        }
    }

    pub(crate) fn required<'b>(&'b self, key: &'b str) -> Result<Node<'b>, JsonError> {
        match self.optional(key)? {
            Some(node) => Ok(node),
            None => {
                let missing = Node { value: &Value::Null, parent: Some(self), step: Step::Key(key) };
                Err(JsonError::Missing { path: missing.path() })
            }
        }
    }

    pub(crate) fn items<'b>(&'b self) -> Result<impl Iterator<Item = Node<'b>>, JsonError> {
        let Value::Array(items) = self.value else { return Err(self.wrong_type("an array")) };
        Ok(items.iter().enumerate().map(move |(index, value)| Node {
            value,
            parent: Some(self),
            step: Step::Index(index),
        }))
    }

    pub(crate) fn object(&self) -> Result<&'a Map<String, Value>, JsonError> {
        match self.value {
            Value::Object(map) => Ok(map),
            _ => Err(self.wrong_type("an object")),
        }
    }

    pub(crate) fn text(&self) -> Result<&'a str, JsonError> {
        match self.value {
            Value::String(text) => Ok(text),
            _ => Err(self.wrong_type("a string")),
        }
    }

    pub(crate) fn texts(&self) -> Result<Vec<String>, JsonError> {
        self.items()?.map(|item| item.text().map(str::to_owned)).collect()
    }

    pub(crate) fn boolean(&self) -> Result<bool, JsonError> {
        match self.value {
            Value::Bool(value) => Ok(*value),
            _ => Err(self.wrong_type("a boolean")),
        }
    }

    /// Returns an integer that fits the target type.
    pub(crate) fn integer<T: TryFrom<i64>>(&self) -> Result<T, JsonError> {
        let Value::Number(number) = self.value else { return Err(self.wrong_type("an integer")) };
        if number.is_f64() {
            return Err(self.wrong_type("an integer"));
        }
        let fitting = number.as_i64().and_then(|value| T::try_from(value).ok());
        fitting.ok_or_else(|| JsonError::OutOfRange { path: self.path() })
    }

    /// Checks the `version` key, which some old servers leave out.
    pub(crate) fn check_version(&self) -> Result<(), JsonError> {
        let Some(version) = self.optional("version")? else { return Ok(()) };
        match version.integer::<i64>()? {
            VERSION => Ok(()),
            found => Err(JsonError::UnknownVersion { path: version.path(), found }),
        }
    }

    /// Renders the way to the value, `$` for the root itself.
    pub(crate) fn path(&self) -> String {
        let path = Path(self).to_string();
        if path.is_empty() { "$".to_owned() } else { path }
    }

    fn wrong_type(&self, expected: &'static str) -> JsonError {
        let found = match self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(number) if number.is_f64() => "a fraction",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        };
        JsonError::WrongType { path: self.path(), expected, found }
    }
}

struct Path<'a, 'b>(&'b Node<'a>);

impl fmt::Display for Path<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(parent) = self.0.parent else { return Ok(()) };
        Path(parent).fmt(f)?;
        match self.0.step {
            Step::Root => Ok(()),
            Step::Key(key) if matches!(parent.step, Step::Root) => f.write_str(key),
            Step::Key(key) => write!(f, ".{key}"),
            Step::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// Starts an object with the version key, as every form does.
pub(crate) fn versioned() -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("version".to_owned(), Value::from(VERSION));
    map
}

/// Makes an array of strings.
pub(crate) fn strings(items: &[String]) -> Value {
    items.iter().map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_names_the_place() {
        let value = parse(br#"{"columns":[{"data_type":{"precision":"x"}}]}"#).unwrap();
        let root = Node::root(&value);
        let columns = root.required("columns").unwrap();
        let column = columns.items().unwrap().next().unwrap();
        let data_type = column.required("data_type").unwrap();
        let precision = data_type.required("precision").unwrap();
        let error = precision.integer::<u8>().unwrap_err();
        assert_eq!(error.to_string(), "columns[0].data_type.precision is a string but must be an integer");
        let error = data_type.required("scale").map(|_| ()).unwrap_err();
        assert_eq!(error.to_string(), "columns[0].data_type.scale is missing");
        assert_eq!(root.texts().unwrap_err().to_string(), "$ is an object but must be an array");
    }

    #[test]
    fn integers_must_be_whole_and_fit() {
        let code = |text: &str| {
            let value = parse(text.as_bytes()).unwrap();
            Node::root(&value).integer::<i32>().map_err(|error| error.code())
        };
        assert_eq!(code("-5"), Ok(-5));
        assert_eq!(code("2147483648"), Err("json_value_range"));
        assert_eq!(code("18446744073709551615"), Err("json_value_range"));
        assert_eq!(code("1.0"), Err("json_value_type"));
        assert_eq!(code("\"1\""), Err("json_value_type"));
        assert_eq!(code("null"), Err("json_value_type"));
    }

    #[test]
    fn text_above_the_limit_and_deep_nesting_are_refused() {
        assert_eq!(parse(&vec![b' '; MAX_JSON_BYTES + 1]).unwrap_err().code(), "json_too_large");
        assert_eq!(parse("[".repeat(200).as_bytes()).unwrap_err().code(), "json_syntax");
    }
}
