//! Whether anything is reached over the network at all.

use std::time::Duration;

use futures_util::future::join_all;
use pegel_core::monitor::span::Span;
use pegel_http::request::Addresses;
use pegel_http::tcp::TcpProbe;
use pegel_store::blackouts::{self, Kind};
use pegel_store::installation;
use serde::{Deserialize, Serialize};

use crate::watch::Watch;

/// The deadline of one look at an anchor.
const LIMIT: Duration = Duration::from_secs(3);

/// For how long what was found holds, so that a thousand failures at once ask once.
const HOLDS_MS: u64 = 3_000;

/// A place that is reached whenever anything is, such as a gateway or a name server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    /// Its host.
    pub host: String,
    /// A port on which it accepts connections.
    pub port: u16,
}

impl Watch {
    /// Tells whether nothing was reached when it was last looked.
    pub fn is_egress_lost(&self) -> bool {
        self.inner.state().egress_lost_since.is_some()
    }

    /// Looks whether anything is reached; tells whether nothing is. The end of such a time is kept as a blackout.
    pub async fn check_egress(&self) -> bool {
        let inner = &self.inner;
        if inner.settings.anchors.is_empty() {
            return false;
        }
        let _checking = inner.checking.lock().await;
        let begun = inner.time.mark();
        let is_fresh = inner
            .state()
            .egress_checked_boot_ms
            .is_some_and(|at| begun.boot_ms.saturating_sub(at) < HOLDS_MS);
        if is_fresh {
            return self.is_egress_lost();
        }
        let looks = inner.settings.anchors.iter().map(|anchor| async {
            let probe = TcpProbe {
                host: anchor.host.clone(),
                port: anchor.port,
                deadline: LIMIT,
                addresses: Addresses::Any,
                is_private_allowed: true,
                tls: None,
                sent: Vec::new(),
                expected: Vec::new(),
            };
            inner.outbound.probe_tcp(&probe).await.is_ok()
        });
        let is_lost = !join_all(looks).await.into_iter().any(|is_reached| is_reached);
        let ended = {
            let mut state = inner.state();
            state.egress_checked_boot_ms = Some(inner.time.boot_ms());
            match (is_lost, state.egress_lost_since) {
                (true, None) => {
                    tracing::error!("nothing is reached over the network");
                    state.egress_lost_since = Some(begun.wall);
                    None
                }
                (false, since) => since,
                (true, Some(_)) => None,
            }
        };
        if let Some(since) = ended {
            self.end_egress_loss(Span::new(since, inner.time.now())).await;
        }
        self.is_egress_lost()
    }

    /// Keeps the time in which nothing was reached; until that is kept, nothing that it explains is judged.
    async fn end_egress_loss(&self, span: Span) {
        let kept = self.inner.db.write(move |tx| {
            Box::pin(async move {
                installation::id(tx).await?;
                blackouts::append(tx, Kind::Egress, span).await
            })
        });
        match kept.await {
            Ok(_) => self.inner.state().egress_lost_since = None,
            Err(error) => {
                tracing::warn!(error = %error, "a loss of the network was not kept");
                self.inner.state().egress_checked_boot_ms = None;
            }
        }
    }
}
