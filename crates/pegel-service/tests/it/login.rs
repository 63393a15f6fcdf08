//! Signing in.

use std::time::Duration;

use pegel_core::access::Role;
use pegel_core::access::scope::Scope;
use pegel_service::Error;
use pegel_service::people::{HashSettings, People};
use pegel_service::policy::permission::UsersWrite;
use pegel_store::users;
use secrecy::ExposeSecret;

use crate::house::{CHEAP, House, code, login, origin, settings};
use crate::on_both;

on_both!(
    a_login_is_a_new_session_each_time,
    known_and_unknown_names_cost_one_check_and_answer_the_same,
    failures_lock_a_name_that_exists_and_one_that_does_not_alike,
    guesses_sent_at_once_are_no_more_than_guesses_in_a_row,
    a_source_that_tries_many_names_is_locked,
    a_disabled_user_is_refused,
    a_hash_of_other_costs_is_made_anew_at_login,
    the_hundred_and_first_session_ends_the_oldest,
    secrets_are_in_no_audit_row_and_no_debug,
);

async fn a_login_is_a_new_session_each_time(house: House) {
    let admin = house.admin().await;
    let one = house.login("ADMIN", &admin.password).await.unwrap();
    let two = house.login("admin", &admin.password).await.unwrap();
    assert_ne!(one.session_id, two.session_id);
    assert_ne!(one.token.expose_secret(), two.token.expose_secret());
    assert_eq!(one.expires_at.to_string(), "2026-03-08T12:00:00Z");
    assert_eq!(house.session(&one).await.unwrap().session_id(), Some(one.session_id));
    assert_eq!(house.last_audit().await, ("login".to_owned(), "ok".to_owned()));
    assert_eq!(code(house.login("admin", &"x".repeat(1_025)).await), "invalid");
}

async fn known_and_unknown_names_cost_one_check_and_answer_the_same(house: House) {
    house.admin().await;
    let mut answers = Vec::new();
    for name in ["admin", "nobody"] {
        let before = house.people.password_checks();
        let error = house.login(name, "a wrong password").await.unwrap_err();
        assert_eq!(house.people.password_checks(), before + 1, "{name}");
        answers.push((error.code(), error.public()));
    }
    assert_eq!(answers[0], answers[1]);
}

async fn failures_lock_a_name_that_exists_and_one_that_does_not_alike(house: House) {
    let admin = house.admin().await;
    for (name, source) in [("admin", "192.0.2.8"), ("nobody", "192.0.2.9")] {
        for _ in 0..6 {
            assert_eq!(code(house.login_from(source, name, "a wrong password").await), "login_failed");
        }
        let last = house.audit().await.pop().unwrap().entry;
        assert_eq!((last.outcome.as_str(), last.detail["by"].as_str()), ("locked", Some("name")));
        let checks = house.people.password_checks();
        let error = house.login_from(source, name, &admin.password).await.unwrap_err();
        let Error::LoginLocked { retry_after } = error else { panic!("{error}") };
        assert_eq!(retry_after, Duration::from_secs(5), "{name}");
        assert_eq!(house.people.password_checks(), checks);
    }
    house.clock.advance(Duration::from_secs(5));
    assert_eq!(code(house.login("admin", "a wrong password").await), "login_failed");
    let error = house.login("admin", &admin.password).await.unwrap_err();
    assert!(matches!(error, Error::LoginLocked { retry_after } if retry_after.as_secs() == 10), "{error}");
    house.clock.advance(Duration::from_secs(10));
    house.login("admin", &admin.password).await.unwrap();
    // A success forgets the failures.
    assert_eq!(code(house.login("admin", "a wrong password").await), "login_failed");
    house.login("admin", &admin.password).await.unwrap();
}

async fn guesses_sent_at_once_are_no_more_than_guesses_in_a_row(house: House) {
    house.admin().await;
    let checks = house.people.password_checks();
    let guesses: Vec<_> = (0..40)
        .map(|number| {
            let people = house.people.clone();
            tokio::spawn(async move {
                let source = format!("198.51.100.{number}");
                code(people.login(&origin(&source), &login("admin", "a wrong password")).await)
            })
        })
        .collect();
    let mut codes = Vec::new();
    for guess in guesses {
        codes.push(guess.await.unwrap());
    }
    assert_eq!(house.people.password_checks() - checks, 6, "{codes:?}");
    assert_eq!(codes.iter().filter(|code| **code == "login_locked").count(), 34);
}

async fn a_source_that_tries_many_names_is_locked(house: House) {
    let admin = house.admin().await;
    for number in 0..31 {
        let name = format!("name{number}");
        assert_eq!(code(house.login_from("2001:db8::1", &name, "a wrong password").await), "login_failed");
    }
    assert_eq!(code(house.login_from("2001:db8::2", "admin", &admin.password).await), "login_locked");
    house.login_from("2001:db8:0:1::1", "admin", &admin.password).await.unwrap();
    let locked = house.audit().await.into_iter().find(|row| row.entry.outcome == "locked").unwrap();
    assert_eq!(locked.entry.detail["by"], "source");
}

async fn a_disabled_user_is_refused(house: House) {
    let admin = house.admin().await;
    let ann = house.person(&admin, "ann", Role::Viewer, Scope::All).await;
    let session = house.login("ann", &ann.password).await.unwrap();
    house.session(&session).await.unwrap();
    let id = ann.user.id;
    // Behind the service's back, so that the session itself is still there.
    house
        .db
        .write(move |tx| {
            Box::pin(async move {
                let version = users::get(tx, id).await?.version;
                users::set_disabled(tx, id, version, true).await
            })
        })
        .await
        .unwrap();
    assert_eq!(code(house.session(&session).await), "sign_in_required");
    let checks = house.people.password_checks();
    let error = house.login("ann", &ann.password).await.unwrap_err();
    assert_eq!(error.public(), house.login("nobody", &ann.password).await.unwrap_err().public());
    assert_eq!(house.people.password_checks(), checks + 2);
    let rows = house.audit().await;
    assert!(rows.iter().any(|row| row.entry.detail["reason"] == "disabled"));
}

async fn a_hash_of_other_costs_is_made_anew_at_login(house: House) {
    let admin = house.admin().await;
    let hash = |id| {
        let db = house.db.clone();
        async move {
            let user = db.read(move |tx| Box::pin(users::get(tx, id))).await.unwrap();
            user.password_hash.unwrap().expose_secret().to_owned()
        }
    };
    let dearer =
        pegel_service::people::Settings { hash: HashSettings { iterations: 2, ..CHEAP }, ..settings() };
    let people = People::new(house.db.clone(), dearer).unwrap();
    assert!(hash(admin.user.id).await.contains("m=8,t=1,p=1"));
    assert_eq!(
        code(people.login(&origin("192.0.2.1"), &login("admin", "a wrong one")).await),
        "login_failed"
    );
    assert!(hash(admin.user.id).await.contains("m=8,t=1,p=1"));
    people.login(&origin("192.0.2.1"), &login("admin", &admin.password)).await.unwrap();
    let upgraded = hash(admin.user.id).await;
    assert!(upgraded.contains("m=8,t=2,p=1"));
    people.login(&origin("192.0.2.1"), &login("admin", &admin.password)).await.unwrap();
    assert_eq!(hash(admin.user.id).await, upgraded);
}

async fn secrets_are_in_no_audit_row_and_no_debug(house: House) {
    let admin = house.admin().await;
    let typed_as_name = "my-secret-typed-as-name";
    assert_eq!(code(house.login(typed_as_name, "x").await), "login_failed");
    let session = house.login("admin", &admin.password).await.unwrap();
    let caller = house.session(&session).await.unwrap();
    let may = house.may::<UsersWrite>(&caller).await;
    let reset = house.people.reset_password(&may, admin.user.id).await.unwrap();
    let stored = house.audit().await;
    let id = admin.user.id;
    let user = house.db.read(move |tx| Box::pin(users::get(tx, id))).await.unwrap();
    let hash = user.password_hash.as_ref().unwrap().expose_secret().to_owned();
    let printed = format!("{stored:?} {session:?} {caller:?} {may:?} {reset:?} {user:?} {:?}", house.people);
    let generated = reset.password.secret().expose_secret();
    for secret in [typed_as_name, &admin.password, session.token.expose_secret(), generated, &hash] {
        assert!(!printed.contains(secret), "{secret}");
    }
}

async fn the_hundred_and_first_session_ends_the_oldest(house: House) {
    let admin = house.admin().await;
    let mut begun = Vec::new();
    for _ in 0..101 {
        house.clock.advance(Duration::from_millis(1));
        begun.push(house.login("admin", &admin.password).await.unwrap());
    }
    assert_eq!(code(house.session(&begun[0]).await), "sign_in_required");
    house.session(&begun[1]).await.unwrap();
    house.session(&begun[100]).await.unwrap();
}
