//! A scripted Fluss cluster in the test's own process: real frames over real sockets, answers from plain data.
//!
//! It serves what a console reads (versions, authentication, metadata, catalog, offsets, row counts, access
//! rules, configuration, snapshots) and fails as told by scripts: silence, delays, cut and corrupted answers,
//! stopped and frozen servers. It never plays mutation semantics: requests that would change a cluster are met
//! with silence unless a script answers them.
//!
//! What is served follows the sources of Fluss 0.9.1 as told in each module of `answer`.
//!
//! ```no_run
//! use fluss_codec::api_key::ApiKey;
//! use fluss_testkit::fake_server::{FakeCluster, NewTable, Script};
//!
//! # async fn example() -> Result<(), fluss_testkit::Error> {
//! let cluster = FakeCluster::builder()
//!     .tablet_servers(3)
//!     .table(NewTable::primary_key("shop", "orders").buckets(4))
//!     .generated_tables(10, 100, 10)
//!     .start()?;
//! cluster.coordinator().on(ApiKey::GetTableInfo, Script::NeverAnswer.times(1));
//! cluster.change(|model| model.drop_table("shop", "orders"));
//! # Ok(())
//! # }
//! ```

mod answer;
mod connection;
mod counters;
mod foreign;
mod generate;
mod listener;
mod model;
mod script;
mod state;
mod table;

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fluss_codec::api_key::ApiKey;
use fluss_codec::messages::{Request, decode};
use fluss_codec::server_type::ServerType;
use tokio::time::Instant;

use self::counters::Counters;
use self::generate::Catalog;
use self::listener::{Listening, Order};
use self::state::{ServerState, lock_model};
use crate::clock;
use crate::error::Error;

pub use self::counters::{MAX_SEEN, Seen, peak_count};
pub use self::foreign::{BlackHole, ForeignListener};
pub use self::model::{
    Bucket, Config, Database, KvSnapshot, LakeSnapshot, Model, Node, Partition, ServerLine, Table, Users,
    Visibility,
};
pub use self::script::{Bits, Rule, Script};
pub use self::table::NewTable;

/// Id of the coordinator in metadata.
const COORDINATOR_ID: i32 = 0;

/// A change of the model before the cluster starts.
type Change = Box<dyn FnOnce(&mut Model) + Send>;

/// Plans a fake cluster.
#[must_use]
pub struct FakeClusterBuilder {
    tablet_servers: i32,
    replication: usize,
    model: Model,
    racks: Vec<(i32, String)>,
    changes: Vec<Change>,
}

impl FakeClusterBuilder {
    /// Sets the number of tablet servers; 1 unless set.
    pub fn tablet_servers(mut self, count: u16) -> Self {
        self.tablet_servers = i32::from(count);
        self
    }

    /// Sets the release line; 0.9.1 unless set.
    pub fn line(mut self, line: ServerLine) -> Self {
        self.model.line = line;
        self
    }

    /// Puts a tablet server in a rack.
    pub fn rack(mut self, tablet_server: i32, rack: &str) -> Self {
        self.racks.push((tablet_server, rack.to_owned()));
        self
    }

    /// Adds a SASL user; with at least one, every listener demands authentication.
    pub fn user(mut self, name: &str, password: &str) -> Self {
        self.model.users.set(name, password);
        self
    }

    /// Sets whether there is an authorizer; none unless set.
    pub fn authorizer(mut self, has_authorizer: bool) -> Self {
        self.model.has_authorizer = has_authorizer;
        self
    }

    /// Adds a configuration entry that all servers share.
    pub fn config(mut self, config: Config) -> Self {
        self.model.configs.push(config);
        self
    }

    /// Adds a table, with its database.
    pub fn table(self, table: NewTable) -> Self {
        self.model(|model| {
            model.add_table(table);
        })
    }

    /// Sets the number of replicas of the buckets of tables that are generated after this call; 1 unless set.
    pub fn generated_replicas(mut self, count: usize) -> Self {
        self.replication = count;
        self
    }

    /// Adds databases full of tables of mixed kinds with names as people give them.
    ///
    /// Of ten tables five are logs, three have a primary key, one is a partitioned log and one a partitioned
    /// primary key table; the buckets of a partitioned table are those of all its partitions together.
    pub fn generated_tables(self, databases: u32, tables_per_database: u32, buckets_per_table: u32) -> Self {
        let replication = self.replication;
        self.model(move |model| {
            Catalog { databases, tables_per_database, buckets_per_table }.add_to(model, replication);
        })
    }

    /// Changes the model once the servers are registered in it, in the order of the calls.
    pub fn model(mut self, change: impl FnOnce(&mut Model) + Send + 'static) -> Self {
        self.changes.push(Box::new(change));
        self
    }

    /// Starts all servers on free ports of loopback. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// `io_failed` if a port cannot be listened on.
    pub fn start(self) -> Result<FakeCluster, Error> {
        let model = Arc::new(Mutex::new(self.model));
        let started = clock::now();
        let coordinator = FakeServer::start(COORDINATOR_ID, ServerType::Coordinator, &model, started)?;
        let mut tablet_servers = Vec::new();
        for id in 0..self.tablet_servers {
            tablet_servers.push(FakeServer::start(id, ServerType::TabletServer, &model, started)?);
        }
        let mut registered = lock_model(&model);
        registered.coordinator = Some(coordinator.node());
        registered.tablet_servers = tablet_servers.iter().map(FakeServer::node).collect();
        for (id, rack) in self.racks {
            if let Some(node) = registered.tablet_servers.iter_mut().find(|node| node.id == id) {
                node.rack = Some(rack);
            }
        }
        for change in self.changes {
            change(&mut registered);
        }
        drop(registered);
        Ok(FakeCluster { model, coordinator, tablet_servers, started })
    }
}

/// A fake cluster. Dropping it ends all its servers.
#[derive(Debug)]
pub struct FakeCluster {
    model: Arc<Mutex<Model>>,
    coordinator: FakeServer,
    tablet_servers: Vec<FakeServer>,
    started: Instant,
}

impl FakeCluster {
    /// Starts planning a cluster: one coordinator, one tablet server, 0.9.1, PLAINTEXT, no authorizer.
    pub fn builder() -> FakeClusterBuilder {
        FakeClusterBuilder {
            tablet_servers: 1,
            replication: 1,
            model: Model::default(),
            racks: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// Returns the coordinator.
    pub fn coordinator(&self) -> &FakeServer {
        &self.coordinator
    }

    /// Returns the tablet servers by id.
    pub fn tablet_servers(&self) -> &[FakeServer] {
        &self.tablet_servers
    }

    /// Returns all servers, the coordinator first.
    pub fn servers(&self) -> impl Iterator<Item = &FakeServer> {
        std::iter::once(&self.coordinator).chain(&self.tablet_servers)
    }

    /// Returns the coordinator's address as clients write it.
    pub fn bootstrap(&self) -> String {
        self.coordinator.address().to_string()
    }

    /// Starts one more tablet server and registers it; buckets of existing tables stay where they are.
    ///
    /// # Errors
    /// `io_failed` if no port can be listened on.
    pub fn add_tablet_server(&mut self) -> Result<&FakeServer, Error> {
        let id = i32::try_from(self.tablet_servers.len()).unwrap_or(i32::MAX);
        let server = FakeServer::start(id, ServerType::TabletServer, &self.model, self.started)?;
        self.change(|model| model.tablet_servers.push(server.node()));
        self.tablet_servers.push(server);
        Ok(self.tablet_servers.last().expect("a server was pushed just now"))
    }

    /// Changes what the servers answer from; in force when this returns.
    pub fn change<T>(&self, change: impl FnOnce(&mut Model) -> T) -> T {
        change(&mut lock_model(&self.model))
    }

    /// Reads from what the servers answer from.
    pub fn read<T>(&self, read: impl FnOnce(&Model) -> T) -> T {
        read(&lock_model(&self.model))
    }

    /// Returns how many requests of a key all servers have seen.
    pub fn request_count(&self, key: ApiKey) -> u64 {
        self.servers().map(|server| server.request_count(key)).sum()
    }

    /// Returns how many requests all servers have seen.
    pub fn total_request_count(&self) -> u64 {
        self.servers().map(FakeServer::total_request_count).sum()
    }

    /// Returns how many connections all servers have accepted.
    pub fn accepted_count(&self) -> u64 {
        self.servers().map(FakeServer::accepted_count).sum()
    }

    /// Returns the requests all servers have seen, in the order of time; at most [`MAX_SEEN`] of each server.
    pub fn seen(&self) -> Vec<Seen> {
        let mut seen: Vec<Seen> = self.servers().flat_map(FakeServer::seen).collect();
        seen.sort_by_key(|request| request.at);
        seen
    }

    /// Forgets what was counted so far on all servers.
    pub fn reset_counters(&self) {
        for server in self.servers() {
            server.reset_counters();
        }
    }
}

/// A server of a fake cluster. Dropping the cluster ends it.
#[derive(Debug)]
pub struct FakeServer {
    server_type: ServerType,
    state: Arc<ServerState>,
    listening: Listening,
}

impl FakeServer {
    fn start(
        id: i32,
        server_type: ServerType,
        model: &Arc<Mutex<Model>>,
        started: Instant,
    ) -> Result<Self, Error> {
        let counters = Arc::new(Counters::new(started));
        let state = Arc::new(ServerState::new(id, server_type, Arc::clone(model), counters));
        let listening = Listening::start(Arc::clone(&state))?;
        Ok(Self { server_type, state, listening })
    }

    fn node(&self) -> Node {
        let address = self.address();
        Node {
            id: self.id(),
            host: address.ip().to_string(),
            port: i32::from(address.port()),
            rack: None,
            configs: Vec::new(),
        }
    }

    /// Returns the id in metadata.
    pub fn id(&self) -> i32 {
        self.state.server_id
    }

    /// Returns how many answers [`Script::Hold`] keeps back.
    pub fn held_count(&self) -> usize {
        self.state.held_count()
    }

    /// Returns the address the server listens on, whatever it advertises.
    pub fn address(&self) -> SocketAddr {
        self.listening.address()
    }

    /// Sets what the server does with requests of a key, in place of all rules the key had.
    pub fn on(&self, key: ApiKey, rule: impl Into<Rule>) {
        self.state.scripts().set(key, rule.into());
    }

    /// Adds what the server does with requests of a key once the rules before are used up.
    pub fn then(&self, key: ApiKey, rule: impl Into<Rule>) {
        self.state.scripts().then(key, rule.into());
    }

    /// Sets what the server does with requests that no rule of their own takes, negotiation included.
    pub fn on_any(&self, rule: impl Into<Rule>) {
        self.state.scripts().set_for_all(rule.into());
    }

    /// Goes back to proper answers for a key.
    pub fn clear(&self, key: ApiKey) {
        self.state.scripts().clear(key);
    }

    /// Goes back to proper answers.
    pub fn clear_all(&self) {
        self.state.scripts().clear_all();
    }

    /// Sends the answers that [`Script::Hold`] keeps back now.
    pub fn release(&self) {
        self.state.release();
    }

    /// Refuses connections and closes those there are, as a dead process does; the port stays reserved.
    ///
    /// # Errors
    /// `io_failed` if the port could not be reserved.
    pub async fn stop(&self) -> Result<(), Error> {
        self.listening.order(Order::Stop).await
    }

    /// Listens again on the same port.
    ///
    /// # Errors
    /// `io_failed` if the port was lost.
    pub async fn start_again(&self) -> Result<(), Error> {
        self.listening.order(Order::Start).await
    }

    /// Closes the connections there are; new ones are welcome.
    ///
    /// # Errors
    /// `io_failed` if the server has ended.
    pub async fn close_connections(&self) -> Result<(), Error> {
        self.listening.order(Order::CloseConnections).await
    }

    /// Stops reading and answering; connections are still accepted, as by the kernel for a stopped process.
    pub fn freeze(&self) {
        self.state.set_frozen(true);
    }

    /// Goes on where [`FakeServer::freeze`] stopped.
    pub fn thaw(&self) {
        self.state.set_frozen(false);
    }

    /// Closes new connections as soon as they are there; old ones stay.
    pub fn accept_and_close(&self) {
        self.state.closes_at_once.store(true, Ordering::Relaxed);
    }

    /// Takes [`FakeServer::accept_and_close`] back.
    pub fn accept_normally(&self) {
        self.state.closes_at_once.store(false, Ordering::Relaxed);
    }

    /// Makes the server one of another type altogether, as when two pods have swapped their addresses.
    pub fn answers_as(&self, server_type: ServerType) {
        self.state.set_server_type(server_type);
    }

    /// Makes a coordinator a standby that answers everything but negotiation with error 65, or leading again.
    pub fn stand_by(&self, is_standby: bool) {
        self.state.set_standby(is_standby);
    }

    /// Lists a key with another version range and serves it, whatever the server's type.
    pub fn lists_api(&self, key: ApiKey, versions: RangeInclusive<i16>) {
        self.state.change_api(key, Some(versions));
    }

    /// Leaves a key out of the list and does not serve it.
    pub fn hides_api(&self, key: ApiKey) {
        self.state.change_api(key, None);
    }

    /// Advertises another address in metadata, such as that of a proxy; the server listens where it did.
    pub fn advertise(&self, host: &str, port: u16) {
        let mut model = self.state.model();
        let node = match self.server_type {
            ServerType::Coordinator => model.coordinator.as_mut(),
            ServerType::TabletServer => model.tablet_servers.iter_mut().find(|node| node.id == self.id()),
        };
        if let Some(node) = node {
            host.clone_into(&mut node.host);
            node.port = i32::from(port);
        }
    }

    /// Makes the server answer from the model as it is now, whatever changes later; a cache that lags.
    pub fn go_stale(&self) {
        self.state.set_stale(true);
    }

    /// Takes [`FakeServer::go_stale`] back.
    pub fn catch_up(&self) {
        self.state.set_stale(false);
    }

    /// Returns how many requests of a key came.
    pub fn request_count(&self, key: ApiKey) -> u64 {
        self.state.counters.count(key.code())
    }

    /// Returns how many requests came, those with unknown keys included.
    pub fn total_request_count(&self) -> u64 {
        self.state.counters.total()
    }

    /// Returns the requests that came, in the order of time; at most [`MAX_SEEN`].
    pub fn seen(&self) -> Vec<Seen> {
        self.state.counters.seen()
    }

    /// Returns the most requests that came within any span of this length.
    pub fn peak_count(&self, span: Duration) -> usize {
        peak_count(&self.seen(), span)
    }

    /// Returns the last request of a type that came, if it can be read.
    pub fn last_request<R: Request>(&self) -> Option<R> {
        decode(self.state.counters.last_body(R::KEY.code())?).ok()
    }

    /// Returns how many connections were accepted.
    pub fn accepted_count(&self) -> u64 {
        self.state.counters.accepted_count()
    }

    /// Returns how many connections are open.
    pub fn open_count(&self) -> u64 {
        self.state.counters.open_count()
    }

    /// Returns the most requests that were under way at once on all connections. A request is under way from
    /// its arrival until its answer is written, or its connection ends.
    pub fn in_flight_max(&self) -> usize {
        self.state.counters.in_flight_max()
    }

    /// Returns the most requests that were under way at once on one connection.
    pub fn connection_in_flight_max(&self) -> usize {
        self.state.counters.connection_in_flight_max()
    }

    /// Forgets what was counted so far; open connections stay counted as open.
    pub fn reset_counters(&self) {
        self.state.counters.reset();
    }

    /// Waits until the counters of this server are as wanted; checked at each request,
    /// connection and held answer.
    pub async fn until(&self, is_met: impl Fn(&Self) -> bool) {
        let mut changes = self.state.counters.subscribe();
        while !is_met(self) {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }
}
