//! Description of a table: schema, partition keys, buckets, properties, and their JSON form.
//!
//! Sources: `TableDescriptor`, `TableDescriptorJsonSerde` and `ConfigOptions`, 0.9.1. Properties are strings
//! and kept as they are; the few that decide how keys and rows are written have typed readers here.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use crate::json::{JsonError, Node, parse, strings, versioned};
use crate::properties::Properties;
use crate::schema::Schema;

/// Property that names the lake format, which decides how keys are written even while the lake is off.
pub const DATALAKE_FORMAT: &str = "table.datalake.format";
/// Property that names the format of rows in the key-value store.
pub const KV_FORMAT: &str = "table.kv.format";
/// Property that holds the version of the key rules; absent means 1.
pub const KV_FORMAT_VERSION: &str = "table.kv.format-version";
/// Property that names the format of the log.
pub const LOG_FORMAT: &str = "table.log.format";

/// Property that names the compression of Arrow logs; absent means ZSTD.
pub const LOG_ARROW_COMPRESSION: &str = "table.log.arrow.compression.type";
/// Property that holds the level of ZSTD, from 1 to 22; absent means 3.
pub const LOG_ARROW_ZSTD_LEVEL: &str = "table.log.arrow.compression.zstd.level";

/// Column names that Fluss keeps for its own views.
pub const RESERVED_COLUMNS: [&str; 6] =
    ["__offset", "__timestamp", "__bucket", "_change_type", "_log_offset", "_commit_timestamp"];

/// Kind of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableKind {
    /// Rows are appended.
    Log,
    /// Rows are inserted, updated and deleted by primary key.
    PrimaryKey,
}

/// Format of the lake a table is tiered to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LakeFormat {
    /// Apache Paimon.
    Paimon,
    /// Lance.
    Lance,
    /// Apache Iceberg.
    Iceberg,
    /// Apache Hudi; only on main.
    Hudi,
}

/// Format of rows in the key-value store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KvFormat {
    /// See [`crate::row::compacted`].
    Compacted,
    /// See [`crate::row::indexed`].
    Indexed,
}

/// Compression of the buffers of Arrow batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArrowCompression {
    /// None.
    None,
    /// LZ4 frames.
    Lz4Frame,
    /// Zstandard.
    Zstd {
        /// From 1 to 22.
        level: i32,
    },
}

const MAX_ZSTD_LEVEL: i32 = 22;
const DEFAULT_ZSTD_LEVEL: i32 = 3;

/// Format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogFormat {
    /// Columns, as Arrow record batches.
    Arrow,
    /// Rows, as in [`crate::row::indexed`].
    Indexed,
    /// Rows, as in [`crate::row::compacted`].
    Compacted,
}

/// How rows are spread over buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// Columns whose values choose the bucket, as declared; see [`TableDescriptor::bucket_keys`].
    pub bucket_keys: Vec<String>,
    /// Buckets of the table, or of each partition; absent until the server has set it.
    pub bucket_count: Option<u32>,
}

/// Everything a table is declared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDescriptor {
    schema: Schema,
    comment: Option<String>,
    partition_keys: Vec<String>,
    distribution: Option<Distribution>,
    properties: Properties,
    custom_properties: Properties,
}

/// Why the parts of a table do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// A partition or bucket key names a column that does not exist.
    #[error("the key column {name:?} does not exist")]
    UnknownColumn {
        /// The name.
        name: String,
    },
    /// A partition or bucket key names a column twice.
    #[error("the keys name the column {name:?} twice")]
    DuplicateColumn {
        /// The name.
        name: String,
    },
    /// A partition or bucket key is an ARRAY, MAP or ROW.
    #[error("the column {name:?} cannot be a key because of its type")]
    KeyType {
        /// The name.
        name: String,
    },
    /// A partition key of a primary key table is not part of the primary key.
    #[error("the partition key {name:?} is not part of the primary key")]
    PartitionKeyOutsidePrimaryKey {
        /// The name.
        name: String,
    },
    /// A bucket key is also a partition key.
    #[error("the bucket key {name:?} is a partition key")]
    BucketKeyIsPartitionKey {
        /// The name.
        name: String,
    },
    /// A bucket key of a primary key table is not part of the primary key.
    #[error("the bucket key {name:?} is not part of the primary key")]
    BucketKeyOutsidePrimaryKey {
        /// The name.
        name: String,
    },
    /// The primary key consists of partition keys only.
    #[error("the primary key needs a column that is not a partition key")]
    EmptyPhysicalPrimaryKey,
    /// The bucket count is 0 or above 2^31 − 1.
    #[error("a table cannot have {count} buckets")]
    BucketCount {
        /// The count.
        count: u32,
    },
    /// A property that decides a format has a value unknown here.
    #[error("the property {key} has the unknown value {value:?}")]
    Property {
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
    },
    /// A column to be created has a reserved name.
    #[error("the column name {name:?} is reserved")]
    ReservedColumn {
        /// The name.
        name: String,
    },
}

impl TableError {
    /// Returns the stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownColumn { .. } | Self::DuplicateColumn { .. } | Self::KeyType { .. } => {
                "table_key_column"
            }
            Self::PartitionKeyOutsidePrimaryKey { .. } => "table_partition_key",
            Self::BucketKeyIsPartitionKey { .. } | Self::BucketKeyOutsidePrimaryKey { .. } => {
                "table_bucket_key"
            }
            Self::EmptyPhysicalPrimaryKey => "table_primary_key",
            Self::BucketCount { .. } => "table_bucket_count",
            Self::Property { .. } => "table_property",
            Self::ReservedColumn { .. } => "table_column_reserved",
        }
    }
}

impl TableDescriptor {
    /// Starts a table with a schema.
    pub fn builder(schema: Schema) -> TableBuilder {
        TableBuilder(Self {
            schema,
            comment: None,
            partition_keys: Vec::new(),
            distribution: None,
            properties: Properties::new(),
            custom_properties: Properties::new(),
        })
    }

    /// Returns the schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the comment of the table.
    pub fn comment(&self) -> Option<&str> {
        self.comment.as_deref()
    }

    /// Returns the names of the partition keys in their order; empty if the table is not partitioned.
    pub fn partition_keys(&self) -> &[String] {
        &self.partition_keys
    }

    /// Returns the distribution as declared.
    pub fn distribution(&self) -> Option<&Distribution> {
        self.distribution.as_ref()
    }

    /// Returns the properties with a meaning to Fluss; all begin with `table.`.
    pub fn properties(&self) -> &Properties {
        &self.properties
    }

    /// Returns the properties that users give a meaning.
    pub fn custom_properties(&self) -> &Properties {
        &self.custom_properties
    }

    /// Returns whether the table has a primary key or is a log.
    pub fn kind(&self) -> TableKind {
        if self.schema.has_primary_key() { TableKind::PrimaryKey } else { TableKind::Log }
    }

    /// Tells whether the table has partition keys.
    pub fn is_partitioned(&self) -> bool {
        !self.partition_keys.is_empty()
    }

    /// Returns the buckets of the table, or of each partition, once the server has set them.
    pub fn bucket_count(&self) -> Option<u32> {
        self.distribution.as_ref().and_then(|distribution| distribution.bucket_count)
    }

    /// Returns the primary key without the partition keys, in its order; empty for a log table.
    pub fn physical_primary_key(&self) -> Vec<&str> {
        let partition_keys: BTreeSet<&str> = self.partition_keys.iter().map(String::as_str).collect();
        let names = self.schema.primary_key().iter().map(String::as_str);
        names.filter(|name| !partition_keys.contains(name)).collect()
    }

    /// Returns the columns whose values choose the bucket: those declared or, in a primary key table without
    /// any, the physical primary key. A log table without any spreads its rows freely.
    pub fn bucket_keys(&self) -> Vec<&str> {
        match &self.distribution {
            Some(distribution) if !distribution.bucket_keys.is_empty() => {
                distribution.bucket_keys.iter().map(String::as_str).collect()
            }
            _ => self.physical_primary_key(),
        }
    }

    /// Tells whether the bucket keys are what they would be without a declaration.
    pub fn has_default_bucket_keys(&self) -> bool {
        self.bucket_keys() == self.physical_primary_key()
    }

    /// Returns the lake format, which the server sets even if tiering is off.
    ///
    /// # Errors
    /// [`TableError::Property`] for a format unknown here.
    pub fn lake_format(&self) -> Result<Option<LakeFormat>, TableError> {
        self.enumeration(DATALAKE_FORMAT, |name| match name {
            "PAIMON" => Some(LakeFormat::Paimon),
            "LANCE" => Some(LakeFormat::Lance),
            "ICEBERG" => Some(LakeFormat::Iceberg),
            "HUDI" => Some(LakeFormat::Hudi),
            _ => None,
        })
    }

    /// Returns the format of rows in the key-value store.
    ///
    /// # Errors
    /// [`TableError::Property`] for a format unknown here.
    pub fn kv_format(&self) -> Result<KvFormat, TableError> {
        let format = self.enumeration(KV_FORMAT, |name| match name {
            "COMPACTED" => Some(KvFormat::Compacted),
            "INDEXED" => Some(KvFormat::Indexed),
            _ => None,
        });
        Ok(format?.unwrap_or(KvFormat::Compacted))
    }

    /// Returns the version of the key rules: 1 or 2.
    ///
    /// # Errors
    /// [`TableError::Property`] for a version unknown here.
    pub fn kv_format_version(&self) -> Result<u8, TableError> {
        let version = self.enumeration(KV_FORMAT_VERSION, |name| match name {
            "1" => Some(1),
            "2" => Some(2),
            _ => None,
        });
        Ok(version?.unwrap_or(1))
    }

    /// Returns the format of the log.
    ///
    /// # Errors
    /// [`TableError::Property`] for a format unknown here.
    pub fn log_format(&self) -> Result<LogFormat, TableError> {
        let format = self.enumeration(LOG_FORMAT, |name| match name {
            "ARROW" => Some(LogFormat::Arrow),
            "INDEXED" => Some(LogFormat::Indexed),
            "COMPACTED" => Some(LogFormat::Compacted),
            _ => None,
        });
        Ok(format?.unwrap_or(LogFormat::Arrow))
    }

    /// Returns the compression in which batches of an Arrow log must be written.
    ///
    /// A server takes any, but readers that let it project columns cannot read what has another.
    ///
    /// # Errors
    /// [`TableError::Property`] for a type or level unknown here.
    pub fn arrow_compression(&self) -> Result<ArrowCompression, TableError> {
        let level = self.enumeration(LOG_ARROW_ZSTD_LEVEL, |text| {
            text.parse().ok().filter(|level| (1..=MAX_ZSTD_LEVEL).contains(level))
        })?;
        let zstd = ArrowCompression::Zstd { level: level.unwrap_or(DEFAULT_ZSTD_LEVEL) };
        let compression = self.enumeration(LOG_ARROW_COMPRESSION, |name| match name {
            "NONE" => Some(ArrowCompression::None),
            "LZ4_FRAME" => Some(ArrowCompression::Lz4Frame),
            "ZSTD" => Some(zstd),
            _ => None,
        });
        Ok(compression?.unwrap_or(zstd))
    }

    /// Checks what only matters when the table is to be created: no column has a reserved name.
    ///
    /// # Errors
    /// [`TableError::ReservedColumn`].
    pub fn validate_new(&self) -> Result<(), TableError> {
        let mut names = self.schema.columns().iter().map(|column| column.name.as_str());
        match names.find(|name| RESERVED_COLUMNS.contains(name)) {
            Some(name) => Err(TableError::ReservedColumn { name: name.to_owned() }),
            None => Ok(()),
        }
    }

    /// Reads the JSON form of a table.
    ///
    /// # Errors
    /// [`JsonError`] names the place and the fault.
    pub fn from_json(text: &[u8]) -> Result<Self, JsonError> {
        let value = parse(text)?;
        let node = Node::root(&value);
        node.check_version()?;
        let texts = |key| match node.optional(key)? {
            Some(names) => names.texts().map(Some),
            None => Ok(None),
        };
        let properties = |key| match node.optional(key)? {
            Some(properties) => Properties::from_node(&properties),
            None => Ok(Properties::new()),
        };
        let bucket_count = match node.optional("bucket_count")? {
            Some(count) => Some(count.integer::<u32>()?),
            None => None,
        };
        let distribution = match texts("bucket_key")? {
            Some(bucket_keys) => Some(Distribution { bucket_keys, bucket_count }),
            None if bucket_count.is_some() => {
                return Err(JsonError::Missing { path: "bucket_key".to_owned() });
            }
            None => None,
        };
        let comment = match node.optional("comment")? {
            Some(comment) => Some(comment.text()?.to_owned()),
            None => None,
        };
        let table = Self {
            schema: Schema::from_node(&node.required("schema")?)?,
            comment,
            partition_keys: texts("partition_key")?.unwrap_or_default(),
            distribution,
            properties: properties("properties")?,
            custom_properties: properties("custom_properties")?,
        };
        table.validate().map_err(|source| JsonError::Table { path: node.path(), source })?;
        Ok(table)
    }

    /// Writes the JSON form with the keys in Fluss's order.
    pub fn to_json(&self) -> String {
        let mut map = versioned();
        map.insert("schema".to_owned(), self.schema.to_value());
        if let Some(comment) = &self.comment {
            map.insert("comment".to_owned(), Value::from(comment.as_str()));
        }
        map.insert("partition_key".to_owned(), strings(&self.partition_keys));
        if let Some(distribution) = &self.distribution {
            map.insert("bucket_key".to_owned(), strings(&distribution.bucket_keys));
            if let Some(count) = distribution.bucket_count {
                map.insert("bucket_count".to_owned(), Value::from(count));
            }
        }
        map.insert("properties".to_owned(), self.properties.to_value());
        map.insert("custom_properties".to_owned(), self.custom_properties.to_value());
        Value::Object(map).to_string()
    }

    fn enumeration<T>(
        &self,
        key: &'static str,
        of_name: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, TableError> {
        let Some(value) = self.properties.get(key) else { return Ok(None) };
        match of_name(&value.to_ascii_uppercase()) {
            Some(known) => Ok(Some(known)),
            None => Err(TableError::Property { key, value: value.to_owned() }),
        }
    }

    fn validate(&self) -> Result<(), TableError> {
        let primary_key: BTreeSet<&str> = self.schema.primary_key().iter().map(String::as_str).collect();
        let partition_keys = self.check_key_columns(&self.partition_keys)?;
        if self.schema.has_primary_key() {
            if let Some(name) = partition_keys.iter().find(|name| !primary_key.contains(**name)) {
                return Err(TableError::PartitionKeyOutsidePrimaryKey { name: (*name).to_owned() });
            }
            if self.physical_primary_key().is_empty() {
                return Err(TableError::EmptyPhysicalPrimaryKey);
            }
        }
        let Some(distribution) = &self.distribution else { return Ok(()) };
        for name in self.check_key_columns(&distribution.bucket_keys)? {
            if partition_keys.contains(name) {
                return Err(TableError::BucketKeyIsPartitionKey { name: name.to_owned() });
            }
            if self.schema.has_primary_key() && !primary_key.contains(name) {
                return Err(TableError::BucketKeyOutsidePrimaryKey { name: name.to_owned() });
            }
        }
        match distribution.bucket_count {
            Some(count) if count == 0 || i32::try_from(count).is_err() => {
                Err(TableError::BucketCount { count })
            }
            _ => Ok(()),
        }
    }

    fn check_key_columns<'a>(&self, names: &'a [String]) -> Result<BTreeSet<&'a str>, TableError> {
        let mut seen = BTreeSet::new();
        for name in names {
            if !seen.insert(name.as_str()) {
                return Err(TableError::DuplicateColumn { name: name.clone() });
            }
        }
        let mut missing = seen.clone();
        for column in self.schema.columns() {
            if missing.remove(column.name.as_str()) && column.data_type.is_nested() {
                return Err(TableError::KeyType { name: column.name.clone() });
            }
        }
        match missing.first() {
            Some(name) => Err(TableError::UnknownColumn { name: (*name).to_owned() }),
            None => Ok(seen),
        }
    }
}

/// Collects the parts of a new table.
#[derive(Clone, Debug)]
pub struct TableBuilder(TableDescriptor);

impl TableBuilder {
    /// Sets the comment.
    #[must_use]
    pub fn comment(mut self, comment: impl Into<String>) -> Self {
        self.0.comment = Some(comment.into());
        self
    }

    /// Sets the partition keys.
    #[must_use]
    pub fn partitioned_by<S: Into<String>>(mut self, keys: impl IntoIterator<Item = S>) -> Self {
        self.0.partition_keys = keys.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the bucket keys, maybe none, and the bucket count, or leaves it to the server.
    #[must_use]
    pub fn distributed_by<S: Into<String>>(
        mut self,
        bucket_count: Option<u32>,
        keys: impl IntoIterator<Item = S>,
    ) -> Self {
        let bucket_keys = keys.into_iter().map(Into::into).collect();
        self.0.distribution = Some(Distribution { bucket_keys, bucket_count });
        self
    }

    /// Sets a property with a meaning to Fluss.
    #[must_use]
    pub fn property(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.properties.insert(key, value);
        self
    }

    /// Sets a property that users give a meaning.
    #[must_use]
    pub fn custom_property(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.custom_properties.insert(key, value);
        self
    }

    /// Checks that the parts fit together.
    ///
    /// # Errors
    /// [`TableError`] names the rule that is broken.
    pub fn build(self) -> Result<TableDescriptor, TableError> {
        self.0.validate()?;
        Ok(self.0)
    }
}

impl fmt::Display for TableKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Log => "log",
            Self::PrimaryKey => "primary key",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data_type::{DataType, TypeKind};

    fn schema(primary_key: &[&str]) -> Schema {
        let of = |kind| DataType::new(kind).unwrap();
        let builder = Schema::builder()
            .column("a", of(TypeKind::Int))
            .column("b", of(TypeKind::String))
            .column("c", of(TypeKind::String))
            .column("n", of(TypeKind::Array(Box::new(of(TypeKind::Int)))));
        let builder =
            if primary_key.is_empty() { builder } else { builder.primary_key(primary_key.to_vec()) };
        builder.build().unwrap()
    }

    #[test]
    fn compression_is_zstd_unless_said_otherwise() {
        let of = |properties: &[(&str, &str)]| {
            let builder = TableDescriptor::builder(schema(&[]));
            let table =
                properties.iter().fold(builder, |builder, (key, value)| builder.property(*key, *value));
            table.build().unwrap().arrow_compression()
        };
        assert_eq!(of(&[]), Ok(ArrowCompression::Zstd { level: 3 }));
        assert_eq!(of(&[(LOG_ARROW_ZSTD_LEVEL, "22")]), Ok(ArrowCompression::Zstd { level: 22 }));
        assert_eq!(of(&[(LOG_ARROW_COMPRESSION, "none")]), Ok(ArrowCompression::None));
        assert_eq!(of(&[(LOG_ARROW_COMPRESSION, "LZ4_FRAME")]), Ok(ArrowCompression::Lz4Frame));
        assert!(
            of(&[(LOG_ARROW_ZSTD_LEVEL, "23")]).is_err() && of(&[(LOG_ARROW_COMPRESSION, "GZIP")]).is_err()
        );
    }

    #[test]
    fn keys_of_a_partitioned_primary_key_table() {
        let table = TableDescriptor::builder(schema(&["c", "a", "b"])).partitioned_by(["c"]).build().unwrap();
        assert_eq!(table.kind(), TableKind::PrimaryKey);
        assert!(table.is_partitioned() && table.has_default_bucket_keys());
        assert_eq!(table.physical_primary_key(), ["a", "b"]);
        assert_eq!(table.bucket_keys(), ["a", "b"]);
        let table = TableDescriptor::builder(schema(&["c", "a", "b"]))
            .partitioned_by(["c"])
            .distributed_by(Some(3), ["b"])
            .build()
            .unwrap();
        assert_eq!((table.bucket_keys(), table.bucket_count()), (vec!["b"], Some(3)));
        assert!(!table.has_default_bucket_keys());
    }

    #[test]
    fn log_table_without_bucket_key_has_none() {
        let table = TableDescriptor::builder(schema(&[])).build().unwrap();
        assert_eq!(table.kind(), TableKind::Log);
        assert!(table.bucket_keys().is_empty() && table.has_default_bucket_keys());
        assert_eq!(table.bucket_count(), None);
    }

    #[test]
    fn formats_come_from_properties() {
        let table = TableDescriptor::builder(schema(&["a"])).build().unwrap();
        assert_eq!(table.lake_format(), Ok(None));
        assert_eq!(table.kv_format(), Ok(KvFormat::Compacted));
        assert_eq!(table.kv_format_version(), Ok(1));
        assert_eq!(table.log_format(), Ok(LogFormat::Arrow));
        let table = TableDescriptor::builder(schema(&["a"]))
            .property(DATALAKE_FORMAT, "paimon")
            .property(KV_FORMAT, "INDEXED")
            .property(KV_FORMAT_VERSION, "2")
            .property(LOG_FORMAT, "parquet")
            .build()
            .unwrap();
        assert_eq!(table.lake_format(), Ok(Some(LakeFormat::Paimon)));
        assert_eq!(table.kv_format(), Ok(KvFormat::Indexed));
        assert_eq!(table.kv_format_version(), Ok(2));
        assert_eq!(table.log_format().unwrap_err().code(), "table_property");
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        type Parts<'a> = (&'a [&'a str], &'a [&'a str], Option<u32>, &'a [&'a str], &'a str);
        let cases: [Parts<'_>; 9] = [
            (&[], &["x"], None, &[], "table_key_column"),
            (&[], &["a", "a"], None, &[], "table_key_column"),
            (&[], &["n"], None, &[], "table_key_column"),
            (&[], &[], None, &["x"], "table_key_column"),
            (&["a"], &["b"], None, &[], "table_partition_key"),
            (&[], &["a"], None, &["a"], "table_bucket_key"),
            (&["a"], &[], None, &["b"], "table_bucket_key"),
            (&["a"], &["a"], None, &[], "table_primary_key"),
            (&[], &[], Some(0), &[], "table_bucket_count"),
        ];
        for (primary_key, partition_keys, bucket_count, bucket_keys, code) in cases {
            let table = TableDescriptor::builder(schema(primary_key))
                .partitioned_by(partition_keys.to_vec())
                .distributed_by(bucket_count, bucket_keys.to_vec())
                .build();
            assert_eq!(table.unwrap_err().code(), code);
        }
    }

    #[test]
    fn json_keeps_what_is_unknown_and_names_faults() {
        let schema = r#"{"version":1,"columns":[{"name":"a","data_type":{"type":"DATE"},"id":0}],"highest_field_id":0}"#;
        let text = format!(
            r#"{{"version":1,"schema":{schema},"partition_key":["a"],"bucket_key":[],"properties":{{"table.z":"1","table.a":"2"}},"custom_properties":{{"x":"y"}}}}"#
        );
        assert_eq!(TableDescriptor::from_json(text.as_bytes()).unwrap().to_json(), text);
        for (from, to, message) in [
            ("\"a\"]", "7]", "partition_key[0] is a number but must be a string"),
            ("\"DATE\"", "\"DAY\"", "schema.columns[0].data_type.type is not a valid data type"),
            ("\"bucket_key\":[]", "\"bucket_count\":1", "bucket_key is missing"),
            ("\"bucket_key\":[]", "\"bucket_key\":[\"a\"]", "$ is not a valid table"),
            ("\"y\"", "true", "custom_properties.x is a boolean but must be a string"),
        ] {
            let error = TableDescriptor::from_json(text.replace(from, to).as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn new_table_cannot_use_reserved_column_names() {
        let schema = |name: &str| {
            Schema::builder().column(name, DataType::new(TypeKind::Int).unwrap()).build().unwrap()
        };
        let table = TableDescriptor::builder(schema("_change_type")).build().unwrap();
        assert_eq!(table.validate_new().unwrap_err().code(), "table_column_reserved");
        assert_eq!(TableDescriptor::builder(schema("change")).build().unwrap().validate_new(), Ok(()));
    }
}
