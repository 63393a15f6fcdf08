//! Looks after Pegel itself: whether it was there, whether it reaches anything, and how it fares.
//!
//! That it is alive is marked in the store every few seconds; a gap between two marks, also over a restart, is
//! kept as a blackout, which monitors are told of before anything else. Time in which nothing was reached over the
//! network is kept the same way.

mod dead_man;
mod egress;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use pegel_core::monitor::blackout::{self, LONGEST_GAP_MS, MARK_EVERY_MS, Mark};
use pegel_core::monitor::span::{Span, elapsed_ms, later, moved};
use pegel_http::Outbound;
use pegel_store::blackouts::{self, Kind};
use pegel_store::error::Error as StoreError;
use pegel_store::outbox;
use pegel_store::own_alerts::{self, OwnAlert};
use pegel_store::{Db, installation};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::time::Time;

pub use egress::Anchor;

/// How old the oldest open notice may be until delivery counts as stuck.
pub const OUTBOX_LATE_MS: u64 = 300_000;

/// How long the engine or delivery may be silent until they count as stalled.
pub const STALLED_MS: u64 = 60_000;

/// What a mark showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marked {
    /// The wall clock was set by so many milliseconds.
    pub step_ms: Option<i64>,
    /// A blackout that has just been kept.
    pub blackout: Option<Span>,
}

/// How Pegel itself fares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// Whether everything is as it should be.
    pub is_well: bool,
    /// What is not, in a few words each.
    pub problems: Vec<String>,
    /// When it was last marked that we are alive.
    pub marked_at: Option<Timestamp>,
    /// Since when changes cannot be kept in the store.
    pub store_failing_since: Option<Timestamp>,
    /// Since when nothing is reached over the network.
    pub egress_lost_since: Option<Timestamp>,
    /// How long the oldest open notice has waited.
    pub outbox_age_ms: Option<u64>,
    /// How many notices are open.
    pub outbox_count: u64,
    /// The latest a probe was begun after its slot, since the start.
    pub schedule_late_ms_max: u64,
    /// What Pegel has to say about its channels.
    pub alert_count: usize,
}

/// What the watch knows of the world outside.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Places that are reached whenever anything is; without any, a loss of the own network cannot be told from
    /// outages.
    pub anchors: Vec<Anchor>,
    /// What is asked each minute while all is well, so that somebody notices when it is not.
    pub dead_man_url: Option<String>,
}

/// Looks after Pegel. Cheap to clone.
#[derive(Clone)]
pub struct Watch {
    inner: Arc<Inner>,
}

struct Inner {
    db: Db,
    time: Arc<dyn Time>,
    outbound: Outbound,
    settings: Settings,
    state: Mutex<State>,
    marking: tokio::sync::Mutex<()>,
    checking: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    last_mark: Option<Mark>,
    /// Since when marks cannot be kept, and since when changes of monitors cannot: a disk may take the one and not the
    /// other.
    mark_failing_since: Option<Timestamp>,
    change_failing_since: Option<Timestamp>,
    egress_lost_since: Option<Timestamp>,
    egress_checked_boot_ms: Option<u64>,
    delivery_seen_boot_ms: Option<u64>,
    dead_man_boot_ms: Option<u64>,
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

impl Watch {
    /// Makes what looks after Pegel.
    pub fn new(db: Db, time: Arc<dyn Time>, outbound: Outbound, settings: Settings) -> Self {
        let inner = Inner {
            db,
            time,
            outbound,
            settings,
            state: Mutex::default(),
            marking: tokio::sync::Mutex::new(()),
            checking: tokio::sync::Mutex::new(()),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Marks that we are alive, if it is time to; what was missed since the last mark is kept before anything
    /// is judged.
    ///
    /// # Errors
    /// As the store. Nothing is to be judged then, since nobody knows what was missed.
    pub async fn mark(&self) -> Result<Marked, Error> {
        let inner = &self.inner;
        let _marking = inner.marking.lock().await;
        let now = inner.time.mark();
        let last = inner.state().last_mark;
        let gap = last.map(|last| blackout::between(last, now)).unwrap_or_default();
        let is_due = last.is_none_or(|last| {
            now.boot_ms.saturating_sub(last.boot_ms) >= MARK_EVERY_MS || gap.step_ms.is_some()
        });
        if !is_due {
            return Ok(Marked::default());
        }
        let is_start = last.is_none();
        let step_ms = gap.step_ms.unwrap_or(0);
        let written = inner.db.write(move |tx| {
            Box::pin(async move {
                let before = installation::mark_alive(tx).await?.map(|at| moved(at, step_ms));
                let missed = before.and_then(|before| {
                    let is_long = elapsed_ms(before, now.wall) > LONGEST_GAP_MS;
                    blackout::before_start(before, now.wall).filter(|_| is_start || is_long)
                });
                if let Some(span) = missed {
                    blackouts::append(tx, Kind::Own, span).await?;
                }
                Ok(missed)
            })
        });
        match written.await {
            Ok(blackout) => {
                {
                    let mut state = inner.state();
                    state.last_mark = Some(now);
                    state.mark_failing_since = None;
                }
                if let Some(span) = blackout {
                    tracing::warn!(from = %span.from, to = %span.to, "nobody was watching for a while");
                }
                if self.is_egress_lost() {
                    self.check_egress().await;
                }
                Ok(Marked { step_ms: gap.step_ms, blackout })
            }
            Err(error) => {
                inner.state().mark_failing_since.get_or_insert(now.wall);
                Err(error.into())
            }
        }
    }

    /// Marks that we are alive if the last mark is so old that something may have been missed.
    pub(crate) async fn mark_if_late(&self) {
        let last = self.inner.state().last_mark;
        let is_late =
            last.is_some_and(|last| self.inner.time.boot_ms().saturating_sub(last.boot_ms) > LONGEST_GAP_MS);
        if is_late {
            // If the store is not there, the ping goes beside it and is judged after the next mark.
            let _ = self.mark().await;
        }
    }

    /// Returns when the next mark is due.
    pub(crate) fn next_mark_at(&self) -> Timestamp {
        let now = self.inner.time.mark();
        let last = self.inner.state().last_mark;
        let passed_ms = last.map_or(MARK_EVERY_MS, |last| now.boot_ms.saturating_sub(last.boot_ms));
        later(now.wall, MARK_EVERY_MS.saturating_sub(passed_ms))
    }

    /// Takes note of whether changes of monitors can be kept.
    pub(crate) fn note_store(&self, error: Option<&StoreError>) {
        let now = self.inner.time.now();
        let mut state = self.inner.state();
        match error {
            None => state.change_failing_since = None,
            Some(_) => {
                state.change_failing_since.get_or_insert(now);
            }
        }
    }

    /// Takes note that delivery is at work.
    pub(crate) fn note_delivery(&self) {
        let now = self.inner.time.boot_ms();
        self.inner.state().delivery_seen_boot_ms = Some(now);
    }

    /// Returns how Pegel fares. It asks the store, and says so if that does not answer.
    pub async fn health(&self, schedule_late_ms_max: u64) -> Health {
        let inner = &self.inner;
        let read = inner.db.read(|tx| {
            Box::pin(async move { Ok((outbox::backlog(tx).await?, own_alerts::list(tx).await?)) })
        });
        let (backlog, alerts, is_store_lost) = match read.await {
            Ok((backlog, alerts)) => (backlog, alerts, false),
            Err(_) => ((None, 0), Vec::new(), true),
        };
        let now = inner.time.mark();
        let outbox_age_ms = backlog.0.map(|at| elapsed_ms(at, now.wall));
        let state = inner.state();
        let store_failing_since =
            state.mark_failing_since.into_iter().chain(state.change_failing_since).min();
        let passed = |since: Option<u64>| since.is_some_and(|at| now.boot_ms.saturating_sub(at) > STALLED_MS);
        let mut problems: Vec<String> = Vec::new();
        let mut tell = |is_so: bool, what: &str| problems.extend(is_so.then(|| what.to_owned()));
        tell(is_store_lost || store_failing_since.is_some(), "the store does not keep changes");
        tell(state.egress_lost_since.is_some(), "nothing is reached over the network");
        tell(outbox_age_ms.is_some_and(|age| age > OUTBOX_LATE_MS), "notices wait for minutes");
        tell(passed(state.last_mark.map(|mark| mark.boot_ms)), "the engine is stalled");
        tell(passed(state.delivery_seen_boot_ms), "delivery is stalled");
        problems.extend(alerts.iter().map(problem));
        Health {
            is_well: problems.is_empty(),
            problems,
            marked_at: state.last_mark.map(|mark| mark.wall),
            store_failing_since,
            egress_lost_since: state.egress_lost_since,
            outbox_age_ms,
            outbox_count: backlog.1,
            schedule_late_ms_max,
            alert_count: alerts.len(),
        }
    }
}

fn problem(alert: &OwnAlert) -> String {
    format!("{} {}", alert.kind.replace('_', " "), alert.subject)
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
