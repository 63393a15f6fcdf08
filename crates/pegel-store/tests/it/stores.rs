//! Empty stores for cases, with a clock that stands still.

use std::sync::Arc;

use pegel_core::clock::{Clock, ManualClock};
use pegel_store::{Db, StoreConfig};
use secrecy::{ExposeSecret, SecretString};
use sqlx::Connection as _;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

use pegel_testkit::postgres;

/// An open store and what it lives in.
pub(crate) struct Store {
    pub(crate) db: Db,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) config: StoreConfig,
    _folder: Option<tempfile::TempDir>,
}

impl Store {
    /// Opens an empty SQLite file.
    pub(crate) async fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = StoreConfig::Sqlite { path: folder.path().join("pegel.db") };
        Self::open(config, Some(folder)).await
    }

    /// Opens an empty PostgreSQL database; `None`, with a word why, where there is no PostgreSQL.
    pub(crate) async fn postgres() -> Option<Self> {
        let url = postgres::new_database().await?;
        Some(Self::open(StoreConfig::Postgres { url: SecretString::from(url) }, None).await)
    }

    async fn open(config: StoreConfig, folder: Option<tempfile::TempDir>) -> Self {
        let clock = manual_clock();
        let db = Db::open(&config, Arc::clone(&clock) as Arc<dyn Clock>).await.unwrap();
        Self { db, clock, config, _folder: folder }
    }

    /// Opens the same database once more, as another instance.
    pub(crate) async fn again(&self) -> Db {
        Db::open(&self.config, Arc::clone(&self.clock) as Arc<dyn Clock>).await.unwrap()
    }

    /// Runs statements behind the store's back.
    pub(crate) async fn tamper(&self, script: &'static str) {
        self.try_tamper(script).await.unwrap();
    }

    /// Runs statements behind the store's back, as far as the schema lets them.
    pub(crate) async fn try_tamper(&self, script: &'static str) -> Result<(), sqlx::Error> {
        match &self.config {
            StoreConfig::Sqlite { path } => {
                let options = SqliteConnectOptions::new().filename(path);
                let mut connection = SqliteConnection::connect_with(&options).await?;
                sqlx::raw_sql(script).execute(&mut connection).await?;
                connection.close().await
            }
            StoreConfig::Postgres { url } => {
                let mut connection = PgConnection::connect(url.expose_secret()).await?;
                sqlx::raw_sql(script).execute(&mut connection).await?;
                connection.close().await
            }
            StoreConfig::SqliteMemory => panic!("nothing else can reach a database in memory"),
        }
    }

    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self.config, StoreConfig::Postgres { .. })
    }

    /// Counts the rows a statement counts as `n`.
    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        self.db.read(move |tx| Box::pin(async move { tx.fetch_one(sql, &[]).await?.int("n") })).await.unwrap()
    }
}

/// A clock at the same moment in every case.
pub(crate) fn manual_clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::new("2026-03-01T12:00:00Z".parse().unwrap()))
}

/// Runs one expression as a write; what it uses is cloned in, since a job may run again.
macro_rules! write {
    ($store:expr, [$($captured:ident),*], |$tx:ident| $body:expr) => {{
        $(let $captured = $captured.clone();)*
        $store.db.write(move |$tx| {
            $(let $captured = $captured.clone();)*
            Box::pin(async move { $body })
        }).await
    }};
}
pub(crate) use write;
