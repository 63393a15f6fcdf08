//! The crate's one place that reads the monotonic clock.
//!
//! Deadlines of network operations are real time; nothing here is wall time.

use std::time::Duration;

use tokio::time::Instant;

/// Returns the present moment of the monotonic clock.
#[expect(clippy::disallowed_methods, reason = "this module is the one home of the monotonic clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Returns the moment `timeout` from now.
pub(crate) fn deadline_in(timeout: Duration) -> Instant {
    now() + timeout
}

/// Returns the time left until `deadline`, zero when it has passed.
pub(crate) fn remaining(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(now())
}

/// Returns the milliseconds waited since `started`, to be told beside a limit.
///
/// A deadline starts a moment before what it limits, so that nearly the limit is the limit.
pub(crate) fn waited_ms(started: Instant, limit: Duration) -> u64 {
    const MOMENT: Duration = Duration::from_millis(100);
    let waited = now() - started;
    millis(if waited + MOMENT >= limit { limit } else { waited })
}

/// Returns whole milliseconds, saturating.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
