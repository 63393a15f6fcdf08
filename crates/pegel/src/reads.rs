//! What can be read from a cluster, one question per file.
//!
//! A read asks the client, decides what the answer is worth and hides secrets.
//! It never prints: what a face of Pegel shows is already limited and redacted.

pub(crate) mod acls;
pub(crate) mod buckets;
pub(crate) mod cluster_config;
pub(crate) mod cluster_test;
pub(crate) mod database;
pub(crate) mod databases;
pub(crate) mod offsets;
pub(crate) mod partitions;
pub(crate) mod properties;
pub(crate) mod servers;
pub(crate) mod stats;
pub(crate) mod table;
pub(crate) mod tables;
pub(crate) mod targets;

use pegel_core::envelope::Status;
use pegel_core::limits::Page;

/// Returns the status of a list and a warning when the page lies behind its end.
fn list_status<T>(page: &Page<T>) -> (Status, Option<String>) {
    if page.matched_count == 0 {
        (Status::Empty, None)
    } else if page.items.is_empty() {
        let warning = format!("offset {} is behind the last of {} entries", page.offset, page.matched_count);
        (Status::Ok, Some(warning))
    } else {
        (Status::Ok, None)
    }
}
