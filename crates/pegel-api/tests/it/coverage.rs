//! What holds for every operation of the OpenAPI document, whoever adds one.
//!
//! The cases are made from the document: who may not is refused by name, what is not there is not there,
//! and what changes something is written down. A new operation needs an example below, or a test fails.

use std::collections::BTreeMap;

use axum::http::{Method, StatusCode};
use fluss_testkit::fake_server::FakeCluster;
use pegel_core::access::Role;
use pegel_core::access::permissions::{self, default_grants};
use serde_json::{Value, json};

use crate::alerting::{self, maintenance, silence};
use crate::app::{Answer, Client, TestApp, password_of};
use crate::clusters::{fake, register, registration};
use crate::monitoring::{self, channel, monitor};
use crate::on_both;
use crate::openapi::{Documented, documented};

on_both!(
    nobody_gets_anywhere_without_signing_in,
    what_a_role_may_follows_from_its_grants,
    the_permission_that_is_named_is_the_one_that_counts,
    outside_of_the_scope_there_is_nothing,
    what_is_not_there_is_not_found,
    every_change_is_written_down_under_its_request,
);

/// An id that nothing has.
const NOBODY: &str = "01900000-0000-7000-8000-000000000009";

/// A cluster that is not there.
const NOWHERE: &str = "nowhere";

/// What an operation is asked with, so that only rights and targets decide about the answer.
struct Example {
    query: &'static str,
    body: Option<Value>,
}

/// Returns an example for every operation.
fn example(operation: &Documented) -> Example {
    let query = |query| Example { query, body: None };
    let body = |body| Example { query: "", body: Some(body) };
    let connection = json!({ "connection": { "endpoint": "127.0.0.1:1" } });
    let id = operation.id.strip_suffix("_by_body").unwrap_or(&operation.id);
    let example = match id {
        "get_health"
        | "get_readiness"
        | "get_metrics"
        | "redirect_operations"
        | "get_openapi"
        | "stream_changes" => query(""),
        "get_session" | "delete_session" | "list_own_sessions" | "revoke_own_other_sessions" => query(""),
        "revoke_own_session" | "list_own_tokens" | "revoke_own_token" | "list_tokens" | "revoke_token" => {
            query("")
        }
        "list_users" | "get_user" | "delete_user" | "list_user_sessions" | "revoke_user_sessions" => {
            query("")
        }
        "revoke_user_session" | "reset_user_password" | "list_audit_entries" | "verify_audit" => query(""),
        "list_routes" | "list_silences" | "get_silence" => query(""),
        "list_maintenance_windows" | "get_maintenance_window" => query(""),
        "list_incidents" | "get_incident" | "list_incident_events" => query(""),
        "acknowledge_incident" => query(""),
        "list_monitors" | "get_monitor" | "pause_monitor" | "resume_monitor" => query(""),
        "create_heartbeat_key" | "try_monitor" => query(""),
        "create_monitor" => body(monitor()),
        "update_monitor" => body(json!({ "version": 1, "monitor": monitor()["monitor"] })),
        "list_channels" | "get_channel" | "test_channel" => query(""),
        "create_channel" => body(channel("pages")),
        "update_channel" => body(json!({ "version": 1, "channel": channel("pages")["channel"] })),
        "remove_monitor" | "remove_channel" => query("version=1"),
        "comment_incident" => body(json!({ "text": "looking at it" })),
        "replace_routes" => body(json!({ "version": 0, "routes": [] })),
        "preview_routes" => body(json!({ "severity": "high", "labels": { "cluster": "eu" } })),
        "create_silence" => body(silence()),
        "update_silence" => body(json!({ "version": 1, "silence": silence() })),
        "create_maintenance_window" => body(maintenance()),
        "update_maintenance_window" => body(json!({ "version": 1, "window": maintenance() })),
        "remove_silence" | "remove_maintenance_window" => query("version=1"),
        "list_clusters" | "get_registered_cluster" | "list_operations" | "test_cluster" => query(""),
        "create_session" => body(json!({ "name": "nobody", "password": "not a password" })),
        "change_own_password" => {
            body(json!({ "current_password": "not the password", "new_password": "another password" }))
        }
        "create_own_token" => {
            body(json!({ "name": "t", "role": "viewer", "grants": [], "scope": "all", "expires_in_days": 1 }))
        }
        "create_user" => body(json!({ "name": "new", "role": "viewer", "scope": "all" })),
        "update_user" => body(json!({ "version": 1, "display_name": "", "role": "viewer", "grants": null,
                                      "scope": "all", "is_disabled": false })),
        "register_cluster" => body(registration("new", "127.0.0.1:1")),
        "update_cluster" => {
            body(json!({ "version": 1, "name": "x", "environment": "test", "read_only": false,
                                         "connection": connection["connection"] }))
        }
        "remove_cluster" => query("version=1"),
        "test_connection" | "test_changed_connection" => body(connection),
        "get_cluster"
        | "list_servers"
        | "list_databases"
        | "list_tables"
        | "list_cluster_config"
        | "list_acls" => query(""),
        "get_database" => query("database=shop"),
        "get_table" | "list_partitions" | "get_table_offsets" | "get_table_stats" => {
            query("database=shop&table=orders")
        }
        other => panic!("there is no example of {other}: add one"),
    };
    if operation.id.ends_with("_by_body") { body(body_of(example.query)) } else { example }
}

/// Makes a body of a query's parameters.
fn body_of(query: &str) -> Value {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), json!(value))).collect::<serde_json::Map<_, _>>().into()
}

/// Asks an operation about a cluster, and about ids that nothing has.
async fn ask(client: &Client, operation: &Documented, cluster: &str) -> Answer {
    let Example { query, body } = example(operation);
    let path = operation.path.replace("{cluster}", cluster);
    let path = path.replace("{id}", NOBODY).replace("{session_id}", NOBODY);
    let path = if query.is_empty() { path } else { format!("{path}?{query}") };
    let method = Method::from_bytes(operation.method.to_uppercase().as_bytes()).unwrap();
    client.call(method, &path, body).await
}

/// Returns the operations of the API that need a login. A stream has no end to wait for.
fn closed() -> impl Iterator<Item = Documented> {
    documented().into_iter().filter(|operation| !operation.is_public())
}

fn with_permission() -> impl Iterator<Item = (Documented, String)> {
    closed().filter_map(|operation| {
        let permission = operation.permission()?.to_owned();
        Some((operation, permission))
    })
}

async fn setting(app: &TestApp) -> (Client, FakeCluster) {
    let (admin, fake) = (app.admin().await, fake());
    register(&admin, "eu", &fake).await;
    (admin, fake)
}

async fn nobody_gets_anywhere_without_signing_in(app: TestApp) {
    for operation in closed() {
        ask(&app.stranger(), &operation, "eu").await.refused(401, "sign_in_required");
        ask(&app.bearer("pgl_x"), &operation, "eu").await.refused(401, "sign_in_required");
    }
}

async fn what_a_role_may_follows_from_its_grants(app: TestApp) {
    let (admin, _fake) = setting(&app).await;
    for role in Role::ALL {
        let person = app.person(&admin, &format!("a-{role}"), role).await;
        let grants = default_grants(role);
        for (operation, name) in with_permission() {
            let permission = permissions::find(&name).unwrap();
            let may = role >= permission.minimum_role && grants.iter().any(|grant| grant.matches(&name));
            let answer = ask(&person, &operation, "eu").await;
            if may {
                let is_refused = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&answer.status);
                assert!(!is_refused, "{role} may {}: {}", operation.id, answer.text);
            } else {
                answer.refused(403, "permission_denied");
                let detail = answer.json()["detail"].as_str().unwrap().to_owned();
                assert!(detail.contains(&name), "{}: {detail}", operation.id);
            }
        }
    }
}

async fn the_permission_that_is_named_is_the_one_that_counts(app: TestApp) {
    let (admin, _fake) = setting(&app).await;
    let mut by_permission: BTreeMap<String, Vec<Documented>> = BTreeMap::new();
    for (operation, name) in with_permission() {
        by_permission.entry(name).or_default().push(operation);
    }
    for (number, (name, operations)) in by_permission.into_iter().enumerate() {
        let all: Vec<&str> = permissions::ALL
            .iter()
            .map(|permission| permission.name)
            .filter(|other| *other != name)
            .collect();
        let without =
            json!({ "name": format!("without-{number}"), "role": "admin", "grants": all, "scope": "all" });
        let without = app.person_with(&admin, without).await;
        for operation in &operations {
            let answer = ask(&without, operation, "eu").await;
            answer.refused(403, "permission_denied");
            assert!(answer.text.contains(&name), "{}: {}", operation.id, answer.text);
        }
    }
}

async fn outside_of_the_scope_there_is_nothing(app: TestApp) {
    let (admin, _fake) = setting(&app).await;
    let scope = json!({ "clusters": [{ "cluster": "us", "tables": "all" }] });
    let elsewhere = app.person_with(&admin, json!({ "name": "ann", "role": "admin", "scope": scope })).await;
    for operation in closed().filter(|operation| operation.path.contains("{cluster}")) {
        let answer = ask(&elsewhere, &operation, "eu").await;
        answer.refused(404, "not_found");
        let not_there = ask(&elsewhere, &operation, NOWHERE).await;
        let words = |answer: &Answer| answer.json()["detail"].as_str().unwrap().to_owned();
        assert_eq!(
            words(&answer).replace("eu", NOWHERE),
            words(&not_there),
            "{} tells them apart",
            operation.id
        );
    }
}

async fn what_is_not_there_is_not_found(app: TestApp) {
    let (admin, _fake) = setting(&app).await;
    for operation in closed().filter(|operation| operation.path.contains('{')) {
        ask(&admin, &operation, NOWHERE).await.refused(404, "not_found");
    }
}

async fn every_change_is_written_down_under_its_request(app: TestApp) {
    let (admin, fake) = setting(&app).await;
    for operation in documented() {
        let Some(action) = operation.audited() else { continue };
        let answer = succeed(&app, &admin, &fake, &operation.id).await;
        assert!(answer.status.is_success(), "{}: {}", operation.id, answer.text);
        let request_id = answer.headers["x-request-id"].to_str().unwrap();
        let rows = admin.get(&format!("/api/v1/audit?action={action}&limit=5")).await.expect(StatusCode::OK);
        let rows = rows["items"].as_array().unwrap();
        let row = rows.iter().find(|row| row["request_id"] == request_id);
        let row = row.unwrap_or_else(|| panic!("{}: no row of {request_id} in {rows:?}", operation.id));
        assert_eq!((&row["action"], &row["outcome"]), (&json!(action), &json!("ok")), "{}", operation.id);
    }
    // A no is written down too.
    let viewer = app.person(&admin, "viewer", Role::Viewer).await;
    let answer = viewer.get("/api/v1/users").await;
    let rows = admin.get("/api/v1/audit?action=access.denied").await.expect(StatusCode::OK);
    assert_eq!(rows["items"][0]["request_id"], answer.headers["x-request-id"].to_str().unwrap());
    assert_eq!(rows["items"][0]["outcome"], "permission_denied");
}

/// Does a change that succeeds, whatever it takes.
async fn succeed(app: &TestApp, admin: &Client, fake: &FakeCluster, id: &str) -> Answer {
    let login = json!({ "name": "admin", "password": password_of("admin") });
    let someone = async |name: &str| {
        let new = json!({ "name": name, "role": "viewer", "scope": "all" });
        let made = admin.post("/api/v1/users", new).await.expect(StatusCode::CREATED);
        let user_id = made["user"]["id"].as_str().unwrap().to_owned();
        let client = app.settle(name, made["password"].as_str().unwrap()).await;
        (client, format!("/api/v1/users/{user_id}"))
    };
    let session_of = async |client: &Client| {
        let info = client.get("/api/v1/session").await.expect(StatusCode::OK);
        info["session_id"].as_str().unwrap().to_owned()
    };
    let token = json!({ "name": "t", "role": "viewer", "grants": [], "scope": "all", "expires_in_days": 1 });
    let token_id = async || {
        let made = admin.post("/api/v1/account/tokens", token.clone()).await.expect(StatusCode::CREATED);
        made["token"]["id"].as_str().unwrap().to_owned()
    };
    let form = json!({ "connection": { "endpoint": fake.bootstrap() } });
    let version = async |slug: &str| {
        admin.get(&format!("/api/v1/clusters/{slug}")).await.expect(StatusCode::OK)["version"].clone()
    };
    match id {
        "create_session" => app.stranger().post("/api/v1/session", login).await,
        "delete_session" => app.login("admin", &password_of("admin")).await.delete("/api/v1/session").await,
        "change_own_password" => {
            let (client, _) = someone("changes-password").await;
            let change = json!({ "current_password": password_of("changes-password"),
                                 "new_password": "another password" });
            client.post("/api/v1/account/password", change).await
        }
        "revoke_own_session" => {
            let other = app.login("admin", &password_of("admin")).await;
            let path = format!("/api/v1/account/sessions/{}", session_of(&other).await);
            admin.delete(&path).await
        }
        "revoke_own_other_sessions" => admin.delete("/api/v1/account/sessions").await,
        "create_own_token" => admin.post("/api/v1/account/tokens", token.clone()).await,
        "revoke_own_token" => admin.delete(&format!("/api/v1/account/tokens/{}", token_id().await)).await,
        "revoke_token" => admin.delete(&format!("/api/v1/tokens/{}", token_id().await)).await,
        "create_user" => {
            admin.post("/api/v1/users", json!({ "name": "made", "role": "viewer", "scope": "all" })).await
        }
        "update_user" => {
            let (_, path) = someone("changed").await;
            let user = admin.get(&path).await.expect(StatusCode::OK);
            let change = json!({ "version": user["version"], "display_name": "", "role": "editor",
                                 "grants": null, "scope": "all", "is_disabled": false });
            admin.put(&path, change).await
        }
        "delete_user" => {
            let (_, path) = someone("removed").await;
            admin.delete(&path).await
        }
        "reset_user_password" => {
            let (_, path) = someone("reset").await;
            admin.post(&format!("{path}/password-reset"), json!({})).await
        }
        "revoke_user_sessions" => {
            let (_, path) = someone("signed-out").await;
            admin.delete(&format!("{path}/sessions")).await
        }
        "revoke_user_session" => {
            let (client, path) = someone("signed-out-once").await;
            admin.delete(&format!("{path}/sessions/{}", session_of(&client).await)).await
        }
        "register_cluster" => admin.post("/api/v1/clusters", registration("made", &fake.bootstrap())).await,
        "update_cluster" => {
            let change = json!({ "version": version("eu").await, "name": "Renamed", "environment": "test",
                                 "read_only": false, "connection": form["connection"] });
            admin.put("/api/v1/clusters/eu", change).await
        }
        "remove_cluster" => {
            register(admin, "removed", fake).await;
            admin.delete(&format!("/api/v1/clusters/removed?version={}", version("removed").await)).await
        }
        "test_cluster" => admin.post("/api/v1/clusters/eu/test", json!({})).await,
        "test_changed_connection" => admin.post("/api/v1/clusters/eu/connection-tests", form).await,
        "test_connection" => admin.post("/api/v1/connection-tests", form).await,
        other => match alerting::succeed(app, admin, other).await {
            Some(answer) => answer,
            None => match monitoring::succeed(app, admin, other).await {
                Some(answer) => answer,
                None => panic!("nobody knows how {other} succeeds: say it here"),
            },
        },
    }
}
