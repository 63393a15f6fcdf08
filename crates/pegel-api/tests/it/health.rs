//! Who watches the process: health, readiness, metrics.

use std::net::SocketAddr;

use axum::http::{Method, StatusCode};
use pegel_api::serve::Connection;
use pegel_api::settings::ApiSettings;
use secrecy::SecretString;
use serde_json::json;

use crate::app::{Answer, HOST, TestApp, request};
use crate::clusters::{fake, register};
use crate::on_both;

on_both!(it_is_ready_while_the_store_takes_changes);

async fn it_is_ready_while_the_store_takes_changes(app: TestApp) {
    let stranger = app.stranger();
    assert_eq!(stranger.get("/healthz").await.text, r#"{"status":"ok"}"#);
    assert_eq!(stranger.get("/readyz").await.expect(StatusCode::OK), json!({ "status": "ok" }));
}

#[tokio::test]
async fn it_is_not_ready_without_its_store_and_lives() {
    let app = TestApp::sqlite().await;
    app.service.db().close().await;
    let answer = app.stranger().get("/readyz").await;
    assert_eq!(answer.headers["content-type"], "application/json");
    assert_eq!(answer.text, r#"{"status":"unavailable","reason":"store_closed"}"#);
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(app.stranger().get("/healthz").await.status, StatusCode::OK);
}

async fn metrics(app: &TestApp, peer: &str, local: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = request(Method::GET, "/metrics", headers, "");
    let address = |text: &str| text.parse::<SocketAddr>().unwrap();
    request.extensions_mut().insert(Connection::new(address(peer), address(local)));
    app.send(request).await
}

#[tokio::test]
async fn metrics_without_a_token_are_for_this_machine_only() {
    let app = TestApp::sqlite().await;
    let (admin, fake) = (app.admin().await, fake());
    register(&admin, "eu", &fake).await;
    let host = ("host", HOST);
    let near = "127.0.0.1:5000";
    let answer = metrics(&app, near, "127.0.0.1:9300", &[host]).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.headers["content-type"].to_str().unwrap().starts_with("application/openmetrics-text"));
    for line in [
        "pegel_http_requests_total{route=\"/api/v1/session\",method=\"POST\",status=\"201\"} 1",
        "pegel_http_requests_total{route=\"/api/v1/account/password\",method=\"POST\",status=\"204\"} 1",
        "pegel_store_up 1",
        "pegel_cluster_usable{cluster=\"eu\"} 1",
        "pegel_http_change_streams 0",
    ] {
        assert!(answer.text.lines().any(|own| own == line), "{line} is not in\n{}", answer.text);
    }
    metrics(&app, "192.0.2.7:1", "192.0.2.1:9300", &[host]).await.refused(401, "sign_in_required");
    metrics(&app, near, "192.0.2.1:9300", &[host]).await.refused(401, "sign_in_required");
    metrics(&app, "192.0.2.7:1", "127.0.0.1:9300", &[host]).await.refused(401, "sign_in_required");
    let proxied = [host, ("x-forwarded-for", "127.0.0.1")];
    metrics(&app, near, "127.0.0.1:9300", &proxied).await.refused(401, "sign_in_required");
    let rebound = [("host", "evil.example")];
    metrics(&app, near, "127.0.0.1:9300", &rebound).await.refused(421, "host_not_served");
}

#[tokio::test]
async fn metrics_with_a_token_are_for_those_who_have_it() {
    let metrics_token = Some(SecretString::from("a token for metrics"));
    let app = TestApp::sqlite().await.with(ApiSettings { metrics_token, ..ApiSettings::default() });
    let get = |token: &'static str| {
        let app = &app;
        async move { metrics(app, "192.0.2.7:1", "192.0.2.1:9300", &[("authorization", token)]).await }
    };
    assert_eq!(get("Bearer a token for metrics").await.status, StatusCode::OK);
    for wrong in ["Bearer a token", "a token for metrics", "Bearer ", "Basic a token for metrics"] {
        get(wrong).await.refused(401, "sign_in_required");
    }
    metrics(&app, "127.0.0.1:1", "127.0.0.1:9300", &[("host", HOST)]).await.refused(401, "sign_in_required");
}

#[tokio::test]
async fn a_route_is_counted_by_its_template() {
    let app = TestApp::sqlite().await;
    let admin = app.admin().await;
    for number in 0..20 {
        admin.get(&format!("/api/v1/users/{number}")).await.refused(404, "not_found");
        admin.get(&format!("/api/v1/made/up/{number}")).await.refused(404, "not_found");
    }
    let text = metrics(&app, "127.0.0.1:1", "127.0.0.1:9300", &[("host", HOST)]).await.text;
    for (route, count) in [("/api/v1/users/{id}", 20), ("unmatched", 20)] {
        let line =
            format!("pegel_http_requests_total{{route=\"{route}\",method=\"GET\",status=\"404\"}} {count}");
        assert!(text.lines().any(|own| own == line), "{line}");
    }
}
