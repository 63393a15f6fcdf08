//! The list of databases.

use jiff::Timestamp;
use pegel_core::access::permissions::CATALOG_READ;
use pegel_core::limits::Page;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::operation::{Concerns, Meta, Operation, Risk};

/// Lists databases.
pub enum ListDatabases {}

impl Operation for ListDatabases {
    type Input = ListDatabasesInput;
    type Output = Page<Database>;

    const META: Meta = Meta {
        id: "list_databases",
        route: "operations/databases",
        summary: "Lists databases with the number of their tables",
        permission: &CATALOG_READ,
        risk: Risk::Read,
        phrase: None,
        cooldown: None,
        is_list: true,
    };

    fn target(_: &Self::Input) -> Concerns<'_> {
        Concerns::Cluster
    }
}

/// Which databases are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ListDatabasesInput {
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
    /// Whether to read the cluster's inventory anew, at most every 5 seconds.
    #[serde(default)]
    pub refresh: bool,
}

/// One database in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Database {
    /// Name.
    pub name: String,
    /// Number of its tables that may be seen, absent when they could not be listed.
    pub table_count: Option<usize>,
    /// Creation time, absent when the server does not know it.
    pub created_at: Option<Timestamp>,
}
