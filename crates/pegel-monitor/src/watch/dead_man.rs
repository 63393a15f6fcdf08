//! Tells somebody outside that we are alive, so that somebody notices when we are not.

use std::time::Duration;

use pegel_http::egress::PrivateAddresses;
use pegel_http::expect::Expect;
use pegel_http::request::Request;

use crate::watch::Watch;

/// How often it is told.
const EVERY_MS: u64 = 60_000;

/// How long telling may take.
const LIMIT: Duration = Duration::from_secs(10);

impl Watch {
    /// Tells whether it is time to tell it.
    pub(crate) fn is_dead_man_due(&self) -> bool {
        let inner = &self.inner;
        let now = inner.time.boot_ms();
        let told = inner.state().dead_man_boot_ms;
        inner.settings.dead_man_url.is_some() && told.is_none_or(|at| now.saturating_sub(at) >= EVERY_MS)
    }

    /// Tells it if it is time to, and if we are well: who watches is to hear of a stuck delivery, too. Returns
    /// whether it was heard; `None` if nothing was told.
    pub async fn tell_dead_man(&self, schedule_late_ms_max: u64) -> Option<bool> {
        let inner = &self.inner;
        let url = inner.settings.dead_man_url.as_ref().filter(|_| self.is_dead_man_due())?;
        inner.state().dead_man_boot_ms = Some(inner.time.boot_ms());
        if !self.health(schedule_late_ms_max).await.is_well {
            return None;
        }
        let mut request = match Request::get(url, LIMIT) {
            Ok(request) => request,
            Err(error) => {
                tracing::error!(error = %error, "the address of the dead man's switch is unusable");
                return Some(false);
            }
        };
        request.private_addresses = PrivateAddresses::SavedHost;
        let report = inner.outbound.send(&request, &Expect::default()).await;
        if let Some(failure) = &report.failure {
            tracing::warn!(error = %failure.error, "the dead man's switch was not reached");
        }
        Some(report.is_ok())
    }
}
