//! The list of tables, of one database or of all.

use jiff::Timestamp;
use pegel_core::access::permissions::CATALOG_READ;
use pegel_core::exact::ExactInt;
use pegel_core::limits::Page;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::operation::{Concerns, Meta, Operation, Risk};
use crate::operations::buckets::PartFailure;
use crate::operations::table::TableKind;

/// Lists tables.
pub enum ListTables {}

impl Operation for ListTables {
    type Input = ListTablesInput;
    type Output = Tables;

    const META: Meta = Meta {
        id: "list_tables",
        route: "operations/tables",
        summary: "Lists the tables of one database or of all",
        permission: &CATALOG_READ,
        risk: Risk::Read,
        phrase: None,
        cooldown: None,
        is_list: true,
    };

    fn target(input: &Self::Input) -> Concerns<'_> {
        input.database.as_deref().map_or(Concerns::Cluster, Concerns::Database)
    }
}

/// Which tables are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ListTablesInput {
    /// Name of the database, absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// Text to find in `database.table`, without regard to case; up to 200 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
    /// How many of those that match to skip; 0 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
    /// How many to list, 1 to 1,000; 100 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
    /// Whether to also read row counts and offset ranges, of the first 100 tables listed.
    #[serde(default)]
    pub runtime: bool,
    /// Whether to read anew, at most every 5 seconds: the figures with `runtime`, else the inventory.
    #[serde(default)]
    pub refresh: bool,
}

/// The list of tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Tables {
    /// The database, absent when all are listed.
    pub database: Option<String>,
    /// The tables, by database and name.
    #[serde(flatten)]
    pub tables: TablePage,
}

/// A page of tables.
pub type TablePage = Page<TableRow>;

/// One table in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TableRow {
    /// Database.
    pub database: String,
    /// Name.
    pub name: String,
    /// What the table is made of, absent when it could not be read.
    #[serde(flatten)]
    pub facts: Option<TableFacts>,
    /// Row count and offsets, when they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Runtime>,
    /// Why the table could not be read.
    pub failure: Option<PartFailure>,
}

/// What a table is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TableFacts {
    /// Kind.
    pub kind: TableKind,
    /// Id, new with each creation under the same name.
    pub table_id: ExactInt,
    /// Id of the latest schema.
    pub schema_id: i32,
    /// Buckets of the table, or of each partition.
    pub bucket_count: Option<u32>,
    /// Whether the table has partitions.
    pub is_partitioned: bool,
    /// Columns whose values choose the partition.
    pub partition_keys: Vec<String>,
    /// Columns of the primary key.
    pub primary_key: Vec<String>,
    /// Creation time, absent when the server does not know it.
    pub created_at: Option<Timestamp>,
    /// Time of the last change, absent when the server does not know it.
    pub modified_at: Option<Timestamp>,
}

/// Row count and offsets of one table, with what they are worth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Runtime {
    /// What the figures are worth.
    pub evidence: RuntimeState,
    /// When they were read; absent when they were not.
    #[serde(default)]
    pub observed_at: Option<Timestamp>,
    /// Rows in the buckets that answered; a lower bound unless the evidence is `ok`.
    pub row_count: Option<ExactInt>,
    /// Ranges of the first buckets, at most three.
    pub offset_ranges: Vec<OffsetRange>,
    /// Sum of latest minus earliest over the buckets that answered. Not a row count.
    pub offset_span: Option<ExactInt>,
    /// Buckets that answered all questions.
    pub answered_bucket_count: usize,
    /// Buckets of the table.
    pub bucket_count: usize,
    /// The first failure.
    pub failure: Option<PartFailure>,
}

impl Runtime {
    /// Makes one that has no figures, for the reason given.
    pub const fn without_figures(evidence: RuntimeState) -> Self {
        Self {
            evidence,
            observed_at: None,
            row_count: None,
            offset_ranges: Vec::new(),
            offset_span: None,
            answered_bucket_count: 0,
            bucket_count: 0,
            failure: None,
        }
    }
}

/// What the figures of one table are worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuntimeState {
    /// Every bucket answered every question.
    Ok,
    /// Some did.
    Partial,
    /// None did.
    Unavailable,
    /// The table is partitioned, so there is no single figure.
    PartitionScoped,
    /// Too far down the page.
    NotRead,
}

/// What can be read of one bucket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OffsetRange {
    /// Number of the bucket.
    pub bucket: i32,
    /// First offset that can be read.
    pub earliest: Option<ExactInt>,
    /// Offset after the last one that can be read.
    pub latest: Option<ExactInt>,
}
