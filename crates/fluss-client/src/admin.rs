//! Administration reads: everything a cluster tells about itself.
//!
//! Catalog answers come from the coordinator alone. Nothing here changes the cluster.

mod acl;
mod catalog;
mod cluster;
mod glance;
mod snapshot;

pub use acl::{AclEntry, AclFilter, Principal};
pub use catalog::{DatabaseInfo, DatabaseSummary, PartitionInfo, SchemaInfo, TableInfo};
pub use cluster::{ConfigEntry, ServerRole, ServerStatus};
pub use glance::{Glance, Named};
pub use snapshot::{KvSnapshot, KvSnapshotFile, KvSnapshotFiles, KvSnapshots, LakeBucket, LakeSnapshot};
