//! Audit rows as the service writes them. Details hold ids, names of rules and counts, never a secret.

use pegel_core::access::decision::{Principal, PrincipalKind};
use pegel_store::audit::Entry;
use serde_json::{Value as Json, json};
use uuid::Uuid;

use crate::caller::Caller;

/// Begins a row about what a caller did.
pub(crate) fn of_caller(caller: &Caller, action: &str, target: String) -> Entry {
    of_principal(&caller.principal, caller.request_id, action, target)
}

/// Begins a row about what someone did.
pub(crate) fn of_principal(principal: &Principal, request_id: Uuid, action: &str, target: String) -> Entry {
    Entry {
        request_id: request_id.to_string(),
        principal_kind: principal.kind,
        principal_id: principal.id.to_string(),
        principal_name: principal.name.clone(),
        action: action.to_owned(),
        target,
        outcome: "ok".to_owned(),
        detail: json!({}),
    }
}

/// Begins a row about someone who is not known, or about Pegel itself.
pub(crate) fn of_nobody(kind: PrincipalKind, name: &str, request_id: Uuid, action: &str) -> Entry {
    Entry {
        request_id: request_id.to_string(),
        principal_kind: kind,
        principal_id: String::new(),
        principal_name: name.to_owned(),
        action: action.to_owned(),
        target: "login".to_owned(),
        outcome: "ok".to_owned(),
        detail: json!({}),
    }
}

/// Adds how it ended and more about it.
pub(crate) fn with(entry: Entry, outcome: &str, detail: Json) -> Entry {
    Entry { outcome: outcome.to_owned(), detail, ..entry }
}
