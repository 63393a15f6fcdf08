//! Bytes of key columns: what chooses the bucket, and what identifies a row in the key-value store.
//!
//! Three encodings exist because a table with a lake format must agree with the lake about buckets. Sources:
//! `KeyEncoder` and its classes, 0.9.1. Null and nested values cannot be keys.

use crate::bucket::{BucketError, BucketFunction};
use crate::data_type::DataType;
use crate::row::{Field, RowError, Value, columns, compacted};
use crate::table::{LakeFormat, TableDescriptor, TableError};

mod iceberg;
mod paimon;

/// How the values of key columns become bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyEncoding {
    /// The values as in a compacted row, without null bits.
    Compacted,
    /// A binary row of Paimon.
    Paimon,
    /// A single value of Iceberg; exactly one key column.
    Iceberg,
}

/// Why key values cannot be encoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// A key column is null.
    #[error("key column {position} is null")]
    Null {
        /// Position among the key columns, from 0.
        position: usize,
    },
    /// There is no key column, or more than the encoding takes.
    #[error("this encoding does not take {count} key columns")]
    ColumnCount {
        /// Key columns given.
        count: usize,
    },
    /// A value cannot be encoded.
    #[error("a key column cannot be encoded")]
    Value {
        /// Which and why; positions count the key columns.
        #[source]
        source: RowError,
    },
    /// The table's properties do not tell how keys are encoded.
    #[error("the table does not tell how its keys are encoded")]
    Table {
        /// What is wrong with them.
        #[source]
        source: TableError,
    },
    /// The table's lake format is not supported.
    #[error("keys of the table's lake format are not supported")]
    Lake {
        /// Which.
        #[source]
        source: BucketError,
    },
}

impl KeyError {
    /// Returns the stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Null { .. } => "key_null",
            Self::ColumnCount { .. } => "key_column_count",
            Self::Value { source } => source.code(),
            Self::Table { source } => source.code(),
            Self::Lake { source } => source.code(),
        }
    }
}

impl KeyEncoding {
    /// Encodes the values of the key columns in their declared order.
    ///
    /// # Errors
    /// [`KeyError::Null`], [`KeyError::ColumnCount`] or [`KeyError::Value`].
    pub fn encode(self, types: &[&DataType], values: &[Value]) -> Result<Vec<u8>, KeyError> {
        if values.is_empty() {
            return Err(KeyError::ColumnCount { count: 0 });
        }
        if let Some(position) = values.iter().position(Value::is_null) {
            return Err(KeyError::Null { position });
        }
        let encoded = match self {
            Self::Compacted => encode_compacted(types, values),
            Self::Paimon => paimon::encode(types, values),
            Self::Iceberg => match (types, values) {
                ([data_type], [value]) => iceberg::encode(Field { position: 0, data_type }, value),
                _ => return Err(KeyError::ColumnCount { count: values.len() }),
            },
        };
        encoded.map_err(|source| KeyError::Value { source })
    }

    fn of(lake_format: Option<LakeFormat>) -> Self {
        match lake_format {
            Some(LakeFormat::Paimon) => Self::Paimon,
            Some(LakeFormat::Iceberg) => Self::Iceberg,
            None | Some(LakeFormat::Lance | LakeFormat::Hudi) => Self::Compacted,
        }
    }
}

fn encode_compacted(types: &[&DataType], values: &[Value]) -> Result<Vec<u8>, RowError> {
    let mut key = Vec::new();
    for (field, value) in columns(types, values)? {
        if field.data_type.is_nested() {
            return Err(field.unsupported());
        }
        compacted::write(field, value, &mut key)?;
    }
    Ok(key)
}

/// How the keys of one table are encoded and spread over buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRules {
    /// Encoding of the bucket key columns, from which the bucket is computed.
    pub bucket_key: KeyEncoding,
    /// Encoding of the physical primary key in KV records and lookups.
    pub primary_key: KeyEncoding,
    /// How the bucket is computed.
    pub function: BucketFunction,
}

impl KeyRules {
    /// Returns the rules of a table as the server describes it.
    ///
    /// From kv format version 2 on, a primary key that is longer than the bucket key is always compacted, so
    /// that the bytes of the bucket key are its beginning.
    ///
    /// # Errors
    /// [`KeyError::Table`] or [`KeyError::Lake`].
    pub fn of(table: &TableDescriptor) -> Result<Self, KeyError> {
        let lake_format = table.lake_format().map_err(|source| KeyError::Table { source })?;
        let version = table.kv_format_version().map_err(|source| KeyError::Table { source })?;
        let function = BucketFunction::of(lake_format).map_err(|source| KeyError::Lake { source })?;
        let bucket_key = KeyEncoding::of(lake_format);
        let primary_key =
            if version == 1 || table.has_default_bucket_keys() { bucket_key } else { KeyEncoding::Compacted };
        Ok(Self { bucket_key, primary_key, function })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data_type::TypeKind;
    use crate::schema::Schema;

    fn rules(properties: &[(&str, &str)], bucket_keys: &[&str]) -> Result<KeyRules, KeyError> {
        let int = || DataType::new(TypeKind::Int).unwrap();
        let schema = Schema::builder().column("a", int()).column("b", int()).primary_key(["a", "b"]);
        let mut builder = TableDescriptor::builder(schema.build().unwrap());
        for (key, value) in properties {
            builder = builder.property(*key, *value);
        }
        KeyRules::of(&builder.distributed_by(Some(3), bucket_keys.to_vec()).build().unwrap())
    }

    #[test]
    fn rules_follow_lake_format_version_and_bucket_key() {
        const LAKE: &str = "table.datalake.format";
        const VERSION: &str = "table.kv.format-version";
        use KeyEncoding::{Compacted, Iceberg, Paimon};
        for (properties, bucket_keys, bucket_key, primary_key) in [
            (&[][..], &["a"][..], Compacted, Compacted),
            (&[(LAKE, "LANCE")], &["a"], Compacted, Compacted),
            (&[(LAKE, "PAIMON")], &["a"], Paimon, Paimon),
            (&[(LAKE, "PAIMON"), (VERSION, "2")], &["a"], Paimon, Compacted),
            (&[(LAKE, "PAIMON"), (VERSION, "2")], &[], Paimon, Paimon),
            (&[(LAKE, "ICEBERG"), (VERSION, "2")], &["a"], Iceberg, Compacted),
        ] {
            let rules = rules(properties, bucket_keys).unwrap();
            assert_eq!((rules.bucket_key, rules.primary_key), (bucket_key, primary_key), "{properties:?}");
        }
        assert_eq!(rules(&[(LAKE, "HUDI")], &[]).unwrap_err().code(), "lake_format_unsupported");
        assert_eq!(rules(&[(LAKE, "X")], &[]).unwrap_err().code(), "table_property");
        assert_eq!(rules(&[(VERSION, "3")], &[]).unwrap_err().code(), "table_property");
    }

    #[test]
    fn bucket_key_bytes_begin_the_primary_key_when_compacted() {
        let int = DataType::new(TypeKind::Int).unwrap();
        let text = DataType::new(TypeKind::String).unwrap();
        let values = [Value::Int(300), Value::String("é".into())];
        let key = KeyEncoding::Compacted.encode(&[&int, &text], &values).unwrap();
        assert!(key.starts_with(&KeyEncoding::Compacted.encode(&[&int], &values[..1]).unwrap()));
    }

    #[test]
    fn values_that_cannot_be_keys_are_refused() {
        let int = DataType::new(TypeKind::Int).unwrap();
        let array = DataType::new(TypeKind::Array(Box::new(int.clone()))).unwrap();
        for encoding in [KeyEncoding::Compacted, KeyEncoding::Paimon, KeyEncoding::Iceberg] {
            let code =
                |types: &[&DataType], values: &[Value]| encoding.encode(types, values).unwrap_err().code();
            assert_eq!(code(&[&int], &[Value::Null]), "key_null");
            assert_eq!(code(&[&int], &[Value::BigInt(1)]), "row_value_type");
            assert_eq!(code(&[&array], &[Value::Int(1)]), "row_type_unsupported");
            assert_eq!(code(&[], &[]), "key_column_count");
        }
        let two = [Value::Int(1), Value::Int(2)];
        assert_eq!(KeyEncoding::Iceberg.encode(&[&int, &int], &two).unwrap_err().code(), "key_column_count");
        assert_eq!(KeyEncoding::Paimon.encode(&[&int], &two).unwrap_err().code(), "row_arity");
        let boolean = DataType::new(TypeKind::Boolean).unwrap();
        let error = KeyEncoding::Iceberg.encode(&[&boolean], &[Value::Boolean(true)]).unwrap_err();
        assert_eq!(error.code(), "row_type_unsupported");
    }
}
