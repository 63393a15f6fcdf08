//! Which bucket a key belongs to.
//!
//! The function depends on the table's lake format, even if tiering is off, so that Fluss and the lake agree.
//! Sources: `BucketingFunction` and its classes, 0.9.1; the Iceberg one is Murmur3 as Guava has it.

use crate::table::LakeFormat;

mod murmur;

/// How a bucket is computed from key bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BucketFunction {
    /// Tables without a lake format and those of Lance.
    Fluss,
    /// Tables of Paimon.
    Paimon,
    /// Tables of Iceberg.
    Iceberg,
}

/// Why no bucket can be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BucketError {
    /// The key has no bytes.
    #[error("an empty key has no bucket")]
    EmptyKey,
    /// The bucket count is 0 or above 2^31 − 1.
    #[error("a table cannot have {count} buckets")]
    BucketCount {
        /// The count.
        count: u32,
    },
    /// Keys of tables of this lake format are not known to this crate.
    #[error("buckets of tables with the lake format {format:?} are not supported")]
    UnsupportedLake {
        /// The format.
        format: LakeFormat,
    },
}

impl BucketError {
    /// Returns the stable code of the error.
    pub fn code(self) -> &'static str {
        match self {
            Self::EmptyKey => "key_empty",
            Self::BucketCount { .. } => "table_bucket_count",
            Self::UnsupportedLake { .. } => "lake_format_unsupported",
        }
    }
}

impl BucketFunction {
    /// Returns the function of a table's lake format.
    ///
    /// # Errors
    /// [`BucketError::UnsupportedLake`] for Hudi.
    pub fn of(lake_format: Option<LakeFormat>) -> Result<Self, BucketError> {
        match lake_format {
            None | Some(LakeFormat::Lance) => Ok(Self::Fluss),
            Some(LakeFormat::Paimon) => Ok(Self::Paimon),
            Some(LakeFormat::Iceberg) => Ok(Self::Iceberg),
            Some(format @ LakeFormat::Hudi) => Err(BucketError::UnsupportedLake { format }),
        }
    }

    /// Returns the bucket of a key, from 0 to below `bucket_count`.
    ///
    /// # Errors
    /// [`BucketError::EmptyKey`] or [`BucketError::BucketCount`].
    pub fn bucket(self, key: &[u8], bucket_count: u32) -> Result<u32, BucketError> {
        if key.is_empty() {
            return Err(BucketError::EmptyKey);
        }
        let count = match i32::try_from(bucket_count) {
            Ok(count) if count > 0 => count,
            _ => return Err(BucketError::BucketCount { count: bucket_count }),
        };
        let bucket = match self {
            Self::Fluss => murmur::murmur_int(murmur::fluss(key)) % count,
            Self::Paimon => (murmur::fluss(key) % count).abs(),
            Self::Iceberg => (murmur::standard(key) & i32::MAX) % count,
        };
        Ok(bucket.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_bucket_below_the_count() {
        for function in [BucketFunction::Fluss, BucketFunction::Paimon, BucketFunction::Iceberg] {
            let mut seen = [false; 7];
            for key in 0..200_u8 {
                seen[usize::try_from(function.bucket(&[key, key, 3], 7).unwrap()).unwrap()] = true;
            }
            assert_eq!(seen, [true; 7], "{function:?}");
            assert_eq!(function.bucket(&[1], 1), Ok(0));
        }
    }

    #[test]
    fn empty_keys_and_impossible_counts_are_refused() {
        assert_eq!(BucketFunction::Fluss.bucket(&[], 4).unwrap_err().code(), "key_empty");
        for count in [0, 1 << 31, u32::MAX] {
            assert_eq!(BucketFunction::Paimon.bucket(&[1], count).unwrap_err().code(), "table_bucket_count");
        }
        assert_eq!(BucketFunction::of(Some(LakeFormat::Hudi)).unwrap_err().code(), "lake_format_unsupported");
        assert_eq!(BucketFunction::of(Some(LakeFormat::Lance)), Ok(BucketFunction::Fluss));
    }
}
