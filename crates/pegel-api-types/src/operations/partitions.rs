//! The partitions of a table with the leaders of their buckets.

use pegel_core::access::permissions::CATALOG_READ;
use pegel_core::exact::ExactInt;
use pegel_core::limits::Page;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::operation::{Concerns, Meta, Operation, Risk};
use crate::operations::buckets::{Bucket, Coverage, PartFailure};
use crate::operations::partition_spec::PartitionFilter;

/// Lists the partitions of a table.
pub enum ListPartitions {}

impl Operation for ListPartitions {
    type Input = ListPartitionsInput;
    type Output = Partitions;

    const META: Meta = Meta {
        id: "list_partitions",
        route: "operations/partitions",
        summary: "Lists the partitions of a table with the leaders of their buckets",
        permission: &CATALOG_READ,
        risk: Risk::Read,
        phrase: None,
        cooldown: None,
        is_list: true,
    };

    fn target(input: &Self::Input) -> Concerns<'_> {
        Concerns::Table(&input.database, &input.table)
    }
}

/// Which partitions are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ListPartitionsInput {
    /// Name of the database.
    pub database: String,
    /// Name of the table.
    pub table: String,
    /// Only partitions with these values; some of the keys may be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_spec_json: Option<PartitionFilter>,
    /// Text to find in the name, without regard to case; up to 200 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
    /// How many of those that match to skip; 0 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
    /// How many to list, 1 to 1,000; 100 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
}

/// The partitions of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Partitions {
    /// The table.
    pub table: String,
    /// Its partition keys.
    pub partition_keys: Vec<String>,
    /// The partitions, by name.
    #[serde(flatten)]
    pub partitions: PartitionPage,
}

/// A page of partitions.
pub type PartitionPage = Page<Partition>;

/// One partition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Partition {
    /// Values joined by `$`.
    pub name: String,
    /// Keys with their values, in the order of the partition keys.
    pub spec: Vec<KeyValue>,
    /// Id, new with each creation under the same name.
    pub partition_id: ExactInt,
    /// Whether its buckets could be read.
    pub state: Coverage,
    /// Its buckets with their leaders, absent when they could not be read.
    pub buckets: Option<Vec<Bucket>>,
    /// Why its buckets could not be read.
    pub failure: Option<PartFailure>,
}

/// One partition key with its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KeyValue {
    /// Partition key.
    pub key: String,
    /// Value.
    pub value: String,
}
