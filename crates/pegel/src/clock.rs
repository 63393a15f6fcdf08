//! The binary's one place that reads clocks and makes ids.

use std::time::Instant;

use jiff::Timestamp;
use uuid::Uuid;

/// Returns the present wall time in whole milliseconds, which is as fine as an answer's age can be.
#[expect(clippy::disallowed_methods, reason = "this module is the one home of the wall clock")]
pub(crate) fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}

/// Returns the present moment of the monotonic clock.
#[expect(clippy::disallowed_methods, reason = "this module is the one home of the monotonic clock")]
pub(crate) fn instant() -> Instant {
    Instant::now()
}

/// Returns whole milliseconds since `start`.
pub(crate) fn millis_since(start: Instant) -> u64 {
    u64::try_from(instant().duration_since(start).as_millis()).unwrap_or(u64::MAX)
}

/// Returns a new id of an execution.
pub(crate) fn execution_id() -> Uuid {
    Uuid::now_v7()
}
