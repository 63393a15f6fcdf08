//! The one place of this crate that reads clocks.
//!
//! A real cluster lives in real time, so nothing here can be faked; the module exists so that
//! the rest of the crate asks for time in one way.

use std::time::Duration;

use tokio::time::Instant;

/// Returns the monotonic instant of now.
#[expect(clippy::disallowed_methods, reason = "this is the crate's one clock module")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Returns the wall clock's instant, for what people read.
#[expect(clippy::disallowed_methods, reason = "this is the crate's one clock module")]
pub(crate) fn wall() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

/// A point in time after which waiting ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    started: Instant,
    bound: Duration,
}

impl Deadline {
    /// Starts counting `bound` from now.
    pub(crate) fn after(bound: Duration) -> Self {
        Self { started: now(), bound }
    }

    /// Tells whether the bound has passed.
    pub(crate) fn passed(&self) -> bool {
        self.left().is_zero()
    }

    /// Returns what is left of the bound.
    pub(crate) fn left(&self) -> Duration {
        self.bound.saturating_sub(self.started.elapsed())
    }

    /// Returns the time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}
