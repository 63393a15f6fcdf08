//! A line of words for the person who waits.

use std::fmt;
use std::sync::Arc;

/// Takes one line of progress at a time; cheap to clone.
#[derive(Clone)]
pub struct Progress(Arc<dyn Fn(&str) + Send + Sync>);

impl Progress {
    /// Passes each line to `sink`.
    pub fn new(sink: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(sink))
    }

    /// Drops every line.
    pub fn silent() -> Self {
        Self::new(|_| {})
    }

    /// Hands one line on.
    pub(crate) fn say(&self, line: impl AsRef<str>) {
        (self.0)(line.as_ref());
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Progress")
    }
}
