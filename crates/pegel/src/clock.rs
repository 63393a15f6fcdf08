//! The binary's one place that reads clocks and makes ids.

use jiff::Timestamp;
use uuid::Uuid;

/// Returns the present wall time in whole milliseconds, which is as fine as an answer's age can be.
#[expect(clippy::disallowed_methods, reason = "this module is the one home of the wall clock")]
pub(crate) fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}

/// Returns a new id of an execution.
pub(crate) fn execution_id() -> Uuid {
    Uuid::now_v7()
}

/// The system's wall clock, for everything that takes a clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemClock;

impl pegel_core::clock::Clock for SystemClock {
    fn now(&self) -> Timestamp {
        now()
    }
}
