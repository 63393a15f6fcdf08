//! The clients of registered clusters, for probes that look at them.

use std::sync::Arc;

use fluss_client::client::FlussClient;
use pegel_core::ids::ClusterSlug;
use pegel_monitor::probe::FlussClusters;
use pegel_monitor::time::BoxFuture;

use crate::live::registry::Registry;

/// The clusters that are registered.
pub(super) struct Registered {
    registry: Arc<Registry>,
}

impl Registered {
    pub(super) const fn new(registry: Arc<Registry>) -> Self {
        Self { registry }
    }
}

impl FlussClusters for Registered {
    fn client<'a>(&'a self, cluster: &'a ClusterSlug) -> BoxFuture<'a, Option<FlussClient>> {
        let live = self.registry.live(cluster).ok();
        Box::pin(std::future::ready(live.map(|live| live.client.clone())))
    }
}
