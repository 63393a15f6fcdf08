//! What a sample means: the machine that opens and closes firings, the same for all kinds of monitors.
//!
//! [`step`] is a pure function of state, rule, time and input. The new state and what it causes are to be
//! kept in the transaction of the sample, and effects go through the outbox. A trigger that was withheld
//! goes out when nothing withholds it any more; a resolve is told only where the trigger was.

mod flapping;
mod step;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::monitor::severity::Severity;
use crate::monitor::span::{Span, elapsed_ms, end_of_time, moved};

pub use flapping::{CALM_INTERVALS, MAX_CHANGES, WINDOW_MS};
pub use step::{Context, Step, step};

/// The shortest time between two reminders.
pub const MIN_REMINDER_MS: u64 = 60_000;

/// How a monitor judges its samples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = VerdictRule)]
pub struct Rule {
    /// How many bad samples in a row make it fire, 1 or more.
    pub fails_to_fire: u32,
    /// How many good samples in a row resolve it, 1 or more.
    pub oks_to_resolve: u32,
    /// Time between samples.
    pub interval_ms: u64,
    /// How long without a known sample is too long.
    pub stale_after_ms: u64,
    /// How bad it is when it fires.
    pub severity: Severity,
    /// How bad missing data is; `None` if nobody is to be told of it.
    pub no_data_severity: Option<Severity>,
    /// Time between reminders while it fires; `None` for no reminders.
    pub remind_every_ms: Option<u64>,
}

/// Why a rule cannot be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// A count is zero.
    #[error("fails_to_fire and oks_to_resolve are at least 1")]
    Count,
    /// The interval is zero.
    #[error("interval_ms is at least 1")]
    Interval,
    /// Data would be stale before the next sample is due.
    #[error("stale_after_ms is at least interval_ms")]
    Stale,
    /// Reminders would come too often.
    #[error("remind_every_ms is at least 60000")]
    Reminder,
}

impl Rule {
    /// Checks what the types cannot say.
    ///
    /// # Errors
    /// Which field is out of range.
    pub fn check(&self) -> Result<(), RuleError> {
        if self.fails_to_fire == 0 || self.oks_to_resolve == 0 {
            return Err(RuleError::Count);
        }
        if self.interval_ms == 0 {
            return Err(RuleError::Interval);
        }
        if self.stale_after_ms < self.interval_ms {
            return Err(RuleError::Stale);
        }
        match self.remind_every_ms {
            Some(every) if every < MIN_REMINDER_MS => Err(RuleError::Reminder),
            _ => Ok(()),
        }
    }
}

/// What a sample says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = SampleOutcome)]
pub enum Outcome {
    /// The target is as it should be.
    Ok,
    /// It is not.
    Bad,
    /// Nobody knows: a fault of our own, our own blackout, or data that is missing.
    Unknown,
}

/// Why a monitor fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Too many bad samples in a row.
    Bad,
    /// No known sample for too long.
    NoData,
}

/// Identifies one firing, and with it one incident; constant from its trigger to its resolve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct FiringId(pub Uuid);

/// A monitor that fires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Firing {
    /// Its id.
    pub id: FiringId,
    /// Why.
    pub cause: Cause,
    /// How bad, by the rule at that time.
    pub severity: Severity,
    /// Since when it is so: the first bad sample of the streak, or the last known sample.
    pub since: Timestamp,
    /// When that was certain.
    pub fired_at: Timestamp,
    /// When people were told; `None` as long as it is withheld.
    pub announced_at: Option<Timestamp>,
    /// When somebody took it on.
    pub acknowledged_at: Option<Timestamp>,
    /// When people were reminded last.
    pub reminded_at: Option<Timestamp>,
    /// Whether people were told that it is flapping.
    pub told_flapping: bool,
}

/// Why a firing ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Good samples came.
    Recovered,
    /// Data came again; what it says is another matter.
    DataBack,
    /// Somebody paused the monitor.
    Paused,
    /// Somebody deleted the monitor.
    Deleted,
}

/// What happens to a monitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// A sample came.
    Sample {
        /// What it says.
        outcome: Outcome,
        /// When it was taken; outages are dated by this.
        at: Timestamp,
    },
    /// Time went by.
    Tick,
    /// We ourselves saw nothing for a while; told once, when it is over.
    Blackout(Span),
    /// The wall clock was set, by so many milliseconds.
    ClockStep {
        /// Positive if it was set forward.
        by_ms: i64,
    },
    /// Somebody pauses it.
    Pause,
    /// Somebody resumes it.
    Resume,
    /// Somebody deletes it.
    Delete,
    /// Somebody takes on what is firing.
    Acknowledge,
}

/// What people are to be told, each once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// It fires; perhaps it is already known to be flapping.
    Trigger,
    /// What was told to fire does so again and again; nothing more is said until it is calm.
    Flapping,
    /// It still fires.
    Reminder,
    /// Somebody has taken it on.
    Acknowledge,
    /// It does not fire any more.
    Resolve(Ending),
}

/// What a step causes, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// An incident begins.
    Opened(Firing),
    /// People are to be told.
    Notify {
        /// Of which firing.
        firing_id: FiringId,
        /// How bad it is.
        severity: Severity,
        /// What.
        notice: Notice,
    },
    /// Changes of this firing are no longer told.
    FlappingBegan(FiringId),
    /// It has been calm.
    FlappingEnded(FiringId),
    /// An incident ends.
    Closed {
        /// As it was at its end.
        firing: Firing,
        /// Since when it is over: the first good sample of the streak, or the moment of the decision.
        ended_at: Timestamp,
        /// Why.
        ending: Ending,
    },
}

/// What is known about a monitor; the whole of it is stored with each sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Whether somebody has paused it.
    pub is_paused: bool,
    /// Since when it is watched: made or resumed, and later by the blackouts since.
    pub armed_at: Timestamp,
    /// Bad samples in a row.
    pub fail_count: u32,
    /// Good samples in a row.
    pub ok_count: u32,
    /// First of the bad samples in a row.
    pub bad_since: Option<Timestamp>,
    /// First of the good samples in a row.
    pub ok_since: Option<Timestamp>,
    /// Last sample that said anything, later by the blackouts since.
    pub known_at: Option<Timestamp>,
    /// What the samples say by the rule, whether or not it is told.
    pub verdict: Option<Cause>,
    /// Whether that is something people are told of.
    pub is_alerting: bool,
    /// What fires.
    pub firing: Option<Firing>,
    /// When firings began and ended of late, oldest first.
    pub changes: Vec<Timestamp>,
    /// When the last change was, while it is flapping.
    pub flapping_changed_at: Option<Timestamp>,
}

/// What to call the state of a monitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = MonitorStatus)]
pub enum Status {
    /// It has never said anything.
    New,
    /// It is as it should be.
    Up,
    /// It is not, but not yet for long enough.
    Failing,
    /// It fires.
    Down,
    /// Nothing has been heard of it for too long.
    NoData,
    /// Somebody has paused it.
    Paused,
}

impl State {
    /// Returns the state of a monitor that was just made.
    pub fn new(now: Timestamp) -> Self {
        Self {
            is_paused: false,
            armed_at: now,
            fail_count: 0,
            ok_count: 0,
            bad_since: None,
            ok_since: None,
            known_at: None,
            verdict: None,
            is_alerting: false,
            firing: None,
            changes: Vec::new(),
            flapping_changed_at: None,
        }
    }

    /// Returns what to call it. Unknown is never up and never down.
    pub fn status(&self) -> Status {
        if self.is_paused {
            return Status::Paused;
        }
        match self.verdict {
            Some(Cause::Bad) => Status::Down,
            Some(Cause::NoData) => Status::NoData,
            None if self.fail_count > 0 => Status::Failing,
            None if self.known_at.is_some() => Status::Up,
            None => Status::New,
        }
    }

    /// Returns when the machine has to look again if nothing happens before: data becomes stale, a
    /// reminder is due, or flapping has calmed down. `None` if there is nothing to wait for.
    ///
    /// A firing that is withheld is not in it: whoever withholds it knows until when.
    pub fn wake_at(&self, rule: &Rule) -> Option<Timestamp> {
        if self.is_paused {
            return None;
        }
        // Stale is more than the limit, so the first instant of it is one millisecond later.
        let stale = self.verdict.is_none().then(|| {
            let limit = i64::try_from(rule.stale_after_ms.saturating_add(1)).unwrap_or(i64::MAX);
            moved(self.known_at.unwrap_or(self.armed_at), limit)
        });
        let calm = self.flapping_changed_at.map(|at| flapping::calm_at(at, rule));
        let reminder = self.firing.as_ref().and_then(|firing| firing.reminder_at(rule));
        let reminder = reminder.filter(|_| calm.is_none());
        let never = end_of_time();
        [stale, calm, reminder].into_iter().flatten().min().filter(|at| *at < never)
    }
}

impl Firing {
    /// Returns when people are to be reminded, by the rule.
    fn reminder_at(&self, rule: &Rule) -> Option<Timestamp> {
        let told_at = self.reminded_at.max(self.announced_at)?;
        let every = i64::try_from(rule.remind_every_ms?).unwrap_or(i64::MAX);
        self.acknowledged_at.is_none().then(|| moved(told_at, every))
    }
}

/// Tells whether there has been no known sample for too long.
fn is_stale(state: &State, rule: &Rule, now: Timestamp) -> bool {
    elapsed_ms(state.known_at.unwrap_or(state.armed_at), now) > rule.stale_after_ms
}

#[cfg(test)]
mod simulator;
#[cfg(test)]
mod tests;
