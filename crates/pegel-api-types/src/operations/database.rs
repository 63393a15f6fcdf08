//! One database in full.

use jiff::Timestamp;
use pegel_core::access::permissions::CATALOG_READ;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::operation::{Concerns, Meta, Operation, Risk};
use crate::operations::properties::Property;

/// Shows one database.
pub enum GetDatabase {}

impl Operation for GetDatabase {
    type Input = GetDatabaseInput;
    type Output = DatabaseDetail;

    const META: Meta = Meta {
        id: "get_database",
        route: "operations/databases/detail",
        summary: "Shows one database: comment, properties, times, number of tables",
        permission: &CATALOG_READ,
        risk: Risk::Read,
        phrase: None,
        cooldown: None,
        is_list: false,
    };

    fn target(input: &Self::Input) -> Concerns<'_> {
        Concerns::Database(&input.database)
    }
}

/// Which database is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GetDatabaseInput {
    /// Name of the database.
    pub database: String,
}

/// One database in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DatabaseDetail {
    /// Name.
    pub name: String,
    /// Comment.
    pub comment: Option<String>,
    /// Properties that users give a meaning; secrets are hidden.
    pub custom_properties: Vec<Property>,
    /// Number of tables that may be seen, absent when they could not be listed.
    pub table_count: Option<usize>,
    /// Creation time, absent when the server does not know it.
    pub created_at: Option<Timestamp>,
    /// Time of the last change, absent when the server does not know it.
    pub modified_at: Option<Timestamp>,
}
