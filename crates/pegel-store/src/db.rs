//! The one door to the database.
//!
//! Writes and reads are jobs: closures that get a [`Tx`] and return a future. SQLite has one writer
//! that commits the jobs which gathered during its previous commit together; PostgreSQL runs one
//! transaction a job. Both answer a write only when it is on disk.

mod job;
mod postgres;
mod room;
mod sqlite;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use pegel_core::clock::Clock;
use secrecy::SecretString;
use tokio::sync::{oneshot, watch};

use crate::change::{self, Changes};
use crate::db::job::Entry;
use crate::db::room::Room;
use crate::error::Error;
use crate::migrate::{Migrated, Upkeep};
use crate::tx::{BoxFuture, Tx};

/// Where the store is.
#[derive(Debug, Clone)]
pub enum StoreConfig {
    /// A file of SQLite; its folder must exist. Made with access for its owner only.
    Sqlite {
        /// The file.
        path: PathBuf,
    },
    /// SQLite in memory, gone with the process.
    SqliteMemory,
    /// A database of PostgreSQL.
    Postgres {
        /// `postgres://user:password@host:port/database`. Without `sslmode`, a host that is not
        /// loopback must show a certificate for its name.
        url: SecretString,
    },
}

/// The store. Cheap to clone; closed when the last clone is gone, or by [`Db::close`].
#[derive(Clone)]
pub struct Db {
    inner: Arc<Inner>,
}

struct Inner {
    backend: Backend,
    clock: Arc<dyn Clock>,
    head: watch::Sender<i64>,
    migrated: Migrated,
    room: Room,
}

enum Backend {
    Sqlite(sqlite::Sqlite),
    Postgres(postgres::Postgres),
}

impl fmt::Debug for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let backend = match &self.inner.backend {
            Backend::Sqlite(_) => "sqlite",
            Backend::Postgres(_) => "postgres",
        };
        f.debug_struct("Db").field("backend", &backend).field("migrated", &self.inner.migrated).finish()
    }
}

impl Db {
    /// Opens the store, brings its schema up to date and starts what serves it.
    ///
    /// A SQLite file that is not empty is backed up beside itself before its schema changes.
    /// Dropping the future half-way leaves each migration either done or not begun.
    ///
    /// # Errors
    /// `store_unavailable`, `invalid_setting`, `schema_too_new`, `migration_changed`,
    /// `migration_failed`, `store_damaged`, `disk_full`, `io_failed`.
    pub async fn open(config: &StoreConfig, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let head = watch::Sender::new(0);
        let (backend, migrated) = match config {
            StoreConfig::Sqlite { path } => {
                let (sqlite, migrated) = sqlite::open(Some(path), &clock, &head).await?;
                (Backend::Sqlite(sqlite), migrated)
            }
            StoreConfig::SqliteMemory => {
                let (sqlite, migrated) = sqlite::open(None, &clock, &head).await?;
                (Backend::Sqlite(sqlite), migrated)
            }
            StoreConfig::Postgres { url } => {
                let (postgres, migrated) = postgres::open(url, Upkeep::Migrate, &clock, &head).await?;
                (Backend::Postgres(postgres), migrated)
            }
        };
        Self::ready(backend, migrated, clock, head).await
    }

    /// Opens a store only to read it, also while a server works with it: nothing is made or migrated, and
    /// writes fail.
    ///
    /// # Errors
    /// `store_unavailable`, also when there is none; `schema_outdated`, `schema_too_new`, `migration_changed`,
    /// `store_damaged`; `invalid_setting` for a database in memory, in which there is nothing to read.
    pub async fn open_unchanged(config: &StoreConfig, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let head = watch::Sender::new(0);
        let (backend, migrated) = match config {
            StoreConfig::Sqlite { path } => {
                let (sqlite, migrated) = sqlite::open_unchanged(path, &clock, &head).await?;
                (Backend::Sqlite(sqlite), migrated)
            }
            StoreConfig::SqliteMemory => {
                return Err(Error::InvalidSetting {
                    reason: "a database in memory is always new".to_owned(),
                });
            }
            StoreConfig::Postgres { url } => {
                let (postgres, migrated) = postgres::open(url, Upkeep::None, &clock, &head).await?;
                (Backend::Postgres(postgres), migrated)
            }
        };
        Self::ready(backend, migrated, clock, head).await
    }

    async fn ready(
        backend: Backend,
        migrated: Migrated,
        clock: Arc<dyn Clock>,
        head: watch::Sender<i64>,
    ) -> Result<Self, Error> {
        let db = Self { inner: Arc::new(Inner { backend, clock, head, migrated, room: Room::default() }) };
        let latest = db.read(|tx| Box::pin(change::head(tx))).await?;
        db.inner.head.send_if_modified(|known| raise(known, latest));
        Ok(db)
    }

    /// Returns what opening did to the schema.
    pub fn migrated(&self) -> &Migrated {
        &self.inner.migrated
    }

    /// Returns the clock the store tells time by.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.inner.clock
    }

    /// Runs a job in a transaction and returns its value once that is on disk.
    ///
    /// If the job returns an error, nothing of it is kept. The job may be run more than once when the
    /// database gives up on a transaction that can be repeated, so it must change nothing but the
    /// database. It must not wait for anything else, and may take 30 seconds at most.
    ///
    /// Dropping the future does not stop the job: it runs to its end and may be kept.
    ///
    /// # Errors
    /// The job's own, or `store_unavailable`, `store_busy`, `disk_full`, `integrity_violation`,
    /// `commit_unknown`, `store_closed`.
    pub async fn write<T, F>(&self, job: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: for<'t> Fn(&'t mut Tx<'_>) -> BoxFuture<'t, Result<T, Error>> + Send + Sync + 'static,
    {
        let outcome = self.run(job).await;
        self.inner.room.note(&outcome, self.inner.clock.now());
        outcome
    }

    async fn run<T, F>(&self, job: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: for<'t> Fn(&'t mut Tx<'_>) -> BoxFuture<'t, Result<T, Error>> + Send + Sync + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let entry = Box::new(Entry::new(job, reply, true));
        match &self.inner.backend {
            Backend::Sqlite(sqlite) => sqlite.enqueue(entry).await?,
            Backend::Postgres(postgres) => postgres.spawn(entry, Arc::clone(&self.inner.clock)),
        }
        answer.await.unwrap_or(Err(Error::Closed))
    }

    /// Runs a job on one unchanging view of the database and returns its value.
    ///
    /// Statements that write fail. Dropping the future ends the read.
    ///
    /// # Errors
    /// The job's own, or `store_unavailable`, `store_busy`, `store_closed`.
    pub async fn read<T, F>(&self, job: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: for<'t> Fn(&'t mut Tx<'_>) -> BoxFuture<'t, Result<T, Error>> + Send + Sync + 'static,
    {
        match &self.inner.backend {
            Backend::Sqlite(sqlite) if sqlite.has_readers() => sqlite.read(job, self.inner.clock.now()).await,
            Backend::Sqlite(sqlite) => {
                // A database in memory has but one connection.
                let (reply, answer) = oneshot::channel();
                sqlite.enqueue(Box::new(Entry::new(job, reply, false))).await?;
                answer.await.unwrap_or(Err(Error::Closed))
            }
            Backend::Postgres(postgres) => postgres.read(job, self.inner.clock.now()).await,
        }
    }

    /// Returns the changes after `seq`, oldest first, at most `limit` (up to 1,000), or says that the
    /// reader has to begin anew because some of them are no longer kept.
    ///
    /// # Errors
    /// As [`Db::read`].
    pub async fn changes_after(&self, seq: i64, limit: u32) -> Result<Changes, Error> {
        self.read(move |tx| Box::pin(change::after(tx, seq, limit))).await
    }

    /// Returns a watch on the newest change's `seq`; it wakes after each commit that announced
    /// something, on PostgreSQL also after those of other instances.
    pub fn watch(&self) -> watch::Receiver<i64> {
        self.inner.head.subscribe()
    }

    /// Writes what changes nothing, so that it fails where a change could not be kept. A disk that had no room
    /// for a change stays full until another is kept, or for ten seconds.
    ///
    /// # Errors
    /// As [`Db::write`].
    pub async fn check_writable(&self) -> Result<(), Error> {
        let sql = "UPDATE change_head SET seq = seq WHERE id = 1";
        self.run(move |tx| Box::pin(async move { tx.execute(sql, &[]).await.map(drop) })).await?;
        self.inner.room.check(self.inner.clock.now())
    }

    /// Closes the store after the jobs that are already in line. Calls after that fail with `store_closed`.
    pub async fn close(&self) {
        match &self.inner.backend {
            Backend::Sqlite(sqlite) => sqlite.close().await,
            Backend::Postgres(postgres) => postgres.close().await,
        }
    }
}

/// Raises `known` to `latest`; tells whether it was lower.
fn raise(known: &mut i64, latest: i64) -> bool {
    let is_newer = latest > *known;
    if is_newer {
        *known = latest;
    }
    is_newer
}
