//! Routes, silences, maintenance windows and incidents as people see to them.

use std::time::Duration;

use axum::http::StatusCode;
use pegel_core::clock::Clock as _;
use pegel_testkit::service::open_incident;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::app::{Answer, Client, TestApp};
use crate::clusters::{fake, register};
use crate::on_both;

on_both!(
    routes_are_replaced_as_one_list_by_whoever_saw_the_last,
    a_route_to_a_channel_that_is_not_there_is_refused_by_place,
    a_preview_says_who_would_be_told_and_what_withholds_it,
    a_silence_is_made_changed_and_removed,
    a_silence_and_a_maintenance_window_are_not_taken_for_each_other,
    a_maintenance_window_says_when_it_is_next,
    incidents_are_those_of_the_scope_and_come_newest_first,
    a_comment_stands_in_the_timeline_under_its_author,
);

const ROUTES: &str = "/api/v1/alert-routes";
const SILENCES: &str = "/api/v1/silences";
const WINDOWS: &str = "/api/v1/maintenance-windows";
const INCIDENTS: &str = "/api/v1/incidents";

/// The clock of the tests stands at a time long before this.
const FAR: &str = "2999-01-01T00:00:00Z";

pub(crate) fn silence() -> Value {
    json!({ "matchers": [{ "label": "cluster", "operator": "in", "values": ["eu"] }],
            "ends_at": FAR, "comment": "a disk is being changed" })
}

pub(crate) fn maintenance() -> Value {
    let begins = json!({ "expression": "0 2 * * 1", "time_zone": "Europe/Berlin" });
    json!({ "matchers": [{ "label": "cluster", "operator": "in", "values": ["eu"] }],
            "recurrence": { "recurring": { "begins": begins, "duration_minutes": 120 } },
            "comment": "weekly restart" })
}

/// Makes something and returns its path.
pub(crate) async fn made_at(client: &Client, path: &str, body: Value) -> String {
    let made = client.post(path, body).await.expect(StatusCode::CREATED);
    format!("{path}/{}", made["id"].as_str().unwrap())
}

/// Opens an incident of a monitor of its own, as the engine does; returns its id.
pub(crate) async fn incident(app: &TestApp, number: u128, cluster: Option<&str>) -> Uuid {
    let cluster = cluster.map(|slug| slug.parse().unwrap());
    open_incident(&app.service, Uuid::from_u128(number), cluster).await
}

/// Does a change that succeeds; `None` for what is not about alerting.
pub(crate) async fn succeed(app: &TestApp, admin: &Client, id: &str) -> Option<Answer> {
    Some(match id {
        "replace_routes" => {
            let seen = admin.get(ROUTES).await.expect(StatusCode::OK);
            admin.put(ROUTES, json!({ "version": seen["version"], "routes": [] })).await
        }
        "create_silence" => admin.post(SILENCES, silence()).await,
        "create_maintenance_window" => admin.post(WINDOWS, maintenance()).await,
        "update_silence" => {
            let path = made_at(admin, SILENCES, silence()).await;
            admin.put(&path, json!({ "version": 1, "silence": silence() })).await
        }
        "update_maintenance_window" => {
            let path = made_at(admin, WINDOWS, maintenance()).await;
            admin.put(&path, json!({ "version": 1, "window": maintenance() })).await
        }
        "remove_silence" => {
            let path = made_at(admin, SILENCES, silence()).await;
            admin.delete(&format!("{path}?version=1")).await
        }
        "remove_maintenance_window" => {
            let path = made_at(admin, WINDOWS, maintenance()).await;
            admin.delete(&format!("{path}?version=1")).await
        }
        "comment_incident" => {
            let path = format!("{INCIDENTS}/{}/comments", incident(app, 1, None).await);
            admin.post(&path, json!({ "text": "looking at it" })).await
        }
        _ => return None,
    })
}

async fn routes_are_replaced_as_one_list_by_whoever_saw_the_last(app: TestApp) {
    let admin = app.admin().await;
    let seen = admin.get(ROUTES).await.expect(StatusCode::OK);
    assert_eq!(seen, json!({ "routes": [], "version": 0 }));
    let written = admin.put(ROUTES, seen.clone()).await.expect(StatusCode::OK);
    assert_eq!(written["version"], 1);
    admin.put(ROUTES, seen).await.refused(409, "conflict");
}

async fn a_route_to_a_channel_that_is_not_there_is_refused_by_place(app: TestApp) {
    let admin = app.admin().await;
    let route = json!({ "id": Uuid::from_u128(1), "name": "pages", "is_enabled": true, "matchers": [],
                        "severities": ["critical"], "channel_ids": [Uuid::from_u128(9)], "is_continued": false });
    let answer = admin.put(ROUTES, json!({ "routes": [route], "version": 0 })).await;
    answer.refused(400, "invalid");
    assert_eq!(answer.json()["errors"][0]["pointer"], "/routes/0/channel_ids/0");
    assert_eq!(admin.get(ROUTES).await.expect(StatusCode::OK)["version"], 0, "nothing was written");
}

async fn a_preview_says_who_would_be_told_and_what_withholds_it(app: TestApp) {
    let admin = app.admin().await;
    let quiet = made_at(&admin, SILENCES, silence()).await;
    let route = |number: u128, severity: &str| {
        json!({ "id": Uuid::from_u128(number), "name": "r", "is_enabled": true, "matchers": [],
                "severities": [severity], "channel_ids": [Uuid::from_u128(9)], "is_continued": false })
    };
    let ask = json!({ "severity": "high", "labels": { "cluster": "eu" },
                      "routes": [route(1, "low"), route(2, "high")] });
    let told = admin.post(&format!("{ROUTES}/preview"), ask).await.expect(StatusCode::OK);
    assert_eq!(told["channel_ids"], json!([Uuid::from_u128(9)]));
    assert_eq!(told["routes"][0]["fate"], "other_severity");
    assert_eq!(told["routes"][1]["fate"], "taken");
    let id = quiet.rsplit('/').next().unwrap();
    assert_eq!(told["withheld_by"], json!([id]));
    let ask = json!({ "severity": "high", "labels": { "cluster": "us" } });
    let told = admin.post(&format!("{ROUTES}/preview"), ask).await.expect(StatusCode::OK);
    assert_eq!(told, json!({ "channel_ids": [], "routes": [], "withheld_by": [] }));
}

async fn a_silence_is_made_changed_and_removed(app: TestApp) {
    let admin = app.admin().await;
    let path = made_at(&admin, SILENCES, silence()).await;
    let seen = admin.get(&path).await.expect(StatusCode::OK);
    assert_eq!(
        (&seen["is_active"], &seen["created_by"], &seen["version"]),
        (&json!(true), &json!("admin"), &json!(1))
    );
    let now = app.clock.now();
    let ends_at = now.checked_add(Duration::from_secs(60)).unwrap();
    let mut form = silence();
    form["ends_at"] = json!(ends_at);
    let change = json!({ "version": 1, "silence": form });
    let changed = admin.put(&path, change.clone()).await.expect(StatusCode::OK);
    assert_eq!(changed["version"], 2);
    admin.put(&path, change).await.refused(409, "conflict");
    app.clock.advance(Duration::from_secs(60));
    assert_eq!(admin.get(&path).await.expect(StatusCode::OK)["is_active"], false);
    assert_eq!(admin.get(SILENCES).await.expect(StatusCode::OK)["items"], json!([]), "it is over");
    admin.delete(&format!("{path}?version=1")).await.refused(409, "conflict");
    assert_eq!(admin.delete(&format!("{path}?version=2")).await.status, StatusCode::NO_CONTENT);
    admin.get(&path).await.refused(404, "not_found");

    let mut everything = silence();
    everything["matchers"] = json!([]);
    let answer = admin.post(SILENCES, everything).await;
    answer.refused(400, "invalid");
    assert_eq!(answer.json()["errors"][0]["pointer"], "/matchers");
}

async fn a_silence_and_a_maintenance_window_are_not_taken_for_each_other(app: TestApp) {
    let admin = app.admin().await;
    let silenced = made_at(&admin, SILENCES, silence()).await;
    let window = made_at(&admin, WINDOWS, maintenance()).await;
    let crossed = |path: &str, to: &str| format!("{to}/{}", path.rsplit('/').next().unwrap());
    for (path, to, body) in [
        (&silenced, WINDOWS, json!({ "version": 1, "window": maintenance() })),
        (&window, SILENCES, json!({ "version": 1, "silence": silence() })),
    ] {
        let path = crossed(path, to);
        admin.get(&path).await.refused(404, "not_found");
        admin.put(&path, body).await.refused(404, "not_found");
        admin.delete(&format!("{path}?version=1")).await.refused(404, "not_found");
    }
    for list in [SILENCES, WINDOWS] {
        assert_eq!(admin.get(list).await.expect(StatusCode::OK)["items"].as_array().unwrap().len(), 1);
    }
}

async fn a_maintenance_window_says_when_it_is_next(app: TestApp) {
    let admin = app.admin().await;
    let path = made_at(&admin, WINDOWS, maintenance()).await;
    let seen = admin.get(&path).await.expect(StatusCode::OK);
    let next: jiff::Timestamp = seen["next_starts_at"].as_str().unwrap().parse().unwrap();
    assert!(next > app.clock.now());
    let local = next.to_zoned(jiff::tz::TimeZone::get("Europe/Berlin").unwrap());
    assert_eq!((local.hour(), local.weekday()), (2, jiff::civil::Weekday::Monday));
    let mut endless = maintenance();
    endless["recurrence"]["recurring"]["begins"]["expression"] = json!("* * * * *");
    let answer = admin.post(WINDOWS, endless).await;
    answer.refused(400, "invalid");
    assert_eq!(answer.json()["errors"][0]["pointer"], "/recurrence");
}

async fn incidents_are_those_of_the_scope_and_come_newest_first(app: TestApp) {
    let (admin, fluss) = (app.admin().await, fake());
    register(&admin, "eu", &fluss).await;
    register(&admin, "us", &fluss).await;
    for (number, cluster) in [(1, Some("eu")), (2, Some("us")), (3, None)] {
        incident(&app, number, cluster).await;
    }
    let ids = async |client: &Client, query: &str| {
        let page = client.get(&format!("{INCIDENTS}?{query}")).await.expect(StatusCode::OK);
        let items = page["items"].as_array().unwrap().clone();
        items
            .iter()
            .map(|item| item["id"].as_str().unwrap().parse::<Uuid>().unwrap().as_u128())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&admin, "").await, [3, 2, 1]);
    assert_eq!(ids(&admin, "cluster=us&only_open=true").await, [2]);
    let scope = json!({ "clusters": [{ "cluster": "eu", "tables": "all" }] });
    let ann = app.person_with(&admin, json!({ "name": "ann", "role": "editor", "scope": scope })).await;
    assert_eq!(ids(&ann, "").await, [1]);
    let of_us = format!("{INCIDENTS}/{}", Uuid::from_u128(2));
    ann.get(&of_us).await.refused(404, "not_found");
    ann.get(&format!("{of_us}/events")).await.refused(404, "not_found");
    ann.post(&format!("{of_us}/comments"), json!({ "text": "x" })).await.refused(404, "not_found");
    let first = admin.get(&format!("{INCIDENTS}?limit=2")).await.expect(StatusCode::OK);
    let cursor = first["next_cursor"].as_str().unwrap();
    assert_eq!(ids(&admin, &format!("limit=2&cursor={cursor}")).await, [1]);
}

async fn a_comment_stands_in_the_timeline_under_its_author(app: TestApp) {
    let admin = app.admin().await;
    let path = format!("{INCIDENTS}/{}", incident(&app, 1, None).await);
    let said = json!({ "text": "the coordinator's disk is full" });
    admin.post(&format!("{path}/comments"), said.clone()).await.expect(StatusCode::CREATED);
    let events = admin.get(&format!("{path}/events")).await.expect(StatusCode::OK);
    let event = &events["items"][0];
    assert_eq!(
        (&event["kind"], &event["actor"], &event["detail"]),
        (&json!("comment"), &json!("admin"), &said)
    );
    let empty = admin.post(&format!("{path}/comments"), json!({ "text": " " })).await;
    empty.refused(400, "invalid");
}
