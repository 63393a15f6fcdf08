//! Jobs that report themselves: when a ping is expected, when it is missed, and which runs never ended.
//!
//! [`step`] is a pure function, as in [`crate::monitor::verdict`]. What it judges goes there as samples
//! under a rule of one failure and one success, since the thresholds of heartbeats are counted here. State
//! and ping are to be kept in one transaction, and a ping is answered only after that.

mod expectation;
mod step;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::monitor::schedule::CronSchedule;
use crate::monitor::severity::Severity;
use crate::monitor::span::Span;
use crate::monitor::verdict::{self, Outcome};

pub use step::{Step, step};

/// The shortest period.
pub const MIN_PERIOD_MS: u64 = 5_000;

/// The longest period, grace and run: 400 days.
pub const MAX_DURATION_MS: u64 = 400 * 24 * 3_600_000;

/// The most runs that are open at the same time; a start beyond them is stored and not watched.
pub const MAX_RUNS: usize = 100;

/// The most sources that are told apart; the one silent for longest makes way.
pub const MAX_SOURCES: usize = 1_000;

/// The highest threshold of misses and failures.
pub const MAX_THRESHOLD: u32 = 100;

/// The longest id of a run or a source, in bytes; what is longer is cut.
pub const MAX_ID_BYTES: usize = 128;

/// When a ping is expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Expectation {
    /// So long after the last one.
    Every {
        /// How long.
        period_ms: u64,
    },
    /// At the slots of a crontab.
    Cron {
        /// Which.
        schedule: CronSchedule,
        /// How long before a slot a ping already satisfies it; by default the grace, and at most a
        /// tenth of the time to the slot after it.
        early_ms: Option<u64>,
    },
}

/// What a heartbeat promises.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = HeartbeatRule)]
pub struct Rule {
    /// When a ping is expected.
    pub expects: Expectation,
    /// How long after that it may still come.
    pub grace_ms: u64,
    /// How long a run may take from its start.
    pub max_run_ms: u64,
    /// How many pings in a row must be missed until it is down, 1 or more.
    pub misses_to_down: u32,
    /// How many failures in a row must be told until it is down, 1 or more.
    pub fails_to_down: u32,
    /// How many sources must have pinged within period and grace, 1 or more.
    pub min_sources: u32,
}

/// Why a rule cannot be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// The period is too short or too long.
    #[error("period_ms is 5000 to 400 days")]
    Period,
    /// Grace or run is too long.
    #[error("grace_ms, early_ms and max_run_ms are at most 400 days, and max_run_ms at least 1")]
    Duration,
    /// A threshold is out of range.
    #[error("misses_to_down and fails_to_down are 1 to 100, min_sources 1 to 1000")]
    Threshold,
}

impl Rule {
    /// Returns how the verdict judges what a heartbeat tells it: at once and both ways, since misses and
    /// failures are counted here, and never as stale, since silence is judged here.
    pub fn verdict_rule(&self, severity: Severity, remind_every_ms: Option<u64>) -> verdict::Rule {
        let interval_ms = match &self.expects {
            Expectation::Every { period_ms } => *period_ms,
            Expectation::Cron { .. } => self.grace_ms,
        };
        verdict::Rule {
            fails_to_fire: 1,
            oks_to_resolve: 1,
            interval_ms: interval_ms.max(MIN_PERIOD_MS),
            stale_after_ms: u64::MAX,
            severity,
            no_data_severity: None,
            remind_every_ms,
        }
    }

    /// Checks what the types cannot say.
    ///
    /// # Errors
    /// Which fields are out of range.
    pub fn check(&self) -> Result<(), RuleError> {
        let early_ms = match &self.expects {
            Expectation::Every { period_ms } if !(MIN_PERIOD_MS..=MAX_DURATION_MS).contains(period_ms) => {
                return Err(RuleError::Period);
            }
            Expectation::Every { .. } => 0,
            Expectation::Cron { early_ms, .. } => early_ms.unwrap_or(0),
        };
        let longest = self.grace_ms.max(self.max_run_ms).max(early_ms);
        if longest > MAX_DURATION_MS || self.max_run_ms == 0 {
            return Err(RuleError::Duration);
        }
        let thresholds = 1..=MAX_THRESHOLD;
        let sources = usize::try_from(self.min_sources).unwrap_or(usize::MAX);
        if !thresholds.contains(&self.misses_to_down)
            || !thresholds.contains(&self.fails_to_down)
            || !(1..=MAX_SOURCES).contains(&sources)
        {
            return Err(RuleError::Threshold);
        }
        Ok(())
    }
}

/// What a ping says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The job is well, or has ended well.
    Ok,
    /// The job has failed.
    Fail,
    /// The job has ended with this exit code; 0 is well.
    Exit(i64),
    /// A run begins.
    Start,
    /// Something worth keeping; it changes nothing.
    Log,
}

/// A ping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ping {
    /// What it says.
    pub kind: Kind,
    /// Which run it is about, if it says so.
    pub run_id: Option<String>,
    /// Who sent it, if it says so.
    pub source_id: Option<String>,
}

/// Why a heartbeat is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Pings were missed.
    Missed,
    /// The job said that it failed.
    Failed,
    /// A run did not end in time.
    RunTimeout,
}

/// Where a heartbeat stands. Being late is no phase of its own: see [`State::is_late`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It has never been well.
    New,
    /// It is well.
    Up,
    /// It was resumed and has not pinged since.
    Waiting,
    /// It is not well.
    Down {
        /// Since when.
        since: Timestamp,
        /// Why.
        reason: Reason,
    },
    /// Somebody has paused it.
    Paused,
}

/// A run that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Its id; `None` for the one run without.
    pub id: Option<String>,
    /// Its first start.
    pub started_at: Timestamp,
    /// When it should have ended.
    pub deadline_at: Timestamp,
    /// Whether that has been judged.
    pub is_overdue: bool,
}

/// A source and when it was well last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Its id; empty for pings that name none.
    pub id: String,
    /// When.
    pub ok_at: Timestamp,
}

/// What is known about a heartbeat; the whole of it is stored with each ping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Where it stands.
    pub phase: Phase,
    /// What the expectation counts from: the last ping that was well, or the resume.
    pub anchor_at: Option<Timestamp>,
    /// When it was well last, with enough sources.
    pub last_ok_at: Option<Timestamp>,
    /// When the next ping is expected.
    pub expected_at: Option<Timestamp>,
    /// When it is missed.
    pub deadline_at: Option<Timestamp>,
    /// The last slot of a crontab that was satisfied or missed; none is judged twice.
    pub judged_slot_at: Option<Timestamp>,
    /// Pings missed in a row.
    pub miss_count: u32,
    /// The first deadline that was missed in a row.
    pub missed_since: Option<Timestamp>,
    /// Failures told in a row.
    pub fail_count: u32,
    /// Whether the ping that is expected was given more time for a blackout of our own.
    pub is_granted: bool,
    /// Runs that have not ended, oldest first.
    pub runs: Vec<Run>,
    /// Who has pinged.
    pub sources: Vec<Source>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            phase: Phase::New,
            anchor_at: None,
            last_ok_at: None,
            expected_at: None,
            deadline_at: None,
            judged_slot_at: None,
            miss_count: 0,
            missed_since: None,
            fail_count: 0,
            is_granted: false,
            runs: Vec::new(),
            sources: Vec::new(),
        }
    }
}

impl State {
    /// Tells whether the ping that is expected should have come already.
    pub fn is_late(&self, now: Timestamp) -> bool {
        matches!(self.phase, Phase::Up | Phase::Waiting) && self.expected_at.is_some_and(|at| at <= now)
    }

    /// Returns when something is to be judged if nothing happens before.
    pub fn wake_at(&self) -> Option<Timestamp> {
        let runs = self.runs.iter().filter(|run| !run.is_overdue).map(|run| run.deadline_at);
        self.deadline_at.into_iter().chain(runs).min()
    }
}

/// What happens to a heartbeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// It pings.
    Ping(Ping),
    /// Time went by.
    Tick,
    /// We ourselves were not there for a while; told once, when it is over, and before anything else.
    Blackout(Span),
    /// The wall clock was set, by so many milliseconds.
    ClockStep {
        /// Positive if it was set forward.
        by_ms: i64,
    },
    /// Its rule was edited; the rule given is the new one.
    Edited,
    /// Somebody pauses it.
    Pause,
    /// Somebody resumes it.
    Resume,
}

/// What a step causes, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// A sample for the verdict.
    Judged {
        /// What it says.
        outcome: Outcome,
        /// As of when; an outage begins with the first ping that was missed.
        at: Timestamp,
    },
    /// It came up or went down.
    Flipped(Phase),
    /// A run has ended.
    RunEnded {
        /// Its id, if it has one.
        id: Option<String>,
        /// How long it took.
        duration_ms: u64,
    },
    /// A start beyond the limit of open runs is not watched.
    RunNotWatched,
    /// The ping was counted, but the next slot still wants one of its own.
    SlotStillExpected {
        /// Which slot.
        slot_at: Timestamp,
    },
    /// A ping may have been lost in our own blackout; it was given more time, this once.
    Unverifiable {
        /// When it was expected.
        expected_at: Timestamp,
    },
}

#[cfg(test)]
mod tests;
