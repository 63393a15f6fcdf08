//! The audit log.

mod list_audit_entries;
mod verify_audit;

use crate::endpoint::Endpoint;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![list_audit_entries::endpoint(), verify_audit::endpoint()]
}
