//! One table in full.

use jiff::Timestamp;
use pegel_core::access::permissions::CATALOG_READ;
use pegel_core::exact::ExactInt;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::operation::{Concerns, Meta, Operation, Risk};
use crate::operations::buckets::Bucket;
use crate::operations::properties::Property;

/// Shows one table.
pub enum GetTable {}

impl Operation for GetTable {
    type Input = GetTableInput;
    type Output = Table;

    const META: Meta = Meta {
        id: "get_table",
        route: "operations/tables/detail",
        summary: "Shows one table: columns, keys, buckets, properties",
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

/// Which table is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GetTableInput {
    /// Name of the database.
    pub database: String,
    /// Name of the table.
    pub table: String,
}

/// Kind of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TableKind {
    /// Rows are appended.
    Log,
    /// Rows are changed by primary key.
    PrimaryKey,
}

impl TableKind {
    /// Returns the kind as it is written in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::PrimaryKey => "primary_key",
        }
    }
}

/// One table in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Table {
    /// Database and name.
    pub table: String,
    /// Kind.
    pub kind: TableKind,
    /// Id, new with each creation under the same name.
    pub table_id: ExactInt,
    /// Id of the latest schema.
    pub schema_id: i32,
    /// Comment.
    pub comment: Option<String>,
    /// Creation time, absent when the server does not know it.
    pub created_at: Option<Timestamp>,
    /// Time of the last change, absent when the server does not know it.
    pub modified_at: Option<Timestamp>,
    /// Columns in their order.
    pub columns: Vec<Column>,
    /// Columns of the primary key; none for a log table.
    pub primary_key: Vec<String>,
    /// Columns whose values choose the bucket; none when rows are spread freely.
    pub bucket_keys: Vec<String>,
    /// Columns whose values choose the partition; none for a table without partitions.
    pub partition_keys: Vec<String>,
    /// Column that is counted up by the server.
    pub auto_increment_column: Option<String>,
    /// Buckets of the table, or of each partition.
    pub bucket_count: Option<u32>,
    /// The buckets with their leaders, absent for a partitioned table and when they could not be read.
    pub buckets: Option<Vec<Bucket>>,
    /// Properties with a meaning to Fluss; secrets are hidden.
    pub properties: Vec<Property>,
    /// Properties that users give a meaning; secrets are hidden.
    pub custom_properties: Vec<Property>,
    /// Remote folder, where the server tells it; hidden when it holds a password.
    pub remote_data_dir: Option<String>,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Type as in Fluss SQL, without nullability.
    #[serde(rename = "type")]
    pub data_type: String,
    /// Whether the column can be null.
    pub is_nullable: bool,
    /// Comment.
    pub comment: Option<String>,
    /// How values are merged, in tables with the aggregation engine.
    pub aggregation: Option<String>,
}
