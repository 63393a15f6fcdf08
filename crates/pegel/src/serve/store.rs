//! Opens the store and the key of its secrets, and says what to do when that fails.

use std::path::Path;
use std::sync::Arc;

use pegel_core::clock::Clock;
use pegel_core::error_code::ErrorCode;
use pegel_service::failure::Failure;
use pegel_store::secret_box::SecretBox;
use pegel_store::{Db, StoreConfig, secrets};

use crate::settings::SecretSource;
use crate::settings::store::{Database, Store};

/// Takes the key of stored secrets; its file is made if there is none and nothing was stored with one.
///
/// # Errors
/// As [`present_secret_box`].
pub(crate) async fn secret_box(store: &Store, db: &Db) -> Result<SecretBox, Failure> {
    match (present_secret_box(store, db).await?, &store.secret_key) {
        (None, SecretSource::File(path)) => {
            SecretBox::from_file(path).map_err(|error| failure(&error, store))
        }
        (None, SecretSource::Value(_)) => Err(Failure::internal("a key that is given is not there")),
        (Some(taken), _) => Ok(taken),
    }
}

/// Takes the key of stored secrets without making one; `None` if its file is not there and nothing was stored with it.
///
/// # Errors
/// `key_file_unusable`, also if it is lost: a new one would only hide that. `invalid_setting`,
/// `cryptography_unavailable`, and those of the store.
pub(crate) async fn present_secret_box(store: &Store, db: &Db) -> Result<Option<SecretBox>, Failure> {
    let taken = match &store.secret_key {
        SecretSource::Value(text) => SecretBox::from_text(text),
        SecretSource::File(path) if path.exists() => SecretBox::from_file(path),
        SecretSource::File(path) => {
            let any =
                db.read(|tx| Box::pin(secrets::any(tx))).await.map_err(|error| failure(&error, store))?;
            if !any {
                return Ok(None);
            }
            let reason = "it is gone, and passwords of clusters are stored with it".to_owned();
            let lost = pegel_store::Error::KeyFile { path: path.clone(), reason };
            let failure = of_error(ErrorCode::KeyFileUnusable, &lost);
            return Err(failure.with_hint("put a copy of it back: without it those passwords are lost"));
        }
    };
    taken.map(Some).map_err(|error| failure(&error, store))
}

/// Says what speaks against a database that was made just now: a key from before.
pub(crate) fn warn_of_new_database(store: &Store, db: &Db) {
    let key_is_older = store.secret_key.path().is_some_and(Path::exists);
    if db.migrated().from_version == 0 && key_is_older {
        tracing::warn!(
            store.data_dir = %store.data_dir.display(),
            "a new database was made beside a key from before: if there was a database, stop and put it back"
        );
    }
}

/// Opens the database and brings its schema up to date.
///
/// # Errors
/// Those of the store, with advice; `invalid_config` when the file with the URL cannot be read.
pub(crate) async fn open(store: &Store, clock: Arc<dyn Clock>) -> Result<Db, Failure> {
    let db = Db::open(&config(store)?, clock).await.map_err(|error| failure(&error, store))?;
    let migrated = db.migrated();
    if migrated.from_version != migrated.to_version {
        tracing::info!(
            store.from_version = migrated.from_version,
            store.to_version = migrated.to_version,
            store.backup = migrated.backup.as_ref().map(|path| path.display().to_string()),
            "the store's schema was brought up to date"
        );
    }
    Ok(db)
}

/// Opens the database only to read it, also while a server works with it: nothing is made, migrated or written.
///
/// # Errors
/// As [`open`]; `schema_outdated` for one that the server has yet to bring up to date.
pub(crate) async fn open_unchanged(store: &Store, clock: Arc<dyn Clock>) -> Result<Db, Failure> {
    Db::open_unchanged(&config(store)?, clock).await.map_err(|error| failure(&error, store))
}

fn config(store: &Store) -> Result<StoreConfig, Failure> {
    store.database.store_config().map_err(|error| {
        Failure::new(ErrorCode::InvalidConfig, "cannot read the file that postgres_url_file names")
            .with_cause(&error)
    })
}

/// Tells an error of the service at its start.
pub(crate) fn service_failure(error: &pegel_service::Error, store: &Store) -> Failure {
    match error {
        pegel_service::Error::Store(error) => failure(error, store),
        other => of_error(other.code(), other),
    }
}

/// Tells an error of the store to whoever runs it.
pub(crate) fn failure(error: &pegel_store::Error, store: &Store) -> Failure {
    let code: ErrorCode = error.code().parse().unwrap_or(ErrorCode::Internal);
    let failure = of_error(code, error);
    match (error, &store.database) {
        (pegel_store::Error::KeyFile { path, .. }, _) => failure.with_hint(format!(
            "only the user that runs Pegel may read {0}: chmod 600 {0}; a lost key comes back only from a copy",
            path.display()
        )),
        (pegel_store::Error::SecretUnreadable { .. }, _) => failure.with_hint(
            "give the key that the clusters' passwords were stored with: secret_key_file in [store], or a copy of it",
        ),
        (pegel_store::Error::SchemaTooNew { .. }, Database::Sqlite { path }) => failure.with_hint(format!(
            "use the newer Pegel, or put the copy made before the upgrade, beside {}, in its place",
            path.display()
        )),
        (pegel_store::Error::DiskFull { .. }, _) => failure.with_hint(format!(
            "make room on the disk of {}; nothing is lost",
            store.data_dir.display()
        )),
        (pegel_store::Error::Unavailable { .. }, Database::Postgres { .. }) => {
            failure.with_hint("check that PostgreSQL runs and takes the user and password of postgres_url")
        }
        (_, Database::Sqlite { path }) => failure.with_hint(format!("the database is {}", path.display())),
        _ => failure,
    }
}

fn of_error(code: ErrorCode, error: &dyn std::error::Error) -> Failure {
    let failure = Failure::new(code, error.to_string());
    match error.source() {
        Some(source) => failure.with_cause(source),
        None => failure,
    }
}
