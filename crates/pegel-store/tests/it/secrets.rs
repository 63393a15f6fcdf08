//! Stored secrets.

use std::sync::Arc;

use pegel_store::secret_box::SecretBox;
use pegel_store::{Error, secrets};
use secrecy::{ExposeSecret, SecretString};

use crate::on_both;
use crate::stores::{Store, write};

on_both!(
    a_secret_is_replaced_listed_and_removed,
    another_key_is_noticed_at_start_and_at_use,
    a_secret_in_anothers_place_is_unreadable,
    secrets_move_to_a_new_key_in_steps,
);

fn key(digit: &str) -> Arc<SecretBox> {
    Arc::new(SecretBox::from_text(&SecretString::from(digit.repeat(64))).unwrap())
}

async fn put(
    store: &Store,
    key: &Arc<SecretBox>,
    owner: &'static str,
    field: &'static str,
    text: &'static str,
) {
    let put =
        write!(store, [key], |tx| secrets::put(tx, &key, owner, field, &SecretString::from(text)).await);
    put.unwrap();
}

async fn get(
    store: &Store,
    key: &Arc<SecretBox>,
    owner: &'static str,
    field: &'static str,
) -> Result<Option<String>, Error> {
    let key = Arc::clone(key);
    let secret = store.db.read(move |tx| {
        let key = Arc::clone(&key);
        Box::pin(async move { secrets::get(tx, &key, owner, field).await })
    });
    Ok(secret.await?.map(|secret| secret.expose_secret().to_owned()))
}

async fn a_secret_is_replaced_listed_and_removed(store: Store) {
    let key = key("a");
    put(&store, &key, "o", "f", "one").await;
    put(&store, &key, "o", "f", "two").await;
    put(&store, &key, "o", "g", "three").await;
    assert_eq!(get(&store, &key, "o", "f").await.unwrap().as_deref(), Some("two"));
    assert_eq!(get(&store, &key, "o", "x").await.unwrap(), None);
    assert_eq!(store.db.read(|tx| Box::pin(secrets::fields(tx, "o"))).await.unwrap(), ["f", "g"]);
    assert!(write!(store, [], |tx| secrets::remove(tx, "o", "f").await).unwrap());
    assert!(!write!(store, [], |tx| secrets::remove(tx, "o", "f").await).unwrap());
    assert_eq!(store.db.read(|tx| Box::pin(secrets::fields(tx, "o"))).await.unwrap(), ["g"]);
}

async fn another_key_is_noticed_at_start_and_at_use(store: Store) {
    let (one, two) = (key("a"), key("b"));
    let check = |key: &Arc<SecretBox>| {
        let key = Arc::clone(key);
        store.db.read(move |tx| {
            let key = Arc::clone(&key);
            Box::pin(async move { secrets::check_key(tx, &key).await })
        })
    };
    assert!(check(&two).await.is_ok());
    put(&store, &one, "o", "f", "x").await;
    assert!(check(&one).await.is_ok());
    let error = check(&two).await.unwrap_err();
    assert_eq!(error.code(), "secret_unreadable");
    assert!(error.to_string().contains("the secret f of o cannot be read"), "{error}");
    assert_eq!(get(&store, &two, "o", "f").await.unwrap_err().code(), "secret_unreadable");
}

async fn a_secret_in_anothers_place_is_unreadable(store: Store) {
    let key = key("a");
    put(&store, &key, "mine", "f", "x").await;
    store.tamper("UPDATE secret SET owner = 'yours'").await;
    assert_eq!(get(&store, &key, "yours", "f").await.unwrap_err().code(), "secret_unreadable");
}

async fn secrets_move_to_a_new_key_in_steps(store: Store) {
    let (old, new) = (key("a"), key("b"));
    for field in ["f", "g", "h"] {
        put(&store, &old, "o", field, field).await;
    }
    let step = || async { write!(store, [old, new], |tx| secrets::reencrypt(tx, &old, &new, 2).await) };
    assert_eq!((step().await.unwrap(), step().await.unwrap(), step().await.unwrap()), (2, 1, 0));
    for field in ["f", "g", "h"] {
        assert_eq!(get(&store, &new, "o", field).await.unwrap().as_deref(), Some(field));
        assert!(get(&store, &old, "o", field).await.is_err());
    }
}
