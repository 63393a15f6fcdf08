//! Opening databases of other versions.

use std::os::unix::fs::PermissionsExt;

use pegel_store::{Db, StoreConfig};

use crate::on_both;
use crate::stores::{Store, manual_clock};

on_both!(
    opening_again_changes_nothing,
    a_newer_database_is_refused_with_words,
    a_migration_that_changed_is_refused,
    several_instances_may_open_a_new_database_at_once,
    a_store_that_is_only_read_is_not_changed,
);

async fn opening_again_changes_nothing(store: Store) {
    let first = store.db.migrated();
    assert_eq!((first.from_version, first.backup.as_ref()), (0, None));
    assert!(first.to_version >= 5);
    let again = store.again().await;
    let second = again.migrated();
    assert_eq!((second.from_version, second.to_version), (first.to_version, first.to_version));
    assert_eq!(second.backup, None);
}

async fn a_newer_database_is_refused_with_words(store: Store) {
    let script = if store.is_postgres() {
        "INSERT INTO migration VALUES (9999, 'later', '\\x00', 0)"
    } else {
        "INSERT INTO migration VALUES (9999, 'later', x'00', 0)"
    };
    store.tamper(script).await;
    let error = Db::open(&store.config, manual_clock()).await.unwrap_err();
    assert_eq!(error.code(), "schema_too_new");
    assert!(error.to_string().contains("use the newer Pegel or restore a backup"), "{error}");
}

async fn a_migration_that_changed_is_refused(store: Store) {
    store.tamper("UPDATE migration SET checksum = (SELECT checksum FROM migration WHERE number = 1) WHERE number = 2").await;
    let error = Db::open(&store.config, manual_clock()).await.unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("migration_changed", "migration 2 of the store is not the one this Pegel carries")
    );
}

async fn a_store_that_is_only_read_is_not_changed(store: Store) {
    let reader = Db::open_unchanged(&store.config, manual_clock()).await.unwrap();
    assert_eq!(reader.migrated().from_version, reader.migrated().to_version);
    assert_eq!(reader.migrated().to_version, store.db.migrated().to_version);
    let people = reader.read(|tx| Box::pin(async move { pegel_store::users::list(tx, None, 1).await })).await;
    assert!(people.unwrap().is_empty());
    assert!(reader.check_writable().await.is_err());
    reader.close().await;
    store.db.check_writable().await.unwrap();
    store.tamper("DELETE FROM migration WHERE number = (SELECT max(number) FROM migration)").await;
    let error = Db::open_unchanged(&store.config, manual_clock()).await.unwrap_err();
    assert_eq!(error.code(), "schema_outdated", "{error}");
}

#[tokio::test]
async fn a_store_that_is_not_there_is_not_made_by_reading_it() {
    let folder = tempfile::tempdir().unwrap();
    let config = StoreConfig::Sqlite { path: folder.path().join("pegel.db") };
    let error = Db::open_unchanged(&config, manual_clock()).await.unwrap_err();
    assert_eq!(error.code(), "store_unavailable");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

async fn several_instances_may_open_a_new_database_at_once(store: Store) {
    // On a database of their own: the case's is migrated already.
    let folder = tempfile::tempdir().unwrap();
    let config = if store.is_postgres() {
        let url = pegel_testkit::postgres::new_database().await.unwrap();
        StoreConfig::Postgres { url: secrecy::SecretString::from(url) }
    } else {
        StoreConfig::Sqlite { path: folder.path().join("pegel.db") }
    };
    let opening: Vec<_> = (0..4)
        .map(|_| {
            let config = config.clone();
            tokio::spawn(async move { Db::open(&config, manual_clock()).await })
        })
        .collect();
    for db in opening {
        assert_eq!(db.await.unwrap().unwrap().migrated().to_version, store.db.migrated().to_version);
    }
}

#[tokio::test]
async fn a_database_is_for_its_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pegel.db");
    let db = Db::open(&StoreConfig::Sqlite { path }, manual_clock()).await.unwrap();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{entry:?}");
    }
    db.close().await;
}
