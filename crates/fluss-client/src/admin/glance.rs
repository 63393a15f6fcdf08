//! A glance at a cluster's servers, for those who look again and again.
//!
//! Other reads repeat and look for a coordinator as long as their deadline lasts. A glance dials each server at
//! most once and is over soon, whatever has become of the cluster. It keeps to the request budget. Only a
//! connection that ends under a request is replaced at once: it may have been dead for long.

use std::collections::BTreeSet;
use std::time::Duration;

use fluss_codec::messages::{MetadataRequest, Request};
use fluss_codec::server_type::ServerType;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::admin::{ServerRole, ServerStatus};
use crate::bootstrap::HostPort;
use crate::client::{ClusterMetadata, FlussClient, ServerNode};
use crate::clock;
use crate::error::Error;
use crate::parallel::in_parallel;

/// Most servers that are asked at the same time.
const PARALLEL_PINGS: usize = 16;
/// Most servers of one glance that take a share of the request budget; the others of a larger cluster are
/// asked on top, each for itself.
const PACED_PINGS: usize = 12;
/// Most tablet servers that are asked who the coordinator is.
const MAX_ASKED: usize = 3;

/// The servers of a cluster as they were last named.
#[derive(Debug, Clone, Default)]
pub struct Named {
    /// The coordinator.
    pub coordinator: Option<ServerNode>,
    /// The tablet servers by id.
    pub tablet_servers: Vec<ServerNode>,
}

/// What a glance showed.
#[derive(Debug, Clone)]
pub struct Glance {
    /// Whether the coordinator told, on its own connection, who is in the cluster; else why not.
    pub metadata: Result<(), Error>,
    /// The coordinator, if one was ever named, and how long its answer took.
    pub coordinator: Option<ServerStatus>,
    /// The tablet servers by id: those of the coordinator's answer or, without one, as they were last named.
    pub tablet_servers: Vec<ServerStatus>,
}

impl Glance {
    /// Returns the servers that this glance named, to be handed to the next one.
    pub fn named(&self) -> Named {
        let nodes = self.tablet_servers.iter().map(|status| status.node.clone());
        let coordinator = self.coordinator.as_ref().map(|status| status.node.clone());
        Named { coordinator, tablet_servers: nodes.collect() }
    }
}

/// One server's answer to the question who is in the cluster, and how long it took.
type Told = Result<(ClusterMetadata, Duration), Error>;

impl FlussClient {
    /// Looks once at the coordinator and each tablet server. Takes at most three times `limit`.
    ///
    /// `before` is what the glance before this one named. A server counts as answering only if it does so on
    /// its own connection and as the kind of server it should be.
    pub async fn glance(&self, before: &Named, limit: Duration) -> Glance {
        let limit = limit.min(self.limit());
        let known = before.coordinator.clone();
        let first = async {
            let node = known?;
            let told = match node.address.clone() {
                Ok(address) => self.ask_once(&address, Some(ServerType::Coordinator), limit).await,
                Err(error) => Err(error),
            };
            Some((node, told))
        };
        let (first, mut pinged) = tokio::join!(first, self.ping_all(before.tablet_servers.clone(), limit));
        let (node, told) = match first {
            Some((node, Ok(told))) => (Some(node), Ok(told)),
            // Another one may have taken over, or none was ever known.
            first => self.find_another(first, &pinged, limit).await,
        };
        let (metadata, took) = match told {
            Ok(told) => told,
            Err(error) => {
                let coordinator = node.map(|node| ServerStatus {
                    node,
                    role: ServerRole::Coordinator,
                    answer: Err(error.clone()),
                });
                return Glance { metadata: Err(error), coordinator, tablet_servers: pinged };
            }
        };
        self.remember(&metadata);
        let is_pinged =
            |node: &ServerNode| pinged.iter().any(|status| status.node.advertised == node.advertised);
        let missing: Vec<ServerNode> =
            metadata.tablet_servers.iter().filter(|node| !is_pinged(node)).cloned().collect();
        pinged.extend(self.ping_all(missing, limit).await);
        let take = |node: ServerNode| {
            let place = pinged.iter().position(|status| status.node.advertised == node.advertised)?;
            Some(ServerStatus { node, ..pinged.swap_remove(place) })
        };
        let tablet_servers = metadata.tablet_servers.into_iter().filter_map(take).collect();
        let answering = metadata.coordinator.or(node);
        let coordinator =
            answering.map(|node| ServerStatus { node, role: ServerRole::Coordinator, answer: Ok(took) });
        Glance { metadata: Ok(()), coordinator, tablet_servers }
    }

    /// Asks the others who the coordinator is, and then that one, unless it is the one that has just failed.
    async fn find_another(
        &self,
        failed: Option<(ServerNode, Told)>,
        pinged: &[ServerStatus],
        limit: Duration,
    ) -> (Option<ServerNode>, Told) {
        let mut tried: BTreeSet<HostPort> = BTreeSet::new();
        tried.extend(failed.iter().filter_map(|(node, _)| node.address.as_ref().ok()).cloned());
        let answering = pinged.iter().filter(|status| status.answer.is_ok());
        let mut candidates: Vec<HostPort> =
            answering.filter_map(|status| status.node.address.clone().ok()).take(MAX_ASKED).collect();
        tried.extend(pinged.iter().filter_map(|status| status.node.address.as_ref().ok()).cloned());
        let bootstrap = self.settings().bootstrap().addresses();
        candidates.extend(bootstrap.iter().filter(|address| tried.insert((*address).clone())).cloned());
        let (named, failures) =
            self.ask_who_coordinates(candidates, address_of(failed.as_ref()).as_ref(), limit).await;
        match (named, failed) {
            (Some(node), _) => {
                let told = match node.address.clone() {
                    Ok(address) => self.ask_once(&address, Some(ServerType::Coordinator), limit).await,
                    Err(error) => Err(error),
                };
                let told = told.map_err(|error| unavailable(&node, error));
                (Some(node), told)
            }
            (None, Some((node, told))) => {
                let told = told.map_err(|error| unavailable(&node, error));
                (Some(node), told)
            }
            (None, None) if failures.is_empty() => {
                (None, Err(Error::CoordinatorUnavailable { address: None, source: None }))
            }
            (None, None) => (None, Err(Error::BootstrapFailed { failures })),
        }
    }

    /// Returns the first coordinator that somebody names and that has not failed just now.
    async fn ask_who_coordinates(
        &self,
        candidates: Vec<HostPort>,
        failed: Option<&HostPort>,
        limit: Duration,
    ) -> (Option<ServerNode>, Vec<Error>) {
        let mut asking: JoinSet<Told> = JoinSet::new();
        for address in candidates {
            let client = self.clone();
            asking.spawn(async move { client.ask_once(&address, None, limit).await });
        }
        let mut failures = Vec::new();
        while let Some(told) = asking.join_next().await {
            match told {
                Ok(Ok((metadata, _))) => {
                    let is_other = |node: &ServerNode| node.address.as_ref().ok() != failed;
                    if let Some(node) = metadata.coordinator.filter(is_other) {
                        return (Some(node), failures);
                    }
                }
                Ok(Err(error)) => failures.push(error),
                // A task that panicked tells nothing.
                Err(_) => {}
            }
        }
        (None, failures)
    }

    /// Asks one server who is in the cluster, dialling it at most once.
    async fn ask_once(&self, address: &HostPort, expected: Option<ServerType>, limit: Duration) -> Told {
        self.take_shares_of(address).await;
        let deadline = clock::deadline_in(limit);
        let ask = async || {
            let (pool, api) = (&self.inner.pool, MetadataRequest::KEY.name());
            let connection = pool.get_now(address, expected, deadline, api).await?;
            let started = clock::now();
            let answer = self.send(&connection, &MetadataRequest::default(), deadline).await?;
            Ok((self.read_cluster(&answer, &connection), clock::now() - started))
        };
        match ask().await {
            Err(Error::ConnectionLost { .. }) => ask().await,
            told => told,
        }
    }

    /// Waits for the shares of a request, and of what comes before it on a new connection.
    async fn take_shares_of(&self, address: &HostPort) {
        let opening = if self.inner.pool.is_connected(address) { 0 } else { self.shares_to_open() };
        self.take_shares(1 + opening).await;
    }

    async fn ping_all(&self, nodes: Vec<ServerNode>, limit: Duration) -> Vec<ServerStatus> {
        let ask = |(place, node): (usize, ServerNode)| {
            let client = self.clone();
            async move {
                if place < PACED_PINGS
                    && let Ok(address) = &node.address
                {
                    client.take_shares_of(address).await;
                }
                let deadline: Instant = clock::deadline_in(limit);
                let ask = async || client.ping(ServerRole::TabletServer, &node, deadline).await;
                let answer = match ask().await {
                    Err(Error::ConnectionLost { .. }) => ask().await,
                    answer => answer,
                };
                ServerStatus { node, role: ServerRole::TabletServer, answer }
            }
        };
        in_parallel(nodes.into_iter().enumerate().collect(), PARALLEL_PINGS, ask).await
    }
}

fn address_of(failed: Option<&(ServerNode, Told)>) -> Option<HostPort> {
    failed.and_then(|(node, _)| node.address.clone().ok())
}

/// Tells an error of the coordinator as such; what this side does wrong says nothing about its health.
fn unavailable(node: &ServerNode, error: Error) -> Error {
    match error {
        error if error.is_of_this_side() => error,
        error => Error::CoordinatorUnavailable {
            address: node.address.clone().ok(),
            source: Some(Box::new(error)),
        },
    }
}
