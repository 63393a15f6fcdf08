//! Whether a registered cluster is up, as far as it was seen.

use jiff::Timestamp;
use pegel_core::error_code::ErrorCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a cluster's servers showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClusterState {
    /// The coordinator and every registered tablet server answer.
    Up,
    /// Some of them answer, or there is no tablet server.
    Degraded,
    /// None answers.
    Down,
    /// Nothing was seen lately, or whoever answered refused to tell.
    Unknown,
}

/// What was last seen of a cluster, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClusterStateView {
    /// What it comes to.
    pub state: ClusterState,
    /// When it was seen; absent before the first look.
    pub observed_at: Option<Timestamp>,
    /// Whether the coordinator answered on its own connection.
    pub is_coordinator_up: Option<bool>,
    /// Tablet servers that answered.
    pub tablet_servers_alive_count: Option<usize>,
    /// Tablet servers that the coordinator named, this time or before; absent if it never did.
    pub tablet_servers_registered_count: Option<usize>,
    /// Why the coordinator did not answer.
    pub reason: Option<ErrorCode>,
}

impl ClusterStateView {
    /// Returns what is said before anything was seen.
    pub const fn unknown() -> Self {
        Self {
            state: ClusterState::Unknown,
            observed_at: None,
            is_coordinator_up: None,
            tablet_servers_alive_count: None,
            tablet_servers_registered_count: None,
            reason: None,
        }
    }
}
