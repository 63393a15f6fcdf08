//! Signing in and out as a browser does it.

use std::time::Duration;

use axum::http::StatusCode;
use axum::http::header::{RETRY_AFTER, SET_COOKIE};
use pegel_core::access::Role;
use secrecy::ExposeSecret;
use serde_json::json;
use uuid::Uuid;

use crate::app::{Shown, TestApp, password_of};
use crate::on_both;

on_both!(
    signing_in_gives_a_cookie_and_signing_out_ends_it,
    a_generated_password_opens_nothing_but_its_own_change,
    every_login_has_a_new_token_whatever_the_client_had,
    a_changed_password_gives_a_new_token_and_ends_the_others,
    guessing_is_slowed_down,
    a_session_that_was_not_used_ends,
    one_ends_ones_own_sessions,
);

const SESSION: &str = "/api/v1/session";

async fn signing_in_gives_a_cookie_and_signing_out_ends_it(app: TestApp) {
    app.admin().await;
    let login = json!({ "name": "ADMIN", "password": password_of("admin") });
    let answer = app.stranger().post(SESSION, login).await;
    let cookie = answer.headers[SET_COOKIE].to_str().unwrap().to_owned();
    assert!(cookie.starts_with("pegel_session=") && cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"));
    let client = app.client(Shown::Cookie(answer.cookie()));
    let signed_in = answer.expect(StatusCode::CREATED);
    assert!(
        !signed_in.to_string().contains(cookie.split(['=', ';']).nth(1).unwrap()),
        "only the cookie has it"
    );
    let info = client.get(SESSION).await.expect(StatusCode::OK);
    assert_eq!(info, signed_in);
    assert_eq!(
        (&info["name"], &info["role"], &info["scope"]),
        (&json!("admin"), &json!("admin"), &json!("all"))
    );
    assert_eq!(info["expires_at"], "2026-03-08T12:00:00Z");

    let answer = client.delete(SESSION).await;
    assert_eq!(answer.status, StatusCode::NO_CONTENT);
    assert!(answer.headers[SET_COOKIE].to_str().unwrap().contains("pegel_session=; "));
    assert!(answer.headers[SET_COOKIE].to_str().unwrap().contains("Max-Age=0"));
    client.get(SESSION).await.refused(401, "sign_in_required");
    client.delete(SESSION).await.refused(401, "sign_in_required");
}

async fn a_generated_password_opens_nothing_but_its_own_change(app: TestApp) {
    let admin = app.service.people().ensure_admin(Uuid::from_u128(1)).await.unwrap().unwrap();
    let generated = admin.password.expose_secret();
    let client = app.login("admin", generated).await;
    assert_eq!(client.get(SESSION).await.expect(StatusCode::OK)["must_change_password"], true);
    for path in
        ["/api/v1/users", "/api/v1/changes", "/api/v1/openapi.json", "/api/v1/clusters", "/api/v1/audit"]
    {
        client.get(path).await.refused(403, "password_change_required");
    }
    let same = json!({ "current_password": generated, "new_password": generated });
    client.post("/api/v1/account/password", same).await.refused(400, "invalid");
    let client = app.settle("admin", generated).await;
    assert_eq!(client.get("/api/v1/users").await.status, StatusCode::OK);
}

async fn every_login_has_a_new_token_whatever_the_client_had(app: TestApp) {
    let admin = app.admin().await;
    let login = json!({ "name": "admin", "password": password_of("admin") });
    let planted = app.client(Shown::Cookie("pegel_session=planted".to_owned()));
    let first = planted.post(SESSION, login.clone()).await;
    assert_eq!(first.status, StatusCode::CREATED);
    let second = admin.post(SESSION, login).await;
    let Shown::Cookie(before) = &admin.shown else { panic!("a cookie") };
    assert!(first.cookie() != "pegel_session=planted" && first.cookie() != second.cookie());
    assert_ne!(second.cookie(), *before);
    planted.get(SESSION).await.refused(401, "sign_in_required");
}

async fn a_changed_password_gives_a_new_token_and_ends_the_others(app: TestApp) {
    let admin = app.admin().await;
    let other = app.login("admin", &password_of("admin")).await;
    let change = json!({ "current_password": password_of("admin"), "new_password": "another one 12345" });
    let answer = admin.post("/api/v1/account/password", change).await;
    assert_eq!((answer.status, answer.text.as_str()), (StatusCode::NO_CONTENT, ""));
    admin.get(SESSION).await.refused(401, "sign_in_required");
    other.get(SESSION).await.refused(401, "sign_in_required");
    let renewed = app.client(Shown::Cookie(answer.cookie()));
    assert_eq!(renewed.get(SESSION).await.status, StatusCode::OK);
    let wrong = json!({ "current_password": "not the password", "new_password": "yet another 12345" });
    renewed.post("/api/v1/account/password", wrong).await.refused(401, "login_failed");
}

async fn guessing_is_slowed_down(app: TestApp) {
    let admin = app.admin().await;
    app.person(&admin, "ann", Role::Viewer).await;
    let guess = json!({ "name": "ann", "password": "a guess of hers" });
    let unknown = app.stranger().post(SESSION, json!({ "name": "nobody", "password": "a guess" })).await;
    unknown.refused(401, "login_failed");
    let mut locked = app.stranger().post(SESSION, guess.clone()).await;
    for _ in 0..9 {
        locked.refused(401, "login_failed");
        locked = app.stranger().post(SESSION, guess.clone()).await;
        if locked.status == StatusCode::TOO_MANY_REQUESTS {
            break;
        }
    }
    locked.refused(429, "login_locked");
    let wait: u64 = locked.headers[RETRY_AFTER].to_str().unwrap().parse().unwrap();
    let right = json!({ "name": "ann", "password": password_of("ann") });
    app.stranger().post(SESSION, right.clone()).await.refused(429, "login_locked");
    app.clock.advance(Duration::from_secs(wait));
    assert_eq!(app.stranger().post(SESSION, right).await.status, StatusCode::CREATED);
}

async fn a_session_that_was_not_used_ends(app: TestApp) {
    let admin = app.admin().await;
    app.clock.advance(Duration::from_secs(11 * 3_600));
    assert_eq!(admin.get(SESSION).await.status, StatusCode::OK);
    app.clock.advance(Duration::from_secs(11 * 3_600));
    assert_eq!(admin.get(SESSION).await.status, StatusCode::OK);
    app.clock.advance(Duration::from_secs(12 * 3_600));
    admin.get(SESSION).await.refused(401, "sign_in_required");
}

async fn one_ends_ones_own_sessions(app: TestApp) {
    let admin = app.admin().await;
    let (first, second) =
        (app.login("admin", &password_of("admin")).await, app.login("admin", &password_of("admin")).await);
    let list = admin.get("/api/v1/account/sessions").await.expect(StatusCode::OK);
    assert_eq!((list["items"].as_array().unwrap().len(), &list["next_cursor"]), (3, &json!(null)));
    let id = first.get(SESSION).await.expect(StatusCode::OK)["session_id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/account/sessions/{id}");
    assert_eq!(admin.delete(&path).await.status, StatusCode::NO_CONTENT);
    admin.delete(&path).await.refused(404, "not_found");
    first.get(SESSION).await.refused(401, "sign_in_required");
    let ended = admin.delete("/api/v1/account/sessions").await.expect(StatusCode::OK);
    assert_eq!(ended, json!({ "ended_count": 1 }));
    second.get(SESSION).await.refused(401, "sign_in_required");
    assert_eq!(admin.get(SESSION).await.status, StatusCode::OK);
    // Somebody else's session is not there.
    let bob = app.person(&admin, "bob", Role::Viewer).await;
    let own = admin.get(SESSION).await.expect(StatusCode::OK)["session_id"].as_str().unwrap().to_owned();
    bob.delete(&format!("/api/v1/account/sessions/{own}")).await.refused(404, "not_found");
}
