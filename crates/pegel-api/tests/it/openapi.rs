//! The document as a client gets it, and what it promises about every route.

use std::collections::BTreeSet;

use axum::http::StatusCode;
use pegel_core::access::permissions;
use serde_json::Value;

use crate::app::TestApp;

/// Every route that needs no login. A new one has to be added here, with a reason.
const PUBLIC: [(&str, &str); 9] = [
    // Where one signs in.
    ("post", "/api/v1/session"),
    // For who watches the process; tells nothing else.
    ("get", "/healthz"),
    ("get", "/readyz"),
    // Has a token of its own, or is for this machine only.
    ("get", "/metrics"),
    // A link in other people's documents; leads to a page that asks to sign in, and knows no clusters.
    ("get", "/resources/{cluster}/manage/operations"),
    // For jobs; whoever has a heartbeat's key may ping it.
    ("get", "/heartbeat/{key}"),
    ("post", "/heartbeat/{key}"),
    ("get", "/heartbeat/{key}/{says}"),
    ("post", "/heartbeat/{key}/{says}"),
];

/// One operation of the document.
#[derive(Debug, Clone)]
pub(crate) struct Documented {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) id: String,
    pub(crate) entry: Value,
}

impl Documented {
    pub(crate) fn permission(&self) -> Option<&str> {
        self.entry["x-pegel-permission"].as_str()
    }

    pub(crate) fn audited(&self) -> Option<&str> {
        self.entry["x-pegel-audited"].as_str()
    }

    pub(crate) fn is_public(&self) -> bool {
        self.entry["security"].as_array().unwrap().is_empty()
    }
}

/// Returns every operation of the document.
pub(crate) fn documented() -> Vec<Documented> {
    let document = serde_json::to_value(pegel_api::openapi()).unwrap();
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, entry) in item.as_object().unwrap() {
            let id = entry["operationId"].as_str().unwrap().to_owned();
            all.push(Documented { method: method.clone(), path: path.clone(), id, entry: entry.clone() });
        }
    }
    assert!(all.len() > 40, "the document has only {} operations", all.len());
    all
}

#[test]
fn only_listed_routes_need_no_login() {
    let found: BTreeSet<_> = documented()
        .iter()
        .filter(|operation| operation.is_public())
        .map(|operation| (operation.method.clone(), operation.path.clone()))
        .collect();
    let listed = PUBLIC.map(|(method, path)| (method.to_owned(), path.to_owned()));
    assert_eq!(found, BTreeSet::from(listed));
}

#[test]
fn every_route_says_who_may_and_what_may_go_wrong() {
    for operation in documented() {
        let Documented { id, entry, .. } = &operation;
        assert!(entry["summary"].as_str().is_some_and(|text| text.len() > 8), "{id}");
        let problems = |status: &str| {
            entry["responses"][status]["$ref"] == format!("#/components/responses/Problem{status}")
        };
        if operation.path.starts_with("/api/") {
            for status in ["400", "421", "500", "503"] {
                assert!(problems(status), "{id} does not document {status}");
            }
        }
        if !operation.is_public() {
            assert_eq!(entry["security"].as_array().unwrap().len(), 2, "{id}: cookie or token");
            assert!(problems("401") && problems("403"), "{id}");
        }
        if operation.path.starts_with("/api/") && operation.path.contains('{') {
            assert!(problems("404"), "{id}");
        }
        if entry["requestBody"].is_object() {
            assert!(problems("408") && problems("413") && problems("415"), "{id}");
        }
        if let Some(name) = operation.permission() {
            let permission = permissions::find(name).unwrap_or_else(|| panic!("{id}: {name}"));
            assert_eq!(entry["x-pegel-minimum-role"], permission.minimum_role.as_str(), "{id}");
        }
        let is_success = |status: &String| status.starts_with('2') || status.starts_with('3');
        assert!(entry["responses"].as_object().unwrap().keys().any(is_success), "{id} never succeeds");
    }
}

#[test]
fn every_change_says_how_it_is_audited() {
    // A ping is written down as a ping, under whatever key it came.
    let is_ping = |operation: &&Documented| operation.path.starts_with("/heartbeat/");
    for operation in documented().iter().filter(|operation| operation.method != "get" && !is_ping(operation))
    {
        let is_read = operation.entry["x-pegel-risk"] == "read";
        assert_eq!(operation.audited().is_none(), is_read, "{}", operation.id);
    }
}

#[tokio::test]
async fn the_document_is_for_those_who_have_signed_in() {
    let app = TestApp::sqlite().await;
    app.stranger().get("/api/v1/openapi.json").await.refused(401, "sign_in_required");
    let admin = app.admin().await;
    let document = admin.get("/api/v1/openapi.json").await.expect(StatusCode::OK);
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["components"]["securitySchemes"].as_object().unwrap().len(), 2);
    assert!(document["paths"]["/api/v1/clusters/{cluster}/operations/tables"]["get"].is_object());
}
