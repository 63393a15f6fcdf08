//! How much of a failure someone may read: addresses and the words of servers are not for everyone.

use pegel_core::access::decision::{Decision, Target, decide};
use pegel_core::access::permissions::CLUSTER_READ;
use pegel_core::ids::ClusterSlug;

use crate::caller::Caller;

/// How far someone may look into a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sight {
    /// Codes and what they mean.
    Codes,
    /// Also which server it was.
    Servers,
    /// Also the servers' own words: for the owner of the connection, on their own machine.
    Everything,
}

impl Sight {
    /// Returns how far a caller may look.
    pub(crate) fn of(caller: &Caller, cluster: &ClusterSlug) -> Self {
        if caller.is_local() {
            return Self::Everything;
        }
        match decide(&caller.principal, &CLUSTER_READ, Target::Cluster(cluster)) {
            Decision::Allowed => Self::Servers,
            _ => Self::Codes,
        }
    }
}
