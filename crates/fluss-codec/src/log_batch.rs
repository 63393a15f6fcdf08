//! Log record batches: finding them in a stream of bytes, their headers, and their checksums.
//!
//! | field | type | magic 0 | magic 1 of 0.9.1 | magic 1 of main | magic 2 of main |
//! |---|---|---|---|---|---|
//! | base offset | `i64` | 0 | 0 | 0 | 0 |
//! | length of what follows | `i32` | 8 | 8 | 8 | 8 |
//! | magic | `i8` | 12 | 12 | 12 | 12 |
//! | commit timestamp | `i64` | 13 | 13 | 13 | 13 |
//! | leader epoch | `i32` | – | 21 | – | 21 |
//! | CRC-32C of what follows it | `u32` | 21 | 25 | 21 | 25 |
//! | schema id | `i16` | 25 | 29 | 25 | 29 |
//! | attributes, bit 0 append-only | `i8` | 27 | 31 | 27 | 31 |
//! | last offset delta | `i32` | 28 | 32 | 28 | 32 |
//! | writer id | `i64` | 32 | 36 | 32 | 36 |
//! | batch sequence | `i32` | 40 | 44 | 40 | 44 |
//! | record count | `i32` | 44 | 48 | 44 | 48 |
//! | statistics length | `i32` | – | – | 48 | 52 |
//!
//! Everything is little-endian. Sources: `LogRecordBatchFormat` and `DefaultLogRecordBatch`, 0.9.1 and main.
//! [`LogBatch`] has the header and the body still encoded; [`records::LogRecords`] reads the body, and
//! [`builder::LogBatchBuilder`] writes batches, always of magic 0, which every server reads.

use bytes::{Buf as _, Bytes};

use crate::crc32c::checksum;
use crate::versions::LogMagicOne;

pub mod builder;
pub mod records;

/// Writer id of a batch that is not idempotent.
pub const NO_WRITER: i64 = -1;
/// Batch sequence of a batch that is not idempotent.
pub const NO_SEQUENCE: i32 = -1;

const LENGTH_OFFSET: usize = 8;
const MAGIC_OFFSET: usize = 12;
/// Base offset and length, which the length does not count.
const OVERHEAD_BYTES: usize = 12;
const EPOCH_BYTES: usize = 4;
const APPEND_ONLY: u8 = 1;

/// Whether the checksum of a batch is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecksumPolicy {
    /// It is; right for everything but projected fetches.
    Verify,
    /// It is not: a server that projects columns rewrites the batch but not its checksum.
    Skip,
}

/// One log record batch with its body still encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogBatch {
    /// Offset of the first record.
    pub base_offset: i64,
    /// Format of the batch: 0, 1 or 2.
    pub magic: u8,
    /// Time the leader appended the batch, in milliseconds since 1970-01-01.
    pub commit_timestamp_ms: i64,
    /// Epoch of that leader, in formats that carry it.
    pub leader_epoch: Option<i32>,
    /// Id of the schema of all records.
    pub schema_id: i16,
    /// Whether all records are appends, so that the body has no change types.
    pub append_only: bool,
    /// Offset of the last record minus the base offset.
    pub last_offset_delta: i32,
    /// Id of the writer, −1 for none.
    pub writer_id: i64,
    /// Number of the batch among those of the writer to the bucket, −1 for none.
    pub batch_sequence: i32,
    /// Records in the body; 0 is possible and still takes up one offset.
    pub record_count: i32,
    /// Statistics of the columns, in formats that carry them; may be empty.
    pub statistics: Option<Bytes>,
    /// Change types, if not append-only, and records in the table's log format.
    pub body: Bytes,
}

/// Why a batch cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogBatchError {
    /// The length field is too small for a header.
    #[error("a log batch declares a length of {declared} bytes")]
    Length {
        /// Value of the length field.
        declared: i32,
    },
    /// The magic byte is unknown, or not one the server can have written.
    #[error("the log batch has the unknown magic {magic}")]
    Magic {
        /// The magic byte.
        magic: u8,
    },
    /// The checksum does not match.
    #[error(
        "the checksum of the log batch at offset {base_offset} is {found:08x} but must be {declared:08x}"
    )]
    Checksum {
        /// Base offset of the batch.
        base_offset: i64,
        /// Checksum in the header.
        declared: u32,
        /// Checksum of the bytes.
        found: u32,
    },
    /// An offset, a count or a length in the header is impossible.
    #[error("the header of the log batch at offset {base_offset} has an impossible {field}")]
    Header {
        /// Base offset of the batch.
        base_offset: i64,
        /// Name of the field.
        field: &'static str,
    },
}

impl LogBatchError {
    /// Returns the stable code of the error.
    pub fn code(self) -> &'static str {
        match self {
            Self::Length { .. } => "batch_length",
            Self::Magic { .. } => "batch_magic_unknown",
            Self::Checksum { .. } => "batch_checksum",
            Self::Header { .. } => "batch_header",
        }
    }
}

#[derive(Clone, Copy)]
struct Layout {
    epoch: bool,
    statistics: bool,
}

impl Layout {
    fn of(magic: u8, magic_one: LogMagicOne) -> Option<Self> {
        match (magic, magic_one) {
            (0, _) => Some(Self { epoch: false, statistics: false }),
            (1, LogMagicOne::LeaderEpoch) => Some(Self { epoch: true, statistics: false }),
            (1, LogMagicOne::Statistics) => Some(Self { epoch: false, statistics: true }),
            (2, LogMagicOne::Statistics) => Some(Self { epoch: true, statistics: true }),
            _ => None,
        }
    }

    fn header_bytes(self) -> usize {
        48 + if self.epoch { EPOCH_BYTES } else { 0 } + if self.statistics { 4 } else { 0 }
    }

    /// Offset of the schema id, where the checksummed part begins.
    fn covered_from(self) -> usize {
        25 + if self.epoch { EPOCH_BYTES } else { 0 }
    }
}

impl LogBatch {
    /// Takes the next batch off the front of `records`, or returns `None` if no whole batch is left.
    ///
    /// A server cuts its answer at a byte limit, so that the last batch may be incomplete; what is left of it
    /// stays in `records`. After an error `records` is as before.
    ///
    /// # Errors
    /// Any [`LogBatchError`]; checksums only if `policy` says so.
    pub fn decode_next(
        records: &mut Bytes,
        magic_one: LogMagicOne,
        policy: ChecksumPolicy,
    ) -> Result<Option<Self>, LogBatchError> {
        let Some(declared) = records.get(LENGTH_OFFSET..).and_then(|rest| rest.first_chunk()) else {
            return Ok(None);
        };
        let declared = i32::from_le_bytes(*declared);
        let length = usize::try_from(declared).map_err(|_| LogBatchError::Length { declared })?;
        // Checked before the magic is known: no format is shorter than the first.
        let shortest = Layout { epoch: false, statistics: false }.header_bytes() - OVERHEAD_BYTES;
        if length < shortest {
            return Err(LogBatchError::Length { declared });
        }
        if length > records.len() - OVERHEAD_BYTES {
            return Ok(None);
        }
        let bytes = records.slice(..OVERHEAD_BYTES + length);
        let magic = bytes.get(MAGIC_OFFSET).copied().unwrap_or_default();
        let layout = Layout::of(magic, magic_one).ok_or(LogBatchError::Magic { magic })?;
        if bytes.len() < layout.header_bytes() {
            return Err(LogBatchError::Length { declared });
        }
        let batch = read_batch(bytes.clone(), magic, layout, policy)?;
        records.advance(bytes.len());
        Ok(Some(batch))
    }

    /// Returns the offset at which reading goes on after this batch.
    ///
    /// It is not the base offset plus the record count: a batch without records takes up one offset.
    pub fn next_offset(&self) -> i64 {
        // Decoding has checked that this does not overflow.
        self.base_offset.saturating_add(i64::from(self.last_offset_delta)).saturating_add(1)
    }
}

fn read_batch(
    bytes: Bytes,
    magic: u8,
    layout: Layout,
    policy: ChecksumPolicy,
) -> Result<LogBatch, LogBatchError> {
    let covered = bytes.slice(layout.covered_from()..);
    // The caller has checked that the whole header is there, so the reads below cannot run out of bytes.
    let mut header = bytes;
    let base_offset = header.get_i64_le();
    header.advance(MAGIC_OFFSET + 1 - LENGTH_OFFSET);
    let commit_timestamp_ms = header.get_i64_le();
    let leader_epoch = layout.epoch.then(|| header.get_i32_le());
    let declared = header.get_u32_le();
    if policy == ChecksumPolicy::Verify {
        let found = checksum(&covered);
        if found != declared {
            return Err(LogBatchError::Checksum { base_offset, declared, found });
        }
    }
    let schema_id = header.get_i16_le();
    let attributes = header.get_u8();
    let last_offset_delta = header.get_i32_le();
    let writer_id = header.get_i64_le();
    let batch_sequence = header.get_i32_le();
    let record_count = header.get_i32_le();
    let impossible = |field| LogBatchError::Header { base_offset, field };

    let last_offset = base_offset.checked_add(i64::from(last_offset_delta));
    if last_offset_delta < 0 || last_offset.is_none_or(|last| last == i64::MAX) {
        return Err(impossible("last offset delta"));
    }
    if record_count < 0 {
        return Err(impossible("record count"));
    }
    let statistics = if layout.statistics {
        let length = usize::try_from(header.get_i32_le()).map_err(|_| impossible("statistics length"))?;
        if length > header.len() {
            return Err(impossible("statistics length"));
        }
        Some(header.split_to(length))
    } else {
        None
    };
    Ok(LogBatch {
        base_offset,
        magic,
        commit_timestamp_ms,
        leader_epoch,
        schema_id,
        append_only: attributes & APPEND_ONLY != 0,
        last_offset_delta,
        writer_id,
        batch_sequence,
        record_count,
        statistics,
        body: header,
    })
}

/// Size of the header of magic 0.
const HEADER_BYTES: usize = 48;

/// What the header of a new batch says.
struct Header {
    schema_id: i16,
    append_only: bool,
    writer_id: i64,
    batch_sequence: i32,
    record_count: i32,
}

/// Writes the header of magic 0 over the first [`HEADER_BYTES`] of a batch; nothing if it is too large.
fn seal(mut batch: Vec<u8>, header: &Header) -> Option<Bytes> {
    let length = i32::try_from(batch.len().checked_sub(OVERHEAD_BYTES)?).ok()?;
    let mut fields = Vec::with_capacity(HEADER_BYTES);
    fields.extend(0_i64.to_le_bytes());
    fields.extend(length.to_le_bytes());
    fields.push(0);
    fields.extend(0_i64.to_le_bytes());
    fields.extend(0_u32.to_le_bytes());
    fields.extend(header.schema_id.to_le_bytes());
    fields.push(if header.append_only { APPEND_ONLY } else { 0 });
    fields.extend(header.record_count.saturating_sub(1).max(0).to_le_bytes());
    fields.extend(header.writer_id.to_le_bytes());
    fields.extend(header.batch_sequence.to_le_bytes());
    fields.extend(header.record_count.to_le_bytes());
    batch.get_mut(..HEADER_BYTES)?.copy_from_slice(&fields);
    put_checksum(&mut batch)?;
    Some(Bytes::from(batch))
}

fn put_checksum(batch: &mut [u8]) -> Option<()> {
    let covered_from = Layout { epoch: false, statistics: false }.covered_from();
    let (head, covered) = batch.split_at_mut_checked(covered_from)?;
    *head.last_chunk_mut()? = checksum(covered).to_le_bytes();
    Some(())
}

/// Returns a batch of [`builder::LogBatchBuilder`] with another writer id and sequence; nothing if it is none.
pub fn restamped(batch: &[u8], writer_id: i64, batch_sequence: i32) -> Option<Bytes> {
    if batch.len() < HEADER_BYTES || batch.get(MAGIC_OFFSET) != Some(&0) {
        return None;
    }
    let mut batch = batch.to_vec();
    batch.get_mut(32..40)?.copy_from_slice(&writer_id.to_le_bytes());
    batch.get_mut(40..44)?.copy_from_slice(&batch_sequence.to_le_bytes());
    put_checksum(&mut batch)?;
    Some(Bytes::from(batch))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A batch of the given format with 2 records and the body `body`.
    fn batch(magic: u8, layout: Layout) -> Vec<u8> {
        let mut covered = Vec::new();
        covered.extend(7_i16.to_le_bytes());
        covered.push(APPEND_ONLY);
        covered.extend(1_i32.to_le_bytes());
        covered.extend(9_i64.to_le_bytes());
        covered.extend(3_i32.to_le_bytes());
        covered.extend(2_i32.to_le_bytes());
        if layout.statistics {
            covered.extend(5_i32.to_le_bytes());
            covered.extend(b"stats");
        }
        covered.extend(b"body");
        let mut bytes = Vec::new();
        bytes.extend(100_i64.to_le_bytes());
        bytes.extend(0_i32.to_le_bytes());
        bytes.push(magic);
        bytes.extend(1_700_000_000_000_i64.to_le_bytes());
        if layout.epoch {
            bytes.extend(4_i32.to_le_bytes());
        }
        bytes.extend(checksum(&covered).to_le_bytes());
        bytes.extend(covered);
        let length = i32::try_from(bytes.len() - OVERHEAD_BYTES).unwrap();
        bytes[LENGTH_OFFSET..MAGIC_OFFSET].copy_from_slice(&length.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8], magic_one: LogMagicOne) -> Result<Option<LogBatch>, LogBatchError> {
        LogBatch::decode_next(&mut Bytes::copy_from_slice(bytes), magic_one, ChecksumPolicy::Verify)
    }

    #[test]
    fn every_format_is_read_by_its_own_layout() {
        use LogMagicOne::{LeaderEpoch, Statistics};
        for (magic, magic_one, epoch, statistics) in [
            (0, LeaderEpoch, None, None),
            (0, Statistics, None, None),
            (1, LeaderEpoch, Some(4), None),
            (1, Statistics, None, Some("stats")),
            (2, Statistics, Some(4), Some("stats")),
        ] {
            let layout = Layout::of(magic, magic_one).unwrap();
            let batch = decode(&batch(magic, layout), magic_one).unwrap().unwrap();
            assert_eq!((batch.base_offset, batch.next_offset()), (100, 102));
            assert_eq!((batch.schema_id, batch.writer_id, batch.batch_sequence), (7, 9, 3));
            assert_eq!((batch.record_count, batch.append_only), (2, true));
            assert_eq!(batch.commit_timestamp_ms, 1_700_000_000_000);
            assert_eq!(batch.leader_epoch, epoch);
            assert_eq!(batch.statistics.as_deref(), statistics.map(str::as_bytes));
            assert_eq!(&batch.body[..], b"body");
        }
        let of_main = batch(2, Layout { epoch: true, statistics: true });
        assert_eq!(decode(&of_main, LeaderEpoch).unwrap_err().code(), "batch_magic_unknown");
    }

    #[test]
    fn batches_follow_one_another_and_a_cut_one_is_left() {
        let one = batch(0, Layout { epoch: false, statistics: false });
        for cut in 0..one.len() {
            let mut records = Bytes::from([&one[..], &one[..], &one[..cut]].concat());
            let mut count = 0;
            while LogBatch::decode_next(&mut records, LogMagicOne::LeaderEpoch, ChecksumPolicy::Verify)
                .unwrap()
                .is_some()
            {
                count += 1;
            }
            assert_eq!((count, records.len()), (2, cut));
        }
    }

    #[test]
    fn damage_is_noticed_unless_checksums_are_skipped() {
        let layout = Layout { epoch: false, statistics: false };
        let mut bytes = batch(0, layout);
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        assert_eq!(decode(&bytes, LogMagicOne::LeaderEpoch).unwrap_err().code(), "batch_checksum");
        let mut records = Bytes::from(bytes);
        let skipped = LogBatch::decode_next(&mut records, LogMagicOne::LeaderEpoch, ChecksumPolicy::Skip);
        assert_eq!(&skipped.unwrap().unwrap().body[..], b"bodx");
    }

    #[test]
    fn impossible_headers_are_refused() {
        let layout = Layout { epoch: false, statistics: true };
        let change = |offset: usize, bytes: &[u8]| {
            let mut batch = batch(1, layout);
            batch[offset..offset + bytes.len()].copy_from_slice(bytes);
            let crc = checksum(&batch[layout.covered_from()..]);
            batch[21..25].copy_from_slice(&crc.to_le_bytes());
            decode(&batch, LogMagicOne::Statistics).unwrap_err().code()
        };
        assert_eq!(change(8, &(-1_i32).to_le_bytes()), "batch_length");
        assert_eq!(change(8, &35_i32.to_le_bytes()), "batch_length");
        assert_eq!(change(8, &36_i32.to_le_bytes()), "batch_length");
        assert_eq!(change(12, &[3]), "batch_magic_unknown");
        assert_eq!(change(28, &(-1_i32).to_le_bytes()), "batch_header");
        assert_eq!(change(0, &i64::MAX.to_le_bytes()), "batch_header");
        assert_eq!(change(0, &(i64::MAX - 1).to_le_bytes()), "batch_header");
        assert_eq!(change(44, &(-1_i32).to_le_bytes()), "batch_header");
        assert_eq!(change(48, &(-1_i32).to_le_bytes()), "batch_header");
        assert_eq!(change(48, &10_i32.to_le_bytes()), "batch_header");
    }
}
