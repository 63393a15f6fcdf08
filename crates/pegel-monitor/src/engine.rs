//! One schedule for all monitors an instance holds.
//!
//! It claims monitors by lease, probes those that are due in bounded number, brings what was seen to
//! [`crate::judge`], and looks again at those that have something to judge because time went by. Two probes of
//! one monitor never run at the same time, and a probe that is lost in any way does not end its monitor.

mod schedule;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::stream::{self, StreamExt as _};
use jiff::Timestamp;
use pegel_core::monitor::span::later;
use pegel_core::monitor::verdict::Outcome;
use pegel_store::change::Changes;
use pegel_store::error::Error as StoreError;
use pegel_store::{Db, monitors};
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::engine::schedule::{Run, Schedule};
use crate::error::Error;
use crate::judge::{Applied, Change, Judge, Sample};
use crate::pings::Pings;
use crate::probe::{Observation, Probes};
use crate::target::Target;
use crate::time::Time;
use crate::watch::Watch;

/// How the engine works.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The instance's name; no two may have the same, and one should keep it over restarts, so that its
    /// monitors need not wait for its leases.
    pub owner: String,
    /// The most probes at the same time.
    pub max_running: usize,
    /// The most monitors it holds, up to 20,000.
    pub max_held: u32,
    /// How long a lease lasts if it is not renewed; renewed three times as often.
    pub lease_ms: u64,
}

impl Settings {
    /// Returns the defaults: 256 probes, 10,000 monitors, leases of 30 seconds.
    pub fn new(owner: impl Into<String>) -> Self {
        Self { owner: owner.into(), max_running: 256, max_held: 10_000, lease_ms: 30_000 }
    }
}

/// How many times a change is brought to the store before it is given up.
const MAX_TRIES: u32 = 4;

/// How many monitors are looked at, or read, at the same time.
const PARALLEL: usize = 32;

/// What the engine counted since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    /// Monitors it holds.
    pub held_count: usize,
    /// Probes that were begun.
    pub probe_count: u64,
    /// Slots that were skipped, because the probe before still ran or nobody was there.
    pub skipped_count: u64,
    /// The latest a probe was begun after its slot.
    pub late_ms_max: u64,
    /// Results that were not counted, because they were older than an edit or the monitor somebody else's.
    pub discarded_count: u64,
    /// Changes that could not be kept in the store.
    pub lost_count: u64,
}

/// The engine. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("settings", &self.inner.settings).finish_non_exhaustive()
    }
}

/// What the engine is made of.
pub struct Parts {
    /// The store.
    pub db: Db,
    /// The judge.
    pub judge: Judge,
    /// Time; its wall clock is the store's.
    pub time: Arc<dyn Time>,
    /// What probes.
    pub probes: Probes,
    /// What looks after Pegel itself.
    pub watch: Watch,
    /// What takes pings, whose spill is replayed before anything is judged.
    pub pings: Pings,
    /// Rung when notices were queued.
    pub delivery_bell: Arc<Notify>,
}

struct Inner {
    parts: Parts,
    settings: Settings,
    running: Arc<Semaphore>,
    state: Mutex<State>,
    tracker: TaskTracker,
    bell: Arc<Notify>,
    probe_count: AtomicU64,
    skipped_count: AtomicU64,
    late_ms_max: AtomicU64,
    discarded_count: AtomicU64,
    lost_count: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    schedule: Schedule,
    /// Up to where the change feed was read; `None` before the first time.
    seq: Option<i64>,
    renew_at: Option<Timestamp>,
}

impl Engine {
    /// Makes an engine; nothing happens until [`Engine::run`] or [`Engine::tick`].
    pub fn new(parts: Parts, settings: Settings) -> Self {
        let running = Arc::new(Semaphore::new(settings.max_running.max(1)));
        let bell = parts.pings.bell();
        Self {
            inner: Arc::new(Inner {
                parts,
                settings,
                running,
                state: Mutex::default(),
                tracker: TaskTracker::new(),
                bell,
                probe_count: AtomicU64::new(0),
                skipped_count: AtomicU64::new(0),
                late_ms_max: AtomicU64::new(0),
                discarded_count: AtomicU64::new(0),
                lost_count: AtomicU64::new(0),
            }),
        }
    }

    /// Returns what it counted.
    pub fn figures(&self) -> Figures {
        let inner = &self.inner;
        Figures {
            held_count: inner.state().schedule.len(),
            probe_count: inner.probe_count.load(Ordering::Relaxed),
            skipped_count: inner.skipped_count.load(Ordering::Relaxed),
            late_ms_max: inner.late_ms_max.load(Ordering::Relaxed),
            discarded_count: inner.discarded_count.load(Ordering::Relaxed),
            lost_count: inner.lost_count.load(Ordering::Relaxed),
        }
    }

    /// Works until it is stopped; then waits for the probes that run and gives its monitors back.
    pub async fn run(&self, stop: CancellationToken) {
        let inner = &self.inner;
        let mut changes = inner.parts.db.watch();
        loop {
            let next = match self.tick().await {
                Ok(next) => next,
                Err(error) => {
                    tracing::warn!(error = %error, "the engine could not read the store");
                    later(inner.parts.time.now(), 1_000)
                }
            };
            tokio::select! {
                () = stop.cancelled() => break,
                () = inner.parts.time.sleep_until(next) => {}
                () = inner.bell.notified() => {}
                _ = changes.changed() => {}
            }
        }
        self.settle().await;
        let owner = inner.settings.owner.clone();
        let released = inner.parts.db.write(move |tx| {
            let owner = owner.clone();
            Box::pin(async move { monitors::release(tx, &owner).await })
        });
        if let Err(error) = released.await {
            tracing::warn!(error = %error, "the engine could not give its monitors back");
        }
    }

    /// Does what is due now, without waiting for the probes it begins; returns when something is due next.
    ///
    /// # Errors
    /// As the store; whatever was due is still due then.
    pub async fn tick(&self) -> Result<Timestamp, Error> {
        let inner = &self.inner;
        let marked = inner.parts.watch.mark().await?;
        if let Some(by_ms) = marked.step_ms {
            inner.step_clock(by_ms).await;
        }
        inner.parts.pings.replay().await?;
        inner.follow().await?;
        inner.look().await?;
        let now = inner.parts.time.now();
        let runs = inner.state().schedule.take_due(now);
        for run in runs {
            self.begin(run);
        }
        self.tell_dead_man();
        let owner = inner.settings.owner.clone();
        let wake_at = inner.parts.db.read(move |tx| {
            let owner = owner.clone();
            Box::pin(async move { monitors::next_wake(tx, &owner).await })
        });
        let wake_at = wake_at.await?.map(|at| at.max(later(now, inner.wake_pause_ms())));
        let (next_at, renew_at) = {
            let state = inner.state();
            (state.schedule.next_at(), state.renew_at)
        };
        let next = [wake_at, next_at, renew_at, Some(inner.parts.watch.next_mark_at())];
        Ok(next.into_iter().flatten().min().unwrap_or(now))
    }

    /// Waits for the probes that run.
    pub async fn settle(&self) {
        self.inner.tracker.close();
        self.inner.tracker.wait().await;
        self.inner.tracker.reopen();
    }

    /// Probes a monitor now, whatever its schedule says, and keeps nothing.
    pub async fn try_out(&self, monitor: &monitors::Monitor) -> Result<Observation, Error> {
        let target = Target::read(monitor.kind, &monitor.settings.target)?;
        Ok(self.inner.parts.probes.observe(monitor, &target).await)
    }

    /// Tells who watches Pegel, beside everything else.
    fn tell_dead_man(&self) {
        let inner = &self.inner;
        if inner.parts.watch.is_dead_man_due() {
            let (watch, late_ms_max) = (inner.parts.watch.clone(), self.figures().late_ms_max);
            inner.tracker.spawn(async move { watch.tell_dead_man(late_ms_max).await });
        }
    }

    fn begin(&self, run: Run) {
        let inner = Arc::clone(&self.inner);
        inner.probe_count.fetch_add(1, Ordering::Relaxed);
        inner.skipped_count.fetch_add(run.skipped_count, Ordering::Relaxed);
        let guard = Running { inner: Arc::clone(&inner), id: run.monitor.id };
        self.inner.tracker.spawn(async move {
            let _guard = guard;
            Box::pin(inner.probe(run)).await;
        });
    }
}

/// A probe that runs; whatever becomes of it, its monitor is not forgotten.
struct Running {
    inner: Arc<Inner>,
    id: Uuid,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.inner.state().schedule.finished(self.id);
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long what is due but cannot be judged now is left alone.
    fn wake_pause_ms(&self) -> u64 {
        if self.parts.watch.is_egress_lost() { 1_000 } else { 0 }
    }

    async fn probe(&self, run: Run) {
        let Ok(_permit) = self.running.acquire().await else { return };
        let at = self.parts.time.now();
        self.late_ms_max.fetch_max(run.late_ms, Ordering::Relaxed);
        let observation = self.parts.probes.observe(&run.monitor, &run.target).await;
        if observation.outcome == Outcome::Bad
            && observation.is_network
            && self.parts.watch.check_egress().await
        {
            // Nothing is reached any more, so that this target was not says nothing.
            return;
        }
        let sample = Sample {
            owner: Some(self.settings.owner.clone()),
            version: run.monitor.version,
            at,
            outcome: observation.outcome,
            duration_us: observation.duration_us,
            summary: observation.summary,
            evidence: observation.evidence,
        };
        self.bring(run.monitor.id, Change::Sample(sample)).await;
    }

    /// Brings a change to the store; a fault of the store is ours and never the target's.
    async fn bring(&self, id: Uuid, change: Change) {
        match apply(&self.parts.db, &self.parts.judge, id, change, "").await {
            Ok(applied) => {
                if applied.is_discarded {
                    self.discarded_count.fetch_add(1, Ordering::Relaxed);
                }
                if applied.queued_count > 0 {
                    self.parts.delivery_bell.notify_one();
                }
                self.parts.watch.note_store(None);
            }
            Err(StoreError::NotFound { .. }) => self.state().schedule.remove(id),
            Err(error) => {
                self.lost_count.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(monitor.id = %id, error = %error, "a change of monitor {id} was not kept");
                self.parts.watch.note_store(Some(&error));
            }
        }
    }

    /// Tells every monitor that the wall clock was set.
    async fn step_clock(&self, by_ms: i64) {
        tracing::warn!(by_ms, "the wall clock was set");
        let ids = {
            let mut state = self.state();
            state.schedule.reset(self.parts.time.now());
            // Leases were given in the old time.
            state.renew_at = None;
            state.schedule.ids()
        };
        let all = ids.into_iter().map(|id| self.bring(id, Change::ClockStep { by_ms }));
        stream::iter(all).for_each_concurrent(PARALLEL, |bringing| bringing).await;
    }

    /// Looks again at those that have something to judge because time went by.
    async fn look(&self) -> Result<(), Error> {
        let owner = self.settings.owner.clone();
        let due = self.parts.db.read(move |tx| {
            let owner = owner.clone();
            Box::pin(async move { monitors::due(tx, &owner, monitors::MAX_HELD).await })
        });
        let is_egress_lost = self.parts.watch.is_egress_lost();
        let due: Vec<Uuid> = {
            let due = due.await?;
            let state = self.state();
            // That a target was not heard of while nothing is reached is no news.
            due.into_iter().filter(|id| !is_egress_lost || !state.schedule.is_probed(*id)).collect()
        };
        let all = due.into_iter().map(|id| self.bring(id, Change::Tick));
        stream::iter(all).for_each_concurrent(PARALLEL, |bringing| bringing).await;
        Ok(())
    }

    /// Renews leases, and takes note of what was changed.
    async fn follow(&self) -> Result<(), Error> {
        let now = self.parts.time.now();
        let (renew_at, seq) = {
            let state = self.state();
            (state.renew_at, state.seq)
        };
        // Before the reading, so that what is changed meanwhile is read again.
        let head = *self.parts.db.watch().borrow();
        if renew_at.is_none_or(|at| at <= now) {
            self.renew(now).await?;
        }
        let Some(seq) = seq else {
            self.state().seq = Some(head);
            return Ok(());
        };
        let mut seq = seq;
        while seq < head {
            match self.parts.db.changes_after(seq, 1_000).await? {
                Changes::Resync { head } => {
                    seq = head;
                    let ids = self.state().schedule.ids();
                    self.load(ids).await?;
                }
                Changes::Page(page) => {
                    let Some(last) = page.last() else { break };
                    seq = last.seq;
                    self.note(&page).await?;
                }
            }
            self.state().seq = Some(seq);
        }
        Ok(())
    }

    async fn note(&self, page: &[pegel_store::change::Change]) -> Result<(), Error> {
        let ids = page.iter().filter_map(|change| {
            change.resource_key.strip_prefix("monitor/").and_then(|id| id.parse::<Uuid>().ok())
        });
        let mut ids: Vec<Uuid> = ids.collect();
        ids.sort_unstable();
        ids.dedup();
        let is_other = |id: &Uuid| self.state().schedule.get(*id).is_none();
        if ids.iter().any(is_other) {
            // One was made: claim it now, not with the next renewal.
            self.renew(self.parts.time.now()).await?;
        }
        let held = self.state().schedule.ids();
        let known = |id: &Uuid| held.contains(id);
        self.load(ids.into_iter().filter(known).collect()).await?;
        if page.iter().any(|change| change.resource_key.starts_with("quiet-time/")) {
            self.look_at_open_incidents().await?;
        }
        Ok(())
    }

    /// Looks at what fires after a silence or maintenance was changed: what was withheld may be told now.
    async fn look_at_open_incidents(&self) -> Result<(), Error> {
        let open = self.parts.db.read(|tx| Box::pin(pegel_store::incidents::list(tx, None, true, 1_000)));
        let ids = open.await?.into_iter().map(|incident| incident.monitor_id);
        let held: Vec<Uuid> = {
            let state = self.state();
            ids.filter(|id| state.schedule.get(*id).is_some()).collect()
        };
        let all = held.into_iter().map(|id| self.bring(id, Change::Tick));
        stream::iter(all).for_each_concurrent(PARALLEL, |bringing| bringing).await;
        Ok(())
    }

    async fn renew(&self, now: Timestamp) -> Result<(), Error> {
        let (owner, until) = (self.settings.owner.clone(), later(now, self.settings.lease_ms));
        let max_held = self.settings.max_held;
        let held = self.parts.db.write(move |tx| {
            let owner = owner.clone();
            Box::pin(async move { monitors::claim(tx, &owner, until, max_held).await })
        });
        let held = held.await?;
        let new: Vec<Uuid> = {
            let mut state = self.state();
            state.renew_at = Some(later(now, self.settings.lease_ms / 3));
            state.schedule.keep_only(&held);
            held.into_iter().filter(|id| state.schedule.get(*id).is_none()).collect()
        };
        self.load(new).await
    }

    /// Reads monitors as they are now.
    async fn load(&self, ids: Vec<Uuid>) -> Result<(), Error> {
        for page in ids.chunks(PAGE) {
            let page = page.to_vec();
            let read = self.parts.db.read(move |tx| {
                let page = page.clone();
                Box::pin(async move {
                    let mut all = Vec::new();
                    for id in page {
                        let found = match monitors::get(tx, id).await {
                            Ok(monitor) => Some((monitor, monitors::state(tx, id).await?)),
                            Err(StoreError::NotFound { .. }) => None,
                            Err(error) => return Err(error),
                        };
                        all.push((id, found));
                    }
                    Ok(all)
                })
            });
            let now = self.parts.time.now();
            for (id, found) in read.await? {
                let Some((monitor, state)) = found else {
                    self.state().schedule.remove(id);
                    continue;
                };
                let target = Target::read(monitor.kind, &monitor.settings.target).unwrap_or_else(|error| {
                    tracing::warn!(monitor.id = %id, error = %error, "monitor {id} cannot be probed");
                    Target::Elsewhere
                });
                let is_new = state.verdict.known_at.is_none();
                self.state().schedule.put(monitor, target, state.verdict.is_paused, is_new, now);
            }
        }
        Ok(())
    }
}

/// How many monitors one read returns.
const PAGE: usize = 500;

/// Brings a change of a monitor to the store in a transaction of its own, again if another was faster or the
/// store was busy. Callers that have more to keep with it call [`Judge::apply`] in their own transaction.
///
/// # Errors
/// As the store.
pub async fn apply(
    db: &Db,
    judge: &Judge,
    id: Uuid,
    change: Change,
    actor: &str,
) -> Result<Applied, StoreError> {
    let mut tries = 0;
    loop {
        let job = (judge.clone(), change.clone(), actor.to_owned());
        let written = db.write(move |tx| {
            let (judge, change, actor) = job.clone();
            Box::pin(async move { judge.apply(tx, id, &change, &actor).await })
        });
        match written.await {
            Err(error) if tries + 1 < MAX_TRIES && is_worth_another(&error) => tries += 1,
            result => return result,
        }
    }
}

/// Whether nothing was kept and trying again may help. Of an unknown commit nobody knows.
fn is_worth_another(error: &StoreError) -> bool {
    error.is_retryable() || matches!(error, StoreError::Conflict { .. })
}
