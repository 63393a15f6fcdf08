//! Schema of a table: columns, primary key, and the ids that survive changes of the schema.
//!
//! Sources: `Schema`, `SchemaJsonSerde` and `ColumnJsonSerde`, 0.9.1. A [`Schema`] can only be made through
//! checks. Which columns may be partition and bucket keys belongs to the table, see [`crate::table`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value};

use crate::data_type::{DataType, TypeKind};
use crate::json::{JsonError, Node, parse, strings, versioned};
use crate::properties::Properties;

/// Columns of a table with its primary key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    columns: Vec<Column>,
    primary_key: Vec<String>,
    auto_increment: Option<String>,
    highest_field_id: i32,
}

/// A column of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name, unique in the schema.
    pub name: String,
    /// Type; not null if the column is part of the primary key.
    pub data_type: DataType,
    /// Comment of the column.
    pub comment: Option<String>,
    /// How values of one key are merged, in tables with the merge engine `aggregation`.
    pub aggregation: Option<Aggregation>,
    /// Id, unique among columns and nested fields; it stays when the schema changes.
    pub id: i32,
}

/// An aggregation function with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aggregation {
    /// The function.
    pub function: AggFunction,
    /// Its parameters, such as `delimiter` of `listagg`.
    pub parameters: Properties,
}

/// Function that merges the values of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AggFunction {
    /// Sum.
    Sum,
    /// Product.
    Product,
    /// Greatest value.
    Max,
    /// Least value.
    Min,
    /// Latest value, null included.
    LastValue,
    /// Latest value that is not null.
    LastValueIgnoreNulls,
    /// Earliest value, null included.
    FirstValue,
    /// Earliest value that is not null.
    FirstValueIgnoreNulls,
    /// Texts joined by a delimiter.
    ListAgg,
    /// The same as `listagg`.
    StringAgg,
    /// Logical and.
    BoolAnd,
    /// Logical or.
    BoolOr,
    /// Union of 32-bit roaring bitmaps.
    Rbm32,
    /// Union of 64-bit roaring bitmaps.
    Rbm64,
    /// A function added to Fluss after this crate was written, by its name.
    Other(String),
}

/// Why the parts of a schema do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// A column has an empty name.
    #[error("a column has an empty name")]
    EmptyName,
    /// Two columns have the same name.
    #[error("the column {name:?} is declared twice")]
    DuplicateColumn {
        /// The name.
        name: String,
    },
    /// Some columns have ids and some have none.
    #[error("some columns have an id and some have none")]
    MixedIds,
    /// A column or nested field has a negative id or one that is used twice.
    #[error("the field id {id} is negative or used twice")]
    FieldId {
        /// The id.
        id: i32,
    },
    /// `highest_field_id` is below an id in use.
    #[error("the highest field id {highest} is below the id {id}")]
    HighestFieldId {
        /// The highest id declared.
        highest: i32,
        /// The highest id in use.
        id: i32,
    },
    /// The primary key or the auto-increment column names a column that does not exist.
    #[error("the key column {name:?} does not exist")]
    UnknownKeyColumn {
        /// The name.
        name: String,
    },
    /// The primary key names a column twice.
    #[error("the primary key names {name:?} twice")]
    DuplicateKeyColumn {
        /// The name.
        name: String,
    },
    /// The primary key is there but names no column.
    #[error("the primary key names no column")]
    EmptyPrimaryKey,
    /// A key column is an ARRAY, MAP or ROW.
    #[error("the column {name:?} of type {data_type} cannot be a key")]
    KeyType {
        /// Name of the column.
        name: String,
        /// Its type.
        data_type: String,
    },
    /// An aggregation function on a column of the primary key.
    #[error("the key column {name:?} cannot have an aggregation function")]
    AggregatedKey {
        /// Name of the column.
        name: String,
    },
    /// The auto-increment column breaks its rules.
    #[error(
        "the auto-increment column {name:?} must be the only one, INT or BIGINT, and beside a primary key"
    )]
    AutoIncrement {
        /// Name of the column.
        name: String,
    },
}

impl SchemaError {
    /// Returns the stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::EmptyName | Self::DuplicateColumn { .. } => "schema_column_name",
            Self::MixedIds | Self::FieldId { .. } | Self::HighestFieldId { .. } => "schema_field_id",
            Self::UnknownKeyColumn { .. } | Self::DuplicateKeyColumn { .. } | Self::EmptyPrimaryKey => {
                "schema_key_column"
            }
            Self::KeyType { .. } => "schema_key_type",
            Self::AggregatedKey { .. } => "schema_aggregation",
            Self::AutoIncrement { .. } => "schema_auto_increment",
        }
    }
}

impl Schema {
    /// Starts a new schema, whose ids are given as columns are added.
    pub fn builder() -> SchemaBuilder {
        SchemaBuilder { columns: Vec::new(), primary_key: None, auto_increment: None, highest_field_id: -1 }
    }

    /// Returns the columns in their order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns a column by its name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Returns the position of a column, from 0.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Returns the types of the columns in their order, as the row codecs take them.
    pub fn data_types(&self) -> Vec<&DataType> {
        self.columns.iter().map(|column| &column.data_type).collect()
    }

    /// Returns the names of the primary key's columns in their declared order; empty if there is none.
    pub fn primary_key(&self) -> &[String] {
        &self.primary_key
    }

    /// Tells whether there is a primary key.
    pub fn has_primary_key(&self) -> bool {
        !self.primary_key.is_empty()
    }

    /// Returns the name of the column the server fills with growing numbers.
    pub fn auto_increment(&self) -> Option<&str> {
        self.auto_increment.as_deref()
    }

    /// Returns the highest id ever given in the table; −1 if there is no column.
    pub fn highest_field_id(&self) -> i32 {
        self.highest_field_id
    }

    /// Reads the JSON form. Where an old server leaves out ids, a column's id is its position.
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
        let invalid = |source| JsonError::Schema { path: node.path(), source };
        node.check_version()?;
        let mut columns = Vec::new();
        let mut with_id = 0_usize;
        for (position, column) in (0_i32..).zip(node.required("columns")?.items()?) {
            let (mut column, id) = Column::read(&column)?;
            with_id += usize::from(id.is_some());
            column.id = id.unwrap_or(position);
            columns.push(column);
        }
        if with_id != 0 && with_id != columns.len() {
            return Err(invalid(SchemaError::MixedIds));
        }
        let primary_key = match node.optional("primary_key")? {
            Some(names) => Some(names.texts()?),
            None => None,
        };
        let auto_increment = match node.optional("auto_increment_column")? {
            Some(names) => names.texts()?,
            None => Vec::new(),
        };
        if let [_, second, ..] = auto_increment.as_slice() {
            return Err(invalid(SchemaError::AutoIncrement { name: second.clone() }));
        }
        let highest_field_id = match node.optional("highest_field_id")? {
            Some(highest) => highest.integer()?,
            None => field_ids(&columns).into_iter().max().unwrap_or(-1),
        };
        let auto_increment = auto_increment.into_iter().next();
        SchemaBuilder { columns, primary_key, auto_increment, highest_field_id }.build().map_err(invalid)
    }

    pub(crate) fn to_value(&self) -> Value {
        let mut map = versioned();
        map.insert("columns".to_owned(), self.columns.iter().map(Column::to_value).collect());
        if !self.primary_key.is_empty() {
            map.insert("primary_key".to_owned(), strings(&self.primary_key));
        }
        if let Some(name) = &self.auto_increment {
            map.insert("auto_increment_column".to_owned(), strings(std::slice::from_ref(name)));
        }
        map.insert("highest_field_id".to_owned(), Value::from(self.highest_field_id));
        Value::Object(map)
    }
}

/// Collects the parts of a new schema.
#[derive(Clone, Debug)]
pub struct SchemaBuilder {
    columns: Vec<Column>,
    primary_key: Option<Vec<String>>,
    auto_increment: Option<String>,
    highest_field_id: i32,
}

impl SchemaBuilder {
    /// Adds a column; it and its nested fields take the next ids, the column first.
    #[must_use]
    pub fn column(mut self, name: impl Into<String>, mut data_type: DataType) -> Self {
        self.highest_field_id = self.highest_field_id.saturating_add(1);
        let id = self.highest_field_id;
        data_type.assign_field_ids(&mut self.highest_field_id);
        self.columns.push(Column { name: name.into(), data_type, comment: None, aggregation: None, id });
        self
    }

    /// Gives the column added last a comment.
    #[must_use]
    pub fn comment(mut self, comment: impl Into<String>) -> Self {
        if let Some(column) = self.columns.last_mut() {
            column.comment = Some(comment.into());
        }
        self
    }

    /// Gives the column added last an aggregation function.
    #[must_use]
    pub fn aggregation(mut self, aggregation: Aggregation) -> Self {
        if let Some(column) = self.columns.last_mut() {
            column.aggregation = Some(aggregation);
        }
        self
    }

    /// Sets the primary key; its columns become not null.
    #[must_use]
    pub fn primary_key<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.primary_key = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the column that the server fills with growing numbers.
    #[must_use]
    pub fn auto_increment(mut self, name: impl Into<String>) -> Self {
        self.auto_increment = Some(name.into());
        self
    }

    /// Checks that the parts fit together.
    ///
    /// # Errors
    /// [`SchemaError`] names the rule that is broken.
    pub fn build(mut self) -> Result<Schema, SchemaError> {
        check_ids(&self.columns, self.highest_field_id)?;
        let mut positions = BTreeMap::new();
        for (position, column) in self.columns.iter().enumerate() {
            if column.name.is_empty() {
                return Err(SchemaError::EmptyName);
            }
            if positions.insert(column.name.clone(), position).is_some() {
                return Err(SchemaError::DuplicateColumn { name: column.name.clone() });
            }
        }
        if let Some(primary_key) = &self.primary_key {
            check_primary_key(&mut self.columns, &positions, primary_key)?;
        }
        let primary_key = self.primary_key.unwrap_or_default();
        if let Some(name) = &self.auto_increment {
            let Some(column) = self.columns.iter().find(|column| column.name == *name) else {
                return Err(SchemaError::UnknownKeyColumn { name: name.clone() });
            };
            let numeric = matches!(column.data_type.kind(), TypeKind::Int | TypeKind::BigInt);
            if !numeric || primary_key.is_empty() || primary_key.contains(name) {
                return Err(SchemaError::AutoIncrement { name: name.clone() });
            }
        }
        Ok(Schema {
            columns: self.columns,
            primary_key,
            auto_increment: self.auto_increment,
            highest_field_id: self.highest_field_id,
        })
    }
}

fn field_ids(columns: &[Column]) -> Vec<i32> {
    let mut ids = Vec::new();
    for column in columns {
        ids.push(column.id);
        column.data_type.collect_field_ids(&mut ids);
    }
    ids
}

fn check_ids(columns: &[Column], highest: i32) -> Result<(), SchemaError> {
    let mut seen = BTreeSet::new();
    for id in field_ids(columns) {
        if id < 0 || !seen.insert(id) {
            return Err(SchemaError::FieldId { id });
        }
    }
    match seen.last() {
        Some(id) if *id > highest => Err(SchemaError::HighestFieldId { highest, id: *id }),
        _ => Ok(()),
    }
}

fn check_primary_key(
    columns: &mut [Column],
    positions: &BTreeMap<String, usize>,
    primary_key: &[String],
) -> Result<(), SchemaError> {
    if primary_key.is_empty() {
        return Err(SchemaError::EmptyPrimaryKey);
    }
    let mut seen = BTreeSet::new();
    for name in primary_key {
        if !seen.insert(name) {
            return Err(SchemaError::DuplicateKeyColumn { name: name.clone() });
        }
        let Some(column) = positions.get(name).and_then(|position| columns.get_mut(*position)) else {
            return Err(SchemaError::UnknownKeyColumn { name: name.clone() });
        };
        if column.data_type.is_nested() {
            let data_type = column.data_type.to_string();
            return Err(SchemaError::KeyType { name: name.clone(), data_type });
        }
        if column.aggregation.is_some() {
            return Err(SchemaError::AggregatedKey { name: name.clone() });
        }
        column.data_type = column.data_type.clone().not_null();
    }
    Ok(())
}

impl Column {
    fn read(node: &Node<'_>) -> Result<(Self, Option<i32>), JsonError> {
        let comment = match node.optional("comment")? {
            Some(comment) => Some(comment.text()?.to_owned()),
            None => None,
        };
        let aggregation = match node.optional("agg_function")? {
            Some(aggregation) => Some(Aggregation::read(&aggregation)?),
            None => None,
        };
        let id = match node.optional("id")? {
            // −1 is how Java marks a column that was given no id.
            Some(id) => Some(id.integer::<i32>()?).filter(|id| *id != -1),
            None => None,
        };
        let name = node.required("name")?.text()?.to_owned();
        let data_type = DataType::from_node(&node.required("data_type")?)?;
        Ok((Self { name, data_type, comment, aggregation, id: -1 }, id))
    }

    fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("name".to_owned(), Value::from(self.name.as_str()));
        map.insert("data_type".to_owned(), self.data_type.to_value());
        if let Some(comment) = &self.comment {
            map.insert("comment".to_owned(), Value::from(comment.as_str()));
        }
        if let Some(aggregation) = &self.aggregation {
            map.insert("agg_function".to_owned(), aggregation.to_value());
        }
        map.insert("id".to_owned(), Value::from(self.id));
        Value::Object(map)
    }
}

impl Aggregation {
    fn read(node: &Node<'_>) -> Result<Self, JsonError> {
        let parameters = match node.optional("parameters")? {
            Some(parameters) => Properties::from_node(&parameters)?,
            None => Properties::new(),
        };
        Ok(Self { function: AggFunction::from_name(node.required("type")?.text()?), parameters })
    }

    fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("type".to_owned(), Value::from(self.function.name()));
        if !self.parameters.is_empty() {
            map.insert("parameters".to_owned(), self.parameters.to_value());
        }
        Value::Object(map)
    }
}

impl AggFunction {
    const KNOWN: [Self; 14] = [
        Self::Sum,
        Self::Product,
        Self::Max,
        Self::Min,
        Self::LastValue,
        Self::LastValueIgnoreNulls,
        Self::FirstValue,
        Self::FirstValueIgnoreNulls,
        Self::ListAgg,
        Self::StringAgg,
        Self::BoolAnd,
        Self::BoolOr,
        Self::Rbm32,
        Self::Rbm64,
    ];

    /// Returns the function of a name; case does not matter and `-` counts as `_`.
    pub fn from_name(name: &str) -> Self {
        let plain = name.to_ascii_lowercase().replace('-', "_");
        let known = Self::KNOWN.into_iter().find(|function| function.name() == plain);
        known.unwrap_or_else(|| Self::Other(name.to_owned()))
    }

    /// Returns the name in the JSON form.
    pub fn name(&self) -> &str {
        match self {
            Self::Sum => "sum",
            Self::Product => "product",
            Self::Max => "max",
            Self::Min => "min",
            Self::LastValue => "last_value",
            Self::LastValueIgnoreNulls => "last_value_ignore_nulls",
            Self::FirstValue => "first_value",
            Self::FirstValueIgnoreNulls => "first_value_ignore_nulls",
            Self::ListAgg => "listagg",
            Self::StringAgg => "string_agg",
            Self::BoolAnd => "bool_and",
            Self::BoolOr => "bool_or",
            Self::Rbm32 => "rbm32",
            Self::Rbm64 => "rbm64",
            Self::Other(name) => name,
        }
    }
}

impl fmt::Display for AggFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data_type::RowField;

    fn of(kind: TypeKind) -> DataType {
        DataType::new(kind).unwrap()
    }

    fn read(text: &str) -> Result<Schema, JsonError> {
        Schema::from_json(text.as_bytes())
    }

    #[test]
    fn new_schema_gives_ids_depth_first() {
        let inner = of(TypeKind::Row(vec![RowField::new("z", of(TypeKind::String))]));
        let row = of(TypeKind::Row(vec![
            RowField::new("x", of(TypeKind::Int)),
            RowField::new("m", of(TypeKind::Map(Box::new(of(TypeKind::String)), Box::new(inner)))),
            RowField::new("y", of(TypeKind::Int)),
        ]));
        let schema = Schema::builder()
            .column("id", of(TypeKind::Int))
            .column("r", row)
            .comment("nested")
            .column("v", of(TypeKind::Date))
            .primary_key(["id"])
            .build()
            .unwrap();
        let mut ids = Vec::new();
        schema.column("r").unwrap().data_type.collect_field_ids(&mut ids);
        assert_eq!(ids, [2, 3, 4, 5]);
        assert_eq!(schema.columns().iter().map(|column| column.id).collect::<Vec<_>>(), [0, 1, 6]);
        assert_eq!(schema.highest_field_id(), 6);
        assert!(!schema.column("id").unwrap().data_type.is_nullable());
        assert_eq!(read(&schema.to_json()).unwrap(), schema);
    }

    #[test]
    fn ids_of_old_servers_are_positions() {
        let schema = read(
            r#"{"columns":[{"name":"a","data_type":{"type":"DATE"}},{"name":"b","data_type":{"type":"ROW","fields":[{"name":"x","field_type":{"type":"DATE"}}]},"id":-1}]}"#,
        )
        .unwrap();
        assert_eq!(schema.columns().iter().map(|column| column.id).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(schema.highest_field_id(), 1);
    }

    #[test]
    fn optional_parts_round_trip() {
        let text = r#"{"version":1,"columns":[{"name":"k","data_type":{"type":"INTEGER","nullable":false},"id":0},{"name":"s","data_type":{"type":"STRING"},"comment":"c","agg_function":{"type":"listagg","parameters":{"delimiter":";"}},"id":1},{"name":"n","data_type":{"type":"BIGINT","nullable":false},"agg_function":{"type":"from_the_future"},"id":2}],"primary_key":["k"],"auto_increment_column":["n"],"highest_field_id":9}"#;
        let schema = read(text).unwrap();
        assert_eq!(schema.to_json(), text);
        assert_eq!(schema.auto_increment(), Some("n"));
        assert_eq!(AggFunction::from_name("Last-Value-Ignore-Nulls"), AggFunction::LastValueIgnoreNulls);
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let a = r#"{"name":"a","data_type":{"type":"INTEGER"},"id":0}"#;
        let row = r#"{"name":"r","data_type":{"type":"ROW","fields":[{"name":"x","field_type":{"type":"DATE"},"field_id":0}]},"id":1}"#;
        for (columns, rest, code) in [
            (format!("{a},{a}"), "", "schema_field_id"),
            (format!("{a},{row}"), "", "schema_field_id"),
            (format!(r#"{a},{{"name":"a","data_type":{{"type":"DATE"}},"id":1}}"#), "", "schema_column_name"),
            (format!(r#"{a},{{"name":"b","data_type":{{"type":"DATE"}}}}"#), "", "schema_field_id"),
            (r#"{"name":"","data_type":{"type":"DATE"},"id":0}"#.to_owned(), "", "schema_column_name"),
            (r#"{"name":"a","data_type":{"type":"DATE"},"id":-2}"#.to_owned(), "", "schema_field_id"),
            (a.to_owned(), r#","highest_field_id":-1"#, "schema_field_id"),
            (a.to_owned(), r#","primary_key":[]"#, "schema_key_column"),
            (a.to_owned(), r#","primary_key":["b"]"#, "schema_key_column"),
            (a.to_owned(), r#","primary_key":["a","a"]"#, "schema_key_column"),
            (row.to_owned(), r#","primary_key":["r"]"#, "schema_key_type"),
            (a.to_owned(), r#","auto_increment_column":["a"]"#, "schema_auto_increment"),
            (a.to_owned(), r#","primary_key":["a"],"auto_increment_column":["a"]"#, "schema_auto_increment"),
            (a.to_owned(), r#","primary_key":["a"],"auto_increment_column":["x"]"#, "schema_key_column"),
            (
                a.to_owned(),
                r#","primary_key":["a"],"auto_increment_column":["x","y"]"#,
                "schema_auto_increment",
            ),
            (
                r#"{"name":"a","data_type":{"type":"DATE"},"agg_function":{"type":"max"},"id":0}"#.to_owned(),
                r#","primary_key":["a"]"#,
                "schema_aggregation",
            ),
        ] {
            let text = format!(r#"{{"version":1,"columns":[{columns}]{rest}}}"#);
            assert_eq!(read(&text).map_err(|error| error.code()), Err(code), "{text}");
        }
        assert_eq!(read(r#"{"version":2,"columns":[]}"#).unwrap_err().code(), "json_version_unknown");
        assert_eq!(read(r#"{"version":1}"#).unwrap_err().to_string(), "columns is missing");
    }
}
