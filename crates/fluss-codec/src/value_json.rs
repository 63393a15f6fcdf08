//! Values and rows as JSON, without loss in either direction.
//!
//! | type | written | also read |
//! |---|---|---|
//! | BOOLEAN | `true`, `false` | |
//! | TINYINT, SMALLINT, INT | number | string of a number |
//! | BIGINT | string of a number | number, with all its digits |
//! | FLOAT, DOUBLE | number; `"NaN"`, `"Infinity"`, `"-Infinity"` | string of a number |
//! | CHAR, STRING | string | |
//! | BINARY, BYTES | `{"base64": "AQI="}` | `{"hex": "0102"}`, `{"utf8": "text"}` |
//! | DECIMAL | string of a number with all digits of the scale | number, with all its digits |
//! | DATE | `"2024-02-29"` | |
//! | TIME | `"12:30:45"`, with the digits of its precision, three at most | fewer or no digits of a second |
//! | TIMESTAMP | `"2024-02-29T12:30:45"`, with the digits of its precision | a blank for the `T`, fewer digits |
//! | TIMESTAMP_LTZ | `"2024-02-29T12:30:45Z"`, likewise | an offset such as `+02:00` for the `Z` |
//! | ARRAY | list | |
//! | MAP | list of `{"key": .., "value": ..}` | an object, if keys are CHAR or STRING |
//! | ROW | object of its fields | fields that may be null may be left out |
//!
//! 64-bit and decimal numbers are strings because most readers of JSON would round them. Years before 0 and after 9999
//! have a sign and at least six digits, as in ISO 8601. A TIME outside the day, which Fluss does not refuse, is
//! written `"86400000ms"`. What would be rounded is refused: a TIME finer than a millisecond, since no format has a place
//! for it, and times finer than the unit in which the Arrow log keeps their type (seconds for precision 0, milliseconds
//! up to 3, microseconds up to 6).

use bytes::Bytes;
use serde_json::value::RawValue;

use crate::data_type::DataType;
use crate::row::{RowError, Value};
use crate::schema::Column;

mod number;
mod read;
mod time;
mod write;

/// Longest text that is read: 64 MiB.
pub const MAX_TEXT_BYTES: usize = 64 * 1024 * 1024;

/// Why a JSON text is not a value of a column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{pointer:?}: {fault}", pointer = self.pointer())]
pub struct ValueJsonError {
    /// Segments of the JSON pointer from the inside out.
    segments: Vec<String>,
    column: Option<String>,
    fault: ValueJsonFault,
}

/// What is wrong with a JSON text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueJsonFault {
    /// It is not JSON.
    #[error("this is not JSON: {reason}")]
    Syntax {
        /// What the parser says.
        reason: String,
    },
    /// It is longer than [`MAX_TEXT_BYTES`].
    #[error("the text of {size} bytes is longer than {MAX_TEXT_BYTES}")]
    TooLarge {
        /// Bytes of the text.
        size: usize,
    },
    /// It is of another kind than the column.
    #[error("{expected} is needed, but this is {found}")]
    Kind {
        /// What is needed, for people.
        expected: String,
        /// What is there, for people.
        found: &'static str,
    },
    /// A number, text or time does not fit the type.
    #[error("this does not fit {data_type}: {reason}")]
    Range {
        /// The type.
        data_type: String,
        /// Why, for people.
        reason: &'static str,
    },
    /// Null, or nothing, where a value is needed.
    #[error("a value is needed")]
    Null,
    /// There is no such column or field.
    #[error("there is no such column")]
    Unknown,
    /// A name or a key is there twice.
    #[error("this is here twice")]
    Duplicate,
}

impl ValueJsonError {
    fn new(fault: ValueJsonFault) -> Self {
        Self { segments: Vec::new(), column: None, fault }
    }

    fn within(mut self, segment: impl Into<String>) -> Self {
        self.segments.push(segment.into());
        self
    }

    /// Returns the stable code of the error.
    pub fn code(&self) -> &'static str {
        match self.fault {
            ValueJsonFault::Syntax { .. } => "json_syntax",
            ValueJsonFault::TooLarge { .. } => "json_too_large",
            ValueJsonFault::Kind { .. } => "json_value_type",
            ValueJsonFault::Range { .. } => "json_value_range",
            ValueJsonFault::Null => "json_value_missing",
            ValueJsonFault::Unknown => "json_column_unknown",
            ValueJsonFault::Duplicate => "json_duplicate",
        }
    }

    /// Returns where the fault is, as a JSON pointer (RFC 6901).
    pub fn pointer(&self) -> String {
        let escaped = self.segments.iter().rev().map(|segment| segment.replace('~', "~0").replace('/', "~1"));
        escaped.fold(String::new(), |pointer, segment| pointer + "/" + &segment)
    }

    /// Returns the name of the column the fault is in.
    pub fn column(&self) -> Option<&str> {
        self.column.as_deref()
    }

    /// Returns what is wrong.
    pub fn fault(&self) -> &ValueJsonFault {
        &self.fault
    }
}

/// What a row may leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Columns that may be null, which then are.
    Nullable,
    /// Any column, for partial updates and keys; those left out are null.
    Any,
}

/// A row that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonRow {
    /// One value per column.
    pub values: Vec<Value>,
    /// For each column whether it was in the text.
    pub present: Vec<bool>,
}

/// Writes a value, whatever its column's bounds are.
///
/// # Errors
/// [`RowError::TypeMismatch`] if the value is not of the type.
pub fn write_value(data_type: &DataType, value: &Value, output: &mut Vec<u8>) -> Result<(), RowError> {
    write::value(crate::row::Field { position: 0, data_type }, value, output)
}

/// Writes a row as an object of its columns, one value for each.
///
/// # Errors
/// [`RowError::Arity`] or [`RowError::TypeMismatch`].
pub fn write_row(columns: &[Column], values: &[Value], output: &mut Vec<u8>) -> Result<(), RowError> {
    if columns.len() != values.len() {
        return Err(RowError::Arity { expected: columns.len(), found: values.len() });
    }
    write::row(columns, values, output)
}

/// Reads a value.
///
/// # Errors
/// [`ValueJsonError`] names the place and the fault.
pub fn read_value(data_type: &DataType, text: &str) -> Result<Value, ValueJsonError> {
    read::value(data_type, raw(text)?)
}

/// Reads an object of columns.
///
/// # Errors
/// [`ValueJsonError`] names the place, the column and the fault.
pub fn read_row(columns: &[Column], text: &str, missing: Missing) -> Result<JsonRow, ValueJsonError> {
    read::row(columns, raw(text)?, missing)
}

/// Reads a list of at most `limit` objects of columns; the pointers of errors begin with the position in the list.
///
/// # Errors
/// [`ValueJsonError`] names the place, the column and the fault.
pub fn read_rows(
    columns: &[Column],
    text: &str,
    missing: Missing,
    limit: usize,
) -> Result<Vec<JsonRow>, ValueJsonError> {
    read::rows(columns, raw(text)?, missing, limit)
}

fn raw(text: &str) -> Result<&RawValue, ValueJsonError> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(ValueJsonError::new(ValueJsonFault::TooLarge { size: text.len() }));
    }
    read::parse(text)
}

/// Returns a range fault.
fn range(data_type: &DataType, reason: &'static str) -> ValueJsonError {
    ValueJsonError::new(ValueJsonFault::Range { data_type: data_type.to_string(), reason })
}

/// Bytes in the encodings that are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BytesEncoding {
    Base64,
    Hex,
    Utf8,
}

impl BytesEncoding {
    fn of_name(name: &str) -> Option<Self> {
        match name {
            "base64" => Some(Self::Base64),
            "hex" => Some(Self::Hex),
            "utf8" => Some(Self::Utf8),
            _ => None,
        }
    }

    fn decode(self, text: &str) -> Option<Bytes> {
        use base64::Engine as _;
        match self {
            Self::Base64 => base64::engine::general_purpose::STANDARD.decode(text).ok().map(Bytes::from),
            Self::Hex => {
                let (pairs, rest) = text.as_bytes().as_chunks::<2>();
                let digit =
                    |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                let byte = |[high, low]: &[u8; 2]| Some(digit(*high)? << 4 | digit(*low)?);
                if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
            }
            Self::Utf8 => Some(Bytes::copy_from_slice(text.as_bytes())),
        }
    }
}
