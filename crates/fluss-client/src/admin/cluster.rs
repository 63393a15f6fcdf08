//! Servers with their liveness, and the cluster's configuration.

use std::time::Duration;

use fluss_codec::messages::{ApiVersionsRequest, DescribeClusterConfigsRequest, Request};
use fluss_codec::server_type::ServerType;
use tokio::time::Instant;

use crate::client::{FlussClient, ServerNode};
use crate::clock;
use crate::error::Error;
use crate::parallel::in_parallel;

/// Most servers that are asked at the same time.
const PARALLEL_PINGS: usize = 16;

/// What a server does in the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerRole {
    /// Keeps the catalog and elects leaders.
    Coordinator,
    /// Holds buckets.
    TabletServer,
}

impl ServerRole {
    /// Returns the role as it is written in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Coordinator => "coordinator",
            Self::TabletServer => "tablet_server",
        }
    }
}

/// A server as metadata names it, and whether it answers.
#[derive(Debug, Clone)]
pub struct ServerStatus {
    /// The server as the coordinator describes it.
    pub node: ServerNode,
    /// Its role.
    pub role: ServerRole,
    /// Time of a version request and its answer on the server's own connection, or
    /// why there is none. A tablet server is alive only when it answers this.
    pub answer: Result<Duration, Error>,
}

/// One configuration value of the server that answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigEntry {
    /// Configuration key.
    pub key: String,
    /// Value, absent when none is set. Servers before 1.0 send secrets in the clear: redact.
    pub value: Option<String>,
    /// Where the value comes from, as the server says: `DYNAMIC_SERVER_CONFIG` or `INITIAL_SERVER_CONFIG`.
    pub source: String,
}

impl FlussClient {
    /// Lists the coordinator and the tablet servers, and asks each whether it answers.
    ///
    /// # Errors
    /// `coordinator_unavailable` when the coordinator itself does not answer. Tablet
    /// servers that do not answer are in the list with their error.
    pub async fn servers(&self) -> Result<Vec<ServerStatus>, Error> {
        let metadata = self.cluster_metadata().await?;
        let deadline = self.deadline();
        let coordinator = metadata.coordinator.map(|node| (ServerRole::Coordinator, node));
        let tablet_servers = metadata.tablet_servers.into_iter().map(|node| (ServerRole::TabletServer, node));
        let servers = coordinator.into_iter().chain(tablet_servers).collect();
        let ask = |(role, node): (ServerRole, ServerNode)| {
            let client = self.clone();
            async move {
                let answer = client.ping(role, &node, deadline).await;
                ServerStatus { node, role, answer }
            }
        };
        Ok(in_parallel(servers, PARALLEL_PINGS, ask).await)
    }

    pub(crate) async fn ping(
        &self,
        role: ServerRole,
        node: &ServerNode,
        deadline: Instant,
    ) -> Result<Duration, Error> {
        let api = ApiVersionsRequest::KEY.name();
        let expected = match role {
            ServerRole::Coordinator => ServerType::Coordinator,
            ServerRole::TabletServer => ServerType::TabletServer,
        };
        let address = node.address.as_ref().map_err(Error::clone)?;
        // Whether a server answers now must not be told from an error of a moment ago.
        let connection = self.inner.pool.get_now(address, Some(expected), deadline, api).await?;
        let started = clock::now();
        let answer = connection.ping(deadline, self.limit()).await;
        self.tell_own(address, api, answer.as_ref().err(), started);
        answer?;
        Ok(clock::now() - started)
    }

    /// Reads the configuration of the coordinator.
    ///
    /// # Errors
    /// `server_error` with code 48 without DESCRIBE on the cluster.
    pub async fn cluster_config(&self) -> Result<Vec<ConfigEntry>, Error> {
        let answer = self.ask_coordinator(&DescribeClusterConfigsRequest::default()).await?;
        let mut entries: Vec<ConfigEntry> = answer
            .configs
            .into_iter()
            .map(|entry| ConfigEntry {
                key: entry.config_key,
                value: entry.config_value,
                source: entry.config_source,
            })
            .collect();
        entries.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(entries)
    }
}
