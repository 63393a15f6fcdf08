//! The crate's one place that reads the monotonic clock.
//!
//! Deadlines of network operations are real time; nothing here is wall time.

use tokio::time::Instant;

/// Returns the present moment of the monotonic clock.
#[expect(clippy::disallowed_methods, reason = "this module is the one home of the monotonic clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
