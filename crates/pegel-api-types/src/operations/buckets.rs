//! What answers about buckets have in common.

use pegel_core::error_code::ErrorCode;
use pegel_core::exact::ExactInt;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How much of a bucket, a partition or a table answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Coverage {
    /// All of it.
    Ok,
    /// A part of it.
    Partial,
    /// Nothing of it.
    Unavailable,
}

impl Coverage {
    /// Judges by how many of how many answered.
    pub const fn of(answered: usize, all: usize) -> Self {
        match answered {
            _ if answered == all => Self::Ok,
            0 => Self::Unavailable,
            _ => Self::Partial,
        }
    }
}

/// Why a part of an answer is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PartFailure {
    /// The error's code.
    pub code: ErrorCode,
    /// What happened, as far as the caller may know it.
    pub message: String,
}

/// A bucket's place in the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Bucket {
    /// Number within the table or partition.
    pub bucket: i32,
    /// Tablet server that leads it, absent when there is none.
    pub leader: Option<i32>,
    /// Tablet servers that hold a replica.
    pub replicas: Vec<i32>,
}

/// The offsets of one bucket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BucketOffsets {
    /// Number within the table or partition.
    pub bucket: i32,
    /// Tablet server that leads it, absent when there is none.
    pub leader: Option<i32>,
    /// Whether both offsets were read.
    pub state: Coverage,
    /// The first offset that can be read, or the first at the time asked for.
    pub start: Option<ExactInt>,
    /// The offset after the last one that can be read.
    pub latest: Option<ExactInt>,
    /// Latest minus start. Not a row count: offsets can have gaps.
    pub span: Option<ExactInt>,
    /// Why an offset is missing.
    pub failure: Option<PartFailure>,
}
