//! An inventory as a list is answered from it, and what has to be said with that.

use std::sync::Arc;

use pegel_core::envelope::{Evidence, EvidenceState, Status};

use crate::catalog::inventory::snapshot::Snapshot;
use crate::catalog::inventory::{Held, Missed};
use crate::execution::{Answer, Execution};
use crate::failure::Failure;

/// The check that tells of the inventory as a whole.
const CHECK: &str = "read_inventory";

/// What a list is answered from.
pub(in crate::catalog) struct View {
    snapshot: Option<Arc<Snapshot>>,
    missed: Option<Missed>,
    is_whole: bool,
}

impl View {
    /// Takes what there is.
    ///
    /// # Errors
    /// Why nothing was ever read.
    pub(in crate::catalog) fn of(held: Held) -> Result<Self, Failure> {
        match held {
            Held::Whole(snapshot, missed) => Ok(Self { snapshot: Some(snapshot), missed, is_whole: true }),
            Held::Reading(snapshot) => Ok(Self { snapshot, missed: None, is_whole: false }),
            Held::Nothing(failure) => Err(failure),
        }
    }

    /// Returns what was read, absent while nothing is.
    pub(in crate::catalog) fn snapshot(&self) -> Option<&Snapshot> {
        self.snapshot.as_deref()
    }

    /// Returns whether everything was read once.
    pub(in crate::catalog) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Makes the answer of a list of which nothing is there yet.
    pub(in crate::catalog) fn without_data<T>(&self) -> Answer<T> {
        Answer::without_data(Status::Unavailable, vec![still_being_read()])
    }

    /// Says that a part is missing: the first reading is under way, or there is more than is kept.
    pub(in crate::catalog) fn mark_unfinished<T>(&self, answer: &mut Answer<T>) {
        answer.status = Status::Partial;
        answer.evidence.push(if self.is_whole { too_many() } else { still_being_read() });
    }

    /// Says how old an answer is, and why there is none that is newer.
    pub(in crate::catalog) fn mark<T>(&self, answer: &mut Answer<T>, execution: &Execution) {
        let Some(snapshot) = &self.snapshot else { return };
        answer.read_at = Some(snapshot.read_at);
        let Some(missed) = &self.missed else { return };
        answer.status = Status::Partial;
        answer.evidence.push(missed.failure.evidence(CHECK, execution.sight));
        answer.warnings.push(format!(
            "the inventory could not be read anew at {}: this is what was there at {}",
            missed.at, snapshot.read_at
        ));
    }
}

fn too_many() -> Evidence {
    let message = "the cluster has more tables than an inventory holds: those that come last are missing";
    Evidence {
        message: message.to_owned(),
        hint: Some("ask for one database, and search for names there".to_owned()),
        ..still_being_read()
    }
}

/// Numbers of tables are not told here: a caller may know of some of them only.
fn still_being_read() -> Evidence {
    Evidence {
        check: CHECK.into(),
        subject: None,
        state: EvidenceState::Skipped,
        code: None,
        message: "the inventory is being read for the first time, and not everything is there yet".to_owned(),
        hint: Some("ask again in a few seconds".to_owned()),
        duration_ms: None,
    }
}
