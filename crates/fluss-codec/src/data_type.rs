//! Data types of columns: their bounds, their JSON form, and the SQL-like form people read.
//!
//! Sources: `DataTypeRoot`, the classes of `org.apache.fluss.types` and `DataTypeJsonSerde`, 0.9.1. A
//! [`DataType`] can only be made through checks, so code that holds one need not check it again.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

use crate::json::{JsonError, Node, parse};

/// Deepest nesting of ARRAY, MAP and ROW, the outermost type counted.
pub const MAX_TYPE_DEPTH: usize = 32;

/// Highest precision of DECIMAL.
pub const MAX_DECIMAL_PRECISION: u8 = 38;

/// Highest precision of TIME, TIMESTAMP and TIMESTAMP_LTZ, in digits after the second.
pub const MAX_TIME_PRECISION: u8 = 9;

/// Longest CHAR and BINARY.
pub const MAX_LENGTH: u32 = i32::MAX.unsigned_abs();

/// A data type with its nullability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataType {
    kind: TypeKind,
    nullable: bool,
}

/// A data type without its nullability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// True or false.
    Boolean,
    /// 8-bit signed integer.
    TinyInt,
    /// 16-bit signed integer.
    SmallInt,
    /// 32-bit signed integer.
    Int,
    /// 64-bit signed integer.
    BigInt,
    /// 32-bit floating point number.
    Float,
    /// 64-bit floating point number.
    Double,
    /// Text of a fixed number of characters.
    Char {
        /// Characters, from 1 to [`MAX_LENGTH`].
        length: u32,
    },
    /// Text of any length.
    String,
    /// A fixed number of bytes.
    Binary {
        /// Bytes, from 1 to [`MAX_LENGTH`].
        length: u32,
    },
    /// Any number of bytes.
    Bytes,
    /// Exact decimal number.
    Decimal {
        /// Digits in all, from 1 to [`MAX_DECIMAL_PRECISION`].
        precision: u8,
        /// Digits after the point, from 0 to `precision`.
        scale: u8,
    },
    /// Day.
    Date,
    /// Time of day without a zone.
    Time {
        /// Digits after the second, to [`MAX_TIME_PRECISION`]; Fluss keeps three at most.
        precision: u8,
    },
    /// Date and time without a zone.
    Timestamp {
        /// Digits after the second, to [`MAX_TIME_PRECISION`].
        precision: u8,
    },
    /// Instant.
    TimestampLtz {
        /// Digits after the second, to [`MAX_TIME_PRECISION`].
        precision: u8,
    },
    /// Sequence of elements of one type.
    Array(Box<DataType>),
    /// Keys, never null, and values.
    Map(Box<DataType>, Box<DataType>),
    /// Named fields.
    Row(Vec<RowField>),
}

/// A field of a ROW.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowField {
    /// Name, unique in its row.
    pub name: String,
    /// Type.
    pub data_type: DataType,
    /// Comment of the field.
    pub description: Option<String>,
    /// Id, unique in the whole schema; absent in types made by hand and in schemas of old servers.
    pub id: Option<i32>,
}

/// Why a data type is impossible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DataTypeError {
    /// The type is not one of Fluss.
    #[error("{name:?} is not a data type of Fluss")]
    UnknownType {
        /// The name found.
        name: String,
    },
    /// A length is 0 or above [`MAX_LENGTH`].
    #[error("the length {length} is not between 1 and {MAX_LENGTH}")]
    Length {
        /// The length found.
        length: u32,
    },
    /// The precision or scale of a DECIMAL is out of bounds.
    #[error("DECIMAL({precision}, {scale}) does not exist")]
    Decimal {
        /// The precision found.
        precision: u8,
        /// The scale found.
        scale: u8,
    },
    /// The precision of a time or timestamp is out of bounds.
    #[error("the precision {precision} is above {MAX_TIME_PRECISION}")]
    TimePrecision {
        /// The precision found.
        precision: u8,
    },
    /// A field of a ROW has a blank name.
    #[error("a field of a row has a blank name")]
    BlankField,
    /// Two fields of a ROW have the same name.
    #[error("a row has two fields named {name:?}")]
    DuplicateField {
        /// The name.
        name: String,
    },
    /// Some fields of a ROW have ids and some have none, or an id is negative or used twice.
    #[error("the field ids of a row are incomplete, negative or not unique")]
    FieldIds,
    /// Types are nested deeper than [`MAX_TYPE_DEPTH`].
    #[error("types are nested more than {MAX_TYPE_DEPTH} levels deep")]
    TooDeep,
}

impl DataTypeError {
    /// Returns the stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownType { .. } => "data_type_unknown",
            Self::Length { .. } => "data_type_length",
            Self::Decimal { .. } | Self::TimePrecision { .. } => "data_type_precision",
            Self::BlankField | Self::DuplicateField { .. } => "data_type_field_name",
            Self::FieldIds => "data_type_field_id",
            Self::TooDeep => "data_type_too_deep",
        }
    }
}

impl DataType {
    /// Creates a nullable type after checking its bounds; the key type of a MAP becomes not null.
    ///
    /// # Errors
    /// [`DataTypeError`] names the bound that is broken.
    pub fn new(kind: TypeKind) -> Result<Self, DataTypeError> {
        let kind = match kind {
            TypeKind::Char { length } | TypeKind::Binary { length } if length == 0 || length > MAX_LENGTH => {
                return Err(DataTypeError::Length { length });
            }
            TypeKind::Decimal { precision, scale }
                if precision == 0 || precision > MAX_DECIMAL_PRECISION || scale > precision =>
            {
                return Err(DataTypeError::Decimal { precision, scale });
            }
            TypeKind::Time { precision }
            | TypeKind::Timestamp { precision }
            | TypeKind::TimestampLtz { precision }
                if precision > MAX_TIME_PRECISION =>
            {
                return Err(DataTypeError::TimePrecision { precision });
            }
            TypeKind::Map(key, value) => TypeKind::Map(Box::new(key.not_null()), value),
            TypeKind::Row(fields) => {
                check_fields(&fields)?;
                TypeKind::Row(fields)
            }
            other => other,
        };
        let data_type = Self { kind, nullable: true };
        if data_type.depth() > MAX_TYPE_DEPTH {
            return Err(DataTypeError::TooDeep);
        }
        Ok(data_type)
    }

    /// Returns the type without its nullability.
    pub fn kind(&self) -> &TypeKind {
        &self.kind
    }

    /// Tells whether values may be null.
    pub fn is_nullable(&self) -> bool {
        self.nullable
    }

    /// Returns the type with values that may be null.
    #[must_use]
    pub fn nullable(self) -> Self {
        Self { nullable: true, ..self }
    }

    /// Returns the type with values that may not be null.
    #[must_use]
    pub fn not_null(self) -> Self {
        Self { nullable: false, ..self }
    }

    /// Tells whether the type is ARRAY, MAP or ROW, which cannot be keys.
    pub fn is_nested(&self) -> bool {
        matches!(self.kind, TypeKind::Array(_) | TypeKind::Map(..) | TypeKind::Row(_))
    }

    /// Reads the JSON form, such as `{"type":"DECIMAL","precision":10,"scale":2}`.
    ///
    /// # Errors
    /// [`JsonError`] names the place and the fault.
    pub fn from_json(text: &[u8]) -> Result<Self, JsonError> {
        Self::from_node(&Node::root(&parse(text)?))
    }

    /// Writes the JSON form with the keys in Fluss's order.
    pub fn to_json(&self) -> String {
        self.to_value().to_string()
    }

    pub(crate) fn from_node(node: &Node<'_>) -> Result<Self, JsonError> {
        Self::read(node, 1)
    }

    pub(crate) fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("type".to_owned(), Value::from(self.kind.json_name()));
        if !self.nullable {
            map.insert("nullable".to_owned(), Value::from(false));
        }
        match &self.kind {
            TypeKind::Char { length } | TypeKind::Binary { length } => {
                map.insert("length".to_owned(), Value::from(*length));
            }
            TypeKind::Decimal { precision, scale } => {
                map.insert("precision".to_owned(), Value::from(*precision));
                map.insert("scale".to_owned(), Value::from(*scale));
            }
            TypeKind::Time { precision }
            | TypeKind::Timestamp { precision }
            | TypeKind::TimestampLtz { precision } => {
                map.insert("precision".to_owned(), Value::from(*precision));
            }
            TypeKind::Array(element) => {
                map.insert("element_type".to_owned(), element.to_value());
            }
            TypeKind::Map(key, value) => {
                map.insert("key_type".to_owned(), key.to_value());
                map.insert("value_type".to_owned(), value.to_value());
            }
            TypeKind::Row(fields) => {
                map.insert("fields".to_owned(), fields.iter().map(RowField::to_value).collect());
            }
            _ => {}
        }
        Value::Object(map)
    }

    /// Gives every nested field the next id after `highest`, each before the fields of its own type.
    pub(crate) fn assign_field_ids(&mut self, highest: &mut i32) {
        match &mut self.kind {
            TypeKind::Array(element) => element.assign_field_ids(highest),
            TypeKind::Map(key, value) => {
                key.assign_field_ids(highest);
                value.assign_field_ids(highest);
            }
            TypeKind::Row(fields) => {
                for field in fields {
                    *highest = highest.saturating_add(1);
                    field.id = Some(*highest);
                    field.data_type.assign_field_ids(highest);
                }
            }
            _ => {}
        }
    }

    /// Adds the ids of all nested fields to a list.
    pub(crate) fn collect_field_ids(&self, ids: &mut Vec<i32>) {
        match &self.kind {
            TypeKind::Array(element) => element.collect_field_ids(ids),
            TypeKind::Map(key, value) => {
                key.collect_field_ids(ids);
                value.collect_field_ids(ids);
            }
            TypeKind::Row(fields) => {
                for field in fields {
                    ids.extend(field.id);
                    field.data_type.collect_field_ids(ids);
                }
            }
            _ => {}
        }
    }

    fn depth(&self) -> usize {
        1 + match &self.kind {
            TypeKind::Array(element) => element.depth(),
            TypeKind::Map(key, value) => key.depth().max(value.depth()),
            TypeKind::Row(fields) => fields.iter().map(|field| field.data_type.depth()).max().unwrap_or(0),
            _ => 0,
        }
    }

    fn read(node: &Node<'_>, depth: usize) -> Result<Self, JsonError> {
        let invalid = |source| JsonError::DataType { path: node.path(), source };
        if depth > MAX_TYPE_DEPTH {
            return Err(invalid(DataTypeError::TooDeep));
        }
        let kind = read_kind(node, depth)?;
        let data_type = Self::new(kind).map_err(invalid)?;
        let nullable = match node.optional("nullable")? {
            Some(nullable) => nullable.boolean()?,
            None => true,
        };
        Ok(if nullable { data_type } else { data_type.not_null() })
    }
}

fn read_kind(node: &Node<'_>, depth: usize) -> Result<TypeKind, JsonError> {
    let length = || node.required("length")?.integer::<u32>();
    let precision = || node.required("precision")?.integer::<u8>();
    let nested = |key: &str| DataType::read(&node.required(key)?, depth + 1).map(Box::new);
    let root = node.required("type")?;
    Ok(match root.text()? {
        "BOOLEAN" => TypeKind::Boolean,
        "TINYINT" => TypeKind::TinyInt,
        "SMALLINT" => TypeKind::SmallInt,
        "INTEGER" => TypeKind::Int,
        "BIGINT" => TypeKind::BigInt,
        "FLOAT" => TypeKind::Float,
        "DOUBLE" => TypeKind::Double,
        "CHAR" => TypeKind::Char { length: length()? },
        "STRING" => TypeKind::String,
        "BINARY" => TypeKind::Binary { length: length()? },
        "BYTES" => TypeKind::Bytes,
        "DECIMAL" => TypeKind::Decimal { precision: precision()?, scale: node.required("scale")?.integer()? },
        "DATE" => TypeKind::Date,
        "TIME_WITHOUT_TIME_ZONE" => TypeKind::Time { precision: precision()? },
        "TIMESTAMP_WITHOUT_TIME_ZONE" => TypeKind::Timestamp { precision: precision()? },
        "TIMESTAMP_WITH_LOCAL_TIME_ZONE" => TypeKind::TimestampLtz { precision: precision()? },
        "ARRAY" => TypeKind::Array(nested("element_type")?),
        "MAP" => TypeKind::Map(nested("key_type")?, nested("value_type")?),
        "ROW" => {
            let fields = node.required("fields")?;
            let fields: Result<Vec<_>, _> =
                fields.items()?.map(|field| RowField::read(&field, depth + 1)).collect();
            TypeKind::Row(fields?)
        }
        name => {
            let source = DataTypeError::UnknownType { name: name.to_owned() };
            return Err(JsonError::DataType { path: root.path(), source });
        }
    })
}

fn check_fields(fields: &[RowField]) -> Result<(), DataTypeError> {
    let mut names = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for field in fields {
        if field.name.trim().is_empty() {
            return Err(DataTypeError::BlankField);
        }
        if !names.insert(field.name.as_str()) {
            return Err(DataTypeError::DuplicateField { name: field.name.clone() });
        }
        if let Some(id) = field.id
            && (id < 0 || !ids.insert(id))
        {
            return Err(DataTypeError::FieldIds);
        }
    }
    if !ids.is_empty() && ids.len() != fields.len() {
        return Err(DataTypeError::FieldIds);
    }
    Ok(())
}

impl RowField {
    /// Creates a field without description and id.
    pub fn new(name: impl Into<String>, data_type: DataType) -> Self {
        Self { name: name.into(), data_type, description: None, id: None }
    }

    fn read(node: &Node<'_>, depth: usize) -> Result<Self, JsonError> {
        let description = match node.optional("description")? {
            Some(description) => Some(description.text()?.to_owned()),
            None => None,
        };
        let id = match node.optional("field_id")? {
            // −1 is how Java marks a field that was given no id.
            Some(id) => Some(id.integer::<i32>()?).filter(|id| *id != -1),
            None => None,
        };
        Ok(Self {
            name: node.required("name")?.text()?.to_owned(),
            data_type: DataType::read(&node.required("field_type")?, depth)?,
            description,
            id,
        })
    }

    fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("name".to_owned(), Value::from(self.name.as_str()));
        map.insert("field_type".to_owned(), self.data_type.to_value());
        if let Some(description) = &self.description {
            map.insert("description".to_owned(), Value::from(description.as_str()));
        }
        if let Some(id) = self.id {
            map.insert("field_id".to_owned(), Value::from(id));
        }
        Value::Object(map)
    }
}

impl TypeKind {
    fn json_name(&self) -> &'static str {
        match self {
            Self::Boolean => "BOOLEAN",
            Self::TinyInt => "TINYINT",
            Self::SmallInt => "SMALLINT",
            Self::Int => "INTEGER",
            Self::BigInt => "BIGINT",
            Self::Float => "FLOAT",
            Self::Double => "DOUBLE",
            Self::Char { .. } => "CHAR",
            Self::String => "STRING",
            Self::Binary { .. } => "BINARY",
            Self::Bytes => "BYTES",
            Self::Decimal { .. } => "DECIMAL",
            Self::Date => "DATE",
            Self::Time { .. } => "TIME_WITHOUT_TIME_ZONE",
            Self::Timestamp { .. } => "TIMESTAMP_WITHOUT_TIME_ZONE",
            Self::TimestampLtz { .. } => "TIMESTAMP_WITH_LOCAL_TIME_ZONE",
            Self::Array(_) => "ARRAY",
            Self::Map(..) => "MAP",
            Self::Row(_) => "ROW",
        }
    }
}

impl fmt::Display for DataType {
    /// Writes the SQL-like form, such as `DECIMAL(10, 2) NOT NULL` or `ROW<x INT, y ARRAY<STRING>>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.kind, f)?;
        if self.nullable { Ok(()) } else { f.write_str(" NOT NULL") }
    }
}

impl fmt::Display for TypeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int => f.write_str("INT"),
            Self::Char { length } => write!(f, "CHAR({length})"),
            Self::Binary { length } => write!(f, "BINARY({length})"),
            Self::Decimal { precision, scale } => write!(f, "DECIMAL({precision}, {scale})"),
            Self::Time { precision } => write!(f, "TIME({precision})"),
            Self::Timestamp { precision } => write!(f, "TIMESTAMP({precision})"),
            Self::TimestampLtz { precision } => write!(f, "TIMESTAMP_LTZ({precision})"),
            Self::Array(element) => write!(f, "ARRAY<{element}>"),
            Self::Map(key, value) => write!(f, "MAP<{key}, {value}>"),
            Self::Row(fields) => {
                f.write_str("ROW<")?;
                for (index, field) in fields.iter().enumerate() {
                    let separator = if index == 0 { "" } else { ", " };
                    write!(f, "{separator}{} {}", field.name, field.data_type)?;
                }
                f.write_str(">")
            }
            plain => f.write_str(plain.json_name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<DataType, JsonError> {
        DataType::from_json(text.as_bytes())
    }

    #[test]
    fn every_type_round_trips_and_reads_like_sql() {
        for (json, sql) in [
            (r#"{"type":"BOOLEAN"}"#, "BOOLEAN"),
            (r#"{"type":"TINYINT"}"#, "TINYINT"),
            (r#"{"type":"SMALLINT"}"#, "SMALLINT"),
            (r#"{"type":"INTEGER","nullable":false}"#, "INT NOT NULL"),
            (r#"{"type":"BIGINT"}"#, "BIGINT"),
            (r#"{"type":"FLOAT"}"#, "FLOAT"),
            (r#"{"type":"DOUBLE"}"#, "DOUBLE"),
            (r#"{"type":"CHAR","length":2147483647}"#, "CHAR(2147483647)"),
            (r#"{"type":"STRING"}"#, "STRING"),
            (r#"{"type":"BINARY","nullable":false,"length":1}"#, "BINARY(1) NOT NULL"),
            (r#"{"type":"BYTES"}"#, "BYTES"),
            (r#"{"type":"DECIMAL","precision":38,"scale":38}"#, "DECIMAL(38, 38)"),
            (r#"{"type":"DATE"}"#, "DATE"),
            (r#"{"type":"TIME_WITHOUT_TIME_ZONE","precision":0}"#, "TIME(0)"),
            (r#"{"type":"TIMESTAMP_WITHOUT_TIME_ZONE","precision":9}"#, "TIMESTAMP(9)"),
            (r#"{"type":"TIMESTAMP_WITH_LOCAL_TIME_ZONE","precision":3}"#, "TIMESTAMP_LTZ(3)"),
            (r#"{"type":"ARRAY","element_type":{"type":"INTEGER"}}"#, "ARRAY<INT>"),
            (
                r#"{"type":"MAP","key_type":{"type":"STRING","nullable":false},"value_type":{"type":"DATE"}}"#,
                "MAP<STRING NOT NULL, DATE>",
            ),
            (
                r#"{"type":"ROW","nullable":false,"fields":[{"name":"x","field_type":{"type":"INTEGER"},"description":"d","field_id":3},{"name":"y","field_type":{"type":"ARRAY","element_type":{"type":"DATE"}},"field_id":4}]}"#,
                "ROW<x INT, y ARRAY<DATE>> NOT NULL",
            ),
        ] {
            let data_type = read(json).unwrap();
            assert_eq!(data_type.to_json(), json);
            assert_eq!(data_type.to_string(), sql);
        }
    }

    #[test]
    fn unknown_keys_are_skipped_and_map_keys_become_not_null() {
        let data_type = read(
            r#"{"type":"MAP","future":[1],"key_type":{"type":"INTEGER"},"value_type":{"type":"INTEGER","nullable":true}}"#,
        );
        assert_eq!(data_type.unwrap().to_string(), "MAP<INT NOT NULL, INT>");
    }

    #[test]
    fn impossible_types_are_refused_with_their_place() {
        let row = |fields: &str| format!(r#"{{"type":"ROW","fields":[{fields}]}}"#);
        for (json, code, path) in [
            (r#"{"type":"INT"}"#.to_owned(), "data_type_unknown", "type"),
            (r#"{"type":"CHAR","length":0}"#.to_owned(), "data_type_length", "$"),
            (r#"{"type":"CHAR","length":2147483648}"#.to_owned(), "data_type_length", "$"),
            (r#"{"type":"CHAR","length":-1}"#.to_owned(), "json_value_range", "length"),
            (r#"{"type":"CHAR"}"#.to_owned(), "json_value_missing", "length"),
            (r#"{"type":"DECIMAL","precision":39,"scale":0}"#.to_owned(), "data_type_precision", "$"),
            (r#"{"type":"DECIMAL","precision":0,"scale":0}"#.to_owned(), "data_type_precision", "$"),
            (r#"{"type":"DECIMAL","precision":2,"scale":3}"#.to_owned(), "data_type_precision", "$"),
            (r#"{"type":"TIME_WITHOUT_TIME_ZONE","precision":10}"#.to_owned(), "data_type_precision", "$"),
            (r#"{"type":"DATE","nullable":"no"}"#.to_owned(), "json_value_type", "nullable"),
            (r#"{"type":7}"#.to_owned(), "json_value_type", "type"),
            ("{}".to_owned(), "json_value_missing", "type"),
            ("[]".to_owned(), "json_value_type", "$"),
            (
                r#"{"type":"ARRAY","element_type":{"type":"DECIMAL","precision":"2","scale":0}}"#.to_owned(),
                "json_value_type",
                "element_type.precision",
            ),
            (row(r#"{"name":" ","field_type":{"type":"DATE"}}"#), "data_type_field_name", "$"),
            (
                row(r#"{"name":"a","field_type":{"type":"DATE"}},{"name":"a","field_type":{"type":"DATE"}}"#),
                "data_type_field_name",
                "$",
            ),
            (
                row(
                    r#"{"name":"a","field_type":{"type":"DATE"},"field_id":1},{"name":"b","field_type":{"type":"DATE"}}"#,
                ),
                "data_type_field_id",
                "$",
            ),
            (
                row(r#"{"name":"a","field_type":{"type":"X"}}"#),
                "data_type_unknown",
                "fields[0].field_type.type",
            ),
        ] {
            let error = read(&json).unwrap_err();
            assert_eq!(error.code(), code, "{json}");
            assert!(error.to_string().starts_with(&format!("{path} is")), "{json}: {error}");
        }
    }

    #[test]
    fn nesting_is_limited() {
        let nested = |levels: usize| {
            let mut json = r#"{"type":"DATE"}"#.to_owned();
            for _ in 1..levels {
                json = format!(r#"{{"type":"ROW","fields":[{{"name":"a","field_type":{json}}}]}}"#);
            }
            read(&json)
        };
        assert!(nested(MAX_TYPE_DEPTH).is_ok());
        assert_eq!(nested(MAX_TYPE_DEPTH + 1).unwrap_err().code(), "data_type_too_deep");
        let deepest = nested(MAX_TYPE_DEPTH).unwrap();
        assert_eq!(DataType::new(TypeKind::Array(Box::new(deepest))), Err(DataTypeError::TooDeep));
    }
}
