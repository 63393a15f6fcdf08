//! When the next ping is expected.

use jiff::Timestamp;

use crate::monitor::heartbeat::{Expectation, Rule};
use crate::monitor::span::{earlier, elapsed_ms, later};

/// What follows from a ping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Next {
    /// When the next one is expected; `None` only at the end of representable time.
    pub(super) expected_at: Option<Timestamp>,
    /// The slot that this one has satisfied ahead of its time.
    pub(super) satisfied_at: Option<Timestamp>,
}

/// Returns what is expected after a ping at `anchor`, with no slot up to `judged` any more.
pub(super) fn after(rule: &Rule, anchor: Timestamp, judged: Option<Timestamp>) -> Next {
    match &rule.expects {
        Expectation::Every { period_ms } => {
            Next { expected_at: Some(later(anchor, *period_ms)), satisfied_at: None }
        }
        Expectation::Cron { schedule, early_ms } => {
            let slot = schedule.next_after(judged.map_or(anchor, |judged| judged.max(anchor)));
            let following = slot.and_then(|slot| schedule.next_after(slot));
            let (Some(slot), Some(following)) = (slot, following) else {
                return Next { expected_at: slot, satisfied_at: None };
            };
            let tenth = elapsed_ms(slot, following) / 10;
            let early = early_ms.unwrap_or_else(|| rule.grace_ms.min(tenth));
            if earlier(slot, early) <= anchor {
                Next { expected_at: Some(following), satisfied_at: Some(slot) }
            } else {
                Next { expected_at: Some(slot), satisfied_at: None }
            }
        }
    }
}

/// Returns what is expected after the ping that was expected at `expected` was missed.
pub(super) fn after_miss(rule: &Rule, expected: Timestamp) -> Option<Timestamp> {
    match &rule.expects {
        Expectation::Every { period_ms } => Some(later(expected, *period_ms)),
        Expectation::Cron { schedule, .. } => schedule.next_after(expected),
    }
}
