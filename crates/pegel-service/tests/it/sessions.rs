//! Sessions and one's own password.

use std::time::Duration;

use pegel_core::access::Role;
use pegel_core::access::decision::Target;
use pegel_core::access::scope::Scope;
use pegel_service::policy::permission::CatalogRead;
use pegel_store::sessions;
use secrecy::ExposeSecret;
use uuid::Uuid;

use crate::house::{House, change, code, origin};
use crate::on_both;

on_both!(
    a_session_ends_when_idle_and_after_a_week,
    the_last_use_is_noted_once_a_minute,
    logging_out_ends_this_session_only,
    one_revokes_ones_own_sessions_only,
    changing_the_password_ends_the_others_and_renews_the_token,
    guesses_at_the_present_password_are_counted,
    a_given_password_lets_do_nothing_but_change_it,
);

const HOUR: Duration = Duration::from_secs(3_600);

async fn a_session_ends_when_idle_and_after_a_week(house: House) {
    let admin = house.admin().await;
    let session = house.login("admin", &admin.password).await.unwrap();
    house.clock.advance(HOUR * 12 - Duration::from_secs(1));
    house.session(&session).await.unwrap();
    house.clock.advance(HOUR * 12);
    assert_eq!(code(house.session(&session).await), "sign_in_required");
    let session = house.login("admin", &admin.password).await.unwrap();
    for _ in 0..16 {
        house.clock.advance(HOUR * 10);
        house.session(&session).await.unwrap();
    }
    house.clock.advance(HOUR * 8);
    assert_eq!(code(house.session(&session).await), "sign_in_required");
    assert_eq!(code(house.people.authenticate_session("", Uuid::nil()).await), "sign_in_required");
}

async fn the_last_use_is_noted_once_a_minute(house: House) {
    let admin = house.admin().await;
    let session = house.login("admin", &admin.password).await.unwrap();
    let (id, user_id) = (session.session_id, session.user.id);
    let seen = || async {
        let list = house.db.read(move |tx| Box::pin(sessions::list(tx, user_id))).await.unwrap();
        list.into_iter().find(|session| session.id == id).unwrap().last_seen_at.to_string()
    };
    house.clock.advance(Duration::from_secs(59));
    house.session(&session).await.unwrap();
    assert_eq!(seen().await, "2026-03-01T12:00:00Z");
    house.clock.advance(Duration::from_secs(1));
    house.session(&session).await.unwrap();
    assert_eq!(seen().await, "2026-03-01T12:01:00Z");
}

async fn logging_out_ends_this_session_only(house: House) {
    let admin = house.admin().await;
    let (one, two) = (
        house.login("admin", &admin.password).await.unwrap(),
        house.login("admin", &admin.password).await.unwrap(),
    );
    let caller = house.session(&one).await.unwrap();
    house.people.logout(&caller).await.unwrap();
    assert_eq!(house.last_audit().await.0, "logout");
    assert_eq!(code(house.session(&one).await), "sign_in_required");
    assert_eq!(code(house.people.logout(&caller).await), "not_found");
    house.session(&two).await.unwrap();
}

async fn one_revokes_ones_own_sessions_only(house: House) {
    let admin = house.admin().await;
    let ann = house.person(&admin, "ann", Role::Viewer, Scope::All).await;
    let (one, two) =
        (house.login("ann", &ann.password).await.unwrap(), house.login("ann", &ann.password).await.unwrap());
    let other = house.login("admin", &admin.password).await.unwrap();
    let caller = house.session(&one).await.unwrap();
    let list = house.people.list_own_sessions(&caller).await.unwrap();
    assert!(list.iter().all(|session| session.user_agent == "a browser"));
    let current: Vec<_> =
        list.iter().filter(|session| session.is_current).map(|session| session.id).collect();
    assert_eq!(current, [one.session_id]);
    assert_eq!(code(house.people.revoke_own_session(&caller, other.session_id).await), "not_found");
    house.people.revoke_own_session(&caller, two.session_id).await.unwrap();
    assert_eq!(code(house.session(&two).await), "sign_in_required");
    house.people.revoke_own_other_sessions(&caller).await.unwrap();
    assert_eq!(house.people.list_own_sessions(&caller).await.unwrap().len(), 1);
    house.session(&other).await.unwrap();
}

async fn changing_the_password_ends_the_others_and_renews_the_token(house: House) {
    let admin = house.admin().await;
    let (one, two) = (
        house.login("admin", &admin.password).await.unwrap(),
        house.login("admin", &admin.password).await.unwrap(),
    );
    let caller = house.session(&one).await.unwrap();
    let request = change(&admin.password, "another long password");
    let token = house.people.change_password(&caller, &origin("192.0.2.1"), &request).await.unwrap();
    assert_eq!(house.last_audit().await, ("password.change".to_owned(), "ok".to_owned()));
    for old in [&one, &two] {
        assert_eq!(code(house.session(old).await), "sign_in_required");
    }
    let renewed = house.people.authenticate_session(token.expose_secret(), Uuid::nil()).await.unwrap();
    assert_eq!(renewed.session_id(), Some(one.session_id));
    assert_eq!(code(house.login("admin", &admin.password).await), "login_failed");
    house.login("admin", "another long password").await.unwrap();
    // Who still holds the old token cannot use it for another change.
    let request = change("another long password", "a third long password");
    assert_eq!(code(house.people.change_password(&caller, &origin("192.0.2.1"), &request).await), "conflict");
    house.login("admin", "another long password").await.unwrap();
}

async fn guesses_at_the_present_password_are_counted(house: House) {
    let admin = house.admin().await;
    let caller = house.caller(&admin).await;
    let request = change("a wrong password", "another long password");
    for _ in 0..6 {
        let answer = house.people.change_password(&caller, &origin("192.0.2.1"), &request).await;
        assert_eq!(code(answer), "login_failed");
    }
    let request = change(&admin.password, "another long password");
    let answer = house.people.change_password(&caller, &origin("192.0.2.1"), &request).await;
    assert_eq!(code(answer), "login_locked");
}

async fn a_given_password_lets_do_nothing_but_change_it(house: House) {
    let generated = house.people.ensure_admin(Uuid::nil()).await.unwrap().unwrap();
    let session = house.login("admin", generated.password.expose_secret()).await.unwrap();
    let caller = house.session(&session).await.unwrap();
    let refused = house.policy.authorize::<CatalogRead>(&caller, Target::Global).await;
    assert_eq!(code(refused), "password_change_required");
    assert_eq!(house.last_audit().await, ("access.denied".to_owned(), "password_change_required".to_owned()));
    let request = change(generated.password.expose_secret(), "another long password");
    let token = house.people.change_password(&caller, &origin("192.0.2.1"), &request).await.unwrap();
    let caller = house.people.authenticate_session(token.expose_secret(), Uuid::nil()).await.unwrap();
    house.policy.authorize::<CatalogRead>(&caller, Target::Global).await.unwrap();
}
