//! What keeps people from being told about a monitor just now.

use jiff::Timestamp;
use pegel_core::monitor::labels::Labels;
use pegel_store::error::Error;
use pegel_store::monitors::Monitor;
use pegel_store::quiet_times::{self, Definition, QuietTime};
use pegel_store::tx::Tx;
use uuid::Uuid;

use crate::routing;

/// A silence or a maintenance that is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withheld {
    /// Which one; if there are several, the one that ends first.
    pub quiet_time_id: Uuid,
    /// Until when at least; then it is to be looked at again.
    pub until: Timestamp,
    /// Whether it is a maintenance.
    pub is_maintenance: bool,
}

/// Returns what keeps people from being told about a monitor at the time of the transaction.
///
/// # Errors
/// As any statement.
pub async fn withheld(tx: &mut Tx<'_>, monitor: &Monitor) -> Result<Option<Withheld>, Error> {
    let now = tx.now();
    let labels = routing::labels_of(monitor);
    let quiet = quiet_times::current(tx, None, quiet_times::MAX_PAGE).await?;
    Ok(quiet.iter().filter_map(|one| in_force(one, &labels, now)).min_by_key(|one| one.until))
}

/// Returns what a silence or a maintenance window keeps from people who would hear of these labels, if it does now.
pub fn in_force(quiet: &QuietTime, labels: &Labels, now: Timestamp) -> Option<Withheld> {
    let (until, is_maintenance) = match &quiet.definition {
        Definition::Silence(silence) if silence.silences(labels, now) => (silence.ends_at, false),
        Definition::Maintenance(maintenance) if maintenance.covers(labels, now) => {
            (maintenance.active_at(now)?.to, true)
        }
        _ => return None,
    };
    Some(Withheld { quiet_time_id: quiet.id, until, is_maintenance })
}
