//! Users, sessions and access tokens.

use std::time::Duration;

use pegel_core::access::Role;
use pegel_core::access::permissions::default_grants;
use pegel_core::access::scope::Scope;
use pegel_store::api_tokens::{self, NewToken};
use pegel_store::token::TokenHash;
use pegel_store::users::{self, Profile, User};
use pegel_store::{Error, sessions};
use secrecy::{ExposeSecret, SecretString};

use crate::on_both;
use crate::stores::{Store, write};

on_both!(
    a_user_is_read_back_as_it_was_written,
    names_are_unique_without_regard_to_case,
    an_update_of_an_old_version_is_a_conflict,
    users_are_listed_page_by_page,
    a_disabled_admin_does_not_count,
    a_session_is_found_by_its_token_until_it_ends,
    an_exchanged_token_is_valid_until_its_grace_is_over,
    of_two_exchanges_of_one_token_one_wins,
    sessions_are_ended_one_by_one_or_all_but_one,
    a_session_of_another_user_is_not_ended,
    last_use_is_noted_only_so_often,
    an_access_token_is_valid_until_it_is_ended_or_over,
    a_users_sessions_and_tokens_go_with_the_user,
);

pub(crate) fn profile(name: &str) -> Profile {
    Profile {
        name: name.to_owned(),
        display_name: String::new(),
        role: Role::Editor,
        grants: None,
        scope: Scope::All,
    }
}

pub(crate) async fn user(store: &Store, name: &str) -> User {
    let profile = profile(name);
    write!(store, [profile], |tx| users::create(tx, &profile, None).await).unwrap()
}

fn hash(text: &str) -> TokenHash {
    TokenHash::of(text)
}

async fn a_user_is_read_back_as_it_was_written(store: Store) {
    let scope = r#"{"clusters":[{"cluster":"eu","tables":{"only":["sales.*"]}}]}"#;
    let full = Profile {
        name: "Änne".to_owned(),
        display_name: "Änne O'Neil".to_owned(),
        role: Role::Admin,
        grants: Some(vec!["pegel.*.read".parse().unwrap()]),
        scope: serde_json::from_str(scope).unwrap(),
    };
    let secret = SecretString::from("$argon2id$x");
    let made = write!(store, [full, secret], |tx| users::create(tx, &full, Some(&secret)).await).unwrap();
    let read = store.db.read(|tx| Box::pin(users::find_by_name(tx, "äNNE"))).await.unwrap().unwrap();
    assert_eq!(
        (read.id, read.version, read.created_at),
        (made.id, 1, "2026-03-01T12:00:00Z".parse().unwrap())
    );
    assert_eq!((&read.profile.name, &read.profile.display_name), (&full.name, &full.display_name));
    assert_eq!(
        (&read.profile.grants, &read.profile.scope, read.profile.role),
        (&full.grants, &full.scope, full.role)
    );
    assert_eq!(read.password_hash.unwrap().expose_secret(), "$argon2id$x");
    assert_eq!(user(&store, "plain").await.grants(), default_grants(Role::Editor));
}

async fn names_are_unique_without_regard_to_case(store: Store) {
    user(&store, "ann").await;
    let other = profile("ANN");
    let error = write!(store, [other], |tx| users::create(tx, &other, None).await).unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("conflict", "user ANN was changed by someone else or exists already")
    );
    let bob = user(&store, "bob").await;
    let error = write!(store, [other], |tx| users::update(tx, bob.id, 1, &other).await).unwrap_err();
    assert_eq!(error.code(), "conflict");
    let same = profile("BOB");
    assert_eq!(write!(store, [same], |tx| users::update(tx, bob.id, 1, &same).await).unwrap(), 2);
}

async fn an_update_of_an_old_version_is_a_conflict(store: Store) {
    let ann = user(&store, "ann").await;
    let changed = Profile { role: Role::Viewer, ..profile("ann") };
    assert_eq!(write!(store, [changed], |tx| users::update(tx, ann.id, 1, &changed).await).unwrap(), 2);
    let error = write!(store, [changed], |tx| users::update(tx, ann.id, 1, &changed).await).unwrap_err();
    assert_eq!(error.code(), "conflict");
    let (nobody, other) = (uuid::Uuid::nil(), profile("bob"));
    let error = write!(store, [other], |tx| users::update(tx, nobody, 1, &other).await).unwrap_err();
    assert_eq!(error.code(), "not_found");
    let none: Option<SecretString> = None;
    assert_eq!(
        write!(store, [none], |tx| users::set_password_hash(tx, ann.id, none.as_ref()).await).unwrap(),
        3
    );
}

async fn users_are_listed_page_by_page(store: Store) {
    for name in ["Zoe", "ann", "Bob"] {
        user(&store, name).await;
    }
    let page = |after: Option<&'static str>| {
        let db = store.db.clone();
        async move {
            let users = db.read(move |tx| Box::pin(users::list(tx, after, 2))).await.unwrap();
            users.into_iter().map(|user| user.profile.name).collect::<Vec<_>>()
        }
    };
    assert_eq!(page(None).await, ["ann", "Bob"]);
    assert_eq!(page(Some("Bob")).await, ["Zoe"]);
}

async fn a_disabled_admin_does_not_count(store: Store) {
    let admin = Profile { role: Role::Admin, ..profile("root") };
    let root = write!(store, [admin], |tx| users::create(tx, &admin, None).await).unwrap();
    let count = || store.db.read(|tx| Box::pin(users::count_active_admins(tx)));
    assert_eq!(count().await.unwrap(), 1);
    write!(store, [], |tx| users::set_disabled(tx, root.id, 1, true).await).unwrap();
    assert_eq!(count().await.unwrap(), 0);
    write!(store, [], |tx| users::set_disabled(tx, root.id, 2, false).await).unwrap();
    assert_eq!(count().await.unwrap(), 1);
}

async fn session(store: &Store, user: &User, token: &'static str) -> uuid::Uuid {
    let (id, until) = (user.id, "2026-03-02T12:00:00Z".parse().unwrap());
    write!(store, [], |tx| sessions::create(tx, id, hash(token), "127.0.0.1", "browser", until).await)
        .unwrap()
}

async fn found(store: &Store, token: &'static str) -> Option<uuid::Uuid> {
    let session = store.db.read(move |tx| Box::pin(sessions::find(tx, hash(token)))).await.unwrap();
    session.map(|session| session.id)
}

async fn a_session_is_found_by_its_token_until_it_ends(store: Store) {
    let ann = user(&store, "ann").await;
    let id = session(&store, &ann, "t1").await;
    assert_eq!(found(&store, "t1").await, Some(id));
    assert_eq!(found(&store, "t2").await, None);
    store.clock.advance(Duration::from_secs(24 * 3_600));
    assert_eq!(found(&store, "t1").await, None);
    let nobody = uuid::Uuid::nil();
    let until = "2027-01-01T00:00:00Z".parse().unwrap();
    let orphan = write!(store, [], |tx| sessions::create(tx, nobody, hash("t3"), "", "", until).await);
    assert_eq!(orphan.unwrap_err().code(), "integrity_violation");
}

async fn rotate(store: &Store, old: &'static str, new: &'static str) -> Result<bool, Error> {
    let grace = Duration::from_secs(10);
    write!(store, [], |tx| sessions::rotate(tx, hash(old), hash(new), grace).await)
}

async fn an_exchanged_token_is_valid_until_its_grace_is_over(store: Store) {
    let ann = user(&store, "ann").await;
    let id = session(&store, &ann, "old").await;
    assert!(rotate(&store, "old", "new").await.unwrap());
    assert_eq!((found(&store, "old").await, found(&store, "new").await), (Some(id), Some(id)));
    store.clock.advance(Duration::from_secs(10));
    assert_eq!((found(&store, "old").await, found(&store, "new").await), (None, Some(id)));
}

async fn of_two_exchanges_of_one_token_one_wins(store: Store) {
    let ann = user(&store, "ann").await;
    let id = session(&store, &ann, "old").await;
    let (one, two) = tokio::join!(rotate(&store, "old", "new1"), rotate(&store, "old", "new2"));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert!(one != two);
    assert_eq!(found(&store, if one { "new1" } else { "new2" }).await, Some(id));
    assert_eq!(found(&store, if one { "new2" } else { "new1" }).await, None);
}

async fn sessions_are_ended_one_by_one_or_all_but_one(store: Store) {
    let ann = user(&store, "ann").await;
    let first = session(&store, &ann, "t1").await;
    session(&store, &ann, "t2").await;
    let third = session(&store, &ann, "t3").await;
    write!(store, [], |tx| sessions::revoke(tx, ann.id, first).await).unwrap();
    let error = write!(store, [], |tx| sessions::revoke(tx, ann.id, first).await).unwrap_err();
    assert_eq!(error.code(), "not_found");
    assert_eq!(found(&store, "t1").await, None);
    assert_eq!(write!(store, [], |tx| sessions::revoke_all(tx, ann.id, Some(third)).await).unwrap(), 1);
    let id = ann.id;
    let left = store.db.read(move |tx| Box::pin(sessions::list(tx, id))).await.unwrap();
    assert_eq!(left.iter().map(|session| session.id).collect::<Vec<_>>(), [third]);
    assert_eq!(write!(store, [], |tx| sessions::revoke_all(tx, ann.id, None).await).unwrap(), 1);
}

async fn a_session_of_another_user_is_not_ended(store: Store) {
    let (ann, bob) = (user(&store, "ann").await, user(&store, "bob").await);
    let id = session(&store, &ann, "t1").await;
    let error = write!(store, [], |tx| sessions::revoke(tx, bob.id, id).await).unwrap_err();
    assert_eq!(error.code(), "not_found");
    assert_eq!(found(&store, "t1").await, Some(id));
}

async fn last_use_is_noted_only_so_often(store: Store) {
    let ann = user(&store, "ann").await;
    let id = session(&store, &ann, "t1").await;
    let minute = Duration::from_secs(60);
    for seconds in [59, 60, 90] {
        store.clock.set("2026-03-01T12:00:00Z".parse().unwrap());
        store.clock.advance(Duration::from_secs(seconds));
        write!(store, [], |tx| sessions::touch(tx, id, minute).await).unwrap();
        let session = store.db.read(|tx| Box::pin(sessions::find(tx, hash("t1")))).await.unwrap().unwrap();
        let expected = if seconds == 59 { "2026-03-01T12:00:00Z" } else { "2026-03-01T12:01:00Z" };
        assert_eq!(session.last_seen_at.to_string(), expected, "{seconds}");
    }
}

fn new_token(user: &User) -> NewToken {
    NewToken {
        user_id: user.id,
        name: "ci".to_owned(),
        role: Role::Viewer,
        grants: vec!["pegel.metrics.read".parse().unwrap()],
        scope: Scope::nothing(),
        expires_at: Some("2026-03-02T12:00:00Z".parse().unwrap()),
    }
}

async fn an_access_token_is_valid_until_it_is_ended_or_over(store: Store) {
    let ann = user(&store, "ann").await;
    let token = new_token(&ann);
    let id = write!(store, [token], |tx| api_tokens::create(tx, &token, hash("a")).await).unwrap();
    store.clock.advance(Duration::from_millis(1));
    let lasting = NewToken { expires_at: None, ..token.clone() };
    let other = write!(store, [lasting], |tx| api_tokens::create(tx, &lasting, hash("b")).await).unwrap();
    let find = |text: &'static str| store.db.read(move |tx| Box::pin(api_tokens::find(tx, hash(text))));
    assert_eq!(find("a").await.unwrap().unwrap().token, token);
    write!(store, [], |tx| api_tokens::touch(tx, id, Duration::from_secs(60)).await).unwrap();
    let read = store.db.read(move |tx| Box::pin(api_tokens::get(tx, id))).await.unwrap();
    assert_eq!(read.last_used_at, Some("2026-03-01T12:00:00.001Z".parse().unwrap()));
    store.clock.advance(Duration::from_secs(24 * 3_600));
    assert_eq!(find("a").await.unwrap(), None);
    assert!(find("b").await.unwrap().is_some());
    write!(store, [], |tx| api_tokens::revoke(tx, other).await).unwrap();
    assert_eq!(find("b").await.unwrap(), None);
    let error = write!(store, [], |tx| api_tokens::revoke(tx, other).await).unwrap_err();
    assert_eq!(error.code(), "not_found");
    let owner = Some(ann.id);
    let listed = store.db.read(move |tx| Box::pin(api_tokens::list(tx, owner, Some(id), 10))).await.unwrap();
    assert_eq!(listed.iter().map(|token| token.id).collect::<Vec<_>>(), [other]);
    let all = store.db.read(|tx| Box::pin(api_tokens::list(tx, None, None, 10))).await.unwrap();
    assert_eq!(all.len(), 2);
}

async fn a_users_sessions_and_tokens_go_with_the_user(store: Store) {
    let ann = user(&store, "ann").await;
    session(&store, &ann, "t1").await;
    let token = new_token(&ann);
    write!(store, [token], |tx| api_tokens::create(tx, &token, hash("a")).await).unwrap();
    write!(store, [], |tx| users::delete(tx, ann.id).await).unwrap();
    assert_eq!(store.count("SELECT count(*) AS n FROM session").await, 0);
    assert_eq!(store.count("SELECT count(*) AS n FROM api_token").await, 0);
    let error = write!(store, [], |tx| users::delete(tx, ann.id).await).unwrap_err();
    assert_eq!(error.code(), "not_found");
}
