//! Registered clusters: how they are reached, who has them changed, whether they can be reached.
//!
//! Each action is a file. Connections are tested before they are saved, and secrets go in and never come out.

mod connection;
mod egress;
mod kept;
mod list;
mod register;
mod remove;
mod save;
mod state;
pub(crate) mod stored;
mod test;
mod update;
mod view;

use std::sync::Arc;
use std::time::Duration;

use pegel_api_types::clusters::ClusterView;
use pegel_core::ids::ClusterSlug;
use pegel_monitor::judge::Judge;
use pegel_store::Db;
use pegel_store::secret_box::SecretBox;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::caller::Caller;
use crate::catalog::{inventory, liveness};
use crate::clusters::stored::{Described, Stored};
use crate::clusters::test::Tests;
use crate::error::Error;
use crate::live::LiveCluster;
use crate::live::registry::{self, Registry};
use crate::policy::{Authorized, OwnedTarget};

/// What can be set about registered clusters.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// How long a connection test may take, its waiting in line included.
    pub test_deadline: Duration,
    /// How inventories are read.
    pub inventory: inventory::Settings,
    /// How servers are watched.
    pub liveness: liveness::Settings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            test_deadline: Duration::from_secs(60),
            inventory: inventory::Settings::default(),
            liveness: liveness::Settings::default(),
        }
    }
}

/// The service of registered clusters. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Clusters {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    db: Db,
    secrets: Arc<SecretBox>,
    registry: Arc<Registry>,
    judge: Judge,
    tests: Tests,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Clusters {
    /// Loads the clusters and follows their changes until [`Clusters::shutdown`].
    ///
    /// # Errors
    /// As the store.
    pub(crate) async fn start(
        db: Db,
        secrets: Arc<SecretBox>,
        judge: Judge,
        settings: Settings,
    ) -> Result<Self, Error> {
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let watching = registry::Settings { inventory: settings.inventory, liveness: settings.liveness };
        let (kept, following) = (Arc::clone(&secrets), tasks.clone());
        let registry = Registry::start(db.clone(), kept, watching, following, stop.clone()).await?;
        let tests = Tests::new(settings.test_deadline);
        Ok(Self { inner: Arc::new(Inner { db, secrets, registry, judge, tests, tasks, stop }) })
    }

    /// Returns a cluster to ask, whoever asks: the caller has been authorised before.
    ///
    /// # Errors
    /// `not_found`; `cluster_unusable` when its stored settings cannot be used; `store_closed` after the end.
    pub(crate) fn live(&self, slug: &ClusterSlug) -> Result<Arc<LiveCluster>, Error> {
        self.inner.registry.live(slug)
    }

    /// Returns the live clusters, for what else looks at them.
    pub(crate) fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.inner.registry)
    }

    /// Returns every registered cluster, and whether its stored settings can be used. For Pegel's own metrics,
    /// which have a guard of their own; people get [`Clusters::list`].
    pub fn usable(&self) -> Vec<(ClusterSlug, bool)> {
        self.inner.registry.usable()
    }

    /// Ends all tasks, tests under way among them, and lets go of all clients.
    pub(crate) async fn shutdown(&self) {
        self.inner.stop.cancel();
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
        self.inner.registry.clear();
    }

    /// Shows a cluster to a caller.
    fn view(&self, described: &Described, caller: &Caller) -> ClusterView {
        view::cluster_view(described, &self.inner.registry, caller, self.inner.db.clock().now())
    }

    /// Reads a cluster with its secrets.
    async fn stored(&self, slug: &ClusterSlug) -> Result<Stored, Error> {
        let (secrets, wanted) = (Arc::clone(&self.inner.secrets), slug.clone());
        let read = self.inner.db.read(move |tx| {
            let (secrets, wanted) = (Arc::clone(&secrets), wanted.clone());
            Box::pin(async move { stored::get(tx, &secrets, &wanted).await })
        });
        Ok(read.await?)
    }
}

/// Returns the cluster that a handle is for as a whole.
fn whole_cluster<P>(may: &Authorized<P>) -> Result<&ClusterSlug, Error> {
    match may.target() {
        OwnedTarget::WholeCluster(slug) => Ok(slug),
        other => Err(Error::NotFound { what: other.to_string() }),
    }
}
