//! Brings what happens to a monitor into the store, with all that follows from it, in one transaction.
//!
//! State, sample, incident, its story and the notices in the outbox are kept together or not at all, so that a
//! crash at any moment either leaves everything to be judged again or loses nothing. What follows is decided
//! by the machines of `pegel_core::monitor`. Changes of one monitor take place one after the other, also when
//! several instances make them.

pub(crate) mod follow_up;
mod incident;
mod notices;
mod samples;
mod simulate;
mod withheld;

use jiff::Timestamp;
use pegel_core::monitor::heartbeat;
use pegel_core::monitor::span::later;
use pegel_core::monitor::verdict::{Effect, FiringId, Notice, Outcome, Status};
use pegel_store::blackouts::{self, Blackout};
use pegel_store::error::Error;
use pegel_store::monitors::{self, Monitor, MonitorState};
use pegel_store::pings::{self, Received};
use pegel_store::tx::Tx;
use pegel_store::{Db, installation};
use serde_json::Value as Json;
use uuid::Uuid;

use crate::judge::simulate::{After, Before};

pub use withheld::{Withheld, in_force, withheld};

/// What happens to a monitor.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A sample was taken.
    Sample(Sample),
    /// Time went by.
    Tick,
    /// The wall clock was set.
    ClockStep {
        /// Positive if it was set forward.
        by_ms: i64,
    },
    /// A heartbeat pinged.
    Ping {
        /// Its id; one that was kept already is not counted again.
        id: Uuid,
        /// What came.
        received: Received,
        /// When, if that was before now: it could not be kept at once.
        received_at: Option<Timestamp>,
    },
    /// Its settings were changed, in this transaction.
    Edited,
    /// Somebody pauses it.
    Pause,
    /// Somebody resumes it.
    Resume,
    /// Somebody deletes it, if nobody has changed it since this version.
    Delete {
        /// Which version.
        version: i64,
    },
    /// Somebody takes on what is firing.
    Acknowledge,
}

/// A sample of a monitor.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Who took it; it counts only as long as the instance holds the monitor. `None` for any.
    pub owner: Option<String>,
    /// Under which version of the settings; it counts only under this one.
    pub version: i64,
    /// When it was begun.
    pub at: Timestamp,
    /// What it says.
    pub outcome: Outcome,
    /// How long it took.
    pub duration_us: Option<u64>,
    /// What was seen, in one line.
    pub summary: String,
    /// What was seen.
    pub evidence: Json,
}

/// What a change led to.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    /// Whether it was not counted: it is older than an edit, or somebody else's by now.
    pub is_discarded: bool,
    /// What the monitor was.
    pub was: Status,
    /// What it is.
    pub status: Status,
    /// Incidents that began.
    pub opened: Vec<FiringId>,
    /// Incidents that ended.
    pub closed: Vec<FiringId>,
    /// How many notices were queued.
    pub queued_count: usize,
    /// What keeps people from being told, if something does.
    pub withheld: Option<Withheld>,
    /// When the monitor has to be looked at again.
    pub wake_at: Option<Timestamp>,
    /// What a heartbeat's machine has to say beside its verdict.
    pub remarks: Vec<heartbeat::Effect>,
}

/// Judges what happens to monitors. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Judge {
    installation_id: Uuid,
    /// Where people read more, without a slash at its end.
    base_url: Option<String>,
}

impl Judge {
    /// Makes the judge of an installation. `base_url` is where its web console is, for links in messages.
    ///
    /// # Errors
    /// As [`Db::write`].
    pub async fn new(db: &Db, base_url: Option<String>) -> Result<Self, Error> {
        let installation_id = db.write(|tx| Box::pin(installation::id(tx))).await?;
        let base_url = base_url.map(|url| url.trim_end_matches('/').to_owned());
        Ok(Self { installation_id, base_url })
    }

    /// Returns the installation's id.
    pub const fn installation_id(&self) -> Uuid {
        self.installation_id
    }

    /// Brings a change into the store, with all that follows from it. `actor` is who made it; empty for Pegel.
    ///
    /// # Errors
    /// `not_found` if there is no such monitor, `conflict` if the transaction is to be run again.
    pub async fn apply(
        &self,
        tx: &mut Tx<'_>,
        monitor_id: Uuid,
        change: &Change,
        actor: &str,
    ) -> Result<Applied, Error> {
        let stored = monitors::state_to_change(tx, monitor_id).await?;
        let monitor = monitors::get(tx, monitor_id).await?;
        if let Change::Sample(sample) = change
            && is_discarded(tx, &monitor, &stored, sample).await?
        {
            return Ok(discarded(&stored));
        }
        if let Change::Ping { id, received, received_at } = change {
            let received_at = received_at.unwrap_or(tx.now());
            if !pings::append(tx, *id, monitor_id, received, received_at).await? {
                return Ok(discarded(&stored));
            }
        }
        let unseen = blackouts::after(tx, stored.blackout_seq).await?;
        let (after, withheld) = step(tx, &monitor, &stored, &unseen, change).await?;
        let queued_count = self.keep(tx, &monitor, &stored, &after, change, actor, withheld.as_ref()).await?;
        samples::append(tx, &monitor, &after.samples).await?;
        let applied = applied(&monitor, &stored, &after, queued_count, withheld, tx.now());
        if let Change::Delete { version } = change {
            monitors::delete(tx, monitor_id, *version).await?;
            samples::remove_all(tx, monitor_id).await?;
        } else {
            put(tx, stored, after, &unseen, &applied).await?;
        }
        Ok(applied)
    }

    /// Keeps incidents, their story, and notices.
    #[expect(clippy::too_many_arguments, reason = "all that a step knows, in one call of a private function")]
    async fn keep(
        &self,
        tx: &mut Tx<'_>,
        monitor: &Monitor,
        stored: &MonitorState,
        after: &After,
        change: &Change,
        actor: &str,
        withheld: Option<&Withheld>,
    ) -> Result<usize, Error> {
        // Incidents before notices: closing one takes its row, which whoever ends a delivery takes first, too.
        incident::keep(tx, monitor, stored, after, actor, withheld).await?;
        let mut queued_count = 0;
        for effect in &after.effects {
            if let Effect::Notify { firing_id, severity, notice } = effect {
                let told = notices::Told { firing_id: *firing_id, severity: *severity, notice: *notice };
                queued_count += notices::place(self, tx, monitor, after, told, actor).await?;
            }
        }
        if matches!(change, Change::Delete { .. } | Change::Pause) {
            tracing::info!(monitor.id = %monitor.id, "monitor {} stopped", monitor.settings.name);
        }
        Ok(queued_count)
    }

    /// Returns where people read about an incident.
    pub(crate) fn link(&self, firing_id: FiringId) -> Option<String> {
        self.base_url.as_ref().map(|url| format!("{url}/incidents/{}", firing_id.0))
    }
}

async fn is_discarded(
    tx: &mut Tx<'_>,
    monitor: &Monitor,
    stored: &MonitorState,
    sample: &Sample,
) -> Result<bool, Error> {
    if sample.version != monitor.version || stored.verdict.is_paused {
        return Ok(true);
    }
    match &sample.owner {
        Some(owner) => Ok(!monitors::is_held(tx, monitor.id, owner).await?),
        None => Ok(false),
    }
}

fn discarded(stored: &MonitorState) -> Applied {
    Applied {
        is_discarded: true,
        was: stored.verdict.status(),
        status: stored.verdict.status(),
        opened: Vec::new(),
        closed: Vec::new(),
        queued_count: 0,
        withheld: None,
        wake_at: stored.wake_at,
        remarks: Vec::new(),
    }
}

/// Runs the machines. Whether something is withheld is looked up only where somebody would be told.
async fn step(
    tx: &mut Tx<'_>,
    monitor: &Monitor,
    stored: &MonitorState,
    unseen: &[Blackout],
    change: &Change,
) -> Result<(After, Option<Withheld>), Error> {
    let now = tx.now();
    let before = Before { monitor, stored, unseen, change, now };
    let mut ids = Vec::new();
    for _ in 0..before.id_count() {
        ids.push(FiringId(tx.new_id()?));
    }
    let after = simulate::run(&before, false, &ids);
    let is_told = |effect: &Effect| {
        matches!(effect, Effect::Notify { notice: Notice::Trigger | Notice::Reminder | Notice::Flapping, .. })
    };
    if !after.effects.iter().any(is_told) {
        return Ok((after, None));
    }
    match withheld(tx, monitor).await? {
        Some(withheld) => Ok((simulate::run(&before, true, &ids), Some(withheld))),
        None => Ok((after, None)),
    }
}

fn applied(
    monitor: &Monitor,
    stored: &MonitorState,
    after: &After,
    queued_count: usize,
    withheld: Option<Withheld>,
    now: Timestamp,
) -> Applied {
    let opened = after.effects.iter().filter_map(|effect| match effect {
        Effect::Opened(firing) => Some(firing.id),
        _ => None,
    });
    let closed = after.effects.iter().filter_map(|effect| match effect {
        Effect::Closed { firing, .. } => Some(firing.id),
        _ => None,
    });
    Applied {
        is_discarded: false,
        was: stored.verdict.status(),
        status: after.verdict.status(),
        opened: opened.collect(),
        closed: closed.collect(),
        queued_count,
        wake_at: wake_at(monitor, after, withheld.as_ref(), now),
        withheld,
        remarks: after.remarks.clone(),
    }
}

/// When to look again. What is due but withheld waits until that may be over.
fn wake_at(
    monitor: &Monitor,
    after: &After,
    withheld: Option<&Withheld>,
    now: Timestamp,
) -> Option<Timestamp> {
    let rule = simulate::rule(monitor);
    let heartbeat = after.heartbeat.as_ref().and_then(heartbeat::State::wake_at);
    let own = after.verdict.wake_at(&rule).into_iter().chain(heartbeat).min();
    let until = withheld.map(|withheld| withheld.until);
    // Never again at once: what a step has left due is not done by the same step.
    let own = own.map(|at| if at <= now { until.unwrap_or(later(now, 1_000)) } else { at });
    own.into_iter().chain(until).min()
}

async fn put(
    tx: &mut Tx<'_>,
    stored: MonitorState,
    after: After,
    unseen: &[Blackout],
    applied: &Applied,
) -> Result<(), Error> {
    let is_visible = applied.was != applied.status
        || stored.verdict.firing != after.verdict.firing
        || stored.verdict.is_paused != after.verdict.is_paused;
    let state = MonitorState {
        verdict: after.verdict,
        heartbeat: after.heartbeat,
        wake_at: applied.wake_at,
        blackout_seq: unseen.last().map_or(stored.blackout_seq, |last| last.seq),
        evidence: after.evidence.or(stored.evidence),
        ..stored
    };
    monitors::put_state(tx, &state, is_visible).await
}
