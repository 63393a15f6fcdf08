//! Access tokens.

use std::time::Duration;

use pegel_api_types::people::{CreateToken, UpdateUser};
use pegel_core::access::Role;
use pegel_core::access::decision::Target;
use pegel_core::access::scope::Scope;
use pegel_service::Error;
use pegel_service::caller::Caller;
use pegel_service::policy::permission::{TokensRead, TokensWrite, UsersRead, UsersWrite};
use secrecy::ExposeSecret;
use uuid::Uuid;

use crate::house::{House, code, scope};
use crate::on_both;

on_both!(
    a_token_acts_with_its_own_rights,
    a_token_is_never_wider_than_its_maker,
    a_token_loses_what_its_owner_loses,
    a_token_ends_when_expired_revoked_or_disabled,
    a_token_has_no_account_and_makes_no_tokens,
    a_user_has_a_hundred_tokens_at_most,
    tokens_of_others_are_seen_and_ended_by_admins_only,
);

const DAY: Duration = Duration::from_secs(86_400);
const EU: &str = r#"{"clusters":[{"cluster":"eu","tables":"all"}]}"#;

fn token(role: Role, grants: &[&str], scope: Scope) -> CreateToken {
    let grants = grants.iter().map(|grant| grant.parse().unwrap()).collect();
    CreateToken { name: "ci".to_owned(), role, grants, scope, expires_in_days: 365 }
}

async fn made(house: &House, caller: &Caller, request: &CreateToken) -> (Uuid, String) {
    let may = house.may::<TokensWrite>(caller).await;
    let new = house.people.create_token(&may, request).await.unwrap();
    let secret = new.secret.secret().expose_secret().to_owned();
    assert!(!format!("{new:?}").contains(&secret));
    (new.token.id, secret)
}

async fn shown(house: &House, secret: &str) -> Result<Caller, Error> {
    house.people.authenticate_api_token(secret, Uuid::from_u128(9)).await
}

async fn a_token_acts_with_its_own_rights(house: House) {
    let admin = house.admin().await;
    let owner = house.caller(&admin).await;
    let (id, secret) =
        made(&house, &owner, &token(Role::Admin, &["pegel.users.read", "pegel.tokens.read"], Scope::All))
            .await;
    assert!(secret.starts_with("pgl_"));
    assert!(!format!("{:?}", house.audit().await).contains(&secret));
    let caller = shown(&house, &secret).await.unwrap();
    assert_eq!((caller.token_id(), caller.session_id()), (Some(id), None));
    assert_eq!(caller.principal().name, "admin/ci");
    house.may::<UsersRead>(&caller).await;
    let denied = house.policy.authorize::<UsersWrite>(&caller, Target::Global).await;
    assert_eq!(code(denied), "permission_denied");
    let row = house.audit().await.pop().unwrap().entry;
    assert_eq!((row.action.as_str(), row.principal_id), ("access.denied", id.to_string()));
    let list = house.people.list_own_tokens(&house.may::<TokensRead>(&owner).await, None, 10).await.unwrap();
    assert_eq!(list[0].last_used_at.unwrap().to_string(), "2026-03-01T12:00:00Z");
}

async fn a_token_is_never_wider_than_its_maker(house: House) {
    let admin = house.admin().await;
    let local = house.person(&admin, "local", Role::Admin, scope(EU)).await;
    let may = house.may::<TokensWrite>(&house.caller(&local).await).await;
    for (request, part) in [
        (token(Role::Viewer, &["pegel.users.read"], Scope::All), "scope"),
        (token(Role::Viewer, &["*.*.*"], scope(EU)), "grants"),
    ] {
        let error = house.people.create_token(&may, &request).await.unwrap_err();
        assert!(matches!(error, Error::RightsExceeded { part: named } if named == part), "{error}");
    }
    let too_long = CreateToken { expires_in_days: 366, ..token(Role::Viewer, &[], scope(EU)) };
    assert_eq!(code(house.people.create_token(&may, &too_long).await), "invalid");
    house.people.create_token(&may, &token(Role::Admin, &["pegel.*.*"], scope(EU))).await.unwrap();
}

async fn a_token_loses_what_its_owner_loses(house: House) {
    let admin = house.admin().await;
    let second = house.person(&admin, "second", Role::Admin, Scope::All).await;
    let owner = house.caller(&second).await;
    let (_, secret) = made(&house, &owner, &token(Role::Admin, &["pegel.*.*"], Scope::All)).await;
    house.may::<UsersWrite>(&shown(&house, &secret).await.unwrap()).await;
    let may = house.may::<UsersWrite>(&house.caller(&admin).await).await;
    let lowered = UpdateUser {
        version: second.user.version,
        display_name: String::new(),
        role: Role::Viewer,
        grants: None,
        scope: scope(EU),
        is_disabled: false,
    };
    house.people.update_user(&may, second.user.id, &lowered).await.unwrap();
    let caller = shown(&house, &secret).await.unwrap();
    assert_eq!((caller.principal().role, &caller.principal().scope), (Role::Viewer, &scope(EU)));
    let denied = house.policy.authorize::<UsersRead>(&caller, Target::Global).await;
    assert_eq!(code(denied), "permission_denied");
}

async fn a_token_ends_when_expired_revoked_or_disabled(house: House) {
    let admin = house.admin().await;
    let owner = house.caller(&admin).await;
    let request = CreateToken { expires_in_days: 1, ..token(Role::Viewer, &[], Scope::All) };
    let (_, expiring) = made(&house, &owner, &request).await;
    let (id, revoked) = made(&house, &owner, &token(Role::Viewer, &[], Scope::All)).await;
    house.people.revoke_own_token(&owner, id).await.unwrap();
    assert_eq!(house.last_audit().await.0, "tokens.revoke");
    assert_eq!(code(shown(&house, &revoked).await), "sign_in_required");
    shown(&house, &expiring).await.unwrap();
    house.clock.advance(DAY);
    assert_eq!(code(shown(&house, &expiring).await), "sign_in_required");
    assert_eq!(code(shown(&house, "pgl_").await), "sign_in_required");
    let second = house.person(&admin, "second", Role::Admin, Scope::All).await;
    let caller = house.caller(&second).await;
    let (_, of_second) = made(&house, &caller, &token(Role::Viewer, &[], Scope::All)).await;
    let disabled = UpdateUser {
        version: second.user.version,
        display_name: String::new(),
        role: Role::Admin,
        grants: None,
        scope: Scope::All,
        is_disabled: true,
    };
    let may = house.may::<UsersWrite>(&house.caller(&admin).await).await;
    house.people.update_user(&may, second.user.id, &disabled).await.unwrap();
    assert_eq!(code(shown(&house, &of_second).await), "sign_in_required");
}

async fn a_token_has_no_account_and_makes_no_tokens(house: House) {
    let admin = house.admin().await;
    let owner = house.caller(&admin).await;
    let (id, secret) = made(&house, &owner, &token(Role::Admin, &["pegel.*.*"], Scope::All)).await;
    let caller = shown(&house, &secret).await.unwrap();
    assert_eq!(code(house.people.logout(&caller).await), "session_required");
    assert_eq!(code(house.people.list_own_sessions(&caller).await), "session_required");
    assert_eq!(code(house.people.revoke_own_token(&caller, id).await), "session_required");
    let may = house.may::<TokensWrite>(&caller).await;
    let child = house.people.create_token(&may, &token(Role::Viewer, &[], Scope::All)).await;
    assert_eq!(code(child), "session_required");
}

async fn tokens_of_others_are_seen_and_ended_by_admins_only(house: House) {
    let admin = house.admin().await;
    let local = house.person(&admin, "local", Role::Admin, scope(EU)).await;
    let (owner, other) = (house.caller(&admin).await, house.caller(&local).await);
    let (id, secret) = made(&house, &owner, &token(Role::Viewer, &[], Scope::All)).await;
    let own = house.people.list_own_tokens(&house.may::<TokensRead>(&other).await, None, 10).await.unwrap();
    assert!(own.is_empty());
    assert_eq!(code(house.people.revoke_own_token(&other, id).await), "not_found");
    let may = house.may::<UsersWrite>(&other).await;
    assert_eq!(code(house.people.revoke_token(&may, id).await), "rights_exceeded");
    shown(&house, &secret).await.unwrap();
    let read = house.may::<UsersRead>(&owner).await;
    assert_eq!(house.people.list_tokens(&read, None, None, 10).await.unwrap().len(), 1);
    house.people.revoke_token(&house.may::<UsersWrite>(&owner).await, id).await.unwrap();
    assert_eq!(code(shown(&house, &secret).await), "sign_in_required");
}

async fn a_user_has_a_hundred_tokens_at_most(house: House) {
    let admin = house.admin().await;
    let may = house.may::<TokensWrite>(&house.caller(&admin).await).await;
    let request = CreateToken { expires_in_days: 1, ..token(Role::Viewer, &[], Scope::All) };
    for _ in 0..100 {
        house.people.create_token(&may, &request).await.unwrap();
    }
    assert_eq!(code(house.people.create_token(&may, &request).await), "invalid");
    house.clock.advance(DAY);
    house.people.create_token(&may, &request).await.unwrap();
}
