//! Rows as the key-value store gives them: with the id of the schema they were written with.
//!
//! A value is an `i16` schema id and the row in the table's kv format. A value batch, as `LIMIT_SCAN` and `SCAN_KV`
//! answer with, is an `i32` length of what follows, an `i8` magic of 0, an `i32` count, and for each value its `i32` size.
//! There are no keys and no checksum. Everything is little-endian. Sources: `ValueEncoder`, `DefaultValueRecordBatch`
//! and `DefaultValueRecord`, 0.9.1.

use bytes::{Buf as _, Bytes};

const SCHEMA_ID_BYTES: usize = 2;
const HEADER_BYTES: usize = 9;
const LENGTH_BYTES: usize = 4;
const MAGIC: u8 = 0;
/// Smallest value of a batch: its size and its schema id.
const MIN_VALUE_BYTES: usize = 6;

/// A row in the key-value store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KvValue {
    /// Id of the schema the row was written with.
    pub schema_id: i16,
    /// The row, see [`crate::row`].
    pub row: Bytes,
}

/// Why a value or a batch of them cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KvValueError {
    /// The bytes end before the value or the batch does.
    #[error("a value of the key-value store is cut off")]
    Truncated,
    /// The magic byte is not 0.
    #[error("the value batch has the unknown magic {magic}")]
    Magic {
        /// The magic byte.
        magic: u8,
    },
    /// The count is other than the number of values.
    #[error("the value batch declares {declared} values")]
    Count {
        /// Value of the count field.
        declared: i32,
    },
}

impl KvValueError {
    /// Returns the stable code of the error.
    pub fn code(self) -> &'static str {
        match self {
            Self::Truncated => "batch_truncated",
            Self::Magic { .. } => "batch_magic_unknown",
            Self::Count { .. } => "batch_record",
        }
    }
}

impl KvValue {
    /// Reads a value that takes up all of `bytes`; the row shares its memory.
    ///
    /// # Errors
    /// [`KvValueError::Truncated`].
    pub fn decode(mut bytes: Bytes) -> Result<Self, KvValueError> {
        if bytes.len() < SCHEMA_ID_BYTES {
            return Err(KvValueError::Truncated);
        }
        Ok(Self { schema_id: bytes.get_i16_le(), row: bytes })
    }

    /// Reads a batch that takes up all of `bytes`; the rows share its memory.
    ///
    /// # Errors
    /// Any [`KvValueError`].
    pub fn decode_batch(mut bytes: Bytes) -> Result<Vec<Self>, KvValueError> {
        if bytes.len() < HEADER_BYTES {
            return Err(KvValueError::Truncated);
        }
        let length = bytes.get_i32_le();
        if usize::try_from(length) != Ok(bytes.len()) {
            return Err(KvValueError::Truncated);
        }
        let magic = bytes.get_u8();
        if magic != MAGIC {
            return Err(KvValueError::Magic { magic });
        }
        let declared = bytes.get_i32_le();
        // The count is only believed as far as there are bytes for it.
        let count = usize::try_from(declared).ok().filter(|count| *count <= bytes.len() / MIN_VALUE_BYTES);
        let count = count.ok_or(KvValueError::Count { declared })?;
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            if bytes.len() < LENGTH_BYTES {
                return Err(KvValueError::Truncated);
            }
            let size = usize::try_from(bytes.get_i32_le()).map_err(|_| KvValueError::Truncated)?;
            if size > bytes.len() {
                return Err(KvValueError::Truncated);
            }
            values.push(Self::decode(bytes.split_to(size))?);
        }
        if bytes.is_empty() { Ok(values) } else { Err(KvValueError::Count { declared }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(count: i32, values: &[&[u8]]) -> Vec<u8> {
        let mut body = vec![MAGIC];
        body.extend(count.to_le_bytes());
        for value in values {
            body.extend(i32::try_from(value.len()).unwrap().to_le_bytes());
            body.extend_from_slice(value);
        }
        let mut batch = i32::try_from(body.len()).unwrap().to_le_bytes().to_vec();
        batch.extend(body);
        batch
    }

    #[test]
    fn values_come_with_their_schema() {
        let bytes = batch(2, &[&[1, 0, 7, 8], &[0, 1]]);
        let values = KvValue::decode_batch(Bytes::from(bytes)).unwrap();
        let read: Vec<_> = values.iter().map(|value| (value.schema_id, value.row.to_vec())).collect();
        assert_eq!(read, [(1, vec![7, 8]), (256, vec![])]);
        assert_eq!(KvValue::decode_batch(Bytes::from(batch(0, &[]))), Ok(Vec::new()));
        assert_eq!(KvValue::decode(Bytes::from_static(&[1])), Err(KvValueError::Truncated));
    }

    #[test]
    fn counts_sizes_and_ends_are_checked() {
        let code = |bytes: Vec<u8>| KvValue::decode_batch(Bytes::from(bytes)).unwrap_err().code();
        let whole = batch(1, &[&[1, 0, 7]]);
        for end in 0..whole.len() {
            assert_eq!(code(whole[..end].to_vec()), "batch_truncated", "{end}");
        }
        for count in [-1, 0, 2, i32::MAX] {
            assert_eq!(code(batch(count, &[&[1, 0, 7]])), "batch_record", "{count}");
        }
        let mut other = whole.clone();
        other[4] = 1;
        assert_eq!(code(other), "batch_magic_unknown");
        for size in [-1_i32, 1, 4] {
            let mut other = whole.clone();
            other[9..13].copy_from_slice(&size.to_le_bytes());
            assert!(["batch_truncated", "batch_record"].contains(&code(other)), "{size}");
        }
    }
}
