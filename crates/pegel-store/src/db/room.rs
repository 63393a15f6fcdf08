//! Whether the disk had room for what was last to be written.
//!
//! A small change may find room in the files as they are where a larger one does not: what changes met counts
//! more than a trial.

use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};

use crate::error::Error;

/// How long a refusal counts when nothing is written after it.
const COUNTS_FOR: SignedDuration = SignedDuration::from_secs(10);

/// The refusal that no write has contradicted yet.
#[derive(Debug, Default)]
pub(super) struct Room(Mutex<Option<(Timestamp, Error)>>);

impl Room {
    /// Takes note of how a write ended.
    pub(super) fn note<T>(&self, outcome: &Result<T, Error>, now: Timestamp) {
        match outcome {
            Ok(_) => *self.lock() = None,
            Err(error @ Error::DiskFull { .. }) => *self.lock() = Some((now, error.clone())),
            // Nothing is known of the disk.
            Err(_) => {}
        }
    }

    /// Says whether there is room, as far as is known.
    ///
    /// # Errors
    /// `disk_full`.
    pub(super) fn check(&self, now: Timestamp) -> Result<(), Error> {
        match &*self.lock() {
            Some((at, error)) if now.duration_since(*at) < COUNTS_FOR => Err(error.clone()),
            _ => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<(Timestamp, Error)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
