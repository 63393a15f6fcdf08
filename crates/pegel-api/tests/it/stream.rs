//! The stream of changes.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, StatusCode};
use http_body_util::BodyExt;
use pegel_api::serve::Connection;
use pegel_api::settings::ApiSettings;
use pegel_core::access::Role;
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::app::{Client, HOST, Shown, TestApp, request};
use crate::on_both;

on_both!(
    changes_come_with_key_and_version_to_those_who_may_see_them,
    a_stream_goes_on_where_it_ended,
    a_stream_ends_with_its_session,
);

/// Longer than anything here takes.
const BOUND: Duration = Duration::from_secs(20);

/// An open stream, read event by event.
struct Stream {
    body: Body,
    text: String,
}

/// One event: kind, id, data.
#[derive(Debug, PartialEq)]
struct Event {
    kind: String,
    id: String,
    data: Value,
}

async fn open(
    app: &TestApp,
    client: &Client,
    last_event_id: Option<&str>,
    ending: CancellationToken,
) -> Stream {
    let mut headers = vec![("host", HOST)];
    let bearer;
    match &client.shown {
        Shown::Cookie(cookie) => headers.push(("cookie", cookie)),
        Shown::Bearer(token) => {
            bearer = format!("Bearer {token}");
            headers.push(("authorization", &bearer));
        }
        Shown::Nothing => {}
    }
    headers.extend(last_event_id.map(|id| ("last-event-id", id)));
    let mut request = request(Method::GET, "/api/v1/changes", &headers, "");
    let loopback: SocketAddr = "127.0.0.1:9300".parse().unwrap();
    request.extensions_mut().insert(Connection { ending, ..Connection::new(loopback, loopback) });
    let response = app.router.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["cache-control"], "no-cache");
    Stream { body: response.into_body(), text: String::new() }
}

async fn open_now(app: &TestApp, client: &Client) -> Stream {
    let mut stream = open(app, client, None, CancellationToken::new()).await;
    assert!(stream.block().await.unwrap().contains(": alive"));
    stream
}

impl Stream {
    /// Returns the next block of lines, or nothing at the end.
    async fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let block = block.to_owned();
                self.text = rest.to_owned();
                return Some(block);
            }
            let frame = timeout(BOUND, self.body.frame()).await.expect("the stream says something")?;
            self.text.push_str(std::str::from_utf8(&frame.unwrap().into_data().unwrap()).unwrap());
        }
    }

    /// Returns the next event; signs of life are passed over.
    async fn event(&mut self) -> Option<Event> {
        loop {
            let block = self.block().await?;
            let field = |name: &str| {
                let line = block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
                line.unwrap_or_default().to_owned()
            };
            if !field("event").is_empty() {
                let data = serde_json::from_str(&field("data")).unwrap();
                return Some(Event { kind: field("event"), id: field("id"), data });
            }
        }
    }

    /// Returns the keys of the next changes up to this one.
    async fn keys_to(&mut self, last: &str) -> Vec<String> {
        let mut keys = Vec::new();
        loop {
            let event = self.event().await.expect("the stream goes on");
            assert_eq!(event.kind, "change");
            let key = event.data["resource_key"].as_str().unwrap().to_owned();
            keys.push(key);
            if keys.last().is_some_and(|key| key == last) {
                return keys;
            }
        }
    }
}

async fn changes_come_with_key_and_version_to_those_who_may_see_them(app: TestApp) {
    let admin = app.admin().await;
    let viewer = app.person(&admin, "ann", Role::Viewer).await;
    let own =
        viewer.get("/api/v1/session").await.expect(StatusCode::OK)["user_id"].as_str().unwrap().to_owned();
    let (mut all, mut few) = (open_now(&app, &admin).await, open_now(&app, &viewer).await);

    let new = json!({ "name": "bob", "role": "viewer", "scope": "all" });
    let bob = admin.post("/api/v1/users", new).await.expect(StatusCode::CREATED);
    let bob = format!("user/{}", bob["user"]["id"].as_str().unwrap());
    let user = admin.get(&format!("/api/v1/users/{own}")).await.expect(StatusCode::OK);
    let change = json!({ "version": user["version"], "display_name": "Ann", "role": "viewer", "grants": null,
                         "scope": "all", "is_disabled": false });
    let changed = admin.put(&format!("/api/v1/users/{own}"), change).await.expect(StatusCode::OK);

    let ann = format!("user/{own}");
    let keys = all.keys_to(&ann).await;
    assert!(keys.contains(&bob) && keys.contains(&"audit".to_owned()), "{keys:?}");
    let first = few.event().await.unwrap();
    assert_eq!(first.data, json!({ "resource_key": ann, "version": changed["version"] }));
    assert!(first.id.parse::<i64>().unwrap() > 0);
}

async fn a_stream_goes_on_where_it_ended(app: TestApp) {
    let admin = app.admin().await;
    let mut stream = open_now(&app, &admin).await;
    let make = async |name: &str| {
        let new = json!({ "name": name, "role": "viewer", "scope": "all" });
        let made = admin.post("/api/v1/users", new).await.expect(StatusCode::CREATED);
        format!("user/{}", made["user"]["id"].as_str().unwrap())
    };
    let first = make("ann").await;
    let seen = loop {
        let event = stream.event().await.unwrap();
        if event.data["resource_key"] == first {
            break event;
        }
    };
    drop(stream);
    let second = make("bob").await;
    let mut again = open(&app, &admin, Some(&seen.id), CancellationToken::new()).await;
    let keys = again.keys_to(&second).await;
    assert!(!keys.contains(&first), "{keys:?}");

    // From the future or from nowhere: everything is to be fetched anew.
    for id in ["999999999", "-5", "what"] {
        let mut lost = open(&app, &admin, Some(id), CancellationToken::new()).await;
        let event = lost.event().await.unwrap();
        assert_eq!((event.kind.as_str(), event.data), ("resync", json!({})));
        let third = make(&format!("user-{}", id.len())).await;
        assert_eq!(lost.keys_to(&third).await.last(), Some(&third));
    }
}

async fn a_stream_ends_with_its_session(app: TestApp) {
    let admin = app.admin().await;
    let viewer = app.person(&admin, "ann", Role::Viewer).await;
    let mut stream = open_now(&app, &viewer).await;
    assert_eq!(viewer.delete("/api/v1/session").await.status, StatusCode::NO_CONTENT);
    assert_eq!(stream.event().await, None);

    let new = json!({ "name": "ci", "role": "viewer", "grants": [], "scope": "all", "expires_in_days": 1 });
    let made = admin.post("/api/v1/account/tokens", new).await.expect(StatusCode::CREATED);
    let token = app.bearer(made["secret"].as_str().unwrap());
    let mut stream = open_now(&app, &token).await;
    let path = format!("/api/v1/account/tokens/{}", made["token"]["id"].as_str().unwrap());
    assert_eq!(admin.delete(&path).await.status, StatusCode::NO_CONTENT);
    assert_eq!(stream.event().await, None);
}

#[tokio::test]
async fn a_stream_is_no_use_of_its_session_and_ends_with_it() {
    let settings = ApiSettings { stream_heartbeat: Duration::from_millis(20), ..ApiSettings::default() };
    let app = TestApp::sqlite().await.with(settings);
    let admin = app.admin().await;
    let mut stream = open_now(&app, &admin).await;
    for _ in 0..3 {
        app.clock.advance(Duration::from_secs(3 * 3_600));
        assert!(stream.block().await.unwrap().contains(": alive"));
    }
    app.clock.advance(Duration::from_secs(4 * 3_600));
    let mut signs = 0;
    while stream.block().await.is_some() {
        signs += 1;
        assert!(signs < 100, "the stream goes on without its session");
    }
    admin.get("/api/v1/session").await.refused(401, "sign_in_required");
}

#[tokio::test]
async fn rights_that_are_taken_away_count_at_once() {
    let app = TestApp::sqlite().await;
    let admin = app.admin().await;
    let owner = json!({ "name": "ann", "role": "admin", "scope": "all" });
    let owner = app.person_with(&admin, owner).await;
    let new = json!({ "name": "ci", "role": "admin", "grants": ["pegel.users.read"], "scope": "all",
                      "expires_in_days": 1 });
    let made = owner.post("/api/v1/account/tokens", new).await.expect(StatusCode::CREATED);
    let mut stream = open_now(&app, &app.bearer(made["secret"].as_str().unwrap())).await;
    let id = made["token"]["user_id"].as_str().unwrap();
    let user = admin.get(&format!("/api/v1/users/{id}")).await.expect(StatusCode::OK);
    let change = json!({ "version": user["version"], "display_name": "", "role": "viewer", "grants": null,
                         "scope": "all", "is_disabled": false });
    admin.put(&format!("/api/v1/users/{id}"), change).await.expect(StatusCode::OK);
    let new = json!({ "name": "bob", "role": "viewer", "scope": "all" });
    let bob = admin.post("/api/v1/users", new).await.expect(StatusCode::CREATED);
    let bob = format!("user/{}", bob["user"]["id"].as_str().unwrap());
    // Something of its own comes after, so that the wait for it shows that the other was left out.
    let path = format!("/api/v1/users/{id}");
    assert_eq!(admin.delete(&path).await.status, StatusCode::NO_CONTENT);
    while let Some(event) = stream.event().await {
        assert_ne!(event.data["resource_key"], bob);
    }
}

#[tokio::test]
async fn there_are_so_many_streams_and_no_more() {
    let settings = ApiSettings { max_streams_per_user: 2, max_streams: 3, ..ApiSettings::default() };
    let app = TestApp::sqlite().await.with(settings);
    let admin = app.admin().await;
    let ann = app.person(&admin, "ann", Role::Viewer).await;
    let first = open_now(&app, &admin).await;
    let _second = open_now(&app, &admin).await;
    admin.get("/api/v1/changes").await.refused(429, "too_many_streams");
    let _third = open_now(&app, &ann).await;
    ann.get("/api/v1/changes").await.refused(429, "too_many_streams");
    drop(first);
    let _again = open_now(&app, &admin).await;
}

#[tokio::test]
async fn a_stream_ends_when_the_server_does() {
    let app = TestApp::sqlite().await;
    let admin = app.admin().await;
    let ending = CancellationToken::new();
    let mut stream = open(&app, &admin, None, ending.clone()).await;
    assert!(stream.block().await.is_some());
    ending.cancel();
    assert_eq!(stream.block().await, None);
}

#[tokio::test]
async fn many_streams_tell_the_same() {
    let app = TestApp::sqlite().await;
    let admin = app.admin().await;
    let mut streams = Vec::new();
    for _ in 0..10 {
        streams.push(open_now(&app, &admin).await);
    }
    let new = json!({ "name": "bob", "role": "viewer", "scope": "all" });
    let bob = admin.post("/api/v1/users", new).await.expect(StatusCode::CREATED);
    let bob = format!("user/{}", bob["user"]["id"].as_str().unwrap());
    let expected = streams[0].keys_to(&bob).await;
    for stream in &mut streams[1..] {
        assert_eq!(stream.keys_to(&bob).await, expected);
    }
}
