//! The crate's one place that reads the monotonic clock. Wall time comes from the store's clock.

use std::time::{Duration, Instant};

/// Returns the present moment of the monotonic clock.
#[expect(clippy::disallowed_methods, reason = "this module is the one home of the monotonic clock")]
pub(crate) fn instant() -> Instant {
    Instant::now()
}

/// Returns a span in whole milliseconds.
pub(crate) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
