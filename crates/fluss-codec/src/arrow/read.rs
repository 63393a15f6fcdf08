//! Reads the message of a batch: its columns are checked once, its values when they are asked for.

use arrow_ipc::{Buffer, FieldNode, RecordBatch};
use bytes::Bytes;

use super::compression::{Decompressor, Fault};
use super::{
    ArrowError, CONTINUATION, MAX_DECOMPRESSED_BYTES, MICROS_PRECISION, MILLIS_PRECISION, PREFIX_BYTES, Shape,
};
use crate::data_type::{DataType, TypeKind};
use crate::row::{Field, MAX_NESTED_VALUES, RowError, Value, is_null};

const OFFSET_BYTES: usize = 4;

/// The columns of a message.
#[derive(Clone, Debug)]
pub(crate) struct ArrowColumns {
    /// One for each type; none where none was wanted.
    columns: Vec<Option<ArrowColumn>>,
}

/// A column whose buffers are known to be long enough.
#[derive(Clone, Debug)]
struct ArrowColumn {
    len: usize,
    validity: Validity,
    data: Data,
}

#[derive(Clone, Debug)]
enum Validity {
    All,
    None,
    Bits(Bytes),
}

#[derive(Clone, Debug)]
enum Data {
    Bits(Bytes),
    Fixed { width: usize, bytes: Bytes },
    Variable { offsets: Bytes, bytes: Bytes },
    List { offsets: Bytes, elements: Box<ArrowColumn> },
    Map { offsets: Bytes, keys: Box<ArrowColumn>, values: Box<ArrowColumn> },
    Struct(Vec<ArrowColumn>),
}

impl ArrowColumns {
    /// Reads the message in `body`, whose columns have the given types; only those wanted are decompressed.
    pub(crate) fn read(
        body: &Bytes,
        rows: usize,
        types: &[&DataType],
        wanted: impl Fn(usize) -> bool,
    ) -> Result<Self, ArrowError> {
        if rows == 0 {
            return Ok(Self { columns: types.iter().map(|_| None).collect() });
        }
        let (metadata, buffers) = split(body)?;
        // The check of a flatbuffer is about offsets from its start, so it may lie anywhere.
        let message = arrow_ipc::root_as_message(&metadata)
            .map_err(|fault| ArrowError::Metadata { reason: fault.to_string() })?;
        let batch = message.header_as_record_batch().ok_or(ArrowError::NotARecordBatch)?;
        if usize::try_from(batch.length()) != Ok(rows) {
            return Err(ArrowError::RowCount { expected: rows, found: batch.length() });
        }
        let mut reader = Reader::new(&batch, buffers)?;
        let mut columns = Vec::with_capacity(types.len());
        for (position, data_type) in types.iter().enumerate() {
            reader.position = position;
            columns.push(if wanted(position) {
                Some(reader.column(data_type, Some(rows))?)
            } else {
                reader.skip(data_type)?;
                None
            });
        }
        if reader.nodes.next().is_some() || reader.buffers.next().is_some() {
            return Err(ArrowError::Columns);
        }
        Ok(Self { columns })
    }

    /// Returns a value; null of a column that was not wanted.
    pub(crate) fn value(&self, field: Field<'_>, row: usize) -> Result<Value, RowError> {
        match self.columns.get(field.position) {
            Some(Some(column)) => column.value(field, row),
            Some(None) => Ok(Value::Null),
            None => Err(field.truncated()),
        }
    }
}

/// Parts a message into its metadata and its body.
fn split(body: &Bytes) -> Result<(Bytes, Bytes), ArrowError> {
    let (Some(mark), Some(size)) = (body.first_chunk(), body.get(4..).and_then(|rest| rest.first_chunk()))
    else {
        return Err(ArrowError::Message);
    };
    let size = usize::try_from(i32::from_le_bytes(*size)).map_err(|_| ArrowError::Message)?;
    if u32::from_le_bytes(*mark) != CONTINUATION || size > body.len() - PREFIX_BYTES {
        return Err(ArrowError::Message);
    }
    Ok((body.slice(PREFIX_BYTES..PREFIX_BYTES + size), body.slice(PREFIX_BYTES + size..)))
}

struct Reader<'a> {
    nodes: flatbuffers::VectorIter<'a, FieldNode>,
    buffers: flatbuffers::VectorIter<'a, Buffer>,
    body: Bytes,
    decompressor: Decompressor,
    position: usize,
}

impl<'a> Reader<'a> {
    fn new(batch: &RecordBatch<'a>, body: Bytes) -> Result<Self, ArrowError> {
        let codec = match batch.compression() {
            None => None,
            Some(compression) if compression.method() == arrow_ipc::BodyCompressionMethod::BUFFER => {
                Some(compression.codec())
            }
            Some(_) => return Err(ArrowError::Compression { position: 0 }),
        };
        let (Some(nodes), Some(buffers)) = (batch.nodes(), batch.buffers()) else {
            return Err(ArrowError::Columns);
        };
        Ok(Self {
            nodes: nodes.iter(),
            buffers: buffers.iter(),
            body,
            decompressor: Decompressor::new(codec, MAX_DECOMPRESSED_BYTES),
            position: 0,
        })
    }

    fn out_of_bounds(&self) -> ArrowError {
        ArrowError::Buffer { position: self.position }
    }

    /// Reads the next column with those nested in it; `expected` is its length where that is known.
    fn column(&mut self, data_type: &DataType, expected: Option<usize>) -> Result<ArrowColumn, ArrowError> {
        let node = self.nodes.next().ok_or(ArrowError::Columns)?;
        let len = usize::try_from(node.length()).map_err(|_| ArrowError::Columns)?;
        match expected {
            Some(expected) if expected != len => return Err(ArrowError::Columns),
            None if len > MAX_NESTED_VALUES => return Err(ArrowError::TooLarge),
            _ => {}
        }
        let validity = self.validity(len, node.null_count())?;
        let data = match (Shape::of(data_type), data_type.kind()) {
            (Shape::List, TypeKind::Array(element)) => {
                let (offsets, end) = self.offsets(len)?;
                let elements = Box::new(self.column(element, None)?);
                self.check_end(end, elements.len)?;
                Data::List { offsets, elements }
            }
            (Shape::Map, TypeKind::Map(key, value)) => {
                let (offsets, end) = self.offsets(len)?;
                let entries = self.nodes.next().ok_or(ArrowError::Columns)?;
                let entries = usize::try_from(entries.length()).map_err(|_| ArrowError::Columns)?;
                if entries > MAX_NESTED_VALUES {
                    return Err(ArrowError::TooLarge);
                }
                // Entries are never null, whatever their bits say.
                self.next_buffer()?;
                self.check_end(end, entries)?;
                let keys = Box::new(self.column(key, Some(entries))?);
                let values = Box::new(self.column(value, Some(entries))?);
                Data::Map { offsets, keys, values }
            }
            (Shape::Struct, TypeKind::Row(fields)) => {
                let columns: Result<_, _> =
                    fields.iter().map(|field| self.column(&field.data_type, Some(len))).collect();
                Data::Struct(columns?)
            }
            (Shape::Bits, _) => Data::Bits(self.buffer(len.div_ceil(8))?),
            (Shape::Fixed(width), _) => {
                let size = len.checked_mul(width).ok_or_else(|| self.out_of_bounds())?;
                Data::Fixed { width, bytes: self.buffer(size)? }
            }
            _ => {
                let (offsets, end) = self.offsets(len)?;
                Data::Variable { offsets, bytes: self.buffer(end)? }
            }
        };
        Ok(ArrowColumn { len, validity, data })
    }

    /// Passes over the next column.
    fn skip(&mut self, data_type: &DataType) -> Result<(), ArrowError> {
        self.nodes.next().ok_or(ArrowError::Columns)?;
        self.next_buffer()?;
        match data_type.kind() {
            TypeKind::Array(element) => {
                self.next_buffer()?;
                self.skip(element)
            }
            TypeKind::Map(key, value) => {
                self.next_buffer()?;
                self.nodes.next().ok_or(ArrowError::Columns)?;
                self.next_buffer()?;
                self.skip(key)?;
                self.skip(value)
            }
            TypeKind::Row(fields) => fields.iter().try_for_each(|field| self.skip(&field.data_type)),
            _ => {
                self.next_buffer()?;
                if Shape::of(data_type) == Shape::Variable {
                    self.next_buffer()?;
                }
                Ok(())
            }
        }
    }

    fn check_end(&self, end: usize, len: usize) -> Result<(), ArrowError> {
        if end <= len { Ok(()) } else { Err(ArrowError::Offsets { position: self.position }) }
    }

    fn validity(&mut self, len: usize, null_count: i64) -> Result<Validity, ArrowError> {
        let bits = self.contents()?;
        if bits.len() >= len.div_ceil(8) {
            return Ok(if null_count == 0 { Validity::All } else { Validity::Bits(bits) });
        }
        // Where all or none are null a writer may leave the bits out.
        match usize::try_from(null_count) {
            Ok(0) if bits.is_empty() => Ok(Validity::All),
            Ok(count) if bits.is_empty() && count == len => Ok(Validity::None),
            _ => Err(self.out_of_bounds()),
        }
    }

    /// Reads offsets, which must ascend, and returns the last one too.
    fn offsets(&mut self, len: usize) -> Result<(Bytes, usize), ArrowError> {
        if len == 0 {
            self.contents()?;
            return Ok((Bytes::from_static(&[0; OFFSET_BYTES]), 0));
        }
        let size = len.checked_add(1).and_then(|count| count.checked_mul(OFFSET_BYTES));
        let offsets = self.buffer(size.ok_or_else(|| self.out_of_bounds())?)?;
        let (chunks, _) = offsets.as_chunks::<OFFSET_BYTES>();
        let mut last = 0;
        for chunk in chunks {
            let next = i32::from_le_bytes(*chunk);
            if next < last {
                return Err(ArrowError::Offsets { position: self.position });
            }
            last = next;
        }
        let end = usize::try_from(last).map_err(|_| ArrowError::Offsets { position: self.position })?;
        Ok((offsets, end))
    }

    /// Returns the contents of the next buffer, cut to `size` bytes.
    fn buffer(&mut self, size: usize) -> Result<Bytes, ArrowError> {
        let mut contents = self.contents()?;
        if contents.len() < size {
            return Err(self.out_of_bounds());
        }
        contents.truncate(size);
        Ok(contents)
    }

    fn contents(&mut self) -> Result<Bytes, ArrowError> {
        let buffer = self.next_buffer()?;
        let (Ok(offset), Ok(length)) = (usize::try_from(buffer.offset()), usize::try_from(buffer.length()))
        else {
            return Err(self.out_of_bounds());
        };
        if offset > self.body.len() || length > self.body.len() - offset {
            return Err(self.out_of_bounds());
        }
        self.decompressor.read(self.body.slice(offset..offset + length)).map_err(|fault| match fault {
            Fault::Malformed => ArrowError::Compression { position: self.position },
            Fault::TooLarge => ArrowError::TooLarge,
        })
    }

    fn next_buffer(&mut self) -> Result<&'a Buffer, ArrowError> {
        self.buffers.next().ok_or(ArrowError::Columns)
    }
}

/// Returns where a value of variable length begins and ends.
fn range(field: Field<'_>, offsets: &[u8], row: usize) -> Result<std::ops::Range<usize>, RowError> {
    let (offsets, _) = offsets.as_chunks::<OFFSET_BYTES>();
    let (Some(start), Some(end)) = (offsets.get(row), offsets.get(row + 1)) else {
        return Err(field.truncated());
    };
    let bound =
        |bytes: &[u8; OFFSET_BYTES]| usize::try_from(i32::from_le_bytes(*bytes)).map_err(|_| field.invalid());
    Ok(bound(start)?..bound(end)?)
}

impl ArrowColumn {
    fn value(&self, field: Field<'_>, row: usize) -> Result<Value, RowError> {
        if row >= self.len {
            return Err(field.truncated());
        }
        match &self.validity {
            Validity::None => return Ok(Value::Null),
            // In Arrow a set bit means that there is a value.
            Validity::Bits(bits) if !is_null(bits, row) => return Ok(Value::Null),
            Validity::All | Validity::Bits(_) => {}
        }
        match &self.data {
            Data::Bits(bits) => Ok(Value::Boolean(is_null(bits, row))),
            Data::Fixed { width, bytes } => {
                let start = row * width;
                if start + width > bytes.len() {
                    return Err(field.truncated());
                }
                fixed(field, bytes, start, *width)
            }
            Data::Variable { offsets, bytes } => {
                let range = range(field, offsets, row)?;
                if range.start > range.end || range.end > bytes.len() {
                    return Err(field.truncated());
                }
                match field.kind() {
                    TypeKind::Bytes => Ok(Value::Bytes(bytes.slice(range))),
                    _ => field.text(bytes.get(range).unwrap_or_default()),
                }
            }
            Data::List { offsets, elements } => {
                let TypeKind::Array(element) = field.kind() else { return Err(field.invalid()) };
                let values = range(field, offsets, row)?.map(|row| elements.value(field.of(element), row));
                Ok(Value::Array(values.collect::<Result<_, _>>()?))
            }
            Data::Map { offsets, keys, values } => {
                let TypeKind::Map(key, value) = field.kind() else { return Err(field.invalid()) };
                let mut entries = Vec::new();
                for row in range(field, offsets, row)? {
                    let key = keys.value(field.of(key), row)?;
                    if key.is_null() {
                        return Err(field.invalid());
                    }
                    entries.push((key, values.value(field.of(value), row)?));
                }
                Ok(Value::Map(entries))
            }
            Data::Struct(columns) => {
                let TypeKind::Row(fields) = field.kind() else { return Err(field.invalid()) };
                let values = columns.iter().zip(fields);
                let values = values.map(|(column, nested)| column.value(field.of(&nested.data_type), row));
                Ok(Value::Row(values.collect::<Result<_, _>>()?))
            }
        }
    }
}

fn fixed(field: Field<'_>, bytes: &Bytes, start: usize, width: usize) -> Result<Value, RowError> {
    fn array<const N: usize>(field: Field<'_>, bytes: &[u8]) -> Result<[u8; N], RowError> {
        bytes.try_into().map_err(|_| field.truncated())
    }
    let value = bytes.get(start..start + width).unwrap_or_default();
    Ok(match field.kind() {
        TypeKind::TinyInt => Value::TinyInt(i8::from_le_bytes(array(field, value)?)),
        TypeKind::SmallInt => Value::SmallInt(i16::from_le_bytes(array(field, value)?)),
        TypeKind::Int => Value::Int(i32::from_le_bytes(array(field, value)?)),
        TypeKind::Date => Value::Date(i32::from_le_bytes(array(field, value)?)),
        TypeKind::BigInt => Value::BigInt(i64::from_le_bytes(array(field, value)?)),
        TypeKind::Float => Value::Float(f32::from_le_bytes(array(field, value)?)),
        TypeKind::Double => Value::Double(f64::from_le_bytes(array(field, value)?)),
        TypeKind::Decimal { .. } => field.decimal(i128::from_le_bytes(array(field, value)?))?,
        TypeKind::Binary { .. } => Value::Bytes(bytes.slice(start..start + width)),
        TypeKind::Time { precision } => {
            let millis = match *precision {
                0 => i32::from_le_bytes(array(field, value)?).checked_mul(1000),
                1..=MILLIS_PRECISION => Some(i32::from_le_bytes(array(field, value)?)),
                4..=MICROS_PRECISION => i32::try_from(i64::from_le_bytes(array(field, value)?) / 1000).ok(),
                _ => i32::try_from(i64::from_le_bytes(array(field, value)?) / 1_000_000).ok(),
            };
            Value::Time(millis.ok_or_else(|| field.invalid())?)
        }
        TypeKind::Timestamp { precision } | TypeKind::TimestampLtz { precision } => {
            let units = i64::from_le_bytes(array(field, value)?);
            let (millis, nanos) = match *precision {
                0 => (units.checked_mul(1000).ok_or_else(|| field.invalid())?, 0),
                1..=MILLIS_PRECISION => (units, 0),
                4..=MICROS_PRECISION => (units.div_euclid(1000), units.rem_euclid(1000) * 1000),
                _ => (units.div_euclid(1_000_000), units.rem_euclid(1_000_000)),
            };
            field.timestamp(millis, i32::try_from(nanos).map_err(|_| field.invalid())?)?
        }
        _ => return Err(field.invalid()),
    })
}
