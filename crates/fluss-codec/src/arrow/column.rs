//! Columns that grow value by value in the layout of Arrow's buffers.

use super::{MICROS_PRECISION, MILLIS_PRECISION, Shape};
use crate::data_type::{DataType, TypeKind};
use crate::row::indexed::MAX_PADDED_BYTES;
use crate::row::{Field, RowError, Timestamp, Value};

const OFFSET_BYTES: usize = 4;

/// A column of a batch that is being written.
#[derive(Debug)]
pub(crate) struct ColumnBuilder {
    pub(super) validity: Bits,
    pub(super) data: Data,
}

/// The values of a column.
#[derive(Debug)]
pub(super) enum Data {
    Bits(Bits),
    Fixed { width: usize, bytes: Vec<u8> },
    Variable { offsets: Offsets, bytes: Vec<u8> },
    List { offsets: Offsets, elements: Box<ColumnBuilder> },
    Map { offsets: Offsets, keys: Box<ColumnBuilder>, values: Box<ColumnBuilder> },
    Struct(Vec<ColumnBuilder>),
}

/// Bits, lowest first.
#[derive(Debug, Default)]
pub(super) struct Bits {
    pub(super) bytes: Vec<u8>,
    pub(super) len: usize,
    /// How many are not set.
    pub(super) unset: usize,
}

impl Bits {
    fn push(&mut self, bit: bool) {
        let position = self.len % 8;
        match self.bytes.last_mut() {
            Some(last) if position != 0 => *last |= u8::from(bit) << position,
            _ => self.bytes.push(u8::from(bit)),
        }
        self.len += 1;
        self.unset += usize::from(!bit);
    }

    fn truncate(&mut self, len: usize) {
        if len >= self.len {
            return;
        }
        self.bytes.truncate(len.div_ceil(8));
        if !len.is_multiple_of(8)
            && let Some(last) = self.bytes.last_mut()
        {
            *last &= (1 << (len % 8)) - 1;
        }
        let set: u32 = self.bytes.iter().map(|byte| byte.count_ones()).sum();
        self.len = len;
        self.unset = len - usize::try_from(set).unwrap_or(len);
    }
}

/// Offsets of values of variable length, from 0 on.
#[derive(Debug)]
pub(super) struct Offsets {
    pub(super) bytes: Vec<u8>,
    pub(super) last: i32,
}

impl Offsets {
    fn new() -> Self {
        Self { bytes: vec![0; OFFSET_BYTES], last: 0 }
    }

    fn push(&mut self, field: Field<'_>, end: usize) -> Result<(), RowError> {
        self.last = i32::try_from(end).map_err(|_| field.out_of_range())?;
        self.repeat();
        Ok(())
    }

    fn repeat(&mut self) {
        self.bytes.extend(self.last.to_le_bytes());
    }

    /// Keeps the offsets of so many values and returns where the last one ends.
    fn truncate(&mut self, len: usize) -> usize {
        self.bytes.truncate((len + 1) * OFFSET_BYTES);
        let last = self.bytes.last_chunk().copied().unwrap_or_default();
        self.last = i32::from_le_bytes(last);
        // Offsets are never negative.
        usize::try_from(self.last).unwrap_or_default()
    }
}

impl ColumnBuilder {
    pub(crate) fn new(data_type: &DataType) -> Self {
        let data = match (Shape::of(data_type), data_type.kind()) {
            (Shape::List, TypeKind::Array(element)) => {
                Data::List { offsets: Offsets::new(), elements: Box::new(Self::new(element)) }
            }
            (Shape::Map, TypeKind::Map(key, value)) => Data::Map {
                offsets: Offsets::new(),
                keys: Box::new(Self::new(key)),
                values: Box::new(Self::new(value)),
            },
            (_, TypeKind::Row(fields)) => {
                Data::Struct(fields.iter().map(|field| Self::new(&field.data_type)).collect())
            }
            (Shape::Bits, _) => Data::Bits(Bits::default()),
            (Shape::Fixed(width), _) => Data::Fixed { width, bytes: Vec::new() },
            _ => Data::Variable { offsets: Offsets::new(), bytes: Vec::new() },
        };
        Self { validity: Bits::default(), data }
    }

    pub(crate) fn len(&self) -> usize {
        self.validity.len
    }

    /// Returns how many bytes the buffers take up, without padding and compression.
    pub(crate) fn size_bytes(&self) -> usize {
        let data = match &self.data {
            Data::Bits(bits) => bits.bytes.len(),
            Data::Fixed { bytes, .. } => bytes.len(),
            Data::Variable { offsets, bytes } => offsets.bytes.len() + bytes.len(),
            Data::List { offsets, elements } => offsets.bytes.len() + elements.size_bytes(),
            Data::Map { offsets, keys, values } => {
                offsets.bytes.len() + keys.len().div_ceil(8) + keys.size_bytes() + values.size_bytes()
            }
            Data::Struct(fields) => fields.iter().map(Self::size_bytes).sum(),
        };
        self.validity.bytes.len() + data
    }

    /// Takes back the values after the first `len`; room for them is kept.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.validity.truncate(len);
        match &mut self.data {
            Data::Bits(bits) => bits.truncate(len),
            Data::Fixed { width, bytes } => bytes.truncate(len * *width),
            Data::Variable { offsets, bytes } => bytes.truncate(offsets.truncate(len)),
            Data::List { offsets, elements } => elements.truncate(offsets.truncate(len)),
            Data::Map { offsets, keys, values } => {
                let entries = offsets.truncate(len);
                keys.truncate(entries);
                values.truncate(entries);
            }
            Data::Struct(fields) => fields.iter_mut().for_each(|field| field.truncate(len)),
        }
    }

    /// Appends a value; after an error the column must be truncated to what it was.
    pub(crate) fn push(&mut self, field: Field<'_>, value: &Value) -> Result<(), RowError> {
        if value.is_null() {
            return self.push_null(field);
        }
        field.check_range(value)?;
        match &mut self.data {
            Data::Bits(bits) => match value {
                Value::Boolean(value) => bits.push(*value),
                _ => return Err(field.mismatch(value)),
            },
            Data::Fixed { width, bytes } => push_fixed(field, value, *width, bytes)?,
            Data::Variable { offsets, bytes } => {
                match (field.kind(), value) {
                    (TypeKind::Char { .. } | TypeKind::String, Value::String(text)) => {
                        bytes.extend_from_slice(text.as_bytes());
                    }
                    (TypeKind::Bytes, Value::Bytes(value)) => bytes.extend_from_slice(value),
                    _ => return Err(field.mismatch(value)),
                }
                offsets.push(field, bytes.len())?;
            }
            Data::List { offsets, elements } => match (field.kind(), value) {
                (TypeKind::Array(element), Value::Array(values)) => {
                    for value in values {
                        elements.push_nested(field.of(element), value)?;
                    }
                    offsets.push(field, elements.len())?;
                }
                _ => return Err(field.mismatch(value)),
            },
            Data::Map { offsets, keys, values } => match (field.kind(), value) {
                (TypeKind::Map(of_key, of_value), Value::Map(entries)) => {
                    for (key, value) in entries {
                        keys.push_nested(field.of(of_key), key)?;
                        values.push_nested(field.of(of_value), value)?;
                    }
                    offsets.push(field, keys.len())?;
                }
                _ => return Err(field.mismatch(value)),
            },
            Data::Struct(columns) => match (field.kind(), value) {
                (TypeKind::Row(fields), Value::Row(values)) => {
                    if values.len() != columns.len() {
                        return Err(RowError::Arity { expected: columns.len(), found: values.len() });
                    }
                    for ((column, nested), value) in columns.iter_mut().zip(fields).zip(values) {
                        column.push_nested(field.of(&nested.data_type), value)?;
                    }
                }
                _ => return Err(field.mismatch(value)),
            },
        }
        self.validity.push(true);
        Ok(())
    }

    fn push_nested(&mut self, field: Field<'_>, value: &Value) -> Result<(), RowError> {
        field.check_null(value)?;
        self.push(field, value)
    }

    fn push_null(&mut self, field: Field<'_>) -> Result<(), RowError> {
        match &mut self.data {
            Data::Bits(bits) => bits.push(false),
            Data::Fixed { width, bytes } => {
                if *width > MAX_PADDED_BYTES {
                    return Err(field.out_of_range());
                }
                bytes.resize(bytes.len() + *width, 0);
            }
            Data::Variable { offsets, .. } | Data::List { offsets, .. } | Data::Map { offsets, .. } => {
                offsets.repeat();
            }
            Data::Struct(columns) => {
                let TypeKind::Row(fields) = field.kind() else { return Err(field.mismatch(&Value::Null)) };
                for (column, nested) in columns.iter_mut().zip(fields) {
                    column.push_null(field.of(&nested.data_type))?;
                }
            }
        }
        self.validity.push(false);
        Ok(())
    }
}

fn push_fixed(field: Field<'_>, value: &Value, width: usize, bytes: &mut Vec<u8>) -> Result<(), RowError> {
    match (field.kind(), value) {
        (TypeKind::TinyInt, Value::TinyInt(value)) => bytes.extend_from_slice(&value.to_le_bytes()),
        (TypeKind::SmallInt, Value::SmallInt(value)) => bytes.extend_from_slice(&value.to_le_bytes()),
        (TypeKind::Int, Value::Int(value)) | (TypeKind::Date, Value::Date(value)) => {
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        (TypeKind::BigInt, Value::BigInt(value)) => bytes.extend_from_slice(&value.to_le_bytes()),
        (TypeKind::Float, Value::Float(value)) => bytes.extend_from_slice(&value.to_le_bytes()),
        (TypeKind::Double, Value::Double(value)) => bytes.extend_from_slice(&value.to_le_bytes()),
        (TypeKind::Decimal { .. }, Value::Decimal(value)) => {
            bytes.extend_from_slice(&value.unscaled.to_le_bytes());
        }
        (TypeKind::Binary { .. }, Value::Bytes(value)) => {
            // Java has no way to write a shorter one either: the batch has no place for its length.
            if value.len() != width {
                return Err(field.out_of_range());
            }
            bytes.extend_from_slice(value);
        }
        (TypeKind::Time { precision }, Value::Time(millis)) => {
            let wide = i64::from(*millis);
            match *precision {
                0 if millis % 1000 == 0 => bytes.extend_from_slice(&(millis / 1000).to_le_bytes()),
                0 => return Err(field.out_of_range()),
                1..=MILLIS_PRECISION => bytes.extend_from_slice(&millis.to_le_bytes()),
                4..=MICROS_PRECISION => bytes.extend_from_slice(&(wide * 1000).to_le_bytes()),
                _ => bytes.extend_from_slice(&(wide * 1_000_000).to_le_bytes()),
            }
        }
        (TypeKind::Timestamp { precision }, Value::Timestamp(value))
        | (TypeKind::TimestampLtz { precision }, Value::TimestampLtz(value)) => {
            let units = units(*precision, *value).ok_or_else(|| field.out_of_range())?;
            bytes.extend_from_slice(&units.to_le_bytes());
        }
        _ => return Err(field.mismatch(value)),
    }
    Ok(())
}

/// Returns a timestamp in the unit of its column; nothing if it is finer or out of range.
fn units(precision: u8, value: Timestamp) -> Option<i64> {
    let nanos = i64::from(value.nanos_of_milli);
    match precision {
        0 => (value.millis % 1000 == 0).then_some(value.millis / 1000),
        1..=MILLIS_PRECISION => Some(value.millis),
        4..=MICROS_PRECISION if nanos % 1000 == 0 => {
            value.millis.checked_mul(1000)?.checked_add(nanos / 1000)
        }
        4..=MICROS_PRECISION => None,
        // The sum may fit although the product does not: just before the earliest instant that has nanoseconds.
        _ => i64::try_from(i128::from(value.millis) * 1_000_000 + i128::from(nanos)).ok(),
    }
}
