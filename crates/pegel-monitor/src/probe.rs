//! Looks at targets once: a fresh connection, one deadline over everything, and never a hidden second attempt.
//!
//! What was seen becomes an outcome and evidence that can be kept. A fault of our own says nothing of the target.

mod evidence;
mod fluss;
mod http;
mod tcp;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use fluss_client::client::FlussClient;
use pegel_core::ids::ClusterSlug;
use pegel_core::monitor::verdict::Outcome;
use pegel_http::Outbound;
use pegel_store::monitors::Monitor;
use pegel_store::secret_box::SecretBox;
use pegel_store::{Db, secrets};
use secrecy::ExposeSecret as _;
use serde_json::{Value as Json, json};

use crate::clock;
use crate::error::Error;
use crate::target::Target;
use crate::time::BoxFuture;

/// How much longer than its own deadline a probe is waited for, until it is given up as a fault of ours.
const MARGIN: Duration = Duration::from_secs(2);

/// How often a probe looks whether this process goes on.
const PULSE: Duration = Duration::from_millis(50);

/// A probe whose deadline passed says nothing if this part of it, one in so many, was lost by ourselves at a stretch.
const LAG_SHARE: u32 = 4;

/// What a probe saw.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// What it says.
    pub outcome: Outcome,
    /// How long it took.
    pub duration_us: Option<u64>,
    /// What was seen, in one line.
    pub summary: String,
    /// What was seen.
    pub evidence: Json,
    /// Whether it failed in a way in which everything fails when our own network is gone.
    pub is_network: bool,
    /// Whether a deadline passed, which may be our own fault when we are too busy.
    pub is_timeout: bool,
}

impl Observation {
    /// Returns what a fault of our own says: nothing.
    pub(crate) fn own_fault(summary: impl Into<String>) -> Self {
        let summary = summary.into();
        Self {
            outcome: Outcome::Unknown,
            duration_us: None,
            evidence: json!({ "code": "internal", "summary": summary }),
            summary,
            is_network: false,
            is_timeout: false,
        }
    }
}

/// Gives the client of a registered cluster.
pub trait FlussClusters: Send + Sync {
    /// Returns the client of a cluster, or `None` if there is no such cluster.
    fn client<'a>(&'a self, cluster: &'a ClusterSlug) -> BoxFuture<'a, Option<FlussClient>>;
}

/// Knows no cluster.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoClusters;

impl FlussClusters for NoClusters {
    fn client<'a>(&'a self, _: &'a ClusterSlug) -> BoxFuture<'a, Option<FlussClient>> {
        Box::pin(std::future::ready(None))
    }
}

/// Everything probes need. Cheap to clone.
#[derive(Clone)]
pub struct Probes {
    outbound: Outbound,
    db: Db,
    secrets: Arc<SecretBox>,
    clusters: Arc<dyn FlussClusters>,
}

impl std::fmt::Debug for Probes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Probes")
    }
}

impl Probes {
    /// Puts together what probes need.
    pub fn new(
        outbound: Outbound,
        db: Db,
        secrets: Arc<SecretBox>,
        clusters: Arc<dyn FlussClusters>,
    ) -> Self {
        Self { outbound, db, secrets, clusters }
    }

    /// Looks at a target once. Always ends soon after the target's deadline; dropping the future ends it at
    /// once and closes its connections.
    pub async fn observe(&self, monitor: &Monitor, target: &Target) -> Observation {
        let limit = deadline(target) + MARGIN;
        let looking = tokio::time::timeout(limit, Box::pin(self.look(monitor, target)));
        let (looked, lag) = with_lag(looking).await;
        match looked {
            // A target that answers in time looks late to someone who is not there to see it.
            Ok(Ok(seen)) if seen.is_timeout && lag * LAG_SHARE >= deadline(target) => {
                Observation::own_fault(format!("this machine was too busy for {} ms", lag.as_millis()))
            }
            Ok(Ok(observation)) => observation,
            Ok(Err(error)) => Observation::own_fault(error.to_string()),
            Err(_) => Observation::own_fault("the probe did not keep its own deadline"),
        }
    }

    async fn look(&self, monitor: &Monitor, target: &Target) -> Result<Observation, Error> {
        match target {
            Target::Http(target) => {
                let secrets = self.secrets_of(monitor, target.secret_fields()).await?;
                http::observe(&self.outbound, target, &secrets).await
            }
            Target::Tcp(target) => tcp::observe(&self.outbound, target).await,
            Target::Fluss(target) => fluss::observe_server(self.client(monitor).await?, target).await,
            Target::Coordinator(target) => {
                fluss::observe_coordinator(self.client(monitor).await?, target).await
            }
            Target::Heartbeat | Target::Elsewhere => {
                Err(Error::invalid("kind", "monitors of this kind are not probed"))
            }
        }
    }

    async fn client(&self, monitor: &Monitor) -> Result<FlussClient, Error> {
        let missing = || Error::invalid("cluster", "there is no such registered cluster");
        let cluster = monitor.cluster.as_ref().ok_or_else(missing)?;
        self.clusters.client(cluster).await.ok_or_else(missing)
    }

    /// Returns the values of a monitor's secrets, read at the time of use.
    async fn secrets_of(
        &self,
        monitor: &Monitor,
        fields: Vec<String>,
    ) -> Result<Vec<(String, String)>, Error> {
        if fields.is_empty() {
            return Ok(Vec::new());
        }
        let owner = pegel_store::monitors::resource_key(monitor.id);
        let key = Arc::clone(&self.secrets);
        let read = self.db.read(move |tx| {
            let (owner, fields, key) = (owner.clone(), fields.clone(), Arc::clone(&key));
            Box::pin(async move {
                let mut values = Vec::new();
                for field in fields {
                    let value = secrets::get(tx, &key, &owner, &field).await?;
                    values.push((field, value));
                }
                Ok(values)
            })
        });
        let mut known = Vec::new();
        for (field, value) in read.await? {
            let value = value.ok_or_else(|| Error::invalid(&field, "this secret is not kept"))?;
            known.push((field, value.expose_secret().to_owned()));
        }
        Ok(known)
    }
}

/// Waits for a future, and returns for how long at most nothing of this process went on meanwhile.
async fn with_lag<F: Future>(future: F) -> (F::Output, Duration) {
    let mut future = pin!(future);
    let mut longest = Duration::ZERO;
    loop {
        let asleep_at = clock::now();
        let overslept = || clock::now().saturating_duration_since(asleep_at).saturating_sub(PULSE);
        tokio::select! {
            output = &mut future => return (output, longest.max(overslept())),
            () = tokio::time::sleep(PULSE) => longest = longest.max(overslept()),
        }
    }
}

fn deadline(target: &Target) -> Duration {
    let ms = match target {
        Target::Http(target) => target.timeout_ms,
        Target::Tcp(target) => target.timeout_ms,
        Target::Fluss(target) | Target::Coordinator(target) => {
            target.timeout_ms.unwrap_or(crate::target::DEFAULT_TIMEOUT_MS)
        }
        Target::Heartbeat | Target::Elsewhere => 0,
    };
    Duration::from_millis(ms)
}
