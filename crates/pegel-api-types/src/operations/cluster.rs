//! A cluster at a glance: who coordinates it and how many tablet servers are alive.

use jiff::Timestamp;
use pegel_core::access::permissions::CLUSTER_READ;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::operation::{Concerns, Meta, Operation, Risk};
use crate::operations::servers::Server;

/// Shows a cluster at a glance.
pub enum GetCluster {}

impl Operation for GetCluster {
    type Input = GetClusterInput;
    type Output = ClusterOverview;

    const META: Meta = Meta {
        id: "get_cluster",
        route: "operations/cluster",
        summary: "Shows the coordinator and the tablet servers that are alive",
        permission: &CLUSTER_READ,
        risk: Risk::Read,
        phrase: None,
        cooldown: None,
        is_list: false,
    };

    fn target(_: &Self::Input) -> Concerns<'_> {
        Concerns::Cluster
    }
}

/// There is nothing to choose.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GetClusterInput {}

/// A cluster at a glance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ClusterOverview {
    /// The coordinator, absent when none is known.
    pub coordinator: Option<Server>,
    /// Whether the coordinator answers as such on its own connection.
    pub is_coordinator_alive: bool,
    /// Tablet servers that answer, by id.
    pub alive_tablet_servers: Vec<Server>,
    /// How many tablet servers answer.
    pub tablet_servers_alive_count: usize,
    /// How many tablet servers metadata names.
    pub tablet_servers_registered_count: usize,
    /// When the coordinator last told its metadata, absent when it never has.
    pub metadata_at: Option<Timestamp>,
}
