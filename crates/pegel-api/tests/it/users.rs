//! Users, tokens and the audit log as an admin uses them.

use axum::http::StatusCode;
use pegel_core::access::Role;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::app::{Client, TestApp};
use crate::on_both;

on_both!(
    a_user_is_made_changed_and_removed,
    bad_input_is_named_field_by_field,
    pages_lead_through_a_list_and_cursors_belong_to_it,
    a_token_acts_within_its_rights_and_ends,
    the_last_admin_stays,
    the_audit_log_is_read_by_filter_and_page_and_verified,
);

const USERS: &str = "/api/v1/users";

async fn a_user_is_made_changed_and_removed(app: TestApp) {
    let admin = app.admin().await;
    let new = json!({ "name": "ann", "display_name": "Ann", "role": "viewer", "scope": "all" });
    let made = admin.post(USERS, new.clone()).await.expect(StatusCode::CREATED);
    assert_eq!(made["user"]["has_default_grants"], true);
    assert!(made["password"].as_str().unwrap().len() > 20);
    admin.post(USERS, new).await.refused(409, "conflict");
    let path = format!("{USERS}/{}", made["user"]["id"].as_str().unwrap());
    let ann = app.settle("ann", made["password"].as_str().unwrap()).await;

    let user = admin.get(&path).await.expect(StatusCode::OK);
    let change = |version: &Value, role: &str| {
        json!({ "version": version, "display_name": "Ann B.", "role": role, "grants": null, "scope": "all",
                "is_disabled": false })
    };
    let changed = admin.put(&path, change(&user["version"], "editor")).await.expect(StatusCode::OK);
    assert_eq!((&changed["role"], &changed["display_name"]), (&json!("editor"), &json!("Ann B.")));
    ann.get("/api/v1/session").await.refused(401, "sign_in_required");
    admin.put(&path, change(&user["version"], "viewer")).await.refused(409, "conflict");

    let reset = admin.post(&format!("{path}/password-reset"), json!({})).await.expect(StatusCode::OK);
    let ann = app.settle("ann", reset["password"].as_str().unwrap()).await;
    let sessions = admin.get(&format!("{path}/sessions")).await.expect(StatusCode::OK);
    let session = sessions["items"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(sessions["items"][0]["is_current"], false);
    let session = format!("{path}/sessions/{session}");
    assert_eq!(admin.delete(&session).await.status, StatusCode::NO_CONTENT);
    admin.delete(&session).await.refused(404, "not_found");
    ann.get("/api/v1/session").await.refused(401, "sign_in_required");
    let ended = admin.delete(&format!("{path}/sessions")).await.expect(StatusCode::OK);
    assert_eq!(ended, json!({ "ended_count": 0 }));

    assert_eq!(admin.delete(&path).await.status, StatusCode::NO_CONTENT);
    admin.get(&path).await.refused(404, "not_found");
    admin.delete(&path).await.refused(404, "not_found");
    admin.get(&format!("{USERS}/ann")).await.refused(404, "not_found");
}

async fn bad_input_is_named_field_by_field(app: TestApp) {
    let admin = app.admin().await;
    let check = |answer: crate::app::Answer, expected: &[(&str, &str)]| {
        answer.refused(400, "invalid");
        let problem = answer.json();
        let found: Vec<_> = problem["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|error| (error["pointer"].as_str().unwrap(), error["code"].as_str().unwrap()))
            .collect();
        assert_eq!(found, expected, "{problem}");
    };
    let long = json!({ "name": "a b", "display_name": "x".repeat(257), "role": "viewer", "scope": "all" });
    check(admin.post(USERS, long).await, &[("/name", "characters"), ("/display_name", "length")]);
    let wrong = json!({ "name": "ann", "role": "root", "scope": "all" });
    check(admin.post(USERS, wrong).await, &[("/role", "type")]);
    let wrong =
        json!({ "name": "ann", "role": "viewer", "scope": "all", "grants": ["pegel.users.read", "A"] });
    check(admin.post(USERS, wrong).await, &[("/grants/1", "type")]);
    let extra = json!({ "name": "ann", "role": "viewer", "scope": "all", "is_admin": true });
    check(admin.post(USERS, extra).await, &[("/is_admin", "type")]);
    check(admin.post(USERS, json!({ "name": "ann", "role": "viewer" })).await, &[("/scope", "missing")]);
    check(admin.get("/api/v1/users?limit=0").await, &[("/limit", "range")]);
    check(admin.get("/api/v1/users?limit=1001").await, &[("/limit", "range")]);
    check(admin.get("/api/v1/users?limit=many").await, &[("/limit", "type")]);
    check(admin.get("/api/v1/users?limit=1&limit=2").await, &[("/limit", "type")]);
    check(admin.get("/api/v1/users?cursor=xyz").await, &[("/cursor", "characters")]);
}

async fn pages_lead_through_a_list_and_cursors_belong_to_it(app: TestApp) {
    let admin = app.admin().await;
    for name in ["ann", "bob", "cid", "dan"] {
        let new = json!({ "name": name, "role": "viewer", "scope": "all" });
        admin.post(USERS, new).await.expect(StatusCode::CREATED);
    }
    let mut names = Vec::new();
    let mut path = format!("{USERS}?limit=2");
    let mut first_cursor = None;
    loop {
        let page = admin.get(&path).await.expect(StatusCode::OK);
        let items = page["items"].as_array().unwrap();
        assert!((1..=2).contains(&items.len()));
        names.extend(items.iter().map(|user| user["name"].as_str().unwrap().to_owned()));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        assert!(!cursor.contains("bob"));
        first_cursor.get_or_insert(cursor.to_owned());
        path = format!("{USERS}?limit=2&cursor={cursor}");
    }
    assert_eq!(names, ["admin", "ann", "bob", "cid", "dan"]);
    let cursor = first_cursor.unwrap();
    admin.get(&format!("/api/v1/tokens?cursor={cursor}")).await.refused(400, "invalid");
    let other = app.person(&admin, "eve", Role::Admin).await;
    other.get(&format!("{USERS}?cursor={cursor}")).await.refused(400, "invalid");
    let exact = admin.get(&format!("{USERS}?limit=6")).await.expect(StatusCode::OK);
    assert_eq!((exact["items"].as_array().unwrap().len(), &exact["next_cursor"]), (6, &Value::Null));
}

async fn a_token_acts_within_its_rights_and_ends(app: TestApp) {
    let admin = app.admin().await;
    let new = json!({ "name": "ci", "role": "viewer", "grants": ["pegel.users.read", "pegel.clusters.read"],
                      "scope": "all", "expires_in_days": 30 });
    let made = admin.post("/api/v1/account/tokens", new.clone()).await.expect(StatusCode::CREATED);
    let secret = made["secret"].as_str().unwrap().to_owned();
    let id = made["token"]["id"].as_str().unwrap().to_owned();
    assert!(secret.starts_with("pgl_"));
    let token = app.bearer(&secret);
    let info = token.get("/api/v1/session").await.expect(StatusCode::OK);
    assert_eq!((&info["name"], &info["principal_kind"]), (&json!("admin/ci"), &json!("token")));
    assert_eq!((&info["session_id"], &info["expires_at"]), (&Value::Null, &Value::Null));
    assert_eq!(token.get("/api/v1/clusters").await.status, StatusCode::OK);
    // The pattern is granted, but the permission needs more than a viewer.
    token.get(USERS).await.refused(403, "permission_denied");
    token.delete("/api/v1/session").await.refused(403, "session_required");
    token.get("/api/v1/account/sessions").await.refused(403, "session_required");
    token.post("/api/v1/account/tokens", new).await.refused(403, "permission_denied");

    for path in ["/api/v1/account/tokens", "/api/v1/tokens"] {
        let list = admin.get(path).await.expect(StatusCode::OK);
        assert_eq!(list["items"].as_array().unwrap().len(), 1);
        assert!(!list.to_string().contains(&secret));
    }
    let nobody = format!("/api/v1/tokens?user_id={}", Uuid::from_u128(5));
    assert_eq!(admin.get(&nobody).await.expect(StatusCode::OK)["items"], json!([]));
    let own = format!("/api/v1/account/tokens/{id}");
    let bob = app.person(&admin, "bob", Role::Editor).await;
    bob.delete(&own).await.refused(404, "not_found");
    assert_eq!(admin.delete(&own).await.status, StatusCode::NO_CONTENT);
    token.get("/api/v1/session").await.refused(401, "sign_in_required");
    admin.delete(&format!("/api/v1/tokens/{id}")).await.refused(404, "not_found");
    app.bearer("pgl_nonsense").get("/api/v1/session").await.refused(401, "sign_in_required");
}

async fn the_last_admin_stays(app: TestApp) {
    let admin = app.admin().await;
    let id =
        admin.get("/api/v1/session").await.expect(StatusCode::OK)["user_id"].as_str().unwrap().to_owned();
    admin.delete(&format!("{USERS}/{id}")).await.refused(409, "last_admin");
    let limited =
        json!({ "name": "limited", "role": "admin", "grants": ["pegel.users.write"], "scope": "all" });
    let limited: Client = app.person_with(&admin, limited).await;
    let more = json!({ "name": "more", "role": "admin", "scope": "all" });
    limited.post(USERS, more).await.refused(403, "rights_exceeded");
}

async fn the_audit_log_is_read_by_filter_and_page_and_verified(app: TestApp) {
    let admin = app.admin().await;
    app.person(&admin, "ann", Role::Viewer).await;
    let all = admin.get("/api/v1/audit").await.expect(StatusCode::OK);
    let all = all["items"].as_array().unwrap();
    let seqs: Vec<_> = all.iter().map(|row| row["seq"].as_i64().unwrap()).collect();
    assert!(seqs.len() > 4 && seqs.is_sorted_by(|a, b| a > b), "{seqs:?}");

    let made = admin.get("/api/v1/audit?action=users.create").await.expect(StatusCode::OK);
    let names: Vec<_> = made["items"].as_array().unwrap().iter().map(|row| &row["principal_name"]).collect();
    assert_eq!(names, ["admin", "pegel"]);
    let ann = made["items"][0]["target"].as_str().unwrap().to_owned();
    let about = admin.get(&format!("/api/v1/audit?target={ann}")).await.expect(StatusCode::OK);
    assert!(about["items"].as_array().unwrap().iter().all(|row| row["target"] == *ann));
    let later = admin.get("/api/v1/audit?from=2026-03-01T12:00:01Z").await.expect(StatusCode::OK);
    assert_eq!(later["items"], json!([]));

    let mut paged = Vec::new();
    let mut before = String::new();
    loop {
        let page = admin.get(&format!("/api/v1/audit?limit=2{before}")).await.expect(StatusCode::OK);
        paged.extend(page["items"].as_array().unwrap().iter().map(|row| row["seq"].as_i64().unwrap()));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        before = format!("&before={cursor}");
    }
    assert_eq!(paged, seqs);
    admin.get(&format!("/api/v1/audit?action=login{before}")).await.refused(400, "invalid");

    let verified = admin.get("/api/v1/audit/verify").await.expect(StatusCode::OK);
    assert_eq!(
        (&verified["state"], verified["row_count"].as_u64()),
        (&json!("whole"), Some(seqs.len() as u64))
    );
    assert_eq!(verified["head"].as_str().unwrap().len(), 64);
}
