//! What can be asked of a cluster, each question declared once.
//!
//! HTTP, MCP, command line and web forms all offer the same operations, because all of them are made from the
//! types that implement [`Operation`]. Nothing here does anything.

use pegel_core::access::permissions::Permission;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::{PartialSchema, ToSchema};

/// A question about a cluster, or a change to it.
pub trait Operation: Send + Sync + 'static {
    /// What is asked.
    type Input: DeserializeOwned + Serialize + PartialSchema + ToSchema + Clone + Send + Sync + 'static;
    /// The data of the answer's envelope.
    type Output: DeserializeOwned + Serialize + PartialSchema + ToSchema + Send + Sync + 'static;

    /// What holds for every call.
    const META: Meta;

    /// Returns what the call concerns, so that the policy can decide before anything is done.
    fn target(input: &Self::Input) -> Concerns<'_>;
}

/// What holds for every call of an operation.
#[derive(Debug, Clone, Copy)]
pub struct Meta {
    /// Its name, `<verb>_<resource>`.
    pub id: &'static str,
    /// Its path below `/api/v1/clusters/{cluster}/`, such as `operations/tables`.
    pub route: &'static str,
    /// What it does, one sentence without a final period.
    pub summary: &'static str,
    /// The permission it needs; the minimum role is the permission's own.
    pub permission: &'static Permission,
    /// What it can do to the cluster.
    pub risk: Risk,
    /// The phrase that confirms a real mutation, with its places as `<db>`; `None` for a read.
    pub phrase: Option<&'static str>,
    /// Which mutations of a cluster wait for one another; `None` for a read.
    pub cooldown: Option<CooldownClass>,
    /// Whether the input takes `search`, `offset` and `limit`.
    pub is_list: bool,
}

/// What an operation can do to a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Nothing is changed.
    Read,
    /// Something is made or changed.
    Write,
    /// Something is lost.
    Destructive,
}

/// Mutations that wait for one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CooldownClass {
    /// Rows.
    Data,
    /// Databases, tables, partitions.
    Catalog,
    /// Configuration, access control, server tags.
    Admin,
    /// Rebalances.
    Rebalance,
}

/// What a call concerns within its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concerns<'a> {
    /// The cluster; a list is filtered by the caller's scope.
    Cluster,
    /// The cluster as a whole: nothing in the answer could be filtered.
    WholeCluster,
    /// A database; a list in it is filtered.
    Database(&'a str),
    /// A table, by database and name.
    Table(&'a str, &'a str),
}
