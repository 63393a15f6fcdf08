//! The crate's only look at the system's clock: for how long requests take and how old an answer is.

use std::time::{Duration, Instant};

/// Measures from its beginning on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    /// Begins.
    #[expect(clippy::disallowed_methods, reason = "this module is the crate's clock")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// Returns the time since the beginning.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
