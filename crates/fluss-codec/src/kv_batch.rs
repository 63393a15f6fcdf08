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

use bytes::Bytes;

use crate::crc32c::checksum;
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

impl KvBatch {
    /// Encodes the batch with its checksum.
    ///
    /// # Errors
    /// [`KvBatchError::TooLarge`] or [`KvBatchError::EmptyRow`].
    pub fn encode(&self) -> Result<Bytes, KvBatchError> {
        let mut records = Vec::new();
        let mut body = Vec::new();
        for (index, record) in self.records.iter().enumerate() {
            body.clear();
            let key_length = i32::try_from(record.key.len())
                .map_err(|_| KvBatchError::TooLarge { size: record.key.len() })?;
            varint::write_i32(key_length, &mut body);
            body.extend_from_slice(&record.key);
            if let Some(row) = &record.row {
                if row.is_empty() {
                    return Err(KvBatchError::EmptyRow { index });
                }
                body.extend_from_slice(row);
            }
            let size = i32::try_from(body.len()).map_err(|_| KvBatchError::TooLarge { size: body.len() })?;
            records.extend(size.to_le_bytes());
            records.extend_from_slice(&body);
        }
        let size = HEADER_BYTES + records.len();
        let length = i32::try_from(size - LENGTH_BYTES).map_err(|_| KvBatchError::TooLarge { size })?;
        let count = i32::try_from(self.records.len()).map_err(|_| KvBatchError::TooLarge { size })?;

        let mut covered = Vec::with_capacity(size - SCHEMA_ID_OFFSET);
        covered.extend(self.schema_id.to_le_bytes());
        covered.push(0);
        covered.extend(self.writer_id.to_le_bytes());
        covered.extend(self.batch_sequence.to_le_bytes());
        covered.extend(count.to_le_bytes());
        covered.extend(records);

        let mut batch = Vec::with_capacity(size);
        batch.extend(length.to_le_bytes());
        batch.push(MAGIC);
        batch.extend(checksum(&covered).to_le_bytes());
        batch.extend(covered);
        Ok(Bytes::from(batch))
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
