//! Arrow record batches as the body of log batches holds them.
//!
//! A body is one Arrow IPC message: `0xFFFFFFFF`, the `i32` size of the metadata, the metadata (a flatbuffer, with
//! zeros up to 8 bytes), and the buffers of the columns, each with zeros up to 8 bytes. There is no schema message:
//! the schema id of the batch says how the buffers are to be read. A batch without records has no message.
//!
//! | type | Arrow type | buffers |
//! |---|---|---|
//! | BOOLEAN | Bool | validity, bits |
//! | TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE | Int8 to Int64, Float32, Float64 | validity, values |
//! | CHAR, STRING / BYTES | Utf8 / Binary | validity, `i32` offsets, bytes |
//! | BINARY(n) | FixedSizeBinary(n) | validity, values |
//! | DECIMAL(p, s) | Decimal128(p, s) | validity, values of 16 bytes |
//! | DATE | Date32 | validity, values |
//! | TIME(p) | Time32(s) for p = 0, Time32(ms) to 3, Time64(µs) to 6, Time64(ns) | validity, values |
//! | TIMESTAMP(p), TIMESTAMP_LTZ(p) | Timestamp(s, ms, µs or ns) without a zone | validity, values |
//! | ARRAY | List | validity, `i32` offsets, then the elements' |
//! | MAP | Map of Struct `entries` | validity, `i32` offsets, validity of the entries, then the keys' and the values' |
//! | ROW | Struct | validity, then the fields' |
//!
//! A server that projects columns does not decode a batch; it counts buffers. So the buffers are written exactly in
//! this order, a validity buffer is always there, and the compression is the table's.
//!
//! Sources: `ArrowWriter`, `ArrowReader` and `ArrowUtils`, 0.9.1. Values that a column's unit would round (such as
//! half a second in TIME(0)) are refused, where Java rounds them.

use crate::data_type::{DataType, TypeKind};
use crate::row::MAX_NESTED_VALUES;

pub(crate) mod column;
mod compression;
pub(crate) mod read;
pub(crate) mod write;

/// Most bytes that the buffers of one batch may take up once decompressed: 256 MiB.
pub const MAX_DECOMPRESSED_BYTES: usize = 256 * 1024 * 1024;

const CONTINUATION: u32 = u32::MAX;
const PREFIX_BYTES: usize = 8;
const ALIGNMENT: usize = 8;

/// Why the Arrow message of a batch cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArrowError {
    /// The body is shorter than its message says, or the message is not an Arrow IPC message.
    #[error("the Arrow message is cut off or malformed")]
    Message,
    /// The metadata is not a valid flatbuffer.
    #[error("the metadata of the Arrow message is not valid: {reason}")]
    Metadata {
        /// What the check of the flatbuffer says.
        reason: String,
    },
    /// The message is not a record batch.
    #[error("the Arrow message is not a record batch")]
    NotARecordBatch,
    /// The message has another number of rows than the batch has records.
    #[error("the Arrow message has {found} rows but the batch has {expected} records")]
    RowCount {
        /// Records of the batch.
        expected: usize,
        /// Rows of the message.
        found: i64,
    },
    /// The message has other columns or buffers than the schema.
    #[error("the Arrow message has other columns than the schema")]
    Columns,
    /// A buffer of a column lies outside the body or is too short.
    #[error("a buffer of column {position} is out of bounds")]
    Buffer {
        /// Position of the column, from 0.
        position: usize,
    },
    /// The offsets of a column do not ascend within its values.
    #[error("the offsets of column {position} are not in order")]
    Offsets {
        /// Position of the column, from 0.
        position: usize,
    },
    /// The codec of the batch is unknown, or the data is not of the codec.
    #[error("a buffer of column {position} cannot be decompressed")]
    Compression {
        /// Position of the column, from 0.
        position: usize,
    },
    /// The buffers take up more than [`MAX_DECOMPRESSED_BYTES`], or a column has more nested values than
    /// [`MAX_NESTED_VALUES`].
    #[error(
        "the batch takes up more than {MAX_DECOMPRESSED_BYTES} bytes or {MAX_NESTED_VALUES} nested values"
    )]
    TooLarge,
}

impl ArrowError {
    /// Returns the stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Message | Self::Metadata { .. } | Self::NotARecordBatch => "arrow_message",
            Self::RowCount { .. } | Self::Columns => "arrow_columns",
            Self::Buffer { .. } | Self::Offsets { .. } => "arrow_buffer",
            Self::Compression { .. } => "arrow_compression",
            Self::TooLarge => "arrow_too_large",
        }
    }
}

/// How the values of a type lie in buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Bits,
    Fixed(usize),
    Variable,
    List,
    Map,
    Struct,
}

impl Shape {
    fn of(data_type: &DataType) -> Self {
        match data_type.kind() {
            TypeKind::Boolean => Self::Bits,
            TypeKind::TinyInt => Self::Fixed(1),
            TypeKind::SmallInt => Self::Fixed(2),
            TypeKind::Int | TypeKind::Float | TypeKind::Date => Self::Fixed(4),
            TypeKind::BigInt
            | TypeKind::Double
            | TypeKind::Timestamp { .. }
            | TypeKind::TimestampLtz { .. } => Self::Fixed(8),
            TypeKind::Time { precision } => Self::Fixed(if *precision <= MILLIS_PRECISION { 4 } else { 8 }),
            TypeKind::Decimal { .. } => Self::Fixed(16),
            // Lengths are below 2^31, which every machine this runs on can address.
            TypeKind::Binary { length } => Self::Fixed(usize::try_from(*length).unwrap_or(usize::MAX)),
            TypeKind::Char { .. } | TypeKind::String | TypeKind::Bytes => Self::Variable,
            TypeKind::Array(_) => Self::List,
            TypeKind::Map(..) => Self::Map,
            TypeKind::Row(_) => Self::Struct,
        }
    }
}

const MILLIS_PRECISION: u8 = 3;
const MICROS_PRECISION: u8 = 6;
