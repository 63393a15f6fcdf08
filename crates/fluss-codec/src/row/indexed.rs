//! INDEXED rows: null bits, lengths of the values of variable length, then the values that are not null.
//!
//! The lengths are `i32`. Room is kept for every column of variable length (STRING, BYTES, DECIMAL above
//! precision 18, ARRAY, MAP, ROW), but only the values that are not null fill it, from the front; what is left stays 0.
//!
//! | type | bytes |
//! |---|---|
//! | BOOLEAN, TINYINT | 1 |
//! | SMALLINT, INT, BIGINT, DATE, TIME, FLOAT, DOUBLE | 2, 4 or 8, little-endian |
//! | CHAR(n), BINARY(n) | n, padded with 0 |
//! | STRING, BYTES | as listed |
//! | DECIMAL to precision 18 | 8, little-endian |
//! | larger DECIMAL | as listed, shortest big-endian two's complement |
//! | TIMESTAMP to precision 3 | 8, milliseconds |
//! | finer TIMESTAMP | 12, milliseconds and nanoseconds of the millisecond |
//! | ARRAY, MAP | as listed, binary array or map |
//! | ROW | as listed, indexed row |
//!
//! Source: `IndexedRowWriter` and `IndexedRowReader`, 0.9.1. The zeros at the end of a CHAR are padding and
//! are cut when it is read; those of a BINARY are kept, unlike in Java, because they may be part of the value.

use bytes::Bytes;

use super::{
    Field, MAX_COMPACT_DECIMAL_PRECISION, MAX_COMPACT_TIMESTAMP_PRECISION, RowError, RowFormat, Value,
    is_null, nested, write_null_bits,
};
use crate::data_type::{DataType, TypeKind};

/// Longest CHAR or BINARY that is padded when a row is encoded: 64 MiB. No server takes a larger record.
pub const MAX_PADDED_BYTES: usize = 64 * 1024 * 1024;

const LENGTH_BYTES: usize = 4;

/// Encodes a row whose values fit the types of its columns.
///
/// # Errors
/// [`RowError::Arity`], [`RowError::TypeMismatch`], [`RowError::OutOfRange`] or [`RowError::UnsupportedType`].
pub fn encode(types: &[&DataType], values: &[Value]) -> Result<Vec<u8>, RowError> {
    RowFormat::Indexed.encode(types, values)
}

/// Decodes a row that takes up all of `row`; byte values share its memory.
///
/// # Errors
/// [`RowError::Truncated`], [`RowError::Invalid`] or [`RowError::Trailing`].
pub fn decode(types: &[&DataType], row: &Bytes) -> Result<Vec<Value>, RowError> {
    RowFormat::Indexed.decode(types, row)
}

pub(super) fn write_row<'a>(
    columns: impl ExactSizeIterator<Item = (Field<'a>, &'a Value)> + Clone,
    output: &mut Vec<u8>,
) -> Result<(), RowError> {
    write_null_bits(columns.clone(), output);
    let mut next_length = output.len();
    let variable = columns.clone().filter(|(field, _)| is_variable(field.kind())).count();
    output.resize(output.len() + variable * LENGTH_BYTES, 0);
    for (field, value) in columns {
        if value.is_null() {
            continue;
        }
        let start = output.len();
        write(field, value, output)?;
        if is_variable(field.kind()) {
            let length = i32::try_from(output.len() - start).map_err(|_| field.out_of_range())?;
            let slot = output.get_mut(next_length..next_length + LENGTH_BYTES);
            slot.ok_or_else(|| field.out_of_range())?.copy_from_slice(&length.to_le_bytes());
            next_length += LENGTH_BYTES;
        }
    }
    Ok(())
}

pub(super) fn read_row<'a>(
    columns: impl ExactSizeIterator<Item = Field<'a>> + Clone,
    row: Bytes,
) -> Result<Vec<Value>, RowError> {
    let bits_length = columns.len().div_ceil(8);
    let variable = columns.clone().filter(|field| is_variable(field.kind())).count();
    let mut input = row;
    if bits_length + variable * LENGTH_BYTES > input.len() {
        return Err(RowError::Truncated { position: 0 });
    }
    let bits = input.split_to(bits_length);
    let lengths = input.split_to(variable * LENGTH_BYTES);
    let (mut lengths, _) = lengths.as_chunks::<LENGTH_BYTES>();
    let mut values = Vec::with_capacity(columns.len());
    for (index, field) in columns.enumerate() {
        if is_null(&bits, index) {
            values.push(Value::Null);
            continue;
        }
        let length = if is_variable(field.kind()) {
            let (first, rest) = lengths.split_first().ok_or_else(|| field.invalid())?;
            lengths = rest;
            usize::try_from(i32::from_le_bytes(*first)).map_err(|_| field.invalid())?
        } else {
            fixed_length(field)?
        };
        if length > input.len() {
            return Err(field.truncated());
        }
        values.push(read(field, input.split_to(length))?);
    }
    if input.is_empty() { Ok(values) } else { Err(RowError::Trailing { count: input.len() }) }
}

fn is_variable(kind: &TypeKind) -> bool {
    match kind {
        TypeKind::String | TypeKind::Bytes | TypeKind::Array(_) | TypeKind::Map(..) | TypeKind::Row(_) => {
            true
        }
        TypeKind::Decimal { precision, .. } => *precision > MAX_COMPACT_DECIMAL_PRECISION,
        _ => false,
    }
}

fn fixed_length(field: Field<'_>) -> Result<usize, RowError> {
    Ok(match field.kind() {
        TypeKind::Boolean | TypeKind::TinyInt => 1,
        TypeKind::SmallInt => 2,
        TypeKind::Int | TypeKind::Float | TypeKind::Date | TypeKind::Time { .. } => 4,
        TypeKind::Timestamp { precision } | TypeKind::TimestampLtz { precision }
            if *precision > MAX_COMPACT_TIMESTAMP_PRECISION =>
        {
            12
        }
        TypeKind::Char { length } | TypeKind::Binary { length } => {
            usize::try_from(*length).map_err(|_| field.out_of_range())?
        }
        _ => 8,
    })
}

fn write(field: Field<'_>, value: &Value, output: &mut Vec<u8>) -> Result<(), RowError> {
    field.check_range(value)?;
    match (field.kind(), value) {
        (TypeKind::Boolean, Value::Boolean(value)) => output.push(u8::from(*value)),
        (TypeKind::TinyInt, Value::TinyInt(value)) => output.extend(value.to_le_bytes()),
        (TypeKind::SmallInt, Value::SmallInt(value)) => output.extend(value.to_le_bytes()),
        (TypeKind::Int, Value::Int(value))
        | (TypeKind::Date, Value::Date(value))
        | (TypeKind::Time { .. }, Value::Time(value)) => output.extend(value.to_le_bytes()),
        (TypeKind::BigInt, Value::BigInt(value)) => output.extend(value.to_le_bytes()),
        (TypeKind::Float, Value::Float(value)) => output.extend(value.to_le_bytes()),
        (TypeKind::Double, Value::Double(value)) => output.extend(value.to_le_bytes()),
        (TypeKind::Char { .. }, Value::String(text)) => write_padded(field, text.as_bytes(), output)?,
        (TypeKind::Binary { .. }, Value::Bytes(bytes)) => write_padded(field, bytes, output)?,
        (TypeKind::String, Value::String(text)) => output.extend_from_slice(text.as_bytes()),
        (TypeKind::Bytes, Value::Bytes(bytes)) => output.extend_from_slice(bytes),
        (TypeKind::Decimal { precision, .. }, Value::Decimal(decimal)) => {
            if *precision <= MAX_COMPACT_DECIMAL_PRECISION {
                let unscaled = i64::try_from(decimal.unscaled).map_err(|_| field.out_of_range())?;
                output.extend(unscaled.to_le_bytes());
            } else {
                decimal.write_minimal_bytes(output);
            }
        }
        (TypeKind::Timestamp { precision }, Value::Timestamp(timestamp))
        | (TypeKind::TimestampLtz { precision }, Value::TimestampLtz(timestamp)) => {
            output.extend(timestamp.millis.to_le_bytes());
            if *precision > MAX_COMPACT_TIMESTAMP_PRECISION {
                output.extend(timestamp.nanos_of_milli.to_le_bytes());
            }
        }
        (TypeKind::Array(_) | TypeKind::Map(..) | TypeKind::Row(_), _) => {
            nested::write(field, value, RowFormat::Indexed, output)?;
        }
        _ => return Err(field.mismatch(value)),
    }
    Ok(())
}

/// Writes as many bytes as the type declares; a CHAR counts them too, although it is declared in characters.
fn write_padded(field: Field<'_>, bytes: &[u8], output: &mut Vec<u8>) -> Result<(), RowError> {
    let length = fixed_length(field)?;
    if length > MAX_PADDED_BYTES {
        return Err(field.out_of_range());
    }
    let padding = length.checked_sub(bytes.len()).ok_or_else(|| field.out_of_range())?;
    output.extend_from_slice(bytes);
    output.resize(output.len() + padding, 0);
    Ok(())
}

fn read(field: Field<'_>, bytes: Bytes) -> Result<Value, RowError> {
    Ok(match field.kind() {
        TypeKind::Boolean => Value::Boolean(array::<1>(field, &bytes)? != [0]),
        TypeKind::TinyInt => Value::TinyInt(i8::from_le_bytes(array(field, &bytes)?)),
        TypeKind::SmallInt => Value::SmallInt(i16::from_le_bytes(array(field, &bytes)?)),
        TypeKind::Int => Value::Int(i32::from_le_bytes(array(field, &bytes)?)),
        TypeKind::Date => Value::Date(i32::from_le_bytes(array(field, &bytes)?)),
        TypeKind::Time { .. } => Value::Time(i32::from_le_bytes(array(field, &bytes)?)),
        TypeKind::BigInt => Value::BigInt(i64::from_le_bytes(array(field, &bytes)?)),
        TypeKind::Float => Value::Float(f32::from_le_bytes(array(field, &bytes)?)),
        TypeKind::Double => Value::Double(f64::from_le_bytes(array(field, &bytes)?)),
        TypeKind::Char { .. } => {
            let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            field.text(&bytes.slice(..end))?
        }
        TypeKind::String => field.text(&bytes)?,
        TypeKind::Binary { .. } | TypeKind::Bytes => Value::Bytes(bytes),
        TypeKind::Decimal { precision, .. } if *precision <= MAX_COMPACT_DECIMAL_PRECISION => {
            field.decimal(i128::from(i64::from_le_bytes(array(field, &bytes)?)))?
        }
        TypeKind::Decimal { .. } => field.decimal_of_bytes(&bytes)?,
        TypeKind::Timestamp { .. } | TypeKind::TimestampLtz { .. } => {
            let millis = bytes.first_chunk().ok_or_else(|| field.truncated())?;
            let nanos = match bytes.get(8..) {
                Some([]) | None => 0,
                Some(nanos) => i32::from_le_bytes(array(field, nanos)?),
            };
            field.timestamp(i64::from_le_bytes(*millis), nanos)?
        }
        TypeKind::Array(_) | TypeKind::Map(..) | TypeKind::Row(_) => {
            nested::read(field, bytes, RowFormat::Indexed)?
        }
    })
}

fn array<const N: usize>(field: Field<'_>, bytes: &[u8]) -> Result<[u8; N], RowError> {
    bytes.try_into().map_err(|_| field.truncated())
}
