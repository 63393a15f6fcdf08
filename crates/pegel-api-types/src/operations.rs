//! The operations on a cluster, one file for each: what is asked, what is answered, what holds for every call.
//!
//! Names of databases and tables are plain texts here; whoever answers checks them. No input is flattened, so
//! that each reads from a query as well as from JSON.

pub mod acls;
pub mod buckets;
pub mod cluster;
pub mod cluster_config;
pub mod connection_test;
pub mod database;
pub mod databases;
pub mod offsets;
pub mod partition_spec;
pub mod partitions;
pub mod properties;
pub mod servers;
pub mod stats;
pub mod table;
pub mod tables;

use crate::operation::{Meta, Operation};

/// Calls a macro with the types of all operations, separated by commas.
///
/// ```
/// macro_rules! count {
///     ($($operation:ty),* $(,)?) => { [$(<$operation as pegel_api_types::operation::Operation>::META.id),*].len() };
/// }
/// assert_eq!(pegel_api_types::for_each_operation!(count), pegel_api_types::operations::ALL.len());
/// ```
#[macro_export]
macro_rules! for_each_operation {
    ($callback:ident) => {
        $callback! {
            $crate::operations::cluster::GetCluster,
            $crate::operations::servers::ListServers,
            $crate::operations::databases::ListDatabases,
            $crate::operations::database::GetDatabase,
            $crate::operations::tables::ListTables,
            $crate::operations::table::GetTable,
            $crate::operations::partitions::ListPartitions,
            $crate::operations::offsets::GetTableOffsets,
            $crate::operations::stats::GetTableStats,
            $crate::operations::cluster_config::ListClusterConfig,
            $crate::operations::acls::ListAcls,
        }
    };
}

macro_rules! metas {
    ($($operation:ty),* $(,)?) => { &[$(<$operation as Operation>::META),*] };
}

/// What holds for every call of each operation, in the order in which people meet them.
pub const ALL: &[Meta] = for_each_operation!(metas);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::operation::Risk;

    #[test]
    fn ids_and_routes_are_unique_and_well_formed() {
        let ids: BTreeSet<_> = ALL.iter().map(|meta| meta.id).collect();
        let routes: BTreeSet<_> = ALL.iter().map(|meta| meta.route).collect();
        assert_eq!((ids.len(), routes.len()), (ALL.len(), ALL.len()));
        for meta in ALL {
            assert!(meta.id.contains('_') && meta.id.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'));
            assert!(meta.route.starts_with("operations/"), "{}", meta.route);
            assert!(!meta.summary.ends_with('.') && !meta.summary.is_empty());
            assert_eq!(meta.phrase.is_some(), meta.risk != Risk::Read, "{}", meta.id);
        }
    }

    #[test]
    fn reads_of_the_manual_are_all_there() {
        let reads: Vec<_> =
            ALL.iter().filter(|meta| meta.risk == Risk::Read).map(|meta| meta.route).collect();
        assert_eq!(
            reads,
            [
                "operations/cluster",
                "operations/servers",
                "operations/databases",
                "operations/databases/detail",
                "operations/tables",
                "operations/tables/detail",
                "operations/partitions",
                "operations/tables/offsets",
                "operations/tables/stats",
                "operations/cluster-config",
                "operations/acls",
            ]
        );
    }
}
