//! The registry of live clusters: loaded at the start, then in step with the change feed.
//!
//! Changes of this instance and of others come the same way. One refresh runs at a time, so that an older
//! reading of the store never overwrites a newer one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use fluss_client::client::FlussClient;
use pegel_core::ids::ClusterSlug;
use pegel_store::change::{self, Changes};
use pegel_store::secret_box::SecretBox;
use pegel_store::{Db, clusters};
use tokio::sync::{Mutex, Semaphore, watch};
use tokio::time;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::catalog::inventory::{self, Inventory};
use crate::catalog::liveness::{self, Liveness, Sighting};
use crate::clusters::stored::{self, Stored};
use crate::error::Error;
use crate::failure::Failure;
use crate::live::LiveCluster;
use crate::live::budgets::Budgets;

/// Most clusters that are looked at for the first time, or have their inventories read, at once.
const PARALLEL_OPENINGS: usize = 8;

/// Clusters read from the store at once.
const PAGE: u32 = 100;

/// How long to wait after the store failed.
const RETRY: Duration = Duration::from_secs(1);

/// How often the feed is read although nothing was announced: a lost announcement must not be lost for ever.
const POLL: Duration = Duration::from_secs(30);

/// All live clusters.
pub(crate) struct Registry {
    db: Db,
    secrets: Arc<SecretBox>,
    entries: RwLock<BTreeMap<ClusterSlug, Entry>>,
    refreshing: Mutex<()>,
    /// Places of those that look for the first time or read an inventory.
    opening: Arc<Semaphore>,
    budgets: Budgets,
    settings: Settings,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// How clusters are watched.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Settings {
    /// Their inventories.
    pub(crate) inventory: inventory::Settings,
    /// Their servers.
    pub(crate) liveness: liveness::Settings,
}

/// One registered cluster.
struct Entry {
    stored: Stored,
    opened: Result<Opened, Failure>,
}

/// A cluster with a client. The guard ends what runs for the client.
struct Opened {
    live: Arc<LiveCluster>,
    running: Arc<DropGuard>,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}

impl Registry {
    /// Loads all clusters and begins to follow the change feed.
    ///
    /// # Errors
    /// As the store. A cluster that cannot be used is no error.
    pub(crate) async fn start(
        db: Db,
        secrets: Arc<SecretBox>,
        settings: Settings,
        tasks: TaskTracker,
        stop: CancellationToken,
    ) -> Result<Arc<Self>, Error> {
        let mut head = db.watch();
        let seen = *head.borrow_and_update();
        let registry = Arc::new(Self {
            db,
            secrets,
            entries: RwLock::default(),
            refreshing: Mutex::new(()),
            opening: Arc::new(Semaphore::new(PARALLEL_OPENINGS)),
            budgets: Budgets::default(),
            settings,
            tasks,
            stop,
        });
        registry.load_all().await?;
        let following = Arc::clone(&registry);
        registry.tasks.spawn(async move { following.follow(head, seen).await });
        Ok(registry)
    }

    /// Returns a cluster to ask.
    ///
    /// # Errors
    /// `not_found`; `cluster_unusable` when its stored settings cannot be used; `store_closed` after the end.
    pub(crate) fn live(&self, slug: &ClusterSlug) -> Result<Arc<LiveCluster>, Error> {
        if self.stop.is_cancelled() {
            return Err(pegel_store::Error::Closed.into());
        }
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.get(slug).ok_or_else(|| Error::not_found("cluster", slug))?;
        match &entry.opened {
            Ok(opened) => Ok(Arc::clone(&opened.live)),
            Err(failure) => {
                Err(Error::ClusterUnusable { slug: slug.clone(), failure: Box::new(failure.clone()) })
            }
        }
    }

    /// Returns a handle on a client that keeps to its cluster's request budget together with all others.
    pub(crate) fn pace(&self, client: &FlussClient) -> FlussClient {
        self.budgets.pace(client)
    }

    /// Returns why a cluster cannot be used; `None` if it can, or is not known.
    pub(crate) fn failure(&self, slug: &ClusterSlug) -> Option<Failure> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        entries.get(slug).and_then(|entry| entry.opened.as_ref().err().cloned())
    }

    /// Returns every known cluster, and whether it can be asked at all.
    pub(crate) fn usable(&self) -> Vec<(ClusterSlug, bool)> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        entries.iter().map(|(slug, entry)| (slug.clone(), entry.opened.is_ok())).collect()
    }

    /// Returns what was last seen of a cluster's servers; `None` before the first look.
    pub(crate) fn sighting(&self, slug: &ClusterSlug) -> Option<Arc<Sighting>> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        entries.get(slug)?.opened.as_ref().ok()?.live.liveness.last_seen()
    }

    /// Reads one cluster anew, so that whoever has just changed it finds it changed.
    ///
    /// Where that fails the change is saved all the same, and the feed brings it.
    pub(crate) async fn refresh_after_change(&self, slug: &ClusterSlug) {
        if let Err(error) = self.refresh(slug).await {
            tracing::warn!(cluster.slug = %slug, error = error.internal(), "a changed cluster cannot be read yet");
        }
    }

    async fn refresh(&self, slug: &ClusterSlug) -> Result<(), Error> {
        let _turn = self.refreshing.lock().await;
        let (secrets, wanted) = (Arc::clone(&self.secrets), slug.clone());
        let read = self.db.read(move |tx| {
            let (secrets, wanted) = (Arc::clone(&secrets), wanted.clone());
            Box::pin(async move { stored::get(tx, &secrets, &wanted).await })
        });
        match read.await {
            Ok(stored) => self.apply(stored),
            Err(pegel_store::Error::NotFound { .. }) => self.drop_cluster(slug),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Lets go of all clusters; their connections end with the last request under way.
    pub(crate) fn clear(&self) {
        self.entries.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    async fn load_all(&self) -> Result<(), Error> {
        let _turn = self.refreshing.lock().await;
        let mut present = BTreeSet::new();
        let mut last: Option<ClusterSlug> = None;
        loop {
            let (secrets, after) = (Arc::clone(&self.secrets), last.clone());
            let page = self.db.read(move |tx| {
                let (secrets, after) = (Arc::clone(&secrets), after.clone());
                Box::pin(async move { stored::list(tx, &secrets, after.as_ref(), PAGE).await })
            });
            let page = page.await?;
            let is_last = u32::try_from(page.len()).unwrap_or(PAGE) < PAGE;
            for stored in page {
                last = Some(stored.cluster().slug.clone());
                present.insert(stored.cluster().slug.clone());
                self.apply(stored);
            }
            if is_last {
                break;
            }
        }
        self.entries.write().unwrap_or_else(PoisonError::into_inner).retain(|slug, _| present.contains(slug));
        Ok(())
    }

    /// Follows the feed until the end, or until the store is closed. A read under way is waited for.
    async fn follow(&self, mut head: watch::Receiver<i64>, mut seen: i64) {
        while !self.stop.is_cancelled() {
            let pause = match self.catch_up(&mut seen).await {
                Ok(()) => POLL,
                Err(Error::Store(pegel_store::Error::Closed)) => return,
                Err(error) => {
                    tracing::warn!(error = error.internal(), "changes of clusters cannot be read");
                    RETRY
                }
            };
            tokio::select! {
                () = self.stop.cancelled() => return,
                // A change that cannot be read yet is not read at once again.
                _ = head.changed(), if pause == POLL => {}
                () = time::sleep(pause) => {}
            }
        }
    }

    async fn catch_up(&self, seen: &mut i64) -> Result<(), Error> {
        loop {
            match self.db.changes_after(*seen, change::MAX_PAGE).await? {
                Changes::Resync { head } => {
                    self.load_all().await?;
                    *seen = head;
                }
                Changes::Page(page) => {
                    let Some(newest) = page.last().map(|change| change.seq) else { return Ok(()) };
                    let changed: BTreeSet<ClusterSlug> =
                        page.iter().filter_map(|change| clusters::slug_of(&change.resource_key)).collect();
                    for slug in changed {
                        match self.refresh(&slug).await {
                            // One that will never be readable must not hide the changes of the others.
                            Err(error) if is_about_the_row(&error) => {
                                tracing::warn!(cluster.slug = %slug, error = error.internal(), "a cluster cannot be read");
                            }
                            outcome => outcome?,
                        }
                    }
                    *seen = newest;
                }
            }
        }
    }

    fn drop_cluster(&self, slug: &ClusterSlug) {
        let dropped = self.entries.write().unwrap_or_else(PoisonError::into_inner).remove(slug);
        if dropped.is_some() {
            tracing::info!(cluster.slug = %slug, "a cluster was removed");
        }
    }

    fn apply(&self, stored: Stored) {
        let slug = stored.cluster().slug.clone();
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let before = entries.get(&slug);
        let is_same = |before: &&Entry| before.stored.has_same_connection(&stored);
        let opened = match before.filter(is_same).map(|before| &before.opened) {
            // The cluster may be called something else now, but its client and connections serve on.
            Some(Ok(opened)) => Ok(Opened {
                live: Arc::new(live_of(&stored, Watched::of(&opened.live))),
                running: Arc::clone(&opened.running),
            }),
            Some(Err(failure)) => Err(failure.clone()),
            None => self.open(&stored),
        };
        if let Err(failure) = &opened {
            tracing::warn!(cluster.slug = %slug, failure = failure.one_line(), "a cluster cannot be used");
        }
        entries.insert(slug, Entry { stored, opened });
    }

    fn open(&self, stored: &Stored) -> Result<Opened, Failure> {
        let client = self.pace(&stored.client()?);
        let stop = self.stop.child_token();
        let running = Arc::new(stop.clone().drop_guard());
        let clock = Arc::clone(self.db.clock());
        let inventory = Inventory::new(client.clone(), Arc::clone(&clock), self.settings.inventory);
        let liveness = Liveness::new(client.clone(), clock, self.settings.liveness, inventory.clone());
        self.tasks.spawn(inventory.clone().run(stop.clone(), Arc::clone(&self.opening)));
        let (db, slug) = (self.db.clone(), stored.cluster().slug.clone());
        self.tasks.spawn(liveness.clone().run(db, slug, stop, Arc::clone(&self.opening)));
        let watched = Watched { client, inventory, liveness };
        Ok(Opened { live: Arc::new(live_of(stored, watched)), running })
    }
}

fn is_about_the_row(error: &Error) -> bool {
    matches!(error, Error::Store(pegel_store::Error::CorruptRow { .. }))
}

/// What goes on for a cluster whatever it is called.
struct Watched {
    client: FlussClient,
    inventory: Inventory,
    liveness: Liveness,
}

impl Watched {
    fn of(live: &LiveCluster) -> Self {
        Self {
            client: live.client.clone(),
            inventory: live.inventory.clone(),
            liveness: live.liveness.clone(),
        }
    }
}

fn live_of(stored: &Stored, watched: Watched) -> LiveCluster {
    let cluster = stored.cluster();
    let settings = &cluster.settings;
    LiveCluster {
        slug: cluster.slug.clone(),
        name: settings.name.clone(),
        environment: settings.environment,
        read_only: settings.read_only,
        version: cluster.version,
        client: watched.client,
        inventory: watched.inventory,
        liveness: watched.liveness,
    }
}
