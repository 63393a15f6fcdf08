//! The client: finds the cluster, keeps to its coordinator, repeats safe reads.
//!
//! Catalog questions go to the coordinator alone, on a connection that answered
//! as a coordinator: tablet servers answer the same requests out of a cache and
//! would hide that the coordinator is gone. Bootstrap addresses are only used
//! to find out who the coordinator is.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fluss_codec::messages::{MetadataRequest, MetadataResponse, PbServerNode, Request};
use fluss_codec::server_type::ServerType;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};

use crate::bootstrap::HostPort;
use crate::budget::RequestBudget;
use crate::clock;
use crate::connection::{Connection, backoff};
use crate::error::Error;
use crate::metadata::LeaderCache;
use crate::observer::{Both, Event, NoObserver, Observer};
use crate::pool::Pool;
use crate::settings::ConnectionSettings;

/// Head start of one bootstrap address over the next one.
const BOOTSTRAP_STAGGER: Duration = Duration::from_millis(300);

/// A client of one Fluss cluster. Cheap to clone; clones share connections.
#[derive(Clone)]
pub struct FlussClient {
    pub(crate) inner: Arc<Inner>,
    /// Who is told of what this handle does, beside the observer of the whole client.
    own: Option<Arc<dyn Observer>>,
    /// Paces what this handle reads in the background.
    budget: Arc<RequestBudget>,
}

pub(crate) struct Inner {
    pub(crate) settings: ConnectionSettings,
    pub(crate) pool: Arc<Pool>,
    pub(crate) leaders: LeaderCache,
    known: Mutex<Known>,
    /// Held while the cluster is looked for, so that callers who lost it together look once.
    discovering: tokio::sync::Mutex<()>,
}

/// What is known of the cluster's servers.
#[derive(Default)]
struct Known {
    coordinator: Option<HostPort>,
    /// The coordinator that just failed: an answer naming another one is worth waiting for.
    failed_coordinator: Option<HostPort>,
    servers: Arc<ServerAddresses>,
}

/// Tablet servers by id, each with its address or the reason why it cannot be dialled.
pub(crate) type ServerAddresses = BTreeMap<i32, Result<HostPort, Error>>;

/// A server as cluster metadata describes it.
#[derive(Debug, Clone)]
pub struct ServerNode {
    /// The server's id; tablet servers count from 0, the coordinator's has no meaning of its own.
    pub id: i32,
    /// `host:port` as advertised on the listener that was asked.
    pub advertised: String,
    /// The address to dial, or why there is none: `host_not_allowed`, `corrupt_answer`.
    pub address: Result<HostPort, Error>,
    /// Rack, when one is configured.
    pub rack: Option<String>,
}

/// The servers that one answer to a metadata request names.
#[derive(Debug, Clone)]
pub struct ClusterMetadata {
    /// Address that answered.
    pub answered_by: HostPort,
    /// Kind of server that answered, absent with servers that do not say.
    pub answered_by_type: Option<&'static str>,
    /// The coordinator, absent while none is registered.
    pub coordinator: Option<ServerNode>,
    /// Registered tablet servers in the order of their ids. ZooKeeper lists a
    /// dead one for up to its session timeout.
    pub tablet_servers: Vec<ServerNode>,
}

impl FlussClient {
    /// Makes a client. Nothing is dialled before the first question.
    ///
    /// # Errors
    /// `invalid_setting` when certificates or keys cannot be used.
    pub fn new(settings: ConnectionSettings) -> Result<Self, Error> {
        Self::with_observer(settings, Arc::new(NoObserver))
    }

    /// Makes a client whose doings are told to `observer`.
    ///
    /// # Errors
    /// As [`FlussClient::new`].
    pub fn with_observer(settings: ConnectionSettings, observer: Arc<dyn Observer>) -> Result<Self, Error> {
        let pool = Pool::new(&settings, observer)?;
        Ok(Self {
            inner: Arc::new(Inner {
                settings,
                pool,
                leaders: LeaderCache::default(),
                known: Mutex::new(Known::default()),
                discovering: tokio::sync::Mutex::new(()),
            }),
            own: None,
            budget: Arc::default(),
        })
    }

    /// Returns a handle on the same client whose own requests, repetitions and waits are also told to `observer`.
    ///
    /// What handles share is told to the observer of the whole client alone: dials with their negotiation, the
    /// life of connections. A handle made of one that has an observer already replaces it.
    #[must_use]
    pub fn observed_by(&self, observer: Arc<dyn Observer>) -> Self {
        Self { own: Some(observer), ..self.clone() }
    }

    /// Returns a handle on the same client whose background reads take their shares of `budget`, as all do that
    /// hold it, whichever client they are of.
    #[must_use]
    pub fn paced_by(&self, budget: Arc<RequestBudget>) -> Self {
        Self { budget, ..self.clone() }
    }

    /// Tells whoever watches this handle of an event that nobody else tells of.
    pub(crate) fn tell(&self, event: &Event<'_>) {
        self.inner.pool.observer().observe(event);
        if let Some(own) = &self.own {
            own.observe(event);
        }
    }

    /// Returns who is to be told by connections that only this handle uses.
    pub(crate) fn observer(&self) -> Arc<dyn Observer> {
        let shared = Arc::clone(self.inner.pool.observer());
        match &self.own {
            Some(own) => Arc::new(Both(shared, Arc::clone(own))),
            None => shared,
        }
    }

    /// Sends one request on a shared connection, which tells the observer of the whole client; the handle's own
    /// observer is told here.
    pub(crate) async fn send<R: Request>(
        &self,
        connection: &Connection,
        request: &R,
        deadline: Instant,
    ) -> Result<R::Response, Error> {
        let started = clock::now();
        let answer = connection.request(request, deadline, self.limit()).await;
        // What no server takes is not sent.
        if !matches!(answer, Err(Error::Unsupported { .. })) {
            self.tell_own(connection.address(), R::KEY.name(), answer.as_ref().err(), started);
        }
        answer
    }

    /// Tells the handle's own observer of a request that a shared connection has told of.
    pub(crate) fn tell_own(
        &self,
        address: &HostPort,
        api: &'static str,
        error: Option<&Error>,
        started: Instant,
    ) {
        if let Some(own) = &self.own {
            let error = error.map(Error::code);
            own.observe(&Event::Request { address, api, error, duration: clock::now() - started });
        }
    }

    /// Returns the settings this client was made with.
    pub fn settings(&self) -> &ConnectionSettings {
        &self.inner.settings
    }

    /// Asks the coordinator itself which servers there are.
    ///
    /// # Errors
    /// `coordinator_unavailable` when the coordinator does not answer on its own
    /// connection, even if tablet servers still do.
    pub async fn cluster_metadata(&self) -> Result<ClusterMetadata, Error> {
        let deadline = self.deadline();
        let request = MetadataRequest::default();
        let (answer, connection) = self.ask_coordinator_at(&request, deadline).await?;
        let metadata = self.read_cluster(&answer, &connection);
        self.remember(&metadata);
        Ok(metadata)
    }

    /// Returns the deadline of a read that starts now.
    pub(crate) fn deadline(&self) -> Instant {
        clock::deadline_in(self.inner.settings.request_timeout())
    }

    pub(crate) fn limit(&self) -> Duration {
        self.inner.settings.request_timeout()
    }

    /// Sends a safe read to the coordinator, repeated as the settings allow.
    pub(crate) async fn ask_coordinator<R: Request>(&self, request: &R) -> Result<R::Response, Error> {
        self.ask_coordinator_at(request, self.deadline()).await.map(|(answer, _)| answer)
    }

    /// Like [`Self::ask_coordinator`], for background reads that keep to the request budget.
    pub(crate) async fn ask_coordinator_gently<R: Request>(
        &self,
        request: &R,
    ) -> Result<(R::Response, Arc<Connection>), Error> {
        let is_connected = self.known_coordinator().is_some_and(|one| self.inner.pool.is_connected(&one));
        let opening = if is_connected { 0 } else { self.shares_to_open() };
        self.take_shares(1 + opening).await;
        self.ask_coordinator_at(request, self.deadline()).await
    }

    /// Waits for the shares of the request budget that so many background requests take.
    pub(crate) async fn take_shares(&self, count: u32) {
        let waited = self.budget.take(count).await;
        if !waited.is_zero() {
            self.tell(&Event::Throttled { duration: waited });
        }
    }

    /// Returns the shares of what a new connection is opened with: negotiation and, with SASL, authentication.
    pub(crate) fn shares_to_open(&self) -> u32 {
        1 + u32::from(self.inner.settings.sasl().is_some())
    }

    /// Sends a safe read to the coordinator and also says which connection answered.
    pub(crate) async fn ask_coordinator_at<R: Request>(
        &self,
        request: &R,
        deadline: Instant,
    ) -> Result<(R::Response, Arc<Connection>), Error> {
        let mut attempt = 1;
        loop {
            let result = self.ask_coordinator_once(request, deadline).await;
            let error = match result {
                Ok(answer) => {
                    self.lock_known().failed_coordinator = None;
                    return Ok(answer);
                }
                Err(error) => error,
            };
            if error.invalidates_metadata() || matches!(error, Error::CoordinatorUnavailable { .. }) {
                self.distrust_coordinator();
            }
            if !self.may_retry(&error, attempt, deadline, R::KEY.name()).await {
                return Err(error);
            }
            attempt += 1;
        }
    }

    async fn ask_coordinator_once<R: Request>(
        &self,
        request: &R,
        deadline: Instant,
    ) -> Result<(R::Response, Arc<Connection>), Error> {
        let connection = self.coordinator(deadline, R::KEY.name()).await?;
        let answer = self.send(&connection, request, deadline).await;
        match answer {
            Ok(answer) => Ok((answer, connection)),
            // Silence or a broken connection of the coordinator is the coordinator being gone.
            Err(
                error @ (Error::RequestTimeout { .. }
                | Error::ConnectionLost { .. }
                | Error::Corrupt { .. }
                | Error::Protocol { .. }
                | Error::Tls { .. }),
            ) => Err(Error::CoordinatorUnavailable {
                address: Some(connection.address().clone()),
                source: Some(Box::new(error)),
            }),
            Err(error) => Err(error),
        }
    }

    /// Says whether a read may be made again, after waiting out the pause before it.
    pub(crate) async fn may_retry(
        &self,
        error: &Error,
        attempt: u32,
        deadline: Instant,
        api: &'static str,
    ) -> bool {
        if !error.is_retryable() || attempt >= self.inner.settings.read_max_attempts() {
            return false;
        }
        let pause = backoff(attempt - 1);
        if clock::remaining(deadline) <= pause {
            return false;
        }
        self.tell(&Event::Retry { api, attempt, error: error.code() });
        sleep(pause).await;
        true
    }

    /// Returns a connection to the coordinator, which answered as one.
    async fn coordinator(&self, deadline: Instant, api: &'static str) -> Result<Arc<Connection>, Error> {
        let address = match self.known_coordinator() {
            Some(address) => address,
            None => self.find_coordinator(deadline, api).await?,
        };
        self.inner.pool.get(&address, Some(ServerType::Coordinator), deadline, api).await.map_err(|error| {
            match error {
                // What this side does wrong says nothing about the coordinator's health.
                error if error.is_of_this_side() => error,
                error => {
                    Error::CoordinatorUnavailable { address: Some(address), source: Some(Box::new(error)) }
                }
            }
        })
    }

    /// Returns a connection to a tablet server, which answered as one.
    pub(crate) async fn tablet_server(
        &self,
        address: &HostPort,
        deadline: Instant,
        api: &'static str,
    ) -> Result<Arc<Connection>, Error> {
        self.inner.pool.get(address, Some(ServerType::TabletServer), deadline, api).await
    }

    /// Looks for the coordinator; callers who do so at the same time share the answer.
    async fn find_coordinator(&self, deadline: Instant, api: &'static str) -> Result<HostPort, Error> {
        let Ok(_turn) = timeout_at(deadline, self.inner.discovering.lock()).await else {
            let address = self.inner.settings.bootstrap().first().clone();
            return Err(Error::RequestTimeout { address, api, timeout_ms: clock::millis(self.limit()) });
        };
        if let Some(address) = self.known_coordinator() {
            return Ok(address);
        }
        match self.discover(deadline).await?.coordinator {
            Some(node) => node.address,
            None => Err(Error::CoordinatorUnavailable { address: None, source: None }),
        }
    }

    /// Asks the bootstrap addresses, and servers known from before, who is in the cluster.
    ///
    /// Each address has a short head start over the next one, so that a mute or
    /// black-holed one delays the answer by little. The first usable answer wins.
    async fn discover(&self, deadline: Instant) -> Result<ClusterMetadata, Error> {
        let candidates = self.candidates();
        let mut failures: Vec<Option<Error>> = vec![None; candidates.len()];
        let mut waiting = candidates.iter().cloned().enumerate();
        let mut asking: JoinSet<(usize, Result<ClusterMetadata, Error>)> = JoinSet::new();
        let mistrusted = self.lock_known().failed_coordinator.clone();
        let mut second_best: Option<ClusterMetadata> = None;
        loop {
            let next_start = match waiting.next() {
                Some((index, address)) => {
                    let client = self.clone();
                    asking.spawn(async move { (index, client.ask_for_cluster(&address, deadline).await) });
                    clock::deadline_in(BOOTSTRAP_STAGGER).min(deadline)
                }
                // With something in hand, the others get one more moment only.
                None if second_best.is_some() => clock::deadline_in(BOOTSTRAP_STAGGER).min(deadline),
                None => deadline + BOOTSTRAP_STAGGER,
            };
            match timeout_at(next_start, asking.join_next()).await {
                Ok(Some(Ok((_, Ok(metadata))))) => {
                    let named = metadata.coordinator.as_ref().and_then(|node| node.address.as_ref().ok());
                    if named.is_some() && named != mistrusted.as_ref() {
                        self.remember(&metadata);
                        return Ok(metadata);
                    }
                    if named.is_some() || second_best.is_none() {
                        second_best = Some(metadata);
                    }
                }
                Err(_) if second_best.is_some() && waiting.len() == 0 => break,
                Ok(Some(Ok((index, Err(error))))) => {
                    if let Some(place) = failures.get_mut(index) {
                        *place = Some(error);
                    }
                }
                // A task that panicked or was aborted tells nothing.
                Ok(Some(Err(_))) | Err(_) => {}
                Ok(None) => break,
            }
        }
        if let Some(metadata) = second_best {
            self.remember(&metadata);
            return Ok(metadata);
        }
        let mut failures: Vec<Error> =
            failures.into_iter().take(self.inner.settings.bootstrap().addresses().len()).flatten().collect();
        match (failures.len(), failures.pop()) {
            (1, Some(only)) => Err(only),
            (_, last) => Err(Error::BootstrapFailed { failures: failures.into_iter().chain(last).collect() }),
        }
    }

    /// Returns whom to ask for the cluster: bootstrap addresses first, then servers seen before.
    fn candidates(&self) -> Vec<HostPort> {
        let mut candidates = self.inner.settings.bootstrap().addresses().to_vec();
        let known = self.lock_known();
        for address in known.servers.values().flatten().take(3) {
            if !candidates.contains(address) {
                candidates.push(address.clone());
            }
        }
        candidates
    }

    async fn ask_for_cluster(&self, address: &HostPort, deadline: Instant) -> Result<ClusterMetadata, Error> {
        let request = MetadataRequest::default();
        let connection = self.inner.pool.get(address, None, deadline, MetadataRequest::KEY.name()).await?;
        let answer = self.send(&connection, &request, deadline).await?;
        Ok(self.read_cluster(&answer, &connection))
    }

    pub(crate) fn read_cluster(&self, answer: &MetadataResponse, connection: &Connection) -> ClusterMetadata {
        read_cluster(answer, connection, &self.inner.settings)
    }

    pub(crate) fn remember(&self, metadata: &ClusterMetadata) {
        let mut known = self.lock_known();
        known.coordinator =
            metadata.coordinator.as_ref().and_then(|node| node.address.as_ref().ok()).cloned();
        // A coordinator that has just started does not know its tablet servers yet.
        if metadata.tablet_servers.is_empty() {
            return;
        }
        known.servers = Arc::new(addresses_of(&metadata.tablet_servers));
        let bootstrap = self.inner.settings.bootstrap().addresses();
        self.inner.pool.retain(|address| {
            bootstrap.contains(address)
                || known.coordinator.as_ref() == Some(address)
                || known.servers.values().flatten().any(|server| server == address)
        });
    }

    /// Takes note of the tablet servers that a metadata answer names, and returns them.
    ///
    /// One copy serves all who hold leaders, as long as nothing changes.
    pub(crate) fn note_servers(
        &self,
        answer: &MetadataResponse,
        connection: &Connection,
    ) -> Arc<ServerAddresses> {
        let metadata = self.read_cluster(answer, connection);
        let fresh = addresses_of(&metadata.tablet_servers);
        let mut known = self.lock_known();
        let is_same = known.servers.len() == fresh.len()
            && known
                .servers
                .iter()
                .zip(&fresh)
                .all(|(a, b)| a.0 == b.0 && a.1.as_ref().ok() == b.1.as_ref().ok());
        if !is_same {
            known.servers = Arc::new(fresh);
        }
        Arc::clone(&known.servers)
    }

    fn known_coordinator(&self) -> Option<HostPort> {
        self.lock_known().coordinator.clone()
    }

    fn distrust_coordinator(&self) {
        let mut known = self.lock_known();
        if let Some(address) = known.coordinator.take() {
            known.failed_coordinator = Some(address);
        }
    }

    fn lock_known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.inner.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn addresses_of(servers: &[ServerNode]) -> ServerAddresses {
    servers.iter().map(|node| (node.id, node.address.clone())).collect()
}

/// Reads the servers out of a metadata answer. A server that cannot be dialled stays in
/// the list with its reason, since one odd address must not hide the others.
pub(crate) fn read_cluster(
    answer: &MetadataResponse,
    connection: &Connection,
    settings: &ConnectionSettings,
) -> ClusterMetadata {
    let node = |node: &PbServerNode| {
        let advertised = format!("{}:{}", node.host, node.port);
        let address = u16::try_from(node.port)
            .ok()
            .and_then(|port| HostPort::new(&node.host, port).ok())
            .ok_or_else(|| {
                let reason = format!("server {} has no usable address: {advertised}", node.node_id);
                Error::corrupt(connection.address(), reason)
            })
            .and_then(|address| {
                if settings.allows_advertised_host(address.host()) {
                    Ok(address)
                } else {
                    Err(Error::HostNotAllowed { address })
                }
            });
        ServerNode { id: node.node_id, advertised, address, rack: node.rack.clone() }
    };
    let mut tablet_servers: Vec<ServerNode> = answer.tablet_servers.iter().map(node).collect();
    tablet_servers.sort_by_key(|server| server.id);
    ClusterMetadata {
        answered_by: connection.address().clone(),
        answered_by_type: connection.server_type().map(|kind| crate::error::server_type_word(Some(kind))),
        coordinator: answer.coordinator_server.as_ref().map(node),
        tablet_servers,
    }
}
