//! Clusters and their operations over HTTP, against a scripted cluster.

use axum::http::StatusCode;
use fluss_testkit::fake_server::{FakeCluster, NewTable};
use pegel_core::access::Role;
use serde_json::{Value, json};

use crate::app::{Client, TestApp};
use crate::on_both;

on_both!(
    a_cluster_is_registered_seen_changed_and_removed,
    a_connection_is_tested_before_and_after_it_is_saved,
    operations_are_asked_by_query_and_by_body,
    the_list_of_operations_says_what_each_needs,
    a_scope_hides_clusters_and_tables,
);

const CLUSTERS: &str = "/api/v1/clusters";

/// Starts a cluster with a few tables.
pub(crate) fn fake() -> FakeCluster {
    FakeCluster::builder()
        .tablet_servers(1)
        .table(NewTable::primary_key("shop", "orders").buckets(2))
        .table(NewTable::log("shop", "clicks").buckets(1))
        .table(NewTable::log("hr", "people").buckets(1))
        .start()
        .unwrap()
}

/// Registers a cluster under this slug.
pub(crate) async fn register(admin: &Client, slug: &str, fake: &FakeCluster) -> Value {
    let saved = admin.post(CLUSTERS, registration(slug, &fake.bootstrap())).await;
    saved.expect(StatusCode::CREATED)["cluster"].clone()
}

pub(crate) fn registration(slug: &str, endpoint: &str) -> Value {
    json!({ "slug": slug, "name": "Orders", "environment": "test", "connection": { "endpoint": endpoint } })
}

/// Leaves out what the watch may have seen in between.
fn without_state(mut cluster: Value) -> Value {
    cluster.as_object_mut().unwrap().remove("state");
    cluster
}

async fn a_cluster_is_registered_seen_changed_and_removed(app: TestApp) {
    let (admin, fake) = (app.admin().await, fake());
    let cluster = register(&admin, "eu", &fake).await;
    assert_eq!((&cluster["slug"], &cluster["environment"]), (&json!("eu"), &json!("test")));
    let again = admin.post(CLUSTERS, registration("eu", &fake.bootstrap())).await;
    again.refused(409, "conflict");
    register(&admin, "us", &fake).await;

    let seen = admin.get(&format!("{CLUSTERS}/eu")).await.expect(StatusCode::OK);
    assert_eq!(without_state(seen), without_state(cluster.clone()));
    let page = admin.get(&format!("{CLUSTERS}?limit=1")).await.expect(StatusCode::OK);
    let cursor = page["next_cursor"].as_str().unwrap();
    let next = admin.get(&format!("{CLUSTERS}?limit=1&cursor={cursor}")).await.expect(StatusCode::OK);
    assert_eq!((&page["items"][0]["slug"], &next["items"][0]["slug"]), (&json!("eu"), &json!("us")));
    assert_eq!(next["next_cursor"], Value::Null);

    let change = |version: &Value| {
        json!({ "version": version, "name": "Orders EU", "environment": "production", "read_only": true,
                "connection": { "endpoint": fake.bootstrap() } })
    };
    let path = format!("{CLUSTERS}/eu");
    let changed = admin.put(&path, change(&cluster["version"])).await.expect(StatusCode::OK);
    assert_eq!(
        (&changed["cluster"]["name"], &changed["connection_test"]),
        (&json!("Orders EU"), &Value::Null)
    );
    admin.put(&path, change(&cluster["version"])).await.refused(409, "conflict");
    admin.delete(&format!("{path}?version={}", cluster["version"])).await.refused(409, "conflict");
    admin.delete(&path).await.refused(400, "invalid");
    let removed = admin.delete(&format!("{path}?version={}", changed["cluster"]["version"])).await;
    assert_eq!(removed.status, StatusCode::NO_CONTENT, "{}", removed.text);
    admin.get(&path).await.refused(404, "not_found");
    admin.get(&format!("{CLUSTERS}/No_Slug")).await.refused(404, "not_found");
}

async fn a_connection_is_tested_before_and_after_it_is_saved(app: TestApp) {
    let (admin, fake) = (app.admin().await, fake());
    let form = json!({ "connection": { "endpoint": fake.bootstrap() } });
    let test = admin.post("/api/v1/connection-tests", form.clone()).await.expect(StatusCode::OK);
    assert_eq!(test["status"], "ok", "{test}");
    let wrong = json!({ "connection": { "endpoint": "not an address", "security_protocol": "SSL" } });
    let answer = admin.post("/api/v1/connection-tests", wrong).await;
    answer.refused(400, "invalid");
    let problem = answer.json();
    let pointers: Vec<_> =
        problem["errors"].as_array().unwrap().iter().map(|error| &error["pointer"]).collect();
    assert!(pointers.contains(&&json!("/connection/endpoint")), "{pointers:?}");

    // A port that nobody listens on.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = listener.local_addr().unwrap().to_string();
    drop(listener);
    let answer = admin.post(CLUSTERS, registration("gone", &closed)).await;
    answer.refused(422, "connection_test_failed");
    assert!(answer.json()["connection_test"]["evidence"].as_array().is_some_and(|steps| !steps.is_empty()));
    admin.get(&format!("{CLUSTERS}/gone")).await.refused(404, "not_found");

    register(&admin, "eu", &fake).await;
    let test = admin.post(&format!("{CLUSTERS}/eu/test"), json!({})).await.expect(StatusCode::OK);
    assert_eq!(test["data"]["verdict"], "passed", "{test}");
    let test = admin.post(&format!("{CLUSTERS}/eu/connection-tests"), form).await.expect(StatusCode::OK);
    assert_eq!(test["status"], "ok");
    // A cluster may be called like anything.
    register(&admin, "test", &fake).await;
    assert_eq!(admin.get(&format!("{CLUSTERS}/test")).await.status, StatusCode::OK);
}

async fn operations_are_asked_by_query_and_by_body(app: TestApp) {
    let (admin, fake) = (app.admin().await, fake());
    register(&admin, "eu", &fake).await;
    let base = format!("{CLUSTERS}/eu/operations");
    let answer = admin.get(&format!("{base}/tables?database=shop&limit=1&search=ORD")).await;
    let request_id = answer.headers["x-request-id"].to_str().unwrap().to_owned();
    let tables = answer.expect(StatusCode::OK);
    assert_eq!((&tables["status"], &tables["execution_id"]), (&json!("ok"), &json!(request_id)));
    assert_eq!(tables["data"]["items"][0]["name"], "orders", "{tables}");
    let by_body = json!({ "database": "shop", "limit": 1, "search": "ORD" });
    let same = admin.post(&format!("{base}/tables"), by_body).await.expect(StatusCode::OK);
    assert_eq!(same["data"]["items"][0]["name"], "orders");
    let none = admin.get(&format!("{base}/tables?search=nothing")).await.expect(StatusCode::OK);
    assert_eq!(none["status"], "empty");

    admin
        .get(&format!("{base}/tables/detail?database=shop&table=none"))
        .await
        .refused(404, "table_not_found");
    let answer = admin.get(&format!("{base}/tables?limit=0")).await;
    answer.refused(400, "invalid");
    assert_eq!(answer.json()["errors"][0]["pointer"], "/limit");
    admin.get(&format!("{base}/tables?limt=3")).await.refused(400, "invalid");
    admin.get(&format!("{base}/tables/detail?database=shop")).await.refused(400, "invalid");
    admin.post(&format!("{base}/tables"), json!({ "limit": "3" })).await.refused(400, "invalid");
    let answer =
        admin.get(&format!("{base}/partitions?database=shop&table=orders&partition_spec_json=%7B")).await;
    answer.refused(400, "invalid");
    admin.get(&format!("{CLUSTERS}/none/operations/tables")).await.refused(404, "not_found");

    let token = json!({ "name": "ci", "role": "viewer", "grants": ["fluss-plugin.operations.catalog.read"],
                        "scope": "all", "expires_in_days": 1 });
    let made = admin.post("/api/v1/account/tokens", token).await.expect(StatusCode::CREATED);
    let token = app.bearer(made["secret"].as_str().unwrap());
    let tables = token.get(&format!("{base}/tables")).await.expect(StatusCode::OK);
    assert_eq!(tables["data"]["matched_count"], 3);
    let refused = token.get(&format!("{base}/acls")).await;
    refused.refused(403, "permission_denied");
    assert!(refused.json()["detail"].as_str().unwrap().contains("fluss-plugin.operations.security.read"));
}

async fn the_list_of_operations_says_what_each_needs(app: TestApp) {
    let (admin, fake) = (app.admin().await, fake());
    register(&admin, "eu", &fake).await;
    let viewer = app.person(&admin, "ann", Role::Viewer).await;
    let path = format!("{CLUSTERS}/eu/operations/schema");
    let find = |list: &Value, id: &str| {
        let items = list["items"].as_array().unwrap();
        items.iter().find(|item| item["id"] == id).unwrap().clone()
    };
    let list = viewer.get(&path).await.expect(StatusCode::OK);
    let tables = find(&list, "list_tables");
    assert_eq!(tables["route"], "operations/tables");
    assert_eq!(tables["permission"], "fluss-plugin.operations.catalog.read");
    assert_eq!((&tables["minimum_role"], &tables["risk"]), (&json!("viewer"), &json!("read")));
    assert_eq!((&tables["is_allowed"], &tables["is_list"]), (&json!(true), &json!(true)));
    assert!(tables["input"]["properties"]["database"].is_object());
    let acls = find(&list, "list_acls");
    assert_eq!((&acls["is_allowed"], &acls["input"]), (&json!(false), &Value::Null));
    assert_eq!(acls["minimum_role"], "admin");
    let list = admin.get(&path).await.expect(StatusCode::OK);
    assert_eq!(find(&list, "list_acls")["is_allowed"], true);
}

async fn a_scope_hides_clusters_and_tables(app: TestApp) {
    let (admin, fake) = (app.admin().await, fake());
    register(&admin, "eu", &fake).await;
    register(&admin, "us", &fake).await;
    let scope = json!({ "clusters": [{ "cluster": "eu", "tables": { "only": ["shop.*"] } }] });
    let ann = app.person_with(&admin, json!({ "name": "ann", "role": "admin", "scope": scope })).await;
    let list = ann.get(CLUSTERS).await.expect(StatusCode::OK);
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    for path in ["us", "us/operations/tables", "us/operations/schema", "none"] {
        ann.get(&format!("{CLUSTERS}/{path}")).await.refused(404, "not_found");
    }
    // Some tables are not the whole cluster.
    ann.delete(&format!("{CLUSTERS}/eu?version=1")).await.refused(404, "not_found");
    ann.get(&format!("{CLUSTERS}/eu/operations/acls")).await.refused(404, "not_found");
    let tables = ann.get(&format!("{CLUSTERS}/eu/operations/tables")).await.expect(StatusCode::OK);
    assert_eq!(tables["data"]["matched_count"], 2, "{tables}");
    let detail = format!("{CLUSTERS}/eu/operations/tables/detail");
    ann.get(&format!("{detail}?database=hr&table=people")).await.refused(404, "not_found");
    assert_eq!(ann.get(&format!("{detail}?database=shop&table=orders")).await.status, StatusCode::OK);
}
