//! When we ourselves were not there, and when the wall clock was set.
//!
//! Somebody marks every few seconds that we are alive, and stores the mark. A gap between two marks, also
//! over a restart, is a blackout: what should have been heard in it is unknown. A wall clock that does not
//! go as fast as the clock that nobody sets has been set.

use jiff::Timestamp;

use crate::monitor::span::{Span, elapsed_ms, moved};

/// How often to mark that we are alive.
pub const MARK_EVERY_MS: u64 = 5_000;

/// A gap between marks that is longer is a blackout; a busy machine may be a little late.
pub const LONGEST_GAP_MS: u64 = 15_000;

/// A difference between the clocks that is smaller is drift and not a step.
pub const SMALLEST_STEP_MS: u64 = 2_000;

/// What both clocks say at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The wall clock.
    pub wall: Timestamp,
    /// Milliseconds since the machine started, also while it was suspended.
    pub boot_ms: u64,
}

/// What happened between two marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gap {
    /// The wall clock was set by so many milliseconds; to be told before the blackout.
    pub step_ms: Option<i64>,
    /// We were not there, in the present wall time.
    pub blackout: Option<Span>,
}

/// Says what happened between two marks of one running machine.
pub fn between(last: Mark, now: Mark) -> Gap {
    let passed_ms = now.boot_ms.saturating_sub(last.boot_ms);
    let wall_ms = now.wall.as_millisecond().saturating_sub(last.wall.as_millisecond());
    let step = wall_ms.saturating_sub(i64::try_from(passed_ms).unwrap_or(i64::MAX));
    let step_ms = (step.unsigned_abs() >= SMALLEST_STEP_MS).then_some(step);
    let from = moved(last.wall, step_ms.unwrap_or(0));
    Gap { step_ms, blackout: (passed_ms > LONGEST_GAP_MS).then_some(Span::new(from, now.wall)) }
}

/// Says for how long we were not there before this start, if that can be told: from the stored mark of the
/// last run. Where the wall clock says the mark is in the future, it was set back meanwhile by an unknown
/// time, and nothing can be told.
pub fn before_start(stored: Timestamp, now: Timestamp) -> Option<Span> {
    (elapsed_ms(stored, now) > 0).then_some(Span::new(stored, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(wall_ms: i64, boot_ms: u64) -> Mark {
        Mark { wall: Timestamp::from_millisecond(wall_ms).unwrap(), boot_ms }
    }

    fn span(from: i64, to: i64) -> Span {
        Span::new(mark(from, 0).wall, mark(to, 0).wall)
    }

    #[test]
    fn a_late_mark_and_some_drift_are_nothing() {
        assert_eq!(between(mark(100_000, 0), mark(105_000, 5_000)), Gap::default());
        assert_eq!(between(mark(100_000, 0), mark(116_999, 15_000)), Gap::default());
        assert_eq!(between(mark(100_000, 0), mark(100_000, 1_999)), Gap::default());
    }

    #[test]
    fn a_suspended_machine_is_a_blackout_and_no_step() {
        let gap = between(mark(100_000, 0), mark(700_000, 600_000));
        assert_eq!(gap, Gap { step_ms: None, blackout: Some(span(100_000, 700_000)) });
    }

    #[test]
    fn a_step_of_two_seconds_either_way_is_told() {
        assert_eq!(between(mark(100_000, 0), mark(107_000, 5_000)).step_ms, Some(2_000));
        assert_eq!(between(mark(100_000, 0), mark(103_000, 5_000)).step_ms, Some(-2_000));
    }

    #[test]
    fn a_step_within_a_blackout_moves_its_begin() {
        let gap = between(mark(100_000, 0), mark(3_800_000, 100_000));
        assert_eq!(gap, Gap { step_ms: Some(3_600_000), blackout: Some(span(3_700_000, 3_800_000)) });
    }

    #[test]
    fn a_start_tells_the_time_since_the_last_mark() {
        assert_eq!(before_start(mark(1_000, 0).wall, mark(9_000, 0).wall), Some(span(1_000, 9_000)));
        assert_eq!(before_start(mark(9_000, 0).wall, mark(1_000, 0).wall), None);
    }
}
