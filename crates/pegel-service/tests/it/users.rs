//! Users under the hands of admins.

use pegel_api_types::people::{UpdateUser, UserView};
use pegel_core::access::Role;
use pegel_core::access::scope::Scope;
use pegel_service::policy::permission::{UsersRead, UsersWrite};
use secrecy::ExposeSecret;
use uuid::Uuid;

use crate::house::{House, code, new_user, scope};
use crate::on_both;

on_both!(
    a_new_user_signs_in_with_a_password_shown_once,
    changed_rights_end_the_sessions,
    a_disabled_user_is_out_at_once,
    the_last_enabled_admin_stays,
    two_admins_cannot_remove_each_other_at_once,
    nobody_rules_over_more_than_their_own,
    a_reset_password_ends_sessions_and_has_to_be_changed,
    a_lost_password_is_replaced_without_anybody_signed_in,
    admins_see_and_end_the_sessions_of_others,
);

const EU: &str = r#"{"clusters":[{"cluster":"eu","tables":"all"}]}"#;

pub(crate) fn as_is(user: &UserView) -> UpdateUser {
    UpdateUser {
        version: user.version,
        display_name: user.display_name.clone(),
        role: user.role,
        grants: None,
        scope: user.scope.clone(),
        is_disabled: user.disabled_at.is_some(),
    }
}

async fn a_new_user_signs_in_with_a_password_shown_once(house: House) {
    let admin = house.admin().await;
    let may = house.may::<UsersWrite>(&house.caller(&admin).await).await;
    let made = house.people.create_user(&may, &new_user("ann", Role::Editor, scope(EU))).await.unwrap();
    assert_eq!(house.last_audit().await, ("users.create".to_owned(), "ok".to_owned()));
    let again = house.people.create_user(&may, &new_user("Ann", Role::Viewer, Scope::All)).await;
    assert_eq!(code(again), "conflict");
    let bad = house.people.create_user(&may, &new_user("a b", Role::Viewer, Scope::All)).await;
    assert_eq!(code(bad), "invalid");
    let session = house.login("ann", made.password.secret().expose_secret()).await.unwrap();
    assert!(session.user.must_change_password && session.user.role == Role::Editor);
    let read = house.may::<UsersRead>(may.caller()).await;
    let names = house.people.list_users(&read, None, 10).await.unwrap();
    assert_eq!(names.iter().map(|user| user.name.as_str()).collect::<Vec<_>>(), ["admin", "ann"]);
    let names = house.people.list_users(&read, Some("admin".to_owned()), 10).await.unwrap();
    assert_eq!(names.len(), 1);
    assert_eq!(house.people.get_user(&read, made.user.id).await.unwrap().scope, scope(EU));
    house.people.delete_user(&may, made.user.id).await.unwrap();
    assert_eq!(code(house.session(&session).await), "sign_in_required");
    assert_eq!(code(house.people.get_user(&read, made.user.id).await), "not_found");
}

async fn changed_rights_end_the_sessions(house: House) {
    let admin = house.admin().await;
    let ann = house.person(&admin, "ann", Role::Editor, Scope::All).await;
    let session = house.login("ann", &ann.password).await.unwrap();
    let may = house.may::<UsersWrite>(&house.caller(&admin).await).await;
    let renamed = UpdateUser { display_name: "Ann".to_owned(), ..as_is(&session.user) };
    let user = house.people.update_user(&may, ann.user.id, &renamed).await.unwrap();
    house.session(&session).await.unwrap();
    assert_eq!(code(house.people.update_user(&may, ann.user.id, &renamed).await), "conflict");
    let lowered = UpdateUser { role: Role::Viewer, ..as_is(&user) };
    let user = house.people.update_user(&may, ann.user.id, &lowered).await.unwrap();
    assert_eq!(user.role, Role::Viewer);
    assert_eq!(code(house.session(&session).await), "sign_in_required");
    let session = house.login("ann", &ann.password).await.unwrap();
    let narrowed = UpdateUser { scope: scope(EU), ..as_is(&user) };
    house.people.update_user(&may, ann.user.id, &narrowed).await.unwrap();
    assert_eq!(code(house.session(&session).await), "sign_in_required");
}

async fn a_disabled_user_is_out_at_once(house: House) {
    let admin = house.admin().await;
    let ann = house.person(&admin, "ann", Role::Editor, Scope::All).await;
    let session = house.login("ann", &ann.password).await.unwrap();
    let may = house.may::<UsersWrite>(&house.caller(&admin).await).await;
    let disabled = UpdateUser { is_disabled: true, ..as_is(&session.user) };
    let user = house.people.update_user(&may, ann.user.id, &disabled).await.unwrap();
    assert_eq!(code(house.session(&session).await), "sign_in_required");
    assert_eq!(code(house.login("ann", &ann.password).await), "login_failed");
    let enabled = UpdateUser { is_disabled: false, ..as_is(&user) };
    house.people.update_user(&may, ann.user.id, &enabled).await.unwrap();
    // The old session does not come back with the user.
    assert_eq!(code(house.session(&session).await), "sign_in_required");
    house.login("ann", &ann.password).await.unwrap();
}

async fn the_last_enabled_admin_stays(house: House) {
    let admin = house.admin().await;
    let second = house.person(&admin, "second", Role::Admin, Scope::All).await;
    let may = house.may::<UsersWrite>(&house.caller(&admin).await).await;
    let disabled = UpdateUser { is_disabled: true, ..as_is(&second.user) };
    house.people.update_user(&may, second.user.id, &disabled).await.unwrap();
    assert_eq!(code(house.people.delete_user(&may, admin.user.id).await), "last_admin");
    let lowered = UpdateUser { role: Role::Editor, ..as_is(&admin.user) };
    assert_eq!(code(house.people.update_user(&may, admin.user.id, &lowered).await), "last_admin");
    let disabled = UpdateUser { is_disabled: true, ..as_is(&admin.user) };
    assert_eq!(code(house.people.update_user(&may, admin.user.id, &disabled).await), "last_admin");
    house.people.delete_user(&may, second.user.id).await.unwrap();
    house.login("admin", &admin.password).await.unwrap();
}

async fn two_admins_cannot_remove_each_other_at_once(house: House) {
    let mut one = house.admin().await;
    let other = house.another_instance().await;
    for round in 0..8 {
        let two = house.person(&one, &format!("admin-{round}"), Role::Admin, Scope::All).await;
        let (may_one, may_two) = (
            house.may::<UsersWrite>(&house.caller(&one).await).await,
            house.may::<UsersWrite>(&house.caller(&two).await).await,
        );
        // Both instances have an open connection when the race begins.
        assert_eq!(
            code(other.authenticate_session("nobody's", may_one.caller().user_id()).await),
            "sign_in_required"
        );
        let (first, second) = tokio::join!(
            house.people.delete_user(&may_one, two.user.id),
            other.delete_user(&may_two, one.user.id),
        );
        assert!(first.is_ok() != second.is_ok(), "{first:?} {second:?}");
        if second.is_ok() {
            one = two;
        }
        assert_eq!(code(first.and(second)), "last_admin");
    }
}

async fn nobody_rules_over_more_than_their_own(house: House) {
    let admin = house.admin().await;
    let local = house.person(&admin, "local", Role::Admin, scope(EU)).await;
    let ann = house.person(&admin, "ann", Role::Viewer, scope(EU)).await;
    let may = house.may::<UsersWrite>(&house.caller(&local).await).await;
    let people = &house.people;
    let wide = new_user("wide", Role::Viewer, Scope::All);
    assert_eq!(code(people.create_user(&may, &wide).await), "rights_exceeded");
    let widened = UpdateUser { scope: Scope::All, ..as_is(&ann.user) };
    assert_eq!(code(people.update_user(&may, ann.user.id, &widened).await), "rights_exceeded");
    let captured = UpdateUser { scope: scope(EU), ..as_is(&admin.user) };
    assert_eq!(code(people.update_user(&may, admin.user.id, &captured).await), "rights_exceeded");
    assert_eq!(code(people.reset_password(&may, admin.user.id).await), "rights_exceeded");
    assert_eq!(code(people.delete_user(&may, admin.user.id).await), "rights_exceeded");
    assert_eq!(code(people.revoke_user_sessions(&may, admin.user.id, None).await), "rights_exceeded");
    people
        .update_user(&may, ann.user.id, &UpdateUser { role: Role::Editor, ..as_is(&ann.user) })
        .await
        .unwrap();
}

async fn a_lost_password_is_replaced_without_anybody_signed_in(house: House) {
    let admin = house.admin().await;
    let session = house.login("admin", &admin.password).await.unwrap();
    for _ in 0..6 {
        assert!(house.login("admin", "a wrong guess").await.is_err());
    }
    assert_eq!(code(house.login("admin", &admin.password).await), "login_locked");
    assert_eq!(code(house.people.recover_password(Uuid::from_u128(9), "nobody").await), "not_found");
    let recovered = house.people.recover_password(Uuid::from_u128(9), "admin").await.unwrap();
    assert!(!format!("{recovered:?}").contains(recovered.password.expose_secret()));
    assert!(recovered.ended_session_count >= 1);
    let row = house.audit().await.pop().unwrap().entry;
    assert_eq!((row.action.as_str(), row.principal_name.as_str()), ("password.reset", "pegel"));
    assert_eq!(
        (row.target, row.request_id),
        (format!("user/{}", admin.user.id), Uuid::from_u128(9).to_string())
    );
    assert!(!format!("{:?}", row.detail).contains(recovered.password.expose_secret()));
    assert_eq!(code(house.session(&session).await), "sign_in_required");
    assert_eq!(code(house.login("admin", &admin.password).await), "login_failed");
    let anew = house.login("Admin", recovered.password.expose_secret()).await.unwrap();
    assert!(anew.user.must_change_password);
}

async fn a_reset_password_ends_sessions_and_has_to_be_changed(house: House) {
    let admin = house.admin().await;
    let ann = house.person(&admin, "ann", Role::Viewer, Scope::All).await;
    let session = house.login("ann", &ann.password).await.unwrap();
    for _ in 0..6 {
        assert_eq!(code(house.login("ann", "a wrong password").await), "login_failed");
    }
    let may = house.may::<UsersWrite>(&house.caller(&admin).await).await;
    let reset = house.people.reset_password(&may, ann.user.id).await.unwrap();
    assert_eq!(code(house.session(&session).await), "sign_in_required");
    assert_eq!(code(house.login("ann", &ann.password).await), "login_failed");
    let session = house.login("ann", reset.password.secret().expose_secret()).await.unwrap();
    assert!(session.user.must_change_password);
}

async fn admins_see_and_end_the_sessions_of_others(house: House) {
    let admin = house.admin().await;
    let ann = house.person(&admin, "ann", Role::Viewer, Scope::All).await;
    let (one, two) =
        (house.login("ann", &ann.password).await.unwrap(), house.login("ann", &ann.password).await.unwrap());
    let caller = house.caller(&admin).await;
    let (read, write) = (house.may::<UsersRead>(&caller).await, house.may::<UsersWrite>(&caller).await);
    let list = house.people.list_user_sessions(&read, ann.user.id).await.unwrap();
    assert!(list.iter().any(|session| session.id == one.session_id && !session.is_current));
    let id = ann.user.id;
    assert_eq!(house.people.revoke_user_sessions(&write, id, Some(one.session_id)).await.unwrap(), 1);
    assert_eq!(code(house.session(&one).await), "sign_in_required");
    house.session(&two).await.unwrap();
    assert!(house.people.revoke_user_sessions(&write, id, None).await.unwrap() >= 1);
    assert_eq!(code(house.session(&two).await), "sign_in_required");
}
