//! The store: whether it opens, of which version it is, and whether the key at hand opens its secrets.

use std::sync::Arc;

use pegel_core::error_code::ErrorCode;
use pegel_store::{Db, secrets};

use crate::clock::SystemClock;
use crate::doctor::{Finding, State};
use crate::serve::store as serve_store;
use crate::settings::store::{Database, Store};

/// Opens the store, if there is one, without changing it.
pub(super) async fn look(store: &Store) -> (Finding, Option<Db>) {
    if let Database::Sqlite { path } = &store.database
        && !path.exists()
    {
        let message = format!("{} is not there yet; the first start makes it", path.display());
        return (Finding::new("store", State::Ok, message), None);
    }
    match serve_store::open_unchanged(store, Arc::new(SystemClock)).await {
        Ok(db) => {
            let version = db.migrated().to_version;
            let message = format!("{} opens, its schema has version {version}", store.database.kind());
            (Finding::new("store", State::Ok, message), Some(db))
        }
        Err(failure) if failure.code == ErrorCode::SchemaOutdated => {
            let finding = Finding::new("store", State::Warning, failure.one_line());
            (finding.with_hint("the next start brings it up to date, after a backup"), None)
        }
        Err(failure) => (Finding::failed("store", &failure), None),
    }
}

/// Looks whether the key at hand is the one of the stored secrets.
pub(super) async fn keys(db: &Db, store: &Store) -> Finding {
    const CHECK: &str = "stored_secrets";
    let secret_box = match serve_store::present_secret_box(store, db).await {
        Ok(Some(secret_box)) => Arc::new(secret_box),
        Ok(None) => {
            return Finding::new(CHECK, State::Skipped, "there is no key to try, and nothing to try it on");
        }
        Err(failure) => return Finding::failed(CHECK, &failure),
    };
    let checked = db.read(move |tx| {
        let secret_box = Arc::clone(&secret_box);
        Box::pin(async move { secrets::check_key(tx, &secret_box).await })
    });
    match checked.await {
        Ok(()) => Finding::new(CHECK, State::Ok, "the key is the one that they were stored with"),
        Err(error) => Finding::failed(CHECK, &serve_store::failure(&error, store)),
    }
}
