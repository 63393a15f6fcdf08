//! Who is told of what: routes, silences, maintenance windows, and the incidents that there were.
//!
//! What fires and what is sent is decided elsewhere, by the rules of `pegel_core::monitor`; here people see to it.

pub mod incidents;
mod quiet_times;
mod routes;

use pegel_store::Db;

/// The service of alerting. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Alerting {
    db: Db,
}

impl Alerting {
    /// Makes the service.
    pub(crate) const fn new(db: Db) -> Self {
        Self { db }
    }
}
