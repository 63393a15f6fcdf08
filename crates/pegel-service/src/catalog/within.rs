//! What of a cluster's catalog lies within a caller's scope.

use pegel_core::access::scope::Scope;
use pegel_core::ids::ClusterSlug;

use crate::policy::{Authorized, OwnedTarget};

/// The part of one cluster that a caller may know of.
#[derive(Clone, Copy)]
pub(super) struct Within<'a> {
    scope: &'a Scope,
    cluster: Option<&'a ClusterSlug>,
}

impl<'a> Within<'a> {
    /// Returns the part that the holder of a handle may know of.
    pub(super) fn of<P>(may: &'a Authorized<P>) -> Self {
        let cluster = match may.target() {
            OwnedTarget::Global => None,
            OwnedTarget::Cluster(cluster)
            | OwnedTarget::WholeCluster(cluster)
            | OwnedTarget::Database(cluster, _)
            | OwnedTarget::WholeDatabase(cluster, _)
            | OwnedTarget::Table(cluster, _, _) => Some(cluster),
        };
        Self { scope: &may.caller().principal().scope, cluster }
    }

    /// Makes the part of a cluster that a scope allows.
    #[cfg(test)]
    pub(super) fn whole(scope: &'a Scope, cluster: &'a ClusterSlug) -> Self {
        Self { scope, cluster: Some(cluster) }
    }

    /// Returns whether anything in this database may be known.
    pub(super) fn has_database(self, database: &str) -> bool {
        self.cluster.is_some_and(|cluster| self.scope.allows_database(cluster, database))
    }

    /// Returns whether all tables of this database may be known.
    pub(super) fn has_whole_database(self, database: &str) -> bool {
        self.cluster.is_some_and(|cluster| self.scope.allows_whole_database(cluster, database))
    }

    /// Returns whether this table may be known.
    pub(super) fn has_table(self, database: &str, table: &str) -> bool {
        self.cluster.is_some_and(|cluster| self.scope.allows_table(cluster, database, table))
    }
}
