//! The inventory of a live cluster: its databases and tables, kept in memory and read anew in the background.
//!
//! Lists are answered from it, with its age. It is read within the client's request budget, one reading at a time;
//! who wants it fresher than it is wakes the one who reads, and never reads beside. A reading that fails leaves
//! what was read before in place, and whoever is shown that is told so.

mod reading;
pub(super) mod snapshot;
pub(super) mod view;

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fluss_client::client::FlussClient;
use jiff::Timestamp;
use pegel_core::clock::Clock;
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::catalog::figures::FigureCache;
use crate::catalog::inventory::snapshot::Snapshot;
use crate::catalog::within::Within;
use crate::clock;
use crate::failure::Failure;

/// A reading takes at most this share of the time, however short the pauses between two are set: 1 in 6.
const REST_FACTOR: u32 = 5;

/// What can be set about inventories.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Pause between two readings; it is longer where a reading takes long.
    pub refresh_every: Duration,
    /// Least time between the starts of two readings, whoever asks for one.
    pub least_gap: Duration,
    /// Pause after a reading that failed; it doubles with each further one.
    pub first_retry: Duration,
    /// Longest pause after readings that failed.
    pub longest_retry: Duration,
    /// How long the first reading waits to hear that the coordinator is there, or that somebody asks.
    pub first_pause: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            refresh_every: Duration::from_secs(60),
            least_gap: Duration::from_secs(5),
            first_retry: Duration::from_secs(2),
            longest_retry: Duration::from_secs(60),
            first_pause: Duration::from_secs(10),
        }
    }
}

/// The inventory of one cluster. Cheap to clone.
#[derive(Clone)]
pub struct Inventory {
    inner: Arc<Inner>,
}

struct Inner {
    client: FlussClient,
    clock: Arc<dyn Clock>,
    settings: Settings,
    state: Mutex<State>,
    /// Wakes those who wait for a reading, or for a part of the first one.
    changed: watch::Sender<()>,
    /// Wakes the one who reads, who then looks whether a reading is wanted.
    wanted: Notify,
    figures: FigureCache,
}

#[derive(Default)]
struct State {
    /// The latest whole reading.
    latest: Option<Arc<Snapshot>>,
    /// What the first reading has come to so far.
    partial: Option<Arc<Snapshot>>,
    /// Why the latest reading failed.
    missed: Option<Missed>,
    coordinator: Coordinator,
    /// Whether somebody wants a reading that has not begun.
    is_wanted: bool,
    started_count: u64,
    finished_count: u64,
    last_started: Option<Instant>,
}

/// What the watch on the servers said of the coordinator.
#[derive(Default)]
struct Coordinator {
    is_there: bool,
    /// How often in a row it was not.
    miss_count: u32,
    /// Why it is not there, once that is certain.
    away: Option<Failure>,
}

/// A reading that failed.
#[derive(Debug, Clone)]
pub(super) struct Missed {
    pub(super) failure: Failure,
    pub(super) at: Timestamp,
}

/// What a list can be answered from.
#[derive(Debug)]
pub(super) enum Held {
    /// A whole reading, and why there is no newer one.
    Whole(Arc<Snapshot>, Option<Missed>),
    /// The first reading is under way; what there is so far.
    Reading(Option<Arc<Snapshot>>),
    /// Nothing was ever read.
    Nothing(Failure),
}

/// What has to be read before a list can be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// The databases.
    Databases,
    /// Everything.
    Tables,
}

impl Inventory {
    /// Makes an inventory in which nothing is read yet.
    pub fn new(client: FlussClient, clock: Arc<dyn Clock>, settings: Settings) -> Self {
        let inner = Inner {
            client,
            clock,
            settings,
            state: Mutex::default(),
            changed: watch::Sender::new(()),
            wanted: Notify::new(),
            figures: FigureCache::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Reads the inventory again and again until `stop`. A reading that is answered at all waits for a place of
    /// `gate`, so that not all clusters are read at once.
    pub async fn run(self, stop: CancellationToken, gate: Arc<Semaphore>) {
        let mut pause = self.inner.settings.first_pause;
        let mut failure_count = 0;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.pause(pause) => {}
            }
            let started = clock::instant();
            let is_read = tokio::select! {
                () = stop.cancelled() => return,
                is_read = self.read_once(&gate) => is_read,
            };
            let took = clock::instant().duration_since(started);
            failure_count = if is_read { 0 } else { failure_count + 1 };
            pause = self.inner.settings.pause_after(failure_count, took);
        }
    }

    /// Takes note of whether the coordinator is there. While it is not, nothing is dialled for a reading; when it
    /// is back, there is one.
    pub(super) fn note_coordinator(&self, coordinator: Result<(), Failure>) {
        let is_wanted = {
            let mut state = self.lock();
            let has_missed = state.missed.is_some();
            let is_wanted = state.coordinator.note(coordinator, has_missed);
            state.is_wanted |= is_wanted;
            is_wanted
        };
        if is_wanted {
            self.inner.wanted.notify_one();
        }
    }

    /// Has the inventory read anew and waits for that. A reading that is under way, or has begun within the
    /// least gap, is not begun again.
    pub(super) async fn refresh(&self) {
        let wanted = {
            let mut state = self.lock();
            let is_new = !state.is_running() && !state.has_just_begun(self.inner.settings.least_gap);
            state.is_wanted |= is_new;
            state.started_count + u64::from(is_new)
        };
        self.inner.wanted.notify_one();
        self.wait_until(|state| state.finished_count >= wanted).await;
    }

    /// Returns what a list can be answered from. Waits for the first reading as long as one request may take.
    pub(super) async fn held(&self, need: Need) -> Held {
        let is_there = |state: &State| {
            let has_databases = need == Need::Databases && state.partial.is_some();
            state.latest.is_some() || has_databases
        };
        if !is_there(&self.lock()) {
            let seen = {
                let mut state = self.lock();
                // Who asks for a cluster that could not be read does not wait for the next try to come by itself.
                state.is_wanted |= !state.is_running();
                state.finished_count
            };
            self.inner.wanted.notify_one();
            let gap = self.inner.settings.least_gap;
            let has_just_missed =
                |state: &State| state.missed.is_some() && !state.is_running() && state.has_just_begun(gap);
            let is_settled =
                |state: &State| is_there(state) || state.finished_count > seen || has_just_missed(state);
            self.wait_until(is_settled).await;
        }
        let state = self.lock();
        match (&state.latest, &state.missed) {
            (Some(latest), missed) => Held::Whole(Arc::clone(latest), missed.clone()),
            (None, Some(missed)) if !state.is_running() => Held::Nothing(missed.failure.clone()),
            (None, _) => Held::Reading(state.partial.clone()),
        }
    }

    /// Returns whether a whole reading lists a database that the caller may know of.
    pub(super) fn lists_database(&self, within: Within<'_>, name: &str) -> bool {
        let latest = self.lock().latest.clone();
        latest.is_some_and(|snapshot| snapshot.has_database(within, name))
    }

    /// Returns the figures of tables that are kept beside the inventory.
    pub(super) fn figures(&self) -> &FigureCache {
        &self.inner.figures
    }

    /// Waits out a pause, or less when somebody asks for a reading; but never less than the least gap.
    async fn pause(&self, pause: Duration) {
        let mut due = pin!(sleep(pause));
        loop {
            tokio::select! {
                () = &mut due => break,
                () = self.inner.wanted.notified() => {
                    if self.lock().is_wanted {
                        break;
                    }
                }
            }
        }
        let since = self.lock().last_started.map(|at| at.elapsed());
        if let Some(since) = since {
            sleep(self.inner.settings.least_gap.saturating_sub(since)).await;
        }
    }

    async fn read_once(&self, gate: &Semaphore) -> bool {
        let read_at = self.inner.clock.now();
        let (is_first, away) = {
            let mut state = self.lock();
            // Whoever wanted one before now is served by this reading.
            state.is_wanted = false;
            state.started_count += 1;
            state.last_started = Some(clock::instant());
            (state.latest.is_none(), state.coordinator.away.clone())
        };
        let publish = |snapshot: Snapshot| {
            if is_first {
                self.lock().partial = Some(Arc::new(snapshot));
                self.inner.changed.send_replace(());
            }
        };
        let read = match away {
            None => reading::read(&self.inner.client, read_at, gate, publish).await,
            Some(failure) => Err(failure),
        };
        let mut state = self.lock();
        state.finished_count = state.started_count;
        state.partial = None;
        let is_read = read.is_ok();
        match read {
            Ok(snapshot) => {
                state.latest = Some(Arc::new(snapshot));
                state.missed = None;
            }
            Err(failure) => {
                tracing::info!(failure = failure.one_line(), "the inventory of a cluster cannot be read");
                state.missed = Some(Missed { failure, at: self.inner.clock.now() });
            }
        }
        drop(state);
        self.inner.changed.send_replace(());
        is_read
    }

    /// Waits until the state is as wanted, or for as long as one request may take.
    async fn wait_until(&self, is_met: impl Fn(&State) -> bool) {
        let mut changed = self.inner.changed.subscribe();
        let waiting = async {
            while !is_met(&self.lock()) {
                if changed.changed().await.is_err() {
                    return;
                }
            }
        };
        let limit = self.inner.client.settings().request_timeout();
        // When the time is over, the caller sees for itself what there is.
        let _ = timeout(limit, waiting).await;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Coordinator {
    /// Takes note of one look and returns whether the coordinator is there and was not before. Where a reading
    /// failed meanwhile, one look that missed it is enough to say so.
    ///
    /// A look gives a server little time: that the coordinator is away is certain with the second one in a row
    /// that says so.
    fn note(&mut self, look: Result<(), Failure>, has_missed_reading: bool) -> bool {
        match look {
            Ok(()) => {
                let is_back = !self.is_there || (has_missed_reading && self.miss_count > 0);
                *self = Self { is_there: true, ..Self::default() };
                is_back
            }
            Err(failure) => {
                self.miss_count = self.miss_count.saturating_add(1);
                if self.miss_count > 1 {
                    self.is_there = false;
                    self.away = Some(failure);
                }
                false
            }
        }
    }
}

impl State {
    fn is_running(&self) -> bool {
        self.started_count > self.finished_count
    }

    fn has_just_begun(&self, gap: Duration) -> bool {
        self.last_started.is_some_and(|at| at.elapsed() < gap)
    }
}

impl Settings {
    /// Returns how long to wait after a reading that took `took`, the latest of `failure_count` that failed.
    fn pause_after(&self, failure_count: u32, took: Duration) -> Duration {
        match failure_count.checked_sub(1) {
            None => self.refresh_every.max(took * REST_FACTOR),
            Some(doublings) => {
                self.first_retry.saturating_mul(1 << doublings.min(16)).min(self.longest_retry)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coordinator_is_away_when_two_looks_say_so_and_comes_back_once() {
        let mut coordinator = Coordinator::default();
        let away = || Err(Failure::internal("away"));
        assert!(coordinator.note(Ok(()), false) && !coordinator.note(Ok(()), true));
        assert!(!coordinator.note(away(), true) && coordinator.away.is_none());
        assert!(!coordinator.note(Ok(()), false), "one miss is none");
        assert!(!coordinator.note(away(), true) && coordinator.note(Ok(()), true), "a reading was missed");
        assert!(!coordinator.note(away(), true) && !coordinator.note(away(), true));
        assert!(coordinator.away.is_some());
        assert!(coordinator.note(Ok(()), false) && coordinator.away.is_none());
    }

    #[test]
    fn pauses_grow_with_failures_and_with_the_time_a_reading_takes() {
        let settings = Settings::default();
        let seconds =
            |failure_count, took| settings.pause_after(failure_count, Duration::from_secs(took)).as_secs();
        assert_eq!((seconds(0, 1), seconds(0, 20)), (60, 100));
        let retries: Vec<u64> = (1..8).map(|count| seconds(count, 20)).collect();
        assert_eq!(retries, [2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(seconds(u32::MAX, 0), 60);
    }
}
