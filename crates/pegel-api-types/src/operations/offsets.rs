//! Offsets of every bucket of a table, or of its partitions.

use jiff::Timestamp;
use pegel_core::access::permissions::CATALOG_READ;
use pegel_core::exact::ExactInt;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::asked_time;
use crate::operation::{Concerns, Meta, Operation, Risk};
use crate::operations::buckets::{BucketOffsets, Coverage, PartFailure};
use crate::operations::partition_spec::PartitionFilter;

/// Reads the offsets of a table.
pub enum GetTableOffsets {}

impl Operation for GetTableOffsets {
    type Input = GetTableOffsetsInput;
    type Output = Offsets;

    const META: Meta = Meta {
        id: "get_table_offsets",
        route: "operations/tables/offsets",
        summary: "Reads the offsets of each bucket of a table: earliest and latest, or at a time",
        permission: &CATALOG_READ,
        risk: Risk::Read,
        phrase: None,
        cooldown: None,
        is_list: false,
    };

    fn target(input: &Self::Input) -> Concerns<'_> {
        Concerns::Table(&input.database, &input.table)
    }
}

/// Which offsets are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GetTableOffsetsInput {
    /// Name of the database.
    pub database: String,
    /// Name of the table.
    pub table: String,
    /// Only partitions with these values; some of the keys may be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_spec_json: Option<PartitionFilter>,
    /// The first offset at or after this time instead of the earliest; RFC 3339 with a zone, in the past.
    #[serde(default, deserialize_with = "asked_time::optional", skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
}

/// Offsets of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Offsets {
    /// The table.
    pub table: String,
    /// Its id.
    pub table_id: ExactInt,
    /// What `start` is in each bucket.
    pub start_kind: StartKind,
    /// The time asked for.
    pub at: Option<Timestamp>,
    /// The partitions read, or one entry without a name for a table that has none.
    pub partitions: Vec<PartitionOffsets>,
    /// Partitions that match, also those that were not read; absent without partitions.
    pub partition_count: Option<usize>,
    /// Buckets that should have answered, as far as they are known.
    pub bucket_count: usize,
    /// Buckets of which both offsets were read.
    pub answered_bucket_count: usize,
    /// Sum of the spans that were read.
    pub span: Option<ExactInt>,
    /// Whether the sum covers every bucket.
    pub is_complete: bool,
}

/// What the first of a bucket's two offsets is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StartKind {
    /// The first that can be read.
    Earliest,
    /// The first at or after a time.
    AtTime,
}

/// Offsets of one partition, or of a table without any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PartitionOffsets {
    /// Name of the partition.
    pub partition: Option<String>,
    /// Id of the partition.
    pub partition_id: Option<ExactInt>,
    /// How many of its buckets answered.
    pub state: Coverage,
    /// Its buckets.
    pub buckets: Vec<BucketOffsets>,
    /// Sum of the spans that were read.
    pub span: Option<ExactInt>,
    /// Why no bucket could be asked at all.
    pub failure: Option<PartFailure>,
}
