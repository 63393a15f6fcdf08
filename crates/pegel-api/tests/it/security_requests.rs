//! Which requests are answered at all: hosts, origins, credentials, strangers, methods.

use axum::http::header::{ALLOW, WWW_AUTHENTICATE};
use axum::http::{Method, StatusCode};
use pegel_api::settings::ApiSettings;
use serde_json::json;

use crate::app::{HOST, ORIGIN, Shown, TestApp, password_of, request};

fn cookie_of(client: &crate::app::Client) -> String {
    match &client.shown {
        Shown::Cookie(cookie) => cookie.clone(),
        other => panic!("no cookie: {other:?}"),
    }
}

#[tokio::test]
async fn a_foreign_host_is_refused_before_anything_else() {
    let app = TestApp::sqlite().await;
    let admin = cookie_of(&app.admin().await);
    for path in ["/api/v1/session", "/api/v1/users", "/", "/no/such/page", "/resources/eu/manage/operations"]
    {
        let headers = [("host", "rebound.evil.example"), ("cookie", admin.as_str())];
        app.send(request(Method::GET, path, &headers, "")).await.refused(421, "host_not_served");
        app.send(request(Method::GET, path, &[("cookie", &admin)], "")).await.refused(421, "host_not_served");
    }
    // Who watches the process comes by an address.
    let probe = app.send(request(Method::GET, "/healthz", &[("host", "10.1.2.3:9300")], "")).await;
    assert_eq!(probe.status, StatusCode::OK);
}

#[tokio::test]
async fn a_name_in_the_settings_is_served() {
    let settings = ApiSettings { allowed_hosts: vec!["pegel.internal".to_owned()], ..ApiSettings::default() };
    let app = TestApp::sqlite().await.with(settings);
    let ask = |host: &'static str| request(Method::GET, "/api/v1/session", &[("host", host)], "");
    app.send(ask("pegel.internal:8443")).await.refused(401, "sign_in_required");
    app.send(ask("pegel.example")).await.refused(421, "host_not_served");
}

#[tokio::test]
async fn another_site_cannot_use_the_cookie() {
    let app = TestApp::sqlite().await;
    let cookie = cookie_of(&app.admin().await);
    let body = json!({ "name": "ann", "role": "admin", "scope": "all" }).to_string();
    let json = ("content-type", "application/json");
    let base = [("host", HOST), ("cookie", cookie.as_str())];
    let send = |headers: &[(&str, &str)]| {
        let headers: Vec<_> = base.iter().chain(headers).copied().collect();
        app.send(request(Method::POST, "/api/v1/users", &headers, body.clone()))
    };
    send(&[json]).await.refused(403, "origin_not_allowed");
    send(&[json, ("origin", "http://evil.example")]).await.refused(403, "origin_not_allowed");
    send(&[json, ("origin", "null")]).await.refused(403, "origin_not_allowed");
    send(&[json, ("sec-fetch-site", "same-site")]).await.refused(403, "origin_not_allowed");
    send(&[json, ("origin", ORIGIN), ("sec-fetch-site", "cross-site")])
        .await
        .refused(403, "origin_not_allowed");
    send(&[("origin", ORIGIN)]).await.refused(415, "unsupported_media_type");
    send(&[("origin", ORIGIN), ("content-type", "text/plain")]).await.refused(415, "unsupported_media_type");
    assert_eq!(send(&[json, ("origin", ORIGIN)]).await.status, StatusCode::CREATED);
    // Also where nobody reads the body.
    for headers in [vec![("origin", ORIGIN)], vec![("origin", ORIGIN), ("content-type", "text/plain")]] {
        let headers: Vec<_> = base.iter().copied().chain(headers).collect();
        let ask = request(Method::DELETE, "/api/v1/account/sessions", &headers, "");
        app.send(ask).await.refused(415, "unsupported_media_type");
    }
    // A forged login would put people into someone else's account.
    let login = json!({ "name": "admin", "password": password_of("admin") }).to_string();
    let headers = [("host", HOST), json, ("origin", "http://evil.example")];
    app.send(request(Method::POST, "/api/v1/session", &headers, login))
        .await
        .refused(403, "origin_not_allowed");
}

#[tokio::test]
async fn there_are_no_cors_headers() {
    let app = TestApp::sqlite().await;
    let cookie = cookie_of(&app.admin().await);
    let foreign = ("origin", "http://evil.example");
    let preflight = ("access-control-request-method", "POST");
    for (method, headers) in [
        (Method::OPTIONS, vec![foreign, preflight]),
        (Method::OPTIONS, vec![("origin", ORIGIN), preflight, ("cookie", &cookie)]),
        (Method::GET, vec![foreign, ("cookie", &cookie)]),
        (Method::GET, vec![("origin", ORIGIN), ("cookie", &cookie)]),
    ] {
        let headers: Vec<_> = headers.into_iter().chain([("host", HOST)]).collect();
        let answer = app.send(request(method, "/api/v1/users", &headers, "")).await;
        let cors: Vec<_> =
            answer.headers.keys().filter(|name| name.as_str().starts_with("access-control")).collect();
        assert!(cors.is_empty(), "{cors:?}");
    }
}

#[tokio::test]
async fn two_credentials_are_one_too_many() {
    let app = TestApp::sqlite().await;
    let cookie = cookie_of(&app.admin().await);
    let get = |headers: &[(&str, &str)]| {
        let headers: Vec<_> = [("host", HOST)].iter().chain(headers).copied().collect();
        app.send(request(Method::GET, "/api/v1/session", &headers, ""))
    };
    let bearer = ("authorization", "Bearer pgl_x");
    get(&[("cookie", &cookie), bearer]).await.refused(400, "credentials_ambiguous");
    let twice = format!("{cookie}; pegel_session=planted");
    get(&[("cookie", &twice)]).await.refused(400, "credentials_ambiguous");
    get(&[bearer, bearer]).await.refused(400, "credentials_ambiguous");
    get(&[("authorization", "Basic YWRtaW46YWRtaW4=")]).await.refused(401, "sign_in_required");
    get(&[("authorization", "Bearer")]).await.refused(401, "sign_in_required");
    get(&[("cookie", "pegel_session=")]).await.refused(401, "sign_in_required");
    assert_eq!(get(&[("cookie", &cookie)]).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_stranger_learns_no_paths_and_no_methods() {
    let app = TestApp::sqlite().await;
    let stranger = app.stranger();
    for path in ["/api/v1/users", "/api/v1/no/such/thing", "/api/v1", "/api/v1/", "/api/v1/clusters/eu"] {
        let answer = stranger.get(path).await;
        answer.refused(401, "sign_in_required");
        assert!(answer.headers.contains_key(WWW_AUTHENTICATE));
    }
    let answer = stranger.call(Method::PATCH, "/api/v1/session", None).await;
    answer.refused(401, "sign_in_required");
    assert!(!answer.headers.contains_key(ALLOW));
    stranger.get("/api/v1x").await.refused(404, "not_found");

    let admin = app.admin().await;
    admin.get("/api/v1/no/such/thing").await.refused(404, "not_found");
    let answer = admin.call(Method::PATCH, "/api/v1/users", None).await;
    answer.refused(405, "method_not_allowed");
    assert_eq!(answer.headers[ALLOW], "GET, HEAD, POST");
    admin
        .call(Method::from_bytes(b"FROB").unwrap(), "/api/v1/users", None)
        .await
        .refused(405, "method_not_allowed");
}

#[tokio::test]
async fn only_a_trusted_proxy_says_where_a_session_comes_from() {
    let source_of = async |trusted: &str| {
        let trusted_proxies = vec![trusted.parse().unwrap()];
        let settings = ApiSettings { trusted_proxies, ..ApiSettings::default() };
        let app = TestApp::sqlite().await.with(settings);
        app.admin().await;
        let login = json!({ "name": "admin", "password": password_of("admin") }).to_string();
        let headers =
            [("host", HOST), ("content-type", "application/json"), ("x-forwarded-for", "203.0.113.9")];
        let answer = app.send(request(Method::POST, "/api/v1/session", &headers, login)).await;
        let client = app.client(Shown::Cookie(answer.cookie()));
        let list = client.get("/api/v1/account/sessions").await.expect(StatusCode::OK);
        let own = list["items"].as_array().unwrap().iter().find(|session| session["is_current"] == true);
        own.unwrap()["source"].as_str().unwrap().to_owned()
    };
    assert_eq!(source_of("10.0.0.0/8").await, "127.0.0.1");
    assert_eq!(source_of("127.0.0.0/8").await, "203.0.113.9");
}
