//! COMPACTED rows: null bits, then the values that are not null, in order.
//!
//! | type | bytes |
//! |---|---|
//! | BOOLEAN, TINYINT | 1 |
//! | SMALLINT | 2, little-endian |
//! | INT, DATE, TIME | varint of the 32 bits, negative numbers take 5 bytes |
//! | BIGINT, DECIMAL to precision 18, TIMESTAMP to precision 3 | varint of the 64 bits |
//! | FLOAT, DOUBLE | 4 or 8, little-endian |
//! | CHAR, STRING, BINARY, BYTES | varint length, bytes; nothing is padded |
//! | larger DECIMAL | varint length, shortest big-endian two's complement |
//! | finer TIMESTAMP | varint milliseconds, varint nanoseconds of the millisecond |
//! | ARRAY, MAP | varint length, binary array or map |
//! | ROW | varint length, compacted row |
//!
//! Source: `CompactedRowWriter` and `CompactedRowReader`, 0.9.1.

use bytes::Bytes;

use super::{
    Field, MAX_COMPACT_DECIMAL_PRECISION, MAX_COMPACT_TIMESTAMP_PRECISION, RowError, RowFormat, Value,
    is_null, nested, write_null_bits,
};
use crate::data_type::{DataType, TypeKind};
use crate::varint;

/// Encodes a row whose values fit the types of its columns.
///
/// # Errors
/// [`RowError::Arity`], [`RowError::TypeMismatch`], [`RowError::OutOfRange`] or [`RowError::UnsupportedType`].
pub fn encode(types: &[&DataType], values: &[Value]) -> Result<Vec<u8>, RowError> {
    RowFormat::Compacted.encode(types, values)
}

/// Decodes a row that takes up all of `row`; byte values share its memory.
///
/// # Errors
/// [`RowError::Truncated`], [`RowError::Invalid`] or [`RowError::Trailing`].
pub fn decode(types: &[&DataType], row: &Bytes) -> Result<Vec<Value>, RowError> {
    RowFormat::Compacted.decode(types, row)
}

pub(super) fn write_row<'a>(
    columns: impl ExactSizeIterator<Item = (Field<'a>, &'a Value)> + Clone,
    output: &mut Vec<u8>,
) -> Result<(), RowError> {
    write_null_bits(columns.clone(), output);
    for (field, value) in columns {
        if !value.is_null() {
            write(field, value, output)?;
        }
    }
    Ok(())
}

pub(super) fn read_row<'a>(
    columns: impl ExactSizeIterator<Item = Field<'a>>,
    row: Bytes,
) -> Result<Vec<Value>, RowError> {
    let bits_length = columns.len().div_ceil(8);
    let mut input = row;
    if bits_length > input.len() {
        return Err(RowError::Truncated { position: 0 });
    }
    let bits = input.split_to(bits_length);
    let mut values = Vec::with_capacity(columns.len());
    for (index, field) in columns.enumerate() {
        values.push(if is_null(&bits, index) { Value::Null } else { read(field, &mut input)? });
    }
    if input.is_empty() { Ok(values) } else { Err(RowError::Trailing { count: input.len() }) }
}

/// Appends one value that is not null.
pub(crate) fn write(field: Field<'_>, value: &Value, output: &mut Vec<u8>) -> Result<(), RowError> {
    field.check_range(value)?;
    match (field.kind(), value) {
        (TypeKind::Boolean, Value::Boolean(value)) => output.push(u8::from(*value)),
        (TypeKind::TinyInt, Value::TinyInt(value)) => output.extend(value.to_le_bytes()),
        (TypeKind::SmallInt, Value::SmallInt(value)) => output.extend(value.to_le_bytes()),
        (TypeKind::Int, Value::Int(value))
        | (TypeKind::Date, Value::Date(value))
        | (TypeKind::Time { .. }, Value::Time(value)) => varint::write_i32(*value, output),
        (TypeKind::BigInt, Value::BigInt(value)) => varint::write_i64(*value, output),
        (TypeKind::Float, Value::Float(value)) => output.extend(value.to_le_bytes()),
        (TypeKind::Double, Value::Double(value)) => output.extend(value.to_le_bytes()),
        (TypeKind::Char { .. } | TypeKind::String, Value::String(text)) => {
            write_bytes(field, text.as_bytes(), output)?;
        }
        (TypeKind::Binary { .. } | TypeKind::Bytes, Value::Bytes(bytes)) => {
            write_bytes(field, bytes, output)?;
        }
        (TypeKind::Decimal { precision, .. }, Value::Decimal(decimal)) => {
            if *precision <= MAX_COMPACT_DECIMAL_PRECISION {
                let unscaled = i64::try_from(decimal.unscaled).map_err(|_| field.out_of_range())?;
                varint::write_i64(unscaled, output);
            } else {
                write_bytes(field, &decimal.to_minimal_bytes(), output)?;
            }
        }
        (TypeKind::Timestamp { precision }, Value::Timestamp(timestamp))
        | (TypeKind::TimestampLtz { precision }, Value::TimestampLtz(timestamp)) => {
            varint::write_i64(timestamp.millis, output);
            if *precision > MAX_COMPACT_TIMESTAMP_PRECISION {
                varint::write_u32(timestamp.nanos_of_milli, output);
            }
        }
        (TypeKind::Array(_) | TypeKind::Map(..) | TypeKind::Row(_), _) => {
            let mut bytes = Vec::new();
            nested::write(field, value, RowFormat::Compacted, &mut bytes)?;
            write_bytes(field, &bytes, output)?;
        }
        _ => return Err(field.mismatch(value)),
    }
    Ok(())
}

fn write_bytes(field: Field<'_>, bytes: &[u8], output: &mut Vec<u8>) -> Result<(), RowError> {
    let length = i32::try_from(bytes.len()).map_err(|_| field.out_of_range())?;
    varint::write_i32(length, output);
    output.extend_from_slice(bytes);
    Ok(())
}

fn read(field: Field<'_>, input: &mut Bytes) -> Result<Value, RowError> {
    Ok(match field.kind() {
        TypeKind::Boolean => Value::Boolean(take_array::<1>(field, input)? != [0]),
        TypeKind::TinyInt => Value::TinyInt(i8::from_le_bytes(take_array(field, input)?)),
        TypeKind::SmallInt => Value::SmallInt(i16::from_le_bytes(take_array(field, input)?)),
        TypeKind::Int => Value::Int(read_i32(field, input)?),
        TypeKind::Date => Value::Date(read_i32(field, input)?),
        TypeKind::Time { .. } => Value::Time(read_i32(field, input)?),
        TypeKind::BigInt => Value::BigInt(read_i64(field, input)?),
        TypeKind::Float => Value::Float(f32::from_le_bytes(take_array(field, input)?)),
        TypeKind::Double => Value::Double(f64::from_le_bytes(take_array(field, input)?)),
        TypeKind::Char { .. } | TypeKind::String => field.text(&take_delimited(field, input)?)?,
        TypeKind::Binary { .. } | TypeKind::Bytes => Value::Bytes(take_delimited(field, input)?),
        TypeKind::Decimal { precision, .. } if *precision <= MAX_COMPACT_DECIMAL_PRECISION => {
            field.decimal(i128::from(read_i64(field, input)?))?
        }
        TypeKind::Decimal { .. } => field.decimal_of_bytes(&take_delimited(field, input)?)?,
        TypeKind::Timestamp { precision } | TypeKind::TimestampLtz { precision } => {
            let millis = read_i64(field, input)?;
            let fine = *precision > MAX_COMPACT_TIMESTAMP_PRECISION;
            field.timestamp(millis, if fine { read_i32(field, input)? } else { 0 })?
        }
        TypeKind::Array(_) | TypeKind::Map(..) | TypeKind::Row(_) => {
            let bytes = take_delimited(field, input)?;
            nested::read(field, bytes, RowFormat::Compacted)?
        }
    })
}

fn read_i32(field: Field<'_>, input: &mut Bytes) -> Result<i32, RowError> {
    varint::read_i32(input).ok_or_else(|| field.invalid())
}

fn read_i64(field: Field<'_>, input: &mut Bytes) -> Result<i64, RowError> {
    varint::read_i64(input).ok_or_else(|| field.invalid())
}

fn take_array<const N: usize>(field: Field<'_>, input: &mut Bytes) -> Result<[u8; N], RowError> {
    let array = *input.first_chunk::<N>().ok_or_else(|| field.truncated())?;
    *input = input.slice(N..);
    Ok(array)
}

fn take_delimited(field: Field<'_>, input: &mut Bytes) -> Result<Bytes, RowError> {
    let length = usize::try_from(read_i32(field, input)?).map_err(|_| field.invalid())?;
    if length > input.len() { Err(field.truncated()) } else { Ok(input.split_to(length)) }
}
