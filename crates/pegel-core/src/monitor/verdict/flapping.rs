//! When a monitor changes too often to be told each time.

use jiff::Timestamp;

use crate::monitor::span::{elapsed_ms, later};
use crate::monitor::verdict::{Rule, State};

/// The most begins and ends of firings in [`WINDOW_MS`] that are told one by one.
pub const MAX_CHANGES: usize = 6;

/// The time over which changes are counted.
pub const WINDOW_MS: u64 = 3_600_000;

/// For how many intervals nothing may change before it counts as calm.
pub const CALM_INTERVALS: u64 = 3;

/// Notes that a firing began or ended; tells whether that is too often.
pub(super) fn note_change(state: &mut State, now: Timestamp) -> bool {
    state.changes.push(now);
    state.changes.retain(|at| elapsed_ms(*at, now) < WINDOW_MS);
    let is_too_often = state.changes.len() > MAX_CHANGES;
    // More than this many change nothing, so that the state stays small.
    let excess = state.changes.len().saturating_sub(MAX_CHANGES + 1);
    state.changes.drain(..excess);
    is_too_often
}

/// Returns when it counts as calm if nothing changes.
pub(super) fn calm_at(changed_at: Timestamp, rule: &Rule) -> Timestamp {
    later(changed_at, rule.interval_ms.saturating_mul(CALM_INTERVALS))
}
