//! Which servers a cluster has and whether each answers: two facts, each with its age.
//!
//! A live cluster is watched: its coordinator counts as alive when it answers on its own connection, a tablet server
//! when it answers there too. One looks at a time, and a server that is gone is dialled once a look. That
//! something changed is announced once; what it is, readers ask for under their own rights.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fluss_client::admin::{Glance, Named, ServerRole as ClientRole, ServerStatus};
use fluss_client::client::FlussClient;
use jiff::Timestamp;
use pegel_api_types::operations::servers::ServerRole;
use pegel_core::clock::Clock;
use pegel_core::ids::ClusterSlug;
use pegel_store::Db;
use tokio::sync::Semaphore;
use tokio::time::{interval_at, sleep};
use tokio_util::sync::CancellationToken;

use crate::catalog::inventory::Inventory;
use crate::clock;
use crate::failure::Failure;

/// What can be set about the watch.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// How often to look.
    pub look_every: Duration,
    /// Pause before the first look.
    pub first_pause: Duration,
    /// How old what was seen may be when it is told without looking again.
    pub fresh_for: Duration,
    /// How long one server may take to answer.
    pub answer_limit: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            look_every: Duration::from_secs(5),
            first_pause: Duration::ZERO,
            fresh_for: Duration::from_secs(5),
            answer_limit: Duration::from_secs(3),
        }
    }
}

/// The watch on one cluster's servers. Cheap to clone.
#[derive(Clone)]
pub struct Liveness {
    inner: Arc<Inner>,
}

struct Inner {
    client: FlussClient,
    clock: Arc<dyn Clock>,
    settings: Settings,
    /// Wants to know whether the coordinator is there.
    inventory: Inventory,
    /// Held while somebody looks; holds what the next look begins with.
    looking: tokio::sync::Mutex<Memory>,
    seen: Mutex<Option<Seen>>,
}

/// What one look hands to the next.
#[derive(Default)]
struct Memory {
    named: Named,
    metadata_at: Option<Timestamp>,
    answered_at: BTreeMap<(ServerRole, i32), Timestamp>,
}

#[derive(Clone)]
struct Seen {
    sighting: Arc<Sighting>,
    at: Instant,
}

/// What was seen of a cluster's servers at one time.
#[derive(Debug, Clone)]
pub(crate) struct Sighting {
    /// The coordinator first, if one is known, then tablet servers by id.
    pub(crate) servers: Vec<SeenServer>,
    /// When the coordinator last told its metadata.
    pub(crate) metadata_at: Option<Timestamp>,
    /// When the servers were asked.
    pub(crate) asked_at: Timestamp,
    /// Why the coordinator has not told its metadata this time.
    pub(crate) failure: Option<Failure>,
}

/// One server as it was seen.
#[derive(Debug, Clone)]
pub(crate) struct SeenServer {
    pub(crate) role: ServerRole,
    pub(crate) id: i32,
    /// Address as metadata gives it.
    pub(crate) advertised: String,
    pub(crate) rack: Option<String>,
    /// Time of a request and its answer, or why there is none.
    pub(crate) answer: Result<Duration, Failure>,
    /// When it was asked.
    pub(crate) asked_at: Timestamp,
    /// When it last answered.
    pub(crate) answered_at: Option<Timestamp>,
}

impl Liveness {
    /// Makes a watch that has seen nothing yet. It tells `inventory` whether the coordinator is there.
    pub fn new(client: FlussClient, clock: Arc<dyn Clock>, settings: Settings, inventory: Inventory) -> Self {
        let (looking, seen) = (tokio::sync::Mutex::default(), Mutex::default());
        Self { inner: Arc::new(Inner { client, clock, settings, inventory, looking, seen }) }
    }

    /// Looks again and again until `stop`, and announces each change of `cluster` in the store. The first look
    /// waits for a place of `gate`, so that not all clusters are connected to at once.
    pub async fn run(self, db: Db, cluster: ClusterSlug, stop: CancellationToken, gate: Arc<Semaphore>) {
        let settings = self.inner.settings;
        let watch = async {
            sleep(settings.first_pause).await;
            if let Ok(_place) = gate.acquire().await {
                self.recent().await;
            }
            let mut next_look =
                interval_at(tokio::time::Instant::from_std(clock::instant()), settings.look_every);
            next_look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            let mut announced = None;
            loop {
                next_look.tick().await;
                let sighting = self.look_again(settings.look_every / 2).await;
                let state = state_of(&sighting);
                // What could not be announced is announced with the next look.
                if announced.as_ref() != Some(&state) && announce(&db, &cluster).await {
                    announced = Some(state);
                }
            }
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = watch => {}
        }
    }

    /// Returns what was last seen, however long ago, without looking.
    pub(crate) fn last_seen(&self) -> Option<Arc<Sighting>> {
        self.seen().as_ref().map(|seen| Arc::clone(&seen.sighting))
    }

    /// Returns what was seen, not longer than a few seconds ago.
    pub(super) async fn recent(&self) -> Arc<Sighting> {
        self.look_again(self.inner.settings.fresh_for).await
    }

    /// Looks, unless somebody has within `limit`; who comes while somebody looks gets what is seen then.
    async fn look_again(&self, limit: Duration) -> Arc<Sighting> {
        if let Some(sighting) = self.younger_than(limit) {
            return sighting;
        }
        let mut memory = self.inner.looking.lock().await;
        if let Some(sighting) = self.younger_than(limit) {
            return sighting;
        }
        let glance = self.inner.client.glance(&memory.named, self.inner.settings.answer_limit).await;
        let sighting = Arc::new(memory.take_in(&glance, self.inner.clock.now()));
        self.inner.inventory.note_coordinator(sighting.failure.clone().map_or(Ok(()), Err));
        *self.seen() = Some(Seen { sighting: Arc::clone(&sighting), at: clock::instant() });
        sighting
    }

    fn younger_than(&self, limit: Duration) -> Option<Arc<Sighting>> {
        let seen = self.seen().clone()?;
        (seen.at.elapsed() < limit).then_some(seen.sighting)
    }

    fn seen(&self) -> MutexGuard<'_, Option<Seen>> {
        self.inner.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory {
    /// Takes note of what a glance showed.
    fn take_in(&mut self, glance: &Glance, now: Timestamp) -> Sighting {
        self.named = glance.named();
        if glance.metadata.is_ok() {
            self.metadata_at = Some(now);
        }
        let statuses = glance.coordinator.iter().chain(&glance.tablet_servers);
        let mut servers: Vec<SeenServer> = statuses.map(|status| seen(status.clone(), now)).collect();
        for server in &mut servers {
            let key = (server.role, server.id);
            match server.answered_at {
                Some(answered_at) => {
                    self.answered_at.insert(key, answered_at);
                }
                None => server.answered_at = self.answered_at.get(&key).copied(),
            }
        }
        // Servers that have left the cluster are forgotten.
        self.answered_at.retain(|key, _| servers.iter().any(|server| (server.role, server.id) == *key));
        let failure = glance.metadata.as_ref().err().map(Failure::from);
        Sighting { servers, metadata_at: self.metadata_at, asked_at: now, failure }
    }
}

/// What makes a change worth announcing.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    is_told: bool,
    servers: Vec<(ServerRole, i32, String, bool)>,
}

fn state_of(sighting: &Sighting) -> State {
    let server =
        |server: &SeenServer| (server.role, server.id, server.advertised.clone(), server.answer.is_ok());
    State { is_told: sighting.failure.is_none(), servers: sighting.servers.iter().map(server).collect() }
}

/// Returns whether the change was announced.
async fn announce(db: &Db, cluster: &ClusterSlug) -> bool {
    let key = format!("{}/state", pegel_store::clusters::resource_key(cluster));
    let announced = db.write(move |tx| {
        let key = key.clone();
        Box::pin(async move {
            tx.announce(key);
            Ok(())
        })
    });
    let outcome = announced.await;
    if let Err(error) = &outcome {
        tracing::warn!(cluster.slug = %cluster, %error, "a change of a cluster's servers cannot be announced");
    }
    outcome.is_ok()
}

/// Asks the coordinator who there is, and each server whether it answers, as thoroughly as the client can.
///
/// # Errors
/// `coordinator_unavailable` and what keeps the cluster from being found.
pub(super) async fn look(client: &FlussClient, now: impl Fn() -> Timestamp) -> Result<Sighting, Failure> {
    let found = client.servers().await?;
    let asked_at = now();
    let servers = found.into_iter().map(|status| seen(status, asked_at)).collect();
    Ok(Sighting { servers, metadata_at: Some(asked_at), asked_at, failure: None })
}

/// Takes note of what one server was seen to do.
pub(super) fn seen(status: ServerStatus, asked_at: Timestamp) -> SeenServer {
    let answer = status.answer.map_err(Failure::from);
    SeenServer {
        role: match status.role {
            ClientRole::Coordinator => ServerRole::Coordinator,
            ClientRole::TabletServer => ServerRole::TabletServer,
        },
        id: status.node.id,
        advertised: status.node.advertised,
        rack: status.node.rack,
        asked_at,
        answered_at: answer.is_ok().then_some(asked_at),
        answer,
    }
}
