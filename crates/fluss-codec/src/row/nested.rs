//! Values of ARRAY, MAP and ROW within a row of either format.
//!
//! A binary array is an `i32` count, null bits in words of 4 bytes, one slot per element, zeros up to a multiple
//! of 8 bytes, and then what does not fit its slot. A binary map is the `i32` size of the array of keys, that
//! array, and the array of values. A nested row has the format of the row around it.
//!
//! | element type | slot |
//! |---|---|
//! | BOOLEAN, TINYINT | 1 byte |
//! | SMALLINT | 2 |
//! | INT, FLOAT, DATE, TIME | 4 |
//! | BIGINT, DOUBLE, DECIMAL to precision 18, TIMESTAMP to precision 3 | 8 |
//! | CHAR, STRING, BINARY, BYTES of 7 bytes or fewer | 8: the bytes; the last byte is `0x80` + length |
//! | longer ones, ARRAY, MAP, ROW | 8: offset from the array's start and length; padded with 0 to 8 bytes there |
//! | larger DECIMAL | 8: offset and length; 16 bytes are kept there |
//! | finer TIMESTAMP | 8: offset of the milliseconds, and the nanoseconds of the millisecond |
//!
//! Sources: `BinaryArrayWriter`, `BinaryArray`, `BinaryMap` and `BinarySegmentUtils`, 0.9.1. NaN is written in
//! its one usual form, as there. Reading refuses arrays whose parts overlap: no writer makes them, and they
//! would let a few bytes stand for any number of values.

use bytes::Bytes;

use super::{
    Field, MAX_COMPACT_DECIMAL_PRECISION, MAX_COMPACT_TIMESTAMP_PRECISION, MAX_NESTED_VALUES, RowError,
    RowFormat, Value, is_null, nested_columns,
};
use crate::data_type::{DataType, TypeKind};

const COUNT_BYTES: usize = 4;
const WORD: usize = 8;
const SHORT_BYTES: usize = 7;
const SHORT_MARK: u8 = 0x80;
const LARGE_DECIMAL_BYTES: usize = 16;

/// Appends the value of a nested type, without its length.
pub(super) fn write(
    field: Field<'_>,
    value: &Value,
    format: RowFormat,
    output: &mut Vec<u8>,
) -> Result<(), RowError> {
    match (field.kind(), value) {
        (TypeKind::Array(element), Value::Array(values)) => {
            write_array(field.of(element), values.iter(), format, output)
        }
        (TypeKind::Map(key, value), Value::Map(entries)) => {
            let start = output.len();
            output.extend([0; COUNT_BYTES]);
            write_array(field.of(key), entries.iter().map(|(key, _)| key), format, output)?;
            let size = i32::try_from(output.len() - start - COUNT_BYTES).map_err(|_| field.out_of_range())?;
            put(field, output, start, &size.to_le_bytes())?;
            write_array(field.of(value), entries.iter().map(|(_, value)| value), format, output)
        }
        (TypeKind::Row(fields), Value::Row(values)) => {
            let columns = nested_columns(field, fields, values)?;
            format.write_row(columns, output)
        }
        _ => Err(field.mismatch(value)),
    }
}

/// Reads the value of a nested type that takes up all of `bytes`.
pub(super) fn read(field: Field<'_>, mut bytes: Bytes, format: RowFormat) -> Result<Value, RowError> {
    match field.kind() {
        TypeKind::Array(element) => Ok(Value::Array(read_array(field.of(element), &bytes, format)?)),
        TypeKind::Map(key, value) => {
            let size = i32::from_le_bytes(*bytes.first_chunk().ok_or_else(|| field.truncated())?);
            let size = usize::try_from(size).map_err(|_| field.invalid())?;
            let _ = bytes.split_to(COUNT_BYTES);
            if size > bytes.len() {
                return Err(field.truncated());
            }
            let keys = read_array(field.of(key), &bytes.split_to(size), format)?;
            let values = read_array(field.of(value), &bytes, format)?;
            if keys.len() != values.len() || keys.iter().any(Value::is_null) {
                return Err(field.invalid());
            }
            Ok(Value::Map(keys.into_iter().zip(values).collect()))
        }
        TypeKind::Row(fields) => {
            let columns = fields.iter().map(|nested| field.of(&nested.data_type));
            Ok(Value::Row(format.read_row(columns, bytes)?))
        }
        _ => Err(field.invalid()),
    }
}

fn header_bytes(count: usize) -> usize {
    COUNT_BYTES + count.div_ceil(32) * 4
}

fn slot_bytes(data_type: &DataType) -> usize {
    match data_type.kind() {
        TypeKind::Boolean | TypeKind::TinyInt => 1,
        TypeKind::SmallInt => 2,
        TypeKind::Int | TypeKind::Float | TypeKind::Date | TypeKind::Time { .. } => 4,
        _ => WORD,
    }
}

/// Overwrites bytes that are already there.
fn put(field: Field<'_>, output: &mut [u8], at: usize, bytes: &[u8]) -> Result<(), RowError> {
    let target = output.get_mut(at..).and_then(|rest| rest.get_mut(..bytes.len()));
    target.ok_or_else(|| field.out_of_range())?.copy_from_slice(bytes);
    Ok(())
}

fn write_array<'a>(
    element: Field<'_>,
    values: impl ExactSizeIterator<Item = &'a Value>,
    format: RowFormat,
    output: &mut Vec<u8>,
) -> Result<(), RowError> {
    let start = output.len();
    let count = values.len();
    let slot = slot_bytes(element.data_type);
    let header = header_bytes(count);
    let fixed = (header + count * slot).next_multiple_of(WORD);
    output.extend(i32::try_from(count).map_err(|_| element.out_of_range())?.to_le_bytes());
    output.resize(start + fixed, 0);
    for (index, value) in values.enumerate() {
        element.check_null(value)?;
        let at = start + header + index * slot;
        if value.is_null() {
            let byte =
                output.get_mut(start + COUNT_BYTES + index / 8).ok_or_else(|| element.out_of_range())?;
            *byte |= 1 << (index % 8);
        } else {
            write_element(element, value, format, start, at, output)?;
        }
    }
    Ok(())
}

fn write_element(
    element: Field<'_>,
    value: &Value,
    format: RowFormat,
    start: usize,
    at: usize,
    output: &mut Vec<u8>,
) -> Result<(), RowError> {
    element.check_range(value)?;
    match (element.kind(), value) {
        (TypeKind::Boolean, Value::Boolean(value)) => put(element, output, at, &[u8::from(*value)]),
        (TypeKind::TinyInt, Value::TinyInt(value)) => put(element, output, at, &value.to_le_bytes()),
        (TypeKind::SmallInt, Value::SmallInt(value)) => put(element, output, at, &value.to_le_bytes()),
        (TypeKind::Int, Value::Int(value))
        | (TypeKind::Date, Value::Date(value))
        | (TypeKind::Time { .. }, Value::Time(value)) => put(element, output, at, &value.to_le_bytes()),
        (TypeKind::BigInt, Value::BigInt(value)) => put(element, output, at, &value.to_le_bytes()),
        (TypeKind::Float, Value::Float(value)) => {
            let value = if value.is_nan() { f32::NAN } else { *value };
            put(element, output, at, &value.to_le_bytes())
        }
        (TypeKind::Double, Value::Double(value)) => {
            let value = if value.is_nan() { f64::NAN } else { *value };
            put(element, output, at, &value.to_le_bytes())
        }
        (TypeKind::Char { .. } | TypeKind::String, Value::String(text)) => {
            write_bytes(element, text.as_bytes(), start, at, output)
        }
        (TypeKind::Binary { .. } | TypeKind::Bytes, Value::Bytes(bytes)) => {
            write_bytes(element, bytes, start, at, output)
        }
        (TypeKind::Decimal { precision, .. }, Value::Decimal(decimal)) => {
            if *precision <= MAX_COMPACT_DECIMAL_PRECISION {
                let unscaled = i64::try_from(decimal.unscaled).map_err(|_| element.out_of_range())?;
                return put(element, output, at, &unscaled.to_le_bytes());
            }
            let offset = output.len();
            decimal.write_minimal_bytes(output);
            let length = output.len() - offset;
            output.resize(offset + LARGE_DECIMAL_BYTES, 0);
            write_reference(element, offset - start, length, at, output)
        }
        (TypeKind::Timestamp { precision }, Value::Timestamp(timestamp))
        | (TypeKind::TimestampLtz { precision }, Value::TimestampLtz(timestamp)) => {
            if *precision <= MAX_COMPACT_TIMESTAMP_PRECISION {
                return put(element, output, at, &timestamp.millis.to_le_bytes());
            }
            let offset = output.len() - start;
            output.extend(timestamp.millis.to_le_bytes());
            let nanos = usize::try_from(timestamp.nanos_of_milli).map_err(|_| element.out_of_range())?;
            write_reference(element, offset, nanos, at, output)
        }
        (TypeKind::Array(_) | TypeKind::Map(..) | TypeKind::Row(_), _) => {
            let offset = output.len();
            write(element, value, format, output)?;
            end_part(element, start, offset, at, output)
        }
        _ => Err(element.mismatch(value)),
    }
}

fn write_bytes(
    element: Field<'_>,
    bytes: &[u8],
    start: usize,
    at: usize,
    output: &mut Vec<u8>,
) -> Result<(), RowError> {
    if bytes.len() <= SHORT_BYTES {
        let length = u8::try_from(bytes.len()).map_err(|_| element.out_of_range())?;
        put(element, output, at + SHORT_BYTES, &[SHORT_MARK | length])?;
        return put(element, output, at, bytes);
    }
    let offset = output.len();
    output.extend_from_slice(bytes);
    end_part(element, start, offset, at, output)
}

/// Pads what was appended from `offset` on and makes the slot refer to it.
fn end_part(
    element: Field<'_>,
    start: usize,
    offset: usize,
    at: usize,
    output: &mut Vec<u8>,
) -> Result<(), RowError> {
    let length = output.len() - offset;
    output.resize(offset + length.next_multiple_of(WORD), 0);
    write_reference(element, offset - start, length, at, output)
}

fn write_reference(
    element: Field<'_>,
    offset: usize,
    low: usize,
    at: usize,
    output: &mut [u8],
) -> Result<(), RowError> {
    let offset = i32::try_from(offset).map_err(|_| element.out_of_range())?;
    let low = i32::try_from(low).map_err(|_| element.out_of_range())?;
    put(element, output, at, &low.to_le_bytes())?;
    put(element, output, at + 4, &offset.to_le_bytes())
}

fn read_array(element: Field<'_>, bytes: &Bytes, format: RowFormat) -> Result<Vec<Value>, RowError> {
    let count = i32::from_le_bytes(*bytes.first_chunk().ok_or_else(|| element.truncated())?);
    let count = usize::try_from(count).map_err(|_| element.invalid())?;
    let slot = slot_bytes(element.data_type);
    // A slot is a byte at least, so that this also bounds the count by the bytes there are.
    if count > MAX_NESTED_VALUES {
        return Err(element.invalid());
    }
    if count > bytes.len() || header_bytes(count) + count * slot > bytes.len() {
        return Err(element.truncated());
    }
    let header = header_bytes(count);
    let bits = bytes.slice(COUNT_BYTES..header);
    let mut parts = Parts { bytes, left: bytes.len() - header - count * slot };
    let mut values = Vec::with_capacity(count);
    for index in 0..count {
        if is_null(&bits, index) {
            values.push(Value::Null);
            continue;
        }
        let at = header + index * slot;
        values.push(read_element(element, &bytes.slice(at..at + slot), &mut parts, format)?);
    }
    Ok(values)
}

/// The variable part of an array; no more is handed out than there is.
struct Parts<'a> {
    bytes: &'a Bytes,
    left: usize,
}

impl Parts<'_> {
    /// Returns the bytes at an offset from the array's start.
    fn take(&mut self, element: Field<'_>, offset: i32, length: usize) -> Result<Bytes, RowError> {
        let offset = usize::try_from(offset).map_err(|_| element.invalid())?;
        self.left = self.left.checked_sub(length).ok_or_else(|| element.invalid())?;
        if offset > self.bytes.len() || length > self.bytes.len() - offset {
            return Err(element.truncated());
        }
        Ok(self.bytes.slice(offset..offset + length))
    }

    fn take_referred(&mut self, element: Field<'_>, slot: &Bytes) -> Result<Bytes, RowError> {
        let (low, offset) = halves(element, slot)?;
        let length = usize::try_from(low).map_err(|_| element.invalid())?;
        self.take(element, offset, length)
    }

    fn take_bytes(&mut self, element: Field<'_>, slot: &Bytes) -> Result<Bytes, RowError> {
        match slot.last() {
            Some(mark) if mark & SHORT_MARK != 0 => {
                let length = usize::from(mark & !SHORT_MARK);
                if length > SHORT_BYTES { Err(element.invalid()) } else { Ok(slot.slice(..length)) }
            }
            _ => self.take_referred(element, slot),
        }
    }
}

/// Returns the lower and the upper half of a slot.
fn halves(element: Field<'_>, slot: &[u8]) -> Result<(i32, i32), RowError> {
    match slot.as_chunks::<4>() {
        ([low, high], []) => Ok((i32::from_le_bytes(*low), i32::from_le_bytes(*high))),
        _ => Err(element.truncated()),
    }
}

fn read_element(
    element: Field<'_>,
    slot: &Bytes,
    parts: &mut Parts<'_>,
    format: RowFormat,
) -> Result<Value, RowError> {
    fn array<const N: usize>(element: Field<'_>, slot: &[u8]) -> Result<[u8; N], RowError> {
        slot.try_into().map_err(|_| element.truncated())
    }
    Ok(match element.kind() {
        TypeKind::Boolean => Value::Boolean(array::<1>(element, slot)? != [0]),
        TypeKind::TinyInt => Value::TinyInt(i8::from_le_bytes(array(element, slot)?)),
        TypeKind::SmallInt => Value::SmallInt(i16::from_le_bytes(array(element, slot)?)),
        TypeKind::Int => Value::Int(i32::from_le_bytes(array(element, slot)?)),
        TypeKind::Date => Value::Date(i32::from_le_bytes(array(element, slot)?)),
        TypeKind::Time { .. } => Value::Time(i32::from_le_bytes(array(element, slot)?)),
        TypeKind::BigInt => Value::BigInt(i64::from_le_bytes(array(element, slot)?)),
        TypeKind::Float => Value::Float(f32::from_le_bytes(array(element, slot)?)),
        TypeKind::Double => Value::Double(f64::from_le_bytes(array(element, slot)?)),
        TypeKind::Char { .. } | TypeKind::String => element.text(&parts.take_bytes(element, slot)?)?,
        TypeKind::Binary { .. } | TypeKind::Bytes => Value::Bytes(parts.take_bytes(element, slot)?),
        TypeKind::Decimal { precision, .. } if *precision <= MAX_COMPACT_DECIMAL_PRECISION => {
            element.decimal(i128::from(i64::from_le_bytes(array(element, slot)?)))?
        }
        TypeKind::Decimal { .. } => element.decimal_of_bytes(&parts.take_referred(element, slot)?)?,
        TypeKind::Timestamp { precision } | TypeKind::TimestampLtz { precision } => {
            if *precision <= MAX_COMPACT_TIMESTAMP_PRECISION {
                element.timestamp(i64::from_le_bytes(array(element, slot)?), 0)?
            } else {
                let (nanos, offset) = halves(element, slot)?;
                let millis = parts.take(element, offset, WORD)?;
                element.timestamp(i64::from_le_bytes(array(element, &millis)?), nanos)?
            }
        }
        TypeKind::Array(_) | TypeKind::Map(..) | TypeKind::Row(_) => {
            read(element, parts.take_referred(element, slot)?, format)?
        }
    })
}
