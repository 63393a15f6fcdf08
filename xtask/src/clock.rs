//! The one place where the tasks read a clock.

use std::time::{Duration, Instant};

/// A running stopwatch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts at zero.
    #[expect(clippy::disallowed_methods, reason = "the home of the monotonic clock in this crate")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// Returns the time since the start.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// Returns the present time in UTC, to the second.
#[expect(clippy::disallowed_methods, reason = "the home of the wall clock in this crate")]
pub(crate) fn now() -> jiff::Timestamp {
    let now = jiff::Timestamp::now();
    jiff::Timestamp::from_second(now.as_second()).unwrap_or(now)
}
