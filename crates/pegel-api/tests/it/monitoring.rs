//! Monitors, channels and heartbeats as people and jobs use them.

use axum::http::{Method, StatusCode};
use pegel_core::monitor::verdict::FiringId;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::alerting::made_at;
use crate::app::{Answer, Client, HOST, TestApp, request};
use crate::clusters::{fake, register};
use crate::on_both;

on_both!(
    a_monitor_is_made_changed_paused_and_removed,
    a_target_that_makes_no_sense_is_refused_by_its_place,
    secrets_of_a_target_go_in_and_never_come_out_nor_elsewhere,
    monitors_are_those_of_the_scope,
    a_heartbeat_is_pinged_by_whoever_has_its_key,
    a_ping_counts_whatever_it_brings,
    a_channel_keeps_its_secret_to_itself_and_to_its_place,
);

const MONITORS: &str = "/api/v1/monitors";
const CHANNELS: &str = "/api/v1/channels";

pub(crate) fn monitor() -> Value {
    json!({ "kind": "http", "cluster": null, "monitor": {
        "name": "coordinator", "target": { "url": "http://192.0.2.7:9333/api/v1/status" },
        "rule": { "fails_to_fire": 1, "oks_to_resolve": 1, "interval_ms": 30000, "stale_after_ms": 120000,
                  "severity": "critical", "no_data_severity": null, "remind_every_ms": null } } })
}

fn heartbeat() -> Value {
    let mut heartbeat = monitor();
    heartbeat["kind"] = json!("heartbeat");
    heartbeat["monitor"]["target"] = json!({});
    heartbeat["monitor"]["heartbeat_rule"] = json!({
        "expects": { "every": { "period_ms": 60000 } }, "grace_ms": 60000, "max_run_ms": 3600000,
        "misses_to_down": 1, "fails_to_down": 1, "min_sources": 1 });
    heartbeat
}

pub(crate) fn channel(name: &str) -> Value {
    json!({ "kind": "pagerduty", "channel": { "name": name, "settings": {}, "is_enabled": true,
            "secrets": { "routing_key": "0123456789abcdef0123456789abcdef" } } })
}

/// Does a change that succeeds; `None` for what is not about monitoring.
pub(crate) async fn succeed(app: &TestApp, admin: &Client, id: &str) -> Option<Answer> {
    let made = || made_at(admin, MONITORS, monitor());
    Some(match id {
        "create_monitor" => admin.post(MONITORS, monitor()).await,
        "update_monitor" => {
            admin.put(&made().await, json!({ "version": 1, "monitor": monitor()["monitor"] })).await
        }
        "remove_monitor" => admin.delete(&format!("{}?version=1", made().await)).await,
        "pause_monitor" => admin.post(&format!("{}/pause", made().await), json!({})).await,
        "resume_monitor" => admin.post(&format!("{}/resume", made().await), json!({})).await,
        "try_monitor" => {
            // Refused by the rules for addresses, so that nothing leaves this machine.
            let mut target = monitor();
            target["monitor"]["target"]["url"] = json!("http://169.254.169.254/");
            let path = made_at(admin, MONITORS, target).await;
            admin.post(&format!("{path}/try"), json!({})).await
        }
        "create_heartbeat_key" => {
            let path = made_at(admin, MONITORS, heartbeat()).await;
            admin.post(&format!("{path}/keys"), json!({})).await
        }
        "acknowledge_incident" => {
            let id = fire(app, admin).await;
            admin.post(&format!("/api/v1/incidents/{id}/acknowledge"), json!({})).await
        }
        "create_channel" => admin.post(CHANNELS, channel("created")).await,
        "update_channel" => {
            let path = made_at(admin, CHANNELS, channel("updated")).await;
            let seen = admin.get(&path).await.expect(StatusCode::OK);
            admin
                .put(&path, json!({ "version": seen["version"], "channel": channel("updated")["channel"] }))
                .await
        }
        "remove_channel" => {
            let path = made_at(admin, CHANNELS, channel("removed")).await;
            let seen = admin.get(&path).await.expect(StatusCode::OK);
            admin.delete(&format!("{path}?version={}", seen["version"])).await
        }
        "test_channel" => {
            let mut elsewhere = channel("tested");
            elsewhere["channel"]["settings"] = json!({ "url": "http://169.254.169.254/" });
            let path = made_at(admin, CHANNELS, elsewhere).await;
            admin.post(&format!("{path}/test"), json!({})).await
        }
        _ => return None,
    })
}

/// Makes a heartbeat that says it failed; returns the id of what fires then.
async fn fire(app: &TestApp, admin: &Client) -> Uuid {
    let path = made_at(admin, MONITORS, heartbeat()).await;
    let key = key_of(admin, &path).await;
    assert_eq!(ping(app, Method::POST, &format!("{key}/fail"), "disk full").await, StatusCode::OK);
    let seen = admin.get(&path).await.expect(StatusCode::OK);
    assert_eq!(seen["state"]["status"], "down");
    let id: Uuid = seen["state"]["incident_id"].as_str().unwrap().parse().unwrap();
    FiringId(id).0
}

async fn key_of(admin: &Client, path: &str) -> String {
    let made = admin.post(&format!("{path}/keys"), json!({})).await.expect(StatusCode::CREATED);
    assert_eq!(made["path"], format!("/heartbeat/{}", made["key"].as_str().unwrap()));
    made["path"].as_str().unwrap().to_owned()
}

/// Pings without signing in.
async fn ping(app: &TestApp, method: Method, path: &str, body: &'static str) -> StatusCode {
    app.send(request(method, path, &[("host", HOST)], body)).await.status
}

async fn a_monitor_is_made_changed_paused_and_removed(app: TestApp) {
    let admin = app.admin().await;
    let path = made_at(&admin, MONITORS, monitor()).await;
    let seen = admin.get(&path).await.expect(StatusCode::OK);
    assert_eq!((&seen["state"]["status"], &seen["version"]), (&json!("new"), &json!(1)));
    let mut form = monitor()["monitor"].clone();
    form["name"] = json!("coordinator, second floor");
    let change = json!({ "version": 1, "monitor": form });
    let changed = admin.put(&path, change.clone()).await.expect(StatusCode::OK);
    assert_eq!((&changed["name"], &changed["version"]), (&form["name"], &json!(2)));
    admin.put(&path, change).await.refused(409, "conflict");
    let paused = admin.post(&format!("{path}/pause"), json!({})).await.expect(StatusCode::OK);
    assert_eq!(paused["state"]["status"], "paused");
    let resumed = admin.post(&format!("{path}/resume"), json!({})).await.expect(StatusCode::OK);
    assert_eq!(resumed["state"]["status"], "new");
    admin.delete(&format!("{path}?version=1")).await.refused(409, "conflict");
    let version = resumed["version"].clone();
    assert_eq!(admin.delete(&format!("{path}?version={version}")).await.status, StatusCode::NO_CONTENT);
    admin.get(&path).await.refused(404, "not_found");
}

async fn a_target_that_makes_no_sense_is_refused_by_its_place(app: TestApp) {
    let admin = app.admin().await;
    let refused = async |change: fn(&mut Value), pointer: &str| {
        let mut wrong = monitor();
        change(&mut wrong);
        let answer = admin.post(MONITORS, wrong).await;
        answer.refused(400, "invalid");
        assert_eq!(answer.json()["errors"][0]["pointer"], pointer, "{}", answer.text);
    };
    refused(|wrong| wrong["monitor"]["target"]["url"] = json!("ftp://x"), "/monitor/target/url").await;
    refused(|wrong| wrong["monitor"]["target"]["timeout_ms"] = json!(0), "/monitor/target/timeout_ms").await;
    refused(|wrong| wrong["kind"] = json!("canary"), "/kind").await;
    refused(|wrong| wrong["kind"] = json!("coordinator"), "/cluster").await;
    refused(|wrong| wrong["kind"] = json!("heartbeat"), "/monitor/heartbeat_rule").await;
    refused(|wrong| wrong["monitor"]["secrets"] = json!({ "a": "b" }), "/monitor/secrets/a").await;
    let mut nowhere = monitor();
    nowhere["cluster"] = json!("nowhere");
    admin.post(MONITORS, nowhere).await.refused(404, "not_found");
}

async fn secrets_of_a_target_go_in_and_never_come_out_nor_elsewhere(app: TestApp) {
    let admin = app.admin().await;
    let mut with_secret = monitor();
    with_secret["monitor"]["target"]["headers"] =
        json!([{ "name": "Authorization", "value": { "secret": "token" } }]);
    let answer = admin.post(MONITORS, with_secret.clone()).await;
    answer.refused(400, "invalid");
    assert_eq!(answer.json()["errors"][0]["pointer"], "/monitor/secrets/token");
    with_secret["monitor"]["secrets"] = json!({ "token": "Bearer hunter2" });
    let path = made_at(&admin, MONITORS, with_secret.clone()).await;
    assert!(!admin.get(&path).await.text.contains("hunter2"));
    let mut form = with_secret["monitor"].clone();
    form["secrets"] = json!({});
    admin.put(&path, json!({ "version": 1, "monitor": form })).await.expect(StatusCode::OK);
    form["target"]["url"] = json!("http://192.0.2.66/");
    let elsewhere = json!({ "version": 2, "monitor": form });
    admin.put(&path, elsewhere).await.refused(400, "secret_required");
    form["secrets"] = json!({ "token": "Bearer other" });
    admin.put(&path, json!({ "version": 2, "monitor": form })).await.expect(StatusCode::OK);
}

async fn monitors_are_those_of_the_scope(app: TestApp) {
    let (admin, fluss) = (app.admin().await, fake());
    register(&admin, "eu", &fluss).await;
    register(&admin, "us", &fluss).await;
    let of = |cluster: Option<&str>| {
        let mut one = monitor();
        one["cluster"] = json!(cluster);
        one
    };
    let mut paths = Vec::new();
    for cluster in [Some("eu"), Some("us"), None] {
        paths.push(made_at(&admin, MONITORS, of(cluster)).await);
    }
    let scope = json!({ "clusters": [{ "cluster": "eu", "tables": "all" }] });
    let ann = app.person_with(&admin, json!({ "name": "ann", "role": "editor", "scope": scope })).await;
    let listed = ann.get(MONITORS).await.expect(StatusCode::OK);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    assert_eq!(listed["items"][0]["cluster"], "eu");
    for path in &paths[1..] {
        ann.get(path).await.refused(404, "not_found");
        ann.post(&format!("{path}/pause"), json!({})).await.refused(404, "not_found");
        ann.delete(&format!("{path}?version=1")).await.refused(404, "not_found");
    }
    ann.post(MONITORS, of(Some("us"))).await.refused(404, "not_found");
    ann.post(MONITORS, of(None)).await.refused(404, "not_found");
    assert_eq!(admin.get(MONITORS).await.expect(StatusCode::OK)["items"].as_array().unwrap().len(), 3);
}

async fn a_heartbeat_is_pinged_by_whoever_has_its_key(app: TestApp) {
    let admin = app.admin().await;
    let path = made_at(&admin, MONITORS, heartbeat()).await;
    let key = key_of(&admin, &path).await;
    let status = async || admin.get(&path).await.expect(StatusCode::OK)["state"]["status"].clone();
    assert_eq!(status().await, "new");
    for method in [Method::GET, Method::HEAD, Method::POST] {
        assert_eq!(ping(&app, method, &key, "").await, StatusCode::OK);
    }
    assert_eq!(status().await, "up");
    assert_eq!(ping(&app, Method::GET, &format!("{key}/1?rid=7"), "").await, StatusCode::OK);
    assert_eq!(status().await, "down");
    assert_eq!(ping(&app, Method::GET, &format!("{key}/0"), "").await, StatusCode::OK);
    assert_eq!(status().await, "up");
    for wrong in ["/heartbeat/none", &format!("{key}/dance"), &format!("{key}/256")] {
        assert_eq!(ping(&app, Method::GET, wrong, "").await, StatusCode::NOT_FOUND, "{wrong}");
    }
    let probed = made_at(&admin, MONITORS, monitor()).await;
    admin.post(&format!("{probed}/keys"), json!({})).await.refused(400, "invalid");
}

async fn a_ping_counts_whatever_it_brings(app: TestApp) {
    let admin = app.admin().await;
    let path = made_at(&admin, MONITORS, heartbeat()).await;
    let key = key_of(&admin, &path).await;
    let large = vec![b'x'; 200_000];
    for (headers, query, body) in [
        (vec![("content-type", "text/plain; charset=nonsense")], "", vec![0xff, 0xfe, 0x00]),
        (vec![("expect", "100-continue")], "", b"half".to_vec()),
        (vec![], "?rid=%ff&unknown=1&rid=2", Vec::new()),
        (vec![], "", large),
        // What the JDK's client sends with a plain request.
        (
            vec![
                ("connection", "Upgrade, HTTP2-Settings"),
                ("upgrade", "h2c"),
                ("http2-settings", "AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA"),
                ("content-length", "0"),
            ],
            "",
            Vec::new(),
        ),
    ] {
        let sent: Vec<_> = [("host", HOST)].into_iter().chain(headers.iter().copied()).collect();
        let answer = app.send(request(Method::POST, &format!("{key}{query}"), &sent, body)).await;
        assert_eq!(answer.status, StatusCode::OK, "{headers:?} {query}");
    }
    assert_eq!(admin.get(&path).await.expect(StatusCode::OK)["state"]["status"], "up");
}

async fn a_channel_keeps_its_secret_to_itself_and_to_its_place(app: TestApp) {
    let admin = app.admin().await;
    let path = made_at(&admin, CHANNELS, channel("pages")).await;
    let seen = admin.get(&path).await;
    assert!(!seen.text.contains("0123456789abcdef"), "{}", seen.text);
    let seen = seen.expect(StatusCode::OK);
    assert_eq!((&seen["secret_fields"], &seen["settings"]), (&json!(["routing_key"]), &json!({})));
    admin.post(CHANNELS, channel("pages")).await.refused(409, "conflict");
    let mut form = channel("pages, by night")["channel"].clone();
    form["secrets"] = json!({});
    let renamed = json!({ "version": seen["version"], "channel": form });
    let changed = admin.put(&path, renamed).await.expect(StatusCode::OK);
    assert_eq!((&changed["name"], &changed["secret_fields"]), (&form["name"], &json!(["routing_key"])));
    form["settings"] = json!({ "url": "https://elsewhere.example/" });
    let elsewhere = json!({ "version": changed["version"], "channel": form });
    admin.put(&path, elsewhere).await.refused(400, "secret_required");
    for (change, pointer) in [
        (json!({ "secrets": { "password": "x" } }), "/channel/secrets/password"),
        (json!({ "settings": { "routing_key": { "secret": "x" } } }), "/channel/settings/routing_key"),
        (json!({ "secrets": {} }), "/channel/settings"),
    ] {
        let mut wrong = channel("wrong");
        for (field, value) in change.as_object().unwrap() {
            wrong["channel"][field] = value.clone();
        }
        let answer = admin.post(CHANNELS, wrong).await;
        answer.refused(400, "invalid");
        assert_eq!(answer.json()["errors"][0]["pointer"], pointer, "{}", answer.text);
    }
}
