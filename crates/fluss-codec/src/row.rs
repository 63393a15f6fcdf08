//! Values and rows: what a row holds in memory, and its two row formats.
//!
//! Sources: `CompactedRowWriter`/`Reader`, `IndexedRowWriter`/`Reader`, `BinaryArrayWriter` and `Decimal`, 0.9.1.
//! Whether a column may be null is not checked here, because partial updates leave columns out that are not
//! null; below a column it is, because the official reader then takes other bytes for the value.

use std::fmt;

use bytes::Bytes;

use crate::data_type::{DataType, RowField, TypeKind};

pub mod compacted;
pub mod indexed;
mod nested;

/// Highest precision of a DECIMAL that is kept as a 64-bit integer.
pub const MAX_COMPACT_DECIMAL_PRECISION: u8 = 18;

/// Highest precision of a TIMESTAMP that is kept as milliseconds alone.
pub const MAX_COMPACT_TIMESTAMP_PRECISION: u8 = 3;

/// Most elements of one ARRAY or MAP that are read: 16 777 216. A few bytes can stand for a value of many.
pub const MAX_NESTED_VALUES: usize = 1 << 24;

const MAX_NANOS_OF_MILLI: u32 = 999_999;

/// One value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// BOOLEAN.
    Boolean(bool),
    /// TINYINT.
    TinyInt(i8),
    /// SMALLINT.
    SmallInt(i16),
    /// INT.
    Int(i32),
    /// BIGINT.
    BigInt(i64),
    /// FLOAT.
    Float(f32),
    /// DOUBLE.
    Double(f64),
    /// CHAR and STRING.
    String(String),
    /// BINARY and BYTES.
    Bytes(Bytes),
    /// DECIMAL.
    Decimal(Decimal),
    /// DATE: days since 1970-01-01.
    Date(i32),
    /// TIME: milliseconds of the day.
    Time(i32),
    /// TIMESTAMP: local date and time as if in UTC.
    Timestamp(Timestamp),
    /// TIMESTAMP_LTZ: instant.
    TimestampLtz(Timestamp),
    /// ARRAY: elements in their order.
    Array(Vec<Value>),
    /// MAP: keys, never null, with their values, in the order they were written in.
    Map(Vec<(Value, Value)>),
    /// ROW: one value per field.
    Row(Vec<Value>),
}

/// Format of a row, which is also that of the rows nested in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowFormat {
    /// [`compacted`].
    Compacted,
    /// [`indexed`].
    Indexed,
}

/// An exact decimal number: `unscaled` · 10^−`scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decimal {
    /// The number without its point; at most `precision` digits.
    pub unscaled: i128,
    /// Digits in all.
    pub precision: u8,
    /// Digits after the point.
    pub scale: u8,
}

/// A point in time of nanosecond resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp {
    /// Milliseconds since 1970-01-01, rounded down.
    pub millis: i64,
    /// Nanoseconds of the millisecond, to 999 999.
    pub nanos_of_milli: u32,
}

/// Why a row or value cannot be encoded or decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// The row has another number of values than the schema has columns.
    #[error("a row of {found} values does not fit {expected} columns")]
    Arity {
        /// Columns of the schema.
        expected: usize,
        /// Values of the row.
        found: usize,
    },
    /// The value is of another type than its column.
    #[error("column {position} of type {data_type} cannot hold a value of type {found}")]
    TypeMismatch {
        /// Position of the column, from 0.
        position: usize,
        /// Type of the column.
        data_type: String,
        /// Type of the value.
        found: &'static str,
    },
    /// The value is outside the bounds of its column's type.
    #[error("the value of column {position} does not fit {data_type}")]
    OutOfRange {
        /// Position of the column, from 0.
        position: usize,
        /// Type of the column.
        data_type: String,
    },
    /// The type of a column has no form in the encoding asked for.
    #[error("column {position} of type {data_type} is not supported by this encoding")]
    UnsupportedType {
        /// Position of the column, from 0.
        position: usize,
        /// Type of the column.
        data_type: String,
    },
    /// The row ends inside a value.
    #[error("the row ends inside column {position}")]
    Truncated {
        /// Position of the column, from 0.
        position: usize,
    },
    /// The bytes of a value are not a value of the column's type.
    #[error("the bytes of column {position} are not a valid {data_type}")]
    Invalid {
        /// Position of the column, from 0.
        position: usize,
        /// Type of the column.
        data_type: String,
    },
    /// The row does not fit the 31 bits of its size.
    #[error("the row is too large")]
    TooLarge,
    /// The row goes on after its last column.
    #[error("{count} bytes follow the last column of the row")]
    Trailing {
        /// Bytes left over.
        count: usize,
    },
}

impl RowError {
    /// Returns the stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Arity { .. } => "row_arity",
            Self::TypeMismatch { .. } => "row_value_type",
            Self::OutOfRange { .. } => "row_value_range",
            Self::UnsupportedType { .. } => "row_type_unsupported",
            Self::Truncated { .. } => "row_truncated",
            Self::TooLarge => "row_too_large",
            Self::Invalid { .. } | Self::Trailing { .. } => "row_invalid",
        }
    }
}

impl Value {
    /// Returns the name of the value's type; CHAR counts as STRING and BINARY as BYTES.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Boolean(_) => "BOOLEAN",
            Self::TinyInt(_) => "TINYINT",
            Self::SmallInt(_) => "SMALLINT",
            Self::Int(_) => "INT",
            Self::BigInt(_) => "BIGINT",
            Self::Float(_) => "FLOAT",
            Self::Double(_) => "DOUBLE",
            Self::String(_) => "STRING",
            Self::Bytes(_) => "BYTES",
            Self::Decimal(_) => "DECIMAL",
            Self::Date(_) => "DATE",
            Self::Time(_) => "TIME",
            Self::Timestamp(_) => "TIMESTAMP",
            Self::TimestampLtz(_) => "TIMESTAMP_LTZ",
            Self::Array(_) => "ARRAY",
            Self::Map(_) => "MAP",
            Self::Row(_) => "ROW",
        }
    }

    /// Tells whether there is no value.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

impl RowFormat {
    /// Encodes a row whose values fit the types of its columns.
    ///
    /// # Errors
    /// Those of [`compacted::encode`].
    pub fn encode(self, types: &[&DataType], values: &[Value]) -> Result<Vec<u8>, RowError> {
        let mut output = Vec::new();
        self.encode_to(types, values, &mut output)?;
        Ok(output)
    }

    /// Appends a row whose values fit the types of its columns; after an error `output` may hold a part of it.
    ///
    /// # Errors
    /// Those of [`compacted::encode`].
    pub fn encode_to(
        self,
        types: &[&DataType],
        values: &[Value],
        output: &mut Vec<u8>,
    ) -> Result<(), RowError> {
        self.write_row(columns(types, values)?, output)
    }

    /// Decodes a row that takes up all of `row`; byte values share its memory.
    ///
    /// # Errors
    /// Those of [`compacted::decode`].
    pub fn decode(self, types: &[&DataType], row: &Bytes) -> Result<Vec<Value>, RowError> {
        let columns = types.iter().enumerate().map(|(position, data_type)| Field { position, data_type });
        self.read_row(columns, row.clone())
    }

    pub(crate) fn write_row<'a>(
        self,
        columns: impl ExactSizeIterator<Item = (Field<'a>, &'a Value)> + Clone,
        output: &mut Vec<u8>,
    ) -> Result<(), RowError> {
        match self {
            Self::Compacted => compacted::write_row(columns, output),
            Self::Indexed => indexed::write_row(columns, output),
        }
    }

    pub(crate) fn read_row<'a>(
        self,
        columns: impl ExactSizeIterator<Item = Field<'a>> + Clone,
        row: Bytes,
    ) -> Result<Vec<Value>, RowError> {
        match self {
            Self::Compacted => compacted::read_row(columns, row),
            Self::Indexed => indexed::read_row(columns, row),
        }
    }
}

impl Decimal {
    /// Creates a decimal number whose digits fit its precision.
    pub fn new(unscaled: i128, precision: u8, scale: u8) -> Option<Self> {
        let bound = 10_i128.checked_pow(u32::from(precision))?;
        let fits = scale <= precision && unscaled.unsigned_abs() < bound.unsigned_abs();
        fits.then_some(Self { unscaled, precision, scale })
    }

    /// Appends the shortest big-endian two's complement form of the unscaled number.
    pub(crate) fn write_minimal_bytes(self, output: &mut Vec<u8>) {
        let bytes = self.unscaled.to_be_bytes();
        let sign = if self.unscaled < 0 { 0xff } else { 0 };
        // A leading byte may go if it is all sign and the next byte has the same sign bit.
        let redundant = bytes
            .windows(2)
            .take_while(|pair| matches!(pair, [first, second] if *first == sign && (second ^ sign) < 0x80))
            .count();
        output.extend_from_slice(bytes.get(redundant..).unwrap_or_default());
    }

    /// Returns the shortest big-endian two's complement form of the unscaled number.
    pub(crate) fn to_minimal_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(16);
        self.write_minimal_bytes(&mut bytes);
        bytes
    }

    /// Reads a big-endian two's complement number of 1 to 16 bytes.
    pub(crate) fn from_bytes(bytes: &[u8], precision: u8, scale: u8) -> Option<Self> {
        let first = *bytes.first()?;
        let mut extended = [if first < 0x80 { 0 } else { 0xff }; 16];
        let start = extended.len().checked_sub(bytes.len())?;
        extended.get_mut(start..)?.copy_from_slice(bytes);
        Self::new(i128::from_be_bytes(extended), precision, scale)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = usize::from(self.scale);
        let digits = format!("{:0>width$}", self.unscaled.unsigned_abs(), width = scale + 1);
        let sign = if self.unscaled < 0 { "-" } else { "" };
        match digits.split_at_checked(digits.len() - scale) {
            Some((whole, fraction)) if !fraction.is_empty() => write!(f, "{sign}{whole}.{fraction}"),
            _ => write!(f, "{sign}{digits}"),
        }
    }
}

impl Timestamp {
    /// Creates a timestamp; nothing if `nanos_of_milli` is above 999 999.
    pub fn new(millis: i64, nanos_of_milli: u32) -> Option<Self> {
        (nanos_of_milli <= MAX_NANOS_OF_MILLI).then_some(Self { millis, nanos_of_milli })
    }
}

/// A column while its value is encoded or decoded: where it is, and its type.
#[derive(Clone, Copy)]
pub(crate) struct Field<'a> {
    pub(crate) position: usize,
    pub(crate) data_type: &'a DataType,
}

impl<'a> Field<'a> {
    pub(crate) fn kind(self) -> &'a TypeKind {
        self.data_type.kind()
    }

    /// The same column with the type of something nested in it.
    pub(crate) fn of(self, data_type: &'a DataType) -> Self {
        Self { data_type, ..self }
    }

    /// Refuses null where the type does.
    pub(crate) fn check_null(self, value: &Value) -> Result<(), RowError> {
        if value.is_null() && !self.data_type.is_nullable() { Err(self.mismatch(value)) } else { Ok(()) }
    }

    pub(crate) fn mismatch(self, value: &Value) -> RowError {
        RowError::TypeMismatch {
            position: self.position,
            data_type: self.data_type.to_string(),
            found: value.type_name(),
        }
    }

    pub(crate) fn out_of_range(self) -> RowError {
        RowError::OutOfRange { position: self.position, data_type: self.data_type.to_string() }
    }

    pub(crate) fn unsupported(self) -> RowError {
        RowError::UnsupportedType { position: self.position, data_type: self.data_type.to_string() }
    }

    pub(crate) fn invalid(self) -> RowError {
        RowError::Invalid { position: self.position, data_type: self.data_type.to_string() }
    }

    pub(crate) fn truncated(self) -> RowError {
        RowError::Truncated { position: self.position }
    }

    /// Checks the bounds that the type sets on a value that it matches.
    pub(crate) fn check_range(self, value: &Value) -> Result<(), RowError> {
        let fits = match (self.kind(), value) {
            (TypeKind::Char { length }, Value::String(text)) => {
                u32::try_from(text.chars().count()).is_ok_and(|count| count <= *length)
            }
            (TypeKind::Binary { length }, Value::Bytes(bytes)) => {
                u32::try_from(bytes.len()).is_ok_and(|count| count <= *length)
            }
            (TypeKind::Decimal { precision, scale }, Value::Decimal(decimal)) => {
                decimal.scale == *scale && Decimal::new(decimal.unscaled, *precision, *scale).is_some()
            }
            (
                TypeKind::Timestamp { precision } | TypeKind::TimestampLtz { precision },
                Value::Timestamp(timestamp) | Value::TimestampLtz(timestamp),
            ) => {
                let compact = *precision <= MAX_COMPACT_TIMESTAMP_PRECISION;
                timestamp.nanos_of_milli <= if compact { 0 } else { MAX_NANOS_OF_MILLI }
            }
            _ => true,
        };
        if fits { Ok(()) } else { Err(self.out_of_range()) }
    }

    pub(crate) fn decimal(self, unscaled: i128) -> Result<Value, RowError> {
        let TypeKind::Decimal { precision, scale } = *self.kind() else { return Err(self.invalid()) };
        Decimal::new(unscaled, precision, scale).map(Value::Decimal).ok_or_else(|| self.invalid())
    }

    pub(crate) fn decimal_of_bytes(self, bytes: &[u8]) -> Result<Value, RowError> {
        let TypeKind::Decimal { precision, scale } = *self.kind() else { return Err(self.invalid()) };
        Decimal::from_bytes(bytes, precision, scale).map(Value::Decimal).ok_or_else(|| self.invalid())
    }

    pub(crate) fn timestamp(self, millis: i64, nanos_of_milli: i32) -> Result<Value, RowError> {
        let nanos = u32::try_from(nanos_of_milli).map_err(|_| self.invalid())?;
        let timestamp = Timestamp::new(millis, nanos).ok_or_else(|| self.invalid())?;
        Ok(match self.kind() {
            TypeKind::TimestampLtz { .. } => Value::TimestampLtz(timestamp),
            _ => Value::Timestamp(timestamp),
        })
    }

    pub(crate) fn text(self, bytes: &[u8]) -> Result<Value, RowError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Value::String(text.to_owned())),
            Err(_) => Err(self.invalid()),
        }
    }
}

/// Pairs types with values after checking that there are as many.
pub(crate) fn columns<'a>(
    types: &'a [&'a DataType],
    values: &'a [Value],
) -> Result<impl ExactSizeIterator<Item = (Field<'a>, &'a Value)> + Clone, RowError> {
    if types.len() != values.len() {
        return Err(RowError::Arity { expected: types.len(), found: values.len() });
    }
    let fields = types.iter().enumerate().map(|(position, data_type)| Field { position, data_type });
    Ok(fields.zip(values))
}

/// Pairs the fields of a ROW with their values; faults are told of the column the row is in.
fn nested_columns<'a>(
    column: Field<'a>,
    fields: &'a [RowField],
    values: &'a [Value],
) -> Result<impl ExactSizeIterator<Item = (Field<'a>, &'a Value)> + Clone, RowError> {
    if fields.len() != values.len() {
        return Err(RowError::Arity { expected: fields.len(), found: values.len() });
    }
    for (field, value) in fields.iter().zip(values) {
        column.of(&field.data_type).check_null(value)?;
    }
    Ok(fields.iter().map(move |field| column.of(&field.data_type)).zip(values))
}

/// Appends the null bits of a row, one per value from the lowest bit of the first byte.
fn write_null_bits<'a>(columns: impl Iterator<Item = (Field<'a>, &'a Value)>, output: &mut Vec<u8>) {
    let (mut byte, mut bit) = (0_u8, 0_u8);
    for (_, value) in columns {
        byte |= u8::from(value.is_null()) << bit;
        bit += 1;
        if bit == 8 {
            output.push(byte);
            (byte, bit) = (0, 0);
        }
    }
    if bit > 0 {
        output.push(byte);
    }
}

/// Reads one null bit.
pub(crate) fn is_null(bits: &[u8], position: usize) -> bool {
    bits.get(position / 8).is_some_and(|byte| byte & (1 << (position % 8)) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_bytes_are_minimal_and_read_back() {
        for (unscaled, bytes) in [
            (0, vec![0]),
            (1, vec![1]),
            (-1, vec![0xff]),
            (127, vec![0x7f]),
            (128, vec![0, 0x80]),
            (-128, vec![0x80]),
            (-129, vec![0xff, 0x7f]),
            (-1234, vec![0xfb, 0x2e]),
        ] {
            let decimal = Decimal::new(unscaled, 38, 2).unwrap();
            assert_eq!(decimal.to_minimal_bytes(), bytes);
            assert_eq!(Decimal::from_bytes(&bytes, 38, 2), Some(decimal));
        }
        let widest = Decimal::new(10_i128.pow(38) - 1, 38, 0).unwrap();
        assert_eq!(Decimal::from_bytes(&widest.to_minimal_bytes(), 38, 0), Some(widest));
        assert_eq!(Decimal::from_bytes(&[], 38, 0), None);
        assert_eq!(Decimal::from_bytes(&[0; 17], 38, 0), None);
        assert_eq!(Decimal::from_bytes(&[100], 2, 0), None);
    }

    #[test]
    fn decimal_reads_like_a_number() {
        for (unscaled, scale, text) in
            [(-1234, 2, "-12.34"), (5, 2, "0.05"), (-5, 0, "-5"), (0, 3, "0.000"), (100, 1, "10.0")]
        {
            assert_eq!(Decimal::new(unscaled, 10, scale).unwrap().to_string(), text);
        }
        assert_eq!(Decimal::new(100, 2, 0), None);
        assert_eq!(Decimal::new(i128::MIN, 38, 0), None);
        assert_eq!(Decimal::new(0, 39, 0), None);
    }
}
