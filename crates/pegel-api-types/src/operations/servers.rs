//! The servers of a cluster, each with two facts: metadata names it, and it answers.

use jiff::Timestamp;
use pegel_core::access::permissions::CLUSTER_READ;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::operation::{Concerns, Meta, Operation, Risk};
use crate::operations::buckets::PartFailure;

/// Lists the coordinator and the tablet servers.
pub enum ListServers {}

impl Operation for ListServers {
    type Input = ListServersInput;
    type Output = Servers;

    const META: Meta = Meta {
        id: "list_servers",
        route: "operations/servers",
        summary: "Lists the coordinator and the tablet servers, and whether each answers",
        permission: &CLUSTER_READ,
        risk: Risk::Read,
        phrase: None,
        cooldown: None,
        is_list: true,
    };

    fn target(_: &Self::Input) -> Concerns<'_> {
        Concerns::Cluster
    }
}

/// Which servers are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ListServersInput {
    /// Text to find in role and id, address and rack, without regard to case; up to 200 bytes.
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

/// The servers of a cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Servers {
    /// The coordinator first, then tablet servers by id.
    pub servers: Vec<Server>,
    /// Tablet servers that answer.
    pub tablet_servers_alive_count: usize,
    /// Tablet servers that metadata names.
    pub tablet_servers_registered_count: usize,
    /// When the coordinator last told its metadata, absent when it never has. While the coordinator is
    /// down, tablet servers are those that it told then.
    #[serde(default)]
    pub metadata_at: Option<Timestamp>,
    /// Servers, before the search.
    pub total_count: usize,
    /// Servers that match the search.
    pub matched_count: usize,
    /// Place of the first one listed among those that match, from 0.
    pub offset: usize,
    /// Most that could be listed.
    pub limit: usize,
    /// Offset of the next page, absent on the last one.
    pub next_offset: Option<usize>,
}

/// One server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Server {
    /// What it does.
    pub role: ServerRole,
    /// Id within its role.
    pub id: i32,
    /// Advertised address.
    pub address: String,
    /// Rack, when one is configured.
    pub rack: Option<String>,
    /// Whether it is there.
    pub state: ServerState,
    /// Whether the coordinator's metadata names it. ZooKeeper keeps a dead one listed for a while.
    pub is_in_metadata: bool,
    /// Whether it answers a version request on its own connection.
    pub answers: bool,
    /// Time of that request and its answer in milliseconds, absent when it was not measured.
    pub latency_ms: Option<f64>,
    /// When it was last asked.
    #[serde(default)]
    pub asked_at: Option<Timestamp>,
    /// When it last answered, absent when it never has since Pegel watches it.
    #[serde(default)]
    pub answered_at: Option<Timestamp>,
    /// Why it does not answer.
    pub failure: Option<PartFailure>,
}

/// What a server does in the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerRole {
    /// Keeps the catalog and elects leaders.
    Coordinator,
    /// Holds buckets.
    TabletServer,
}

impl ServerRole {
    /// Returns the role as it is written in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Coordinator => "coordinator",
            Self::TabletServer => "tablet_server",
        }
    }
}

/// Whether a server is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ServerState {
    /// In metadata, and answers.
    Alive,
    /// In metadata, but does not answer.
    NotAnswering,
}
