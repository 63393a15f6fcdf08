//! Row counts of every bucket of a table, or of its partitions.

use pegel_core::access::permissions::CATALOG_READ;
use pegel_core::exact::ExactInt;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::operation::{Concerns, Meta, Operation, Risk};
use crate::operations::buckets::{Coverage, PartFailure};
use crate::operations::partition_spec::PartitionFilter;
use crate::operations::table::TableKind;

/// Reads the row counts of a table.
pub enum GetTableStats {}

impl Operation for GetTableStats {
    type Input = GetTableStatsInput;
    type Output = Stats;

    const META: Meta = Meta {
        id: "get_table_stats",
        route: "operations/tables/stats",
        summary: "Reads the number of rows of each bucket of a table",
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

/// Which row counts are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GetTableStatsInput {
    /// Name of the database.
    pub database: String,
    /// Name of the table.
    pub table: String,
    /// Only partitions with these values; some of the keys may be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_spec_json: Option<PartitionFilter>,
}

/// Row counts of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Stats {
    /// The table.
    pub table: String,
    /// Its id.
    pub table_id: ExactInt,
    /// Its kind, which decides what a row count is.
    pub kind: TableKind,
    /// The partitions read, or one entry without a name for a table that has none.
    pub partitions: Vec<PartitionStats>,
    /// Partitions that match, also those that were not read; absent without partitions.
    pub partition_count: Option<usize>,
    /// Buckets that should have answered, as far as they are known.
    pub bucket_count: usize,
    /// Buckets that answered.
    pub answered_bucket_count: usize,
    /// Sum of the counts that were read.
    pub row_count: Option<ExactInt>,
    /// Whether the sum covers every bucket.
    pub is_complete: bool,
}

/// Row counts of one partition, or of a table without any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PartitionStats {
    /// Name of the partition.
    pub partition: Option<String>,
    /// Id of the partition.
    pub partition_id: Option<ExactInt>,
    /// How many of its buckets answered.
    pub state: Coverage,
    /// Its buckets.
    pub buckets: Vec<BucketStats>,
    /// Sum of the counts that were read.
    pub row_count: Option<ExactInt>,
    /// Why no bucket could be asked at all.
    pub failure: Option<PartFailure>,
}

/// Row count of one bucket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BucketStats {
    /// Number within the table or partition.
    pub bucket: i32,
    /// Tablet server that leads it, absent when there is none.
    pub leader: Option<i32>,
    /// Whether the count was read.
    pub state: Coverage,
    /// Rows.
    pub row_count: Option<ExactInt>,
    /// Why the count is missing.
    pub failure: Option<PartFailure>,
}
