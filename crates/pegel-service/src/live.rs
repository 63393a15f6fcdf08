//! Live clusters: for each registered cluster one client, kept in step with what is stored.
//!
//! Nothing here decides who may use a cluster, and nothing here writes to the store.

pub(crate) mod budgets;
pub(crate) mod registry;

use fluss_client::client::FlussClient;
use pegel_core::ids::{ClusterSlug, Environment};

use crate::catalog::inventory::Inventory;
use crate::catalog::liveness::Liveness;

/// A registered cluster that can be asked, as it was stored at one version.
///
/// Whoever holds one may go on with it after the cluster was changed or removed; its connections end with
/// the last holder.
pub struct LiveCluster {
    pub(crate) slug: ClusterSlug,
    pub(crate) name: String,
    pub(crate) environment: Environment,
    pub(crate) read_only: bool,
    pub(crate) version: i64,
    pub(crate) client: FlussClient,
    pub(crate) inventory: Inventory,
    pub(crate) liveness: Liveness,
}

impl std::fmt::Debug for LiveCluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveCluster")
            .field("slug", &self.slug)
            .field("name", &self.name)
            .field("environment", &self.environment)
            .field("read_only", &self.read_only)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}
