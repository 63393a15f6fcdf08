//! Registered clusters and the tests of their connections.

mod get_registered_cluster;
mod list_clusters;
mod register_cluster;
mod remove_cluster;
mod test_changed_connection;
mod test_cluster;
mod test_connection;
mod update_cluster;

use crate::endpoint::Endpoint;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        list_clusters::endpoint(),
        register_cluster::endpoint(),
        get_registered_cluster::endpoint(),
        update_cluster::endpoint(),
        remove_cluster::endpoint(),
        test_cluster::endpoint(),
        test_changed_connection::endpoint(),
        test_connection::endpoint(),
    ]
}
