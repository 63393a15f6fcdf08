//! The crate's one place that reads the monotonic clock.
//!
//! It measures how long network operations take; when something is due is [`crate::time`]'s.

use tokio::time::Instant;

/// Returns the present moment of the monotonic clock.
#[expect(clippy::disallowed_methods, reason = "this module is the one home of the monotonic clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Returns the whole milliseconds since an earlier moment.
pub(crate) fn elapsed_ms(since: Instant) -> u64 {
    u64::try_from(now().saturating_duration_since(since).as_millis()).unwrap_or(u64::MAX)
}
