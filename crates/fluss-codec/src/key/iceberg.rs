//! Key bytes as Iceberg's single-value form has them, before its bucket transform.
//!
//! | type | bytes |
//! |---|---|
//! | INT, DATE, BIGINT | 8, little-endian |
//! | TIME | 8, little-endian microseconds |
//! | TIMESTAMP | 8, little-endian microseconds, rounded down |
//! | DECIMAL | shortest big-endian two's complement |
//! | CHAR, STRING, BINARY, BYTES | as they are |
//! | FLOAT, DOUBLE | 4 or 8, little-endian |
//!
//! BOOLEAN, TINYINT, SMALLINT and TIMESTAMP_LTZ have no form. Source: `IcebergKeyEncoder` and
//! `IcebergBinaryRowWriter`, 0.9.1.

use crate::data_type::TypeKind;
use crate::row::{Field, RowError, Value};

pub(super) fn encode(field: Field<'_>, value: &Value) -> Result<Vec<u8>, RowError> {
    let unsupported = field.data_type.is_nested()
        || matches!(
            field.kind(),
            TypeKind::Boolean | TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::TimestampLtz { .. }
        );
    if unsupported {
        return Err(field.unsupported());
    }
    field.check_range(value)?;
    Ok(match (field.kind(), value) {
        (TypeKind::Int, Value::Int(value)) | (TypeKind::Date, Value::Date(value)) => {
            i64::from(*value).to_le_bytes().to_vec()
        }
        (TypeKind::BigInt, Value::BigInt(value)) => value.to_le_bytes().to_vec(),
        (TypeKind::Time { .. }, Value::Time(millis)) => (i64::from(*millis) * 1000).to_le_bytes().to_vec(),
        (TypeKind::Timestamp { .. }, Value::Timestamp(timestamp)) => {
            let micros = timestamp.millis.checked_mul(1000).ok_or_else(|| field.out_of_range())?;
            let micros = micros.checked_add(i64::from(timestamp.nanos_of_milli / 1000));
            micros.ok_or_else(|| field.out_of_range())?.to_le_bytes().to_vec()
        }
        (TypeKind::Decimal { .. }, Value::Decimal(decimal)) => decimal.to_minimal_bytes(),
        (TypeKind::Char { .. } | TypeKind::String, Value::String(text)) => text.as_bytes().to_vec(),
        (TypeKind::Binary { .. } | TypeKind::Bytes, Value::Bytes(bytes)) => bytes.to_vec(),
        (TypeKind::Float, Value::Float(value)) => value.to_le_bytes().to_vec(),
        (TypeKind::Double, Value::Double(value)) => value.to_le_bytes().to_vec(),
        _ => return Err(field.mismatch(value)),
    })
}
