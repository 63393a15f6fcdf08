//! Key bytes as a binary row of Paimon.
//!
//! The fixed part holds null bits after one byte for the row kind, in whole words of 8 bytes, then one slot of
//! 8 bytes per column; what does not fit a slot follows, in steps of 8 bytes. Everything is little-endian but
//! the digits of large decimals.
//!
//! | type | slot |
//! |---|---|
//! | BOOLEAN to BIGINT, FLOAT, DOUBLE, DATE, TIME | the value, then 0 |
//! | CHAR, STRING, BINARY, BYTES of 7 bytes or fewer | the bytes; the last byte is `0x80` + length |
//! | longer ones | offset and length of the bytes in the variable part |
//! | DECIMAL to precision 18, TIMESTAMP to precision 3 | 8 bytes |
//! | larger DECIMAL | offset and length; 16 bytes are kept in the variable part |
//! | finer TIMESTAMP | offset of the milliseconds and the nanoseconds of the millisecond |
//!
//! Source: `PaimonKeyEncoder` and `PaimonBinaryRowWriter`, 0.9.1.

use crate::data_type::{DataType, TypeKind};
use crate::row::{
    Field, MAX_COMPACT_DECIMAL_PRECISION, MAX_COMPACT_TIMESTAMP_PRECISION, RowError, Value, columns,
};

const WORD: usize = 8;
const ROW_KIND_BITS: usize = 8;
const LARGE_DECIMAL_BYTES: usize = 16;
const SHORT_BYTES: usize = 7;
const SHORT_MARK: u8 = 0x80;

pub(super) fn encode(types: &[&DataType], values: &[Value]) -> Result<Vec<u8>, RowError> {
    let null_bits = (values.len() + ROW_KIND_BITS).div_ceil(WORD * 8) * WORD;
    let fixed = null_bits + values.len() * WORD;
    let mut row = vec![0; null_bits];
    let mut variable = Vec::new();
    for (field, value) in columns(types, values)? {
        row.extend(slot(field, value, fixed, &mut variable)?);
    }
    row.extend(variable);
    Ok(row)
}

fn slot(
    field: Field<'_>,
    value: &Value,
    fixed: usize,
    variable: &mut Vec<u8>,
) -> Result<[u8; WORD], RowError> {
    if field.data_type.is_nested() {
        return Err(field.unsupported());
    }
    field.check_range(value)?;
    match (field.kind(), value) {
        (TypeKind::Boolean, Value::Boolean(value)) => Ok(inline(&[u8::from(*value)])),
        (TypeKind::TinyInt, Value::TinyInt(value)) => Ok(inline(&value.to_le_bytes())),
        (TypeKind::SmallInt, Value::SmallInt(value)) => Ok(inline(&value.to_le_bytes())),
        (TypeKind::Int, Value::Int(value))
        | (TypeKind::Date, Value::Date(value))
        | (TypeKind::Time { .. }, Value::Time(value)) => Ok(inline(&value.to_le_bytes())),
        (TypeKind::BigInt, Value::BigInt(value)) => Ok(value.to_le_bytes()),
        (TypeKind::Float, Value::Float(value)) => Ok(inline(&value.to_le_bytes())),
        (TypeKind::Double, Value::Double(value)) => Ok(value.to_le_bytes()),
        (TypeKind::Char { .. } | TypeKind::String, Value::String(text)) => {
            bytes_slot(field, text.as_bytes(), fixed, variable)
        }
        (TypeKind::Binary { .. } | TypeKind::Bytes, Value::Bytes(bytes)) => {
            bytes_slot(field, bytes, fixed, variable)
        }
        (TypeKind::Decimal { precision, .. }, Value::Decimal(decimal)) => {
            if *precision <= MAX_COMPACT_DECIMAL_PRECISION {
                let unscaled = i64::try_from(decimal.unscaled).map_err(|_| field.out_of_range())?;
                return Ok(unscaled.to_le_bytes());
            }
            let bytes = decimal.to_minimal_bytes();
            let length = u32::try_from(bytes.len()).map_err(|_| field.out_of_range())?;
            let slot = reference(field, fixed + variable.len(), length)?;
            let end = variable.len() + LARGE_DECIMAL_BYTES;
            variable.extend(bytes);
            variable.resize(end, 0);
            Ok(slot)
        }
        (TypeKind::Timestamp { precision }, Value::Timestamp(timestamp))
        | (TypeKind::TimestampLtz { precision }, Value::TimestampLtz(timestamp)) => {
            if *precision <= MAX_COMPACT_TIMESTAMP_PRECISION {
                return Ok(timestamp.millis.to_le_bytes());
            }
            let slot = reference(field, fixed + variable.len(), timestamp.nanos_of_milli)?;
            variable.extend(timestamp.millis.to_le_bytes());
            Ok(slot)
        }
        _ => Err(field.mismatch(value)),
    }
}

fn inline(bytes: &[u8]) -> [u8; WORD] {
    let mut slot = [0; WORD];
    for (target, byte) in slot.iter_mut().zip(bytes) {
        *target = *byte;
    }
    slot
}

fn bytes_slot(
    field: Field<'_>,
    bytes: &[u8],
    fixed: usize,
    variable: &mut Vec<u8>,
) -> Result<[u8; WORD], RowError> {
    let length = u32::try_from(bytes.len()).map_err(|_| field.out_of_range())?;
    if bytes.len() <= SHORT_BYTES {
        let mut slot = inline(bytes);
        let [length, ..] = length.to_le_bytes();
        if let Some(last) = slot.last_mut() {
            *last = SHORT_MARK | length;
        }
        return Ok(slot);
    }
    let slot = reference(field, fixed + variable.len(), length)?;
    variable.extend_from_slice(bytes);
    variable.resize(variable.len().next_multiple_of(WORD), 0);
    Ok(slot)
}

/// Makes the slot `offset << 32 | low`.
fn reference(field: Field<'_>, offset: usize, low: u32) -> Result<[u8; WORD], RowError> {
    let offset = i32::try_from(offset).map_err(|_| field.out_of_range())?;
    let slot = u64::from(offset.cast_unsigned()) << 32 | u64::from(low);
    Ok(slot.to_le_bytes())
}
