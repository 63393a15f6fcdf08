//! KV record batches: upserts and deletes as `PUT_KV` carries them, one batch per bucket.
//!
//! | field | type | offset |
//! |---|---|---|
//! | length of what follows | `i32` | 0 |
//! | magic, 0 | `i8` | 4 |
//! | CRC-32C of what follows it | `u32` | 5 |
//! | schema id | `i16` | 9 |
//! | attributes, 0 | `i8` | 11 |
//! | writer id, −1 for none | `i64` | 12 |
//! | batch sequence, −1 for none | `i32` | 20 |
//! | record count | `i32` | 24 |
//! | records | | 28 |
//!
//! A record is an `i32` size of what follows, a varint key length, the key, and the row in the table's kv
//! format; no row means a delete. Everything is little-endian. Source: `DefaultKvRecordBatch` and
//! `DefaultKvRecord`, 0.9.1. A 0.9.1 server does not check the CRC; this crate does.

use std::sync::Arc;

use bytes::Bytes;

use crate::crc32c::checksum;
use crate::data_type::DataType;
use crate::row::{Field, RowError, RowFormat, Value};
use crate::varint;

const MAGIC: u8 = 0;
const LENGTH_BYTES: usize = 4;
const CRC_OFFSET: usize = 5;
const SCHEMA_ID_OFFSET: usize = 9;
const HEADER_BYTES: usize = 28;
/// Smallest record: its size, a key length of 0.
const MIN_RECORD_BYTES: usize = 5;

/// Writer id of a batch that is not idempotent.
pub const NO_WRITER: i64 = -1;
/// Batch sequence of a batch that is not idempotent.
pub const NO_SEQUENCE: i32 = -1;

/// A batch of upserts and deletes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KvBatch {
    /// Id of the schema of all rows.
    pub schema_id: i16,
    /// Id that `INIT_WRITER` gave, or [`NO_WRITER`].
    pub writer_id: i64,
    /// Number of the batch among those of the writer to the bucket, or [`NO_SEQUENCE`].
    pub batch_sequence: i32,
    /// Records in their order.
    pub records: Vec<KvRecord>,
}

/// One record of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KvRecord {
    /// Bytes of the physical primary key, see [`crate::key`].
    pub key: Bytes,
    /// Bytes of the row, see [`crate::row`]; none for a delete.
    pub row: Option<Bytes>,
}

/// Why a batch cannot be encoded or decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KvBatchError {
    /// The batch does not fit its length field.
    #[error("a KV batch of {size} bytes is too large")]
    TooLarge {
        /// Bytes of the batch.
        size: usize,
    },
    /// The bytes end before the batch does, or go on after it.
    #[error("a KV batch declares {declared} bytes but has {found}")]
    Length {
        /// Value of the length field.
        declared: i32,
        /// Bytes after the length field.
        found: usize,
    },
    /// The batch is shorter than its header.
    #[error("a KV batch of {size} bytes is shorter than its header")]
    Short {
        /// Bytes found.
        size: usize,
    },
    /// The magic byte is not 0.
    #[error("the KV batch has the unknown magic {magic}")]
    Magic {
        /// The magic byte.
        magic: u8,
    },
    /// The checksum does not match.
    #[error("the checksum of the KV batch is {found:08x} but must be {declared:08x}")]
    Checksum {
        /// Checksum in the header.
        declared: u32,
        /// Checksum of the bytes.
        found: u32,
    },
    /// The record count is negative, or other than the number of records.
    #[error("the KV batch declares {declared} records")]
    RecordCount {
        /// Value of the count field.
        declared: i32,
    },
    /// A record does not lie within the batch, or its key not within the record.
    #[error("record {index} of the KV batch is malformed")]
    Record {
        /// Position of the record, from 0.
        index: usize,
    },
    /// An upsert has a row of no bytes, which would read as a delete.
    #[error("record {index} of the KV batch has an empty row")]
    EmptyRow {
        /// Position of the record, from 0.
        index: usize,
    },
}

impl KvBatchError {
    /// Returns the stable code of the error.
    pub fn code(self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "batch_too_large",
            Self::Length { .. } | Self::Short { .. } => "batch_truncated",
            Self::Magic { .. } => "batch_magic_unknown",
            Self::Checksum { .. } => "batch_checksum",
            Self::RecordCount { .. } | Self::Record { .. } | Self::EmptyRow { .. } => "batch_record",
        }
    }
}

/// Builds one batch after the other without a copy of each row; memory is kept from one to the next.
#[derive(Debug)]
pub struct KvBatchBuilder {
    types: Arc<[DataType]>,
    format: RowFormat,
    schema_id: i16,
    /// Room for the header, then the records.
    bytes: Vec<u8>,
    record_count: usize,
}

/// Why a record cannot be added or a batch not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KvBuildError {
    /// The row does not fit the schema.
    #[error("the row cannot be written")]
    Row {
        /// Which column and why.
        #[source]
        source: RowError,
    },
    /// The batch does not fit its fields.
    #[error("the KV batch cannot be made")]
    Batch {
        /// Why.
        #[source]
        source: KvBatchError,
    },
}

impl KvBuildError {
    /// Returns the stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Row { source } => source.code(),
            Self::Batch { source } => source.code(),
        }
    }
}

impl KvBatchBuilder {
    /// Creates a builder for rows of the given types, which are those of the schema with that id.
    pub fn new(types: Arc<[DataType]>, schema_id: i16, format: RowFormat) -> Self {
        Self { types, format, schema_id, bytes: vec![0; HEADER_BYTES], record_count: 0 }
    }

    /// Adds a record: an upsert with a row, a delete without; after an error the batch is as before.
    ///
    /// Whether columns may be null is not checked, because partial updates leave some out.
    ///
    /// # Errors
    /// [`KvBuildError::Row`], or [`KvBuildError::Batch`] for a row of no bytes or a record that is too large.
    pub fn append(&mut self, key: &[u8], row: Option<&[Value]>) -> Result<(), KvBuildError> {
        let start = self.bytes.len();
        let appended = self.append_record(start, key, row);
        match appended {
            Ok(()) => self.record_count += 1,
            Err(_) => self.bytes.truncate(start),
        }
        appended
    }

    fn append_record(&mut self, start: usize, key: &[u8], row: Option<&[Value]>) -> Result<(), KvBuildError> {
        let too_large = |size: usize| KvBuildError::Batch { source: KvBatchError::TooLarge { size } };
        self.bytes.extend([0; LENGTH_BYTES]);
        varint::write_i32(i32::try_from(key.len()).map_err(|_| too_large(key.len()))?, &mut self.bytes);
        self.bytes.extend_from_slice(key);
        if let Some(row) = row {
            if row.len() != self.types.len() {
                let source = RowError::Arity { expected: self.types.len(), found: row.len() };
                return Err(KvBuildError::Row { source });
            }
            let fields = self.types.iter().enumerate();
            let fields = fields.map(|(position, data_type)| Field { position, data_type });
            let row_start = self.bytes.len();
            self.format
                .write_row(fields.zip(row), &mut self.bytes)
                .map_err(|source| KvBuildError::Row { source })?;
            if self.bytes.len() == row_start {
                let source = KvBatchError::EmptyRow { index: self.record_count };
                return Err(KvBuildError::Batch { source });
            }
        }
        let size = self.bytes.len() - start - LENGTH_BYTES;
        let size = i32::try_from(size).map_err(|_| too_large(size))?;
        let place = self.bytes.get_mut(start..start + LENGTH_BYTES);
        place.ok_or_else(|| too_large(start))?.copy_from_slice(&size.to_le_bytes());
        Ok(())
    }

    /// Returns how many records were added.
    pub fn record_count(&self) -> usize {
        self.record_count
    }

    /// Returns the size of the batch so far.
    pub fn size_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the batch and begins a new one.
    ///
    /// # Errors
    /// [`KvBuildError::Batch`] if it is too large; the records are lost then.
    pub fn finish(&mut self, writer_id: i64, batch_sequence: i32) -> Result<Bytes, KvBuildError> {
        let batch = std::mem::replace(&mut self.bytes, vec![0; HEADER_BYTES]);
        let count = std::mem::take(&mut self.record_count);
        let size = batch.len();
        let header = Header { schema_id: self.schema_id, writer_id, batch_sequence };
        seal(batch, &header, count).ok_or(KvBuildError::Batch { source: KvBatchError::TooLarge { size } })
    }
}

/// What the header of a batch says.
struct Header {
    schema_id: i16,
    writer_id: i64,
    batch_sequence: i32,
}

/// Writes the header over the first [`HEADER_BYTES`] of a batch; nothing if it is too large.
fn seal(mut batch: Vec<u8>, header: &Header, count: usize) -> Option<Bytes> {
    let length = i32::try_from(batch.len().checked_sub(LENGTH_BYTES)?).ok()?;
    let count = i32::try_from(count).ok()?;
    let mut fields = Vec::with_capacity(HEADER_BYTES);
    fields.extend(length.to_le_bytes());
    fields.push(MAGIC);
    fields.extend(0_u32.to_le_bytes());
    fields.extend(header.schema_id.to_le_bytes());
    fields.push(0);
    fields.extend(header.writer_id.to_le_bytes());
    fields.extend(header.batch_sequence.to_le_bytes());
    fields.extend(count.to_le_bytes());
    batch.get_mut(..HEADER_BYTES)?.copy_from_slice(&fields);
    let (head, covered) = batch.split_at_mut_checked(SCHEMA_ID_OFFSET)?;
    *head.last_chunk_mut()? = checksum(covered).to_le_bytes();
    Some(Bytes::from(batch))
}

impl KvBatch {
    /// Encodes the batch with its checksum.
    ///
    /// # Errors
    /// [`KvBatchError::TooLarge`] or [`KvBatchError::EmptyRow`].
    pub fn encode(&self) -> Result<Bytes, KvBatchError> {
        let mut batch = vec![0; HEADER_BYTES];
        for (index, record) in self.records.iter().enumerate() {
            let start = batch.len();
            batch.extend([0; LENGTH_BYTES]);
            let key_length = i32::try_from(record.key.len())
                .map_err(|_| KvBatchError::TooLarge { size: record.key.len() })?;
            varint::write_i32(key_length, &mut batch);
            batch.extend_from_slice(&record.key);
            if let Some(row) = &record.row {
                if row.is_empty() {
                    return Err(KvBatchError::EmptyRow { index });
                }
                batch.extend_from_slice(row);
            }
            let size = batch.len() - start - LENGTH_BYTES;
            let field = i32::try_from(size).map_err(|_| KvBatchError::TooLarge { size })?;
            let place = batch.get_mut(start..start + LENGTH_BYTES);
            place.ok_or(KvBatchError::TooLarge { size })?.copy_from_slice(&field.to_le_bytes());
        }
        let size = batch.len();
        let header = Header {
            schema_id: self.schema_id,
            writer_id: self.writer_id,
            batch_sequence: self.batch_sequence,
        };
        seal(batch, &header, self.records.len()).ok_or(KvBatchError::TooLarge { size })
    }

    /// Decodes a batch that takes up all of `bytes`; keys and rows share their memory.
    ///
    /// # Errors
    /// Any [`KvBatchError`] but `TooLarge` and `EmptyRow`.
    pub fn decode(bytes: &Bytes) -> Result<Self, KvBatchError> {
        let short = KvBatchError::Short { size: bytes.len() };
        let header: &[u8; HEADER_BYTES] = bytes.first_chunk().ok_or(short)?;
        let declared = i32::from_le_bytes(field(header, 0));
        if usize::try_from(declared) != Ok(bytes.len() - LENGTH_BYTES) {
            return Err(KvBatchError::Length { declared, found: bytes.len() - LENGTH_BYTES });
        }
        let [magic] = field(header, LENGTH_BYTES);
        if magic != MAGIC {
            return Err(KvBatchError::Magic { magic });
        }
        let declared = u32::from_le_bytes(field(header, CRC_OFFSET));
        let found = checksum(bytes.get(SCHEMA_ID_OFFSET..).unwrap_or_default());
        if declared != found {
            return Err(KvBatchError::Checksum { declared, found });
        }
        let count = i32::from_le_bytes(field(header, 24));
        Ok(Self {
            schema_id: i16::from_le_bytes(field(header, SCHEMA_ID_OFFSET)),
            writer_id: i64::from_le_bytes(field(header, 12)),
            batch_sequence: i32::from_le_bytes(field(header, 20)),
            records: read_records(bytes.slice(HEADER_BYTES..), count)?,
        })
    }
}

fn read_records(mut input: Bytes, declared: i32) -> Result<Vec<KvRecord>, KvBatchError> {
    let count = usize::try_from(declared).map_err(|_| KvBatchError::RecordCount { declared })?;
    // The count is only believed as far as there are bytes for it.
    if count > input.len() / MIN_RECORD_BYTES {
        return Err(KvBatchError::RecordCount { declared });
    }
    let mut records = Vec::with_capacity(count);
    for index in 0..count {
        records.push(read_record(&mut input).ok_or(KvBatchError::Record { index })?);
    }
    if input.is_empty() { Ok(records) } else { Err(KvBatchError::RecordCount { declared }) }
}

fn read_record(input: &mut Bytes) -> Option<KvRecord> {
    let size = usize::try_from(i32::from_le_bytes(*input.first_chunk()?)).ok()?;
    if size > input.len() - LENGTH_BYTES {
        return None;
    }
    let mut record = input.split_to(LENGTH_BYTES + size).slice(LENGTH_BYTES..);
    let key_length = usize::try_from(varint::read_i32(&mut record)?).ok()?;
    if key_length > record.len() {
        return None;
    }
    let key = record.split_to(key_length);
    Some(KvRecord { key, row: (!record.is_empty()).then_some(record) })
}

/// Returns the bytes of a header field; all offsets used lie within the header.
fn field<const N: usize>(header: &[u8; HEADER_BYTES], offset: usize) -> [u8; N] {
    header.get(offset..).and_then(|rest| rest.first_chunk::<N>()).copied().unwrap_or([0; N])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch() -> KvBatch {
        let upsert = KvRecord { key: Bytes::from_static(b"k"), row: Some(Bytes::from_static(b"row")) };
        let delete = KvRecord { key: Bytes::from_static(b""), row: None };
        KvBatch {
            schema_id: 3,
            writer_id: NO_WRITER,
            batch_sequence: NO_SEQUENCE,
            records: vec![upsert, delete],
        }
    }

    #[test]
    fn batch_round_trips() {
        for batch in [batch(), KvBatch { records: Vec::new(), ..batch() }] {
            assert_eq!(KvBatch::decode(&batch.encode().unwrap()).unwrap(), batch);
        }
    }

    #[test]
    fn any_flipped_bit_is_noticed() {
        let bytes = batch().encode().unwrap();
        for position in 0..bytes.len() * 8 {
            let mut broken = bytes.to_vec();
            broken[position / 8] ^= 1 << (position % 8);
            assert!(KvBatch::decode(&Bytes::from(broken)).is_err(), "bit {position}");
        }
        for end in 0..bytes.len() {
            assert_eq!(KvBatch::decode(&bytes.slice(..end)).unwrap_err().code(), "batch_truncated", "{end}");
        }
    }

    #[test]
    fn counts_and_sizes_are_not_believed() {
        let change = |offset: usize, value: i32| {
            let mut bytes = batch().encode().unwrap().to_vec();
            bytes[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
            let crc = checksum(&bytes[SCHEMA_ID_OFFSET..]);
            bytes[CRC_OFFSET..SCHEMA_ID_OFFSET].copy_from_slice(&crc.to_le_bytes());
            KvBatch::decode(&Bytes::from(bytes)).unwrap_err().code()
        };
        for count in [-1, 0, 1, 3, i32::MAX] {
            assert_eq!(change(24, count), "batch_record");
        }
        for size in [-1, 0, 100, i32::MAX] {
            assert_eq!(change(HEADER_BYTES, size), "batch_record");
        }
    }

    #[test]
    fn empty_row_is_not_taken_for_a_delete() {
        let mut batch = batch();
        batch.records[0].row = Some(Bytes::new());
        assert_eq!(batch.encode(), Err(KvBatchError::EmptyRow { index: 0 }));
    }
}
