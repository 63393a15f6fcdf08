//! `[clusters]`: how often registered clusters are looked at, and how long a test of a connection may take.

use std::time::Duration;

use pegel_service::clusters;

use crate::settings::problem::{Key, Problems};
use crate::settings::section::section;

section! {
    /// How registered clusters are looked at.
    ClustersSection as "clusters" {
        inventory_refresh_seconds: u64 = PEGEL_CLUSTERS_INVENTORY_REFRESH_SECONDS,
        liveness_seconds: u64 = PEGEL_CLUSTERS_LIVENESS_SECONDS,
        connection_test_seconds: u64 = PEGEL_CLUSTERS_CONNECTION_TEST_SECONDS,
    }
}

impl ClustersSection {
    /// Checks everything and fills in defaults.
    pub(super) fn validate(self, problems: &mut Problems) -> clusters::Settings {
        let key = |name: &'static str| -> Key { (Self::TABLE, name) };
        let refresh =
            problems.number(key("inventory_refresh_seconds"), self.inventory_refresh_seconds, 60, 10..=3_600);
        let liveness = problems.number(key("liveness_seconds"), self.liveness_seconds, 5, 1..=300);
        let test = problems.number(key("connection_test_seconds"), self.connection_test_seconds, 60, 5..=150);
        let test_deadline = Duration::from_secs(test);
        let mut settings = clusters::Settings { test_deadline, ..clusters::Settings::default() };
        settings.inventory.refresh_every = Duration::from_secs(refresh);
        settings.liveness.look_every = Duration::from_secs(liveness);
        settings
    }
}
