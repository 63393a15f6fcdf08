//! Bounds of what a request may bring.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, StatusCode};
use futures_util::stream;
use pegel_api::settings::ApiSettings;
use serde_json::json;

use crate::app::{HOST, ORIGIN, Shown, TestApp, password_of, request};

async fn post(app: &TestApp, cookie: &str, headers: &[(&str, &str)], body: Body) -> crate::app::Answer {
    let own = [("host", HOST), ("origin", ORIGIN), ("cookie", cookie), ("content-type", "application/json")];
    let headers: Vec<_> = own.iter().chain(headers).copied().collect();
    app.send(request(Method::POST, "/api/v1/users", &headers, body)).await
}

async fn signed_in(settings: ApiSettings) -> (TestApp, String) {
    let app = TestApp::sqlite().await.with(settings);
    let admin = app.admin().await;
    let Shown::Cookie(cookie) = admin.shown else { panic!("a cookie") };
    (app, cookie)
}

#[tokio::test]
async fn a_body_has_a_largest_size_announced_or_not() {
    let (app, cookie) = signed_in(ApiSettings::default()).await;
    let large = vec![b' '; 1024 * 1024 + 1];
    post(&app, &cookie, &[], Body::from(large.clone())).await.refused(413, "body_too_large");
    post(&app, &cookie, &[("content-length", "99999999999")], Body::from("{}"))
        .await
        .refused(413, "body_too_large");
    let chunks = large.chunks(4_096).map(|chunk| Ok::<_, std::io::Error>(chunk.to_vec())).collect::<Vec<_>>();
    let chunked = Body::from_stream(stream::iter(chunks));
    post(&app, &cookie, &[], chunked).await.refused(413, "body_too_large");
    let mut just = json!({ "name": "ann", "role": "viewer", "scope": "all" }).to_string();
    just.push_str(&" ".repeat(1024 * 1024 - just.len()));
    assert_eq!(post(&app, &cookie, &[], Body::from(just)).await.status, StatusCode::CREATED);
}

#[tokio::test]
async fn who_may_not_is_told_so_before_the_body_is_read() {
    let app = TestApp::sqlite().await;
    let never = Body::from_stream(stream::pending::<Result<Vec<u8>, std::io::Error>>());
    let headers = [("host", HOST), ("content-type", "application/json"), ("authorization", "Bearer pgl_x")];
    let answer = app.send(request(Method::POST, "/api/v1/users", &headers, never)).await;
    answer.refused(401, "sign_in_required");
}

#[tokio::test]
async fn a_body_that_does_not_arrive_is_given_up() {
    let settings = ApiSettings { body_timeout: Duration::from_millis(50), ..ApiSettings::default() };
    let (app, cookie) = signed_in(settings).await;
    let never = Body::from_stream(stream::pending::<Result<Vec<u8>, std::io::Error>>());
    post(&app, &cookie, &[], never).await.refused(408, "body_timeout");
    let broken = Body::from_stream(stream::iter([Err::<Vec<u8>, _>(std::io::Error::other("gone"))]));
    post(&app, &cookie, &[], broken).await.refused(400, "invalid");
}

#[tokio::test]
async fn what_is_not_json_or_nested_without_end_is_refused() {
    let (app, cookie) = signed_in(ApiSettings::default()).await;
    let deep = "[".repeat(100_000);
    let nested = format!("{{\"name\":{}{}}}", "[".repeat(500), "]".repeat(500));
    let twice = r#"{"name":"ann","name":"bob","role":"viewer","scope":"all"}"#;
    let more = r#"{"name":"ann","role":"viewer","scope":"all"} {}"#;
    for body in ["", "{", "null", "[]", "{\"name\":\"\\ud800\"}", &deep, &nested, twice, more] {
        post(&app, &cookie, &[], Body::from(body.to_owned())).await.refused(400, "invalid");
    }
    post(&app, &cookie, &[], Body::from(vec![b'{', 0xff, b'}'])).await.refused(400, "invalid");
    let answer = post(&app, &cookie, &[("content-type", "text/plain")], Body::from("{}")).await;
    answer.refused(415, "unsupported_media_type");
}

#[tokio::test]
async fn fields_have_names_and_no_order() {
    let app = TestApp::sqlite().await;
    let admin = app.admin().await;
    let answer = app.stranger().post("/api/v1/session", json!(["admin", password_of("admin")])).await;
    answer.refused(400, "invalid");
    assert_eq!(answer.json()["errors"][0]["detail"], "expected an object");
    let connection = admin.post("/api/v1/connection-tests", json!({ "connection": [null, null] })).await;
    connection.refused(400, "invalid");
    assert_eq!(connection.json()["errors"][0]["pointer"], "/connection");
}

#[tokio::test]
async fn a_wrong_value_is_not_repeated() {
    let app = TestApp::sqlite().await;
    let login = json!({ "name": "admin", "password": { "hunter2": "hunter2" } });
    let answer = app.stranger().post("/api/v1/session", login).await;
    answer.refused(400, "invalid");
    assert!(!answer.text.contains("hunter2"), "{}", answer.text);
    assert_eq!(answer.json()["errors"][0]["pointer"], "/password");
    let admin = app.admin().await;
    let answer = admin.get("/api/v1/audit?from=2026-01-01hunter2").await;
    answer.refused(400, "invalid");
    assert!(!answer.text.contains("hunter2"), "{}", answer.text);
    let answer = app.stranger().post("/api/v1/session", json!("hunter2")).await;
    answer.refused(400, "invalid");
    assert!(!answer.text.contains("hunter2"), "{}", answer.text);
}
