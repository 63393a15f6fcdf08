//! What answers carry and what they never tell.

use std::io::Write;
use std::sync::{Arc, Mutex};

use axum::http::{Method, StatusCode};
use pegel_api::settings::ApiSettings;
use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use crate::app::{HOST, Shown, TestApp, password_of, request};

#[tokio::test]
async fn every_answer_carries_the_same_careful_headers() {
    let app = TestApp::sqlite().await;
    let admin = app.admin().await;
    let answers = [
        admin.get("/api/v1/session").await,
        admin.get("/api/v1/no/such/thing").await,
        app.stranger().get("/api/v1/users").await,
        app.stranger().get("/healthz").await,
        app.stranger().get("/resources/eu/manage/operations").await,
        app.send(request(Method::GET, "/", &[("host", "evil.example")], "")).await,
    ];
    for answer in answers {
        let header = |name: &str| answer.headers[name].to_str().unwrap();
        assert_eq!(
            header("content-security-policy"),
            "default-src 'self'; frame-ancestors 'none'; base-uri 'self'; form-action 'self'; object-src 'none'"
        );
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("referrer-policy"), "no-referrer");
        assert_eq!(header("cross-origin-opener-policy"), "same-origin");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin");
        assert!(header("permissions-policy").contains("camera=()"));
        assert_eq!(header("cache-control"), "no-store");
        assert!(header("x-request-id").parse::<uuid::Uuid>().unwrap().get_version_num() == 7);
        assert!(!answer.headers.contains_key("strict-transport-security"));
        assert!(!answer.headers.contains_key("server"));
    }
}

#[tokio::test]
async fn with_tls_the_cookie_is_bound_to_the_host_and_browsers_remember_tls() {
    let public_url = Some("https://pegel.example/console".parse().unwrap());
    let app = TestApp::sqlite().await;
    app.admin().await;
    let app = app.with(ApiSettings { public_url, ..ApiSettings::default() });
    let login = json!({ "name": "admin", "password": password_of("admin") }).to_string();
    let json = ("content-type", "application/json");
    let host = ("host", "pegel.example");
    let answer = app.send(request(Method::POST, "/console/api/v1/session", &[host, json], login)).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text);
    let cookie = answer.headers["set-cookie"].to_str().unwrap();
    assert!(cookie.starts_with("__Host-pegel_session="), "{cookie}");
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict; Secure"), "{cookie}");
    assert_eq!(answer.headers["strict-transport-security"], "max-age=31536000");
    let cookie = answer.cookie();
    let get = |path: &'static str, cookie: &str| {
        app.send(request(Method::GET, path, &[host, ("cookie", cookie)], ""))
    };
    assert_eq!(get("/console/api/v1/session", &cookie).await.status, StatusCode::OK);
    // Without the prefix any neighbour could have set it.
    let planted = cookie.replace("__Host-", "");
    get("/console/api/v1/session", &planted).await.refused(401, "sign_in_required");
    get("/api/v1/session", &cookie).await.refused(404, "not_found");
    get("/console/api/v1/no/such/thing", "").await.refused(401, "sign_in_required");
    assert_eq!(get("/healthz", "").await.status, StatusCode::OK);
    let redirect = get("/console/resources/eu-1/manage/operations", "").await;
    assert_eq!(redirect.status, StatusCode::TEMPORARY_REDIRECT);
    assert_eq!(redirect.headers["location"], "/console/clusters/eu-1/operations");
    get("/console/resources/..%2f..%2fevil/manage/operations", "").await.refused(404, "not_found");
}

#[tokio::test]
async fn a_failure_tells_its_code_and_nothing_of_the_inside() {
    let app = TestApp::sqlite().await;
    let admin = app.admin().await;
    app.service.db().close().await;
    for answer in [admin.get("/api/v1/session").await, admin.get("/api/v1/users?limit=3").await] {
        answer.refused(503, "store_closed");
        assert!(!answer.json()["instance"].as_str().unwrap().contains('?'));
        for inside in ["sqlite", "sqlx", "/", "panicked", "src"] {
            let detail = answer.json()["detail"].as_str().unwrap().to_lowercase();
            assert!(!detail.contains(inside), "{detail}");
        }
    }
}

/// Collects what is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn the_log_names_route_and_person_and_holds_no_secret() {
    // For the whole process, as what other tests log must hold none of these secrets either.
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().json().with_max_level(tracing::Level::TRACE);
    tracing::subscriber::set_global_default(subscriber.with_writer(log.clone()).finish()).unwrap();
    let app = TestApp::sqlite().await;
    let admin = app.admin().await;
    let Shown::Cookie(cookie) = &admin.shown else { panic!("a cookie") };
    let named = "0190163d-8694-739b-aea5-966c26f8ad91";
    let headers = [("host", HOST), ("cookie", cookie), ("x-request-id", named)];
    let path = "/api/v1/users?cursor=hunter2&limit=1";
    let answer = app.send(request(Method::GET, path, &headers, "")).await;
    let request_id = answer.headers["x-request-id"].to_str().unwrap().to_owned();
    app.stranger().get("/api/v1/hunter2-in-the-path").await.refused(401, "sign_in_required");
    app.bearer("pgl_hunter2").get("/api/v1/users").await.refused(401, "sign_in_required");
    let wrong = json!({ "name": "hunter2", "password": "hunter2 again" });
    app.stranger().post("/api/v1/session", wrong).await.refused(401, "login_failed");

    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let token = cookie.split_once('=').unwrap().1;
    for secret in ["hunter2", token, &password_of("admin"), "limit=1"] {
        assert!(!text.contains(secret), "{secret} is in the log");
    }
    let line = text.lines().find(|line| line.contains(&request_id)).unwrap();
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    let fields = &line["fields"];
    assert_eq!(fields["http.route"], "/api/v1/users");
    assert_eq!((&fields["http.method"], &fields["http.status"]), (&json!("GET"), &json!(400)));
    assert_eq!(fields["principal.name"], "admin");
    assert_eq!((&fields["request.id"], &fields["client.request_id"]), (&json!(request_id), &json!(named)));
    assert!(fields["duration_ms"].is_number());
    assert!(text.contains("\"http.route\":\"unmatched\""));
}

#[tokio::test]
async fn the_client_does_not_choose_the_request_id() {
    let app = TestApp::sqlite().await;
    let admin = app.admin().await;
    let Shown::Cookie(cookie) = &admin.shown else { panic!("a cookie") };
    let named = "0190163d-8694-739b-aea5-966c26f8ad91";
    let headers = [("host", HOST), ("cookie", cookie), ("x-request-id", named)];
    let answer = app.send(request(Method::GET, "/api/v1/session", &headers, "")).await;
    assert_ne!(answer.headers["x-request-id"], named);
}
