//! PostgreSQL: a pool, one transaction a write, and news from other instances.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use pegel_core::clock::Clock;
use secrecy::{ExposeSecret, SecretString};
use sqlx::Connection as _;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgListener, PgPool, PgPoolOptions, PgSslMode};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;
use tokio::time;

use crate::change;
use crate::db::job::{self, Queued};
use crate::db::raise;
use crate::error::Error;
use crate::migrate::{self, Migrated, Upkeep};
use crate::random;
use crate::tx::{BoxFuture, Connection, Tx};

/// How many transactions run at once.
const CONNECTIONS: u32 = 10;

/// How long a transaction waits for a free connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// How often a transaction is run that the database gives up in favour of another.
const MAX_ATTEMPTS: u32 = 6;

/// The longest wait before another attempt; the wait is a random part of it, doubled each time.
const FIRST_BACKOFF_MS: u64 = 10;

/// How long the listener waits before it tries to connect again.
const RECONNECT: Duration = Duration::from_secs(1);

/// The pool and the listener.
pub(super) struct Postgres {
    pool: PgPool,
    head: watch::Sender<i64>,
    listener: Mutex<Option<JoinHandle<()>>>,
}

/// Connects, brings the schema up to date if that is wanted, and starts to listen.
pub(super) async fn open(
    url: &SecretString,
    upkeep: Upkeep,
    clock: &Arc<dyn Clock>,
    head: &watch::Sender<i64>,
) -> Result<(Postgres, Migrated), Error> {
    let options = match upkeep {
        Upkeep::Migrate => options(url.expose_secret())?,
        Upkeep::None => options(url.expose_secret())?.options([("default_transaction_read_only", "on")]),
    };
    // A connection of its own: whatever it locked or set goes when it is closed.
    let mut connection = PgConnection::connect_with(&options).await?;
    let migrated = match upkeep {
        Upkeep::Migrate => migrate::postgres(&mut connection, migrate::MIGRATIONS, clock.now()).await?,
        Upkeep::None => migrate::check(Connection::Postgres(&mut connection), clock.now()).await?,
    };
    connection.close().await?;
    let pool = PgPoolOptions::new()
        .max_connections(CONNECTIONS)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .connect_with(options)
        .await?;
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.listen(change::CHANNEL).await?;
    let listener = tokio::spawn(listen(listener, pool.clone(), head.clone()));
    Ok((Postgres { pool, head: head.clone(), listener: Mutex::new(Some(listener)) }, migrated))
}

/// Reads the address. A host elsewhere must prove who it is unless the address says otherwise.
fn options(url: &str) -> Result<PgConnectOptions, Error> {
    // The driver's message may quote the address with its password.
    let invalid = |_| Error::InvalidSetting { reason: "not an address of PostgreSQL".to_owned() };
    let options = PgConnectOptions::from_str(url).map_err(invalid)?;
    let is_loopback = matches!(options.get_host(), "localhost" | "127.0.0.1" | "::1" | "[::1]");
    let says_mode = url.contains("sslmode=") || url.contains("ssl-mode=");
    let options = if is_loopback || says_mode { options } else { options.ssl_mode(PgSslMode::VerifyFull) };
    Ok(options.application_name("pegel").options([
        ("statement_timeout", "30s"),
        ("lock_timeout", "10s"),
        ("idle_in_transaction_session_timeout", "60s"),
        // An answered write is on disk, whatever the server's own default is.
        ("synchronous_commit", "on"),
    ]))
}

impl Postgres {
    /// Runs a write in a task of its own, so that it ends whether or not anyone waits.
    pub(super) fn spawn(&self, mut entry: Box<dyn Queued>, clock: Arc<dyn Clock>) {
        let (pool, head) = (self.pool.clone(), self.head.clone());
        tokio::spawn(async move {
            let outcome = write(&pool, entry.as_mut(), clock.as_ref()).await;
            if let Ok(newest) = &outcome {
                head.send_if_modified(|known| raise(known, *newest));
            }
            entry.answer(outcome.map(|_| ()));
        });
    }

    /// Runs a read on one view of the database.
    pub(super) async fn read<T, F>(&self, job: F, now: jiff::Timestamp) -> Result<T, Error>
    where
        F: for<'t> Fn(&'t mut Tx<'_>) -> BoxFuture<'t, Result<T, Error>> + Send + Sync,
    {
        let mut transaction = self.begin_read().await?;
        let mut tx = Tx::new(Connection::Postgres(&mut transaction), now);
        let outcome = job::bounded(&job, &mut tx).await;
        transaction.rollback().await?;
        outcome
    }

    /// Begins a read in a task of its own, so that it has begun when it is given up.
    ///
    /// The driver forgets a BEGIN that nobody waited for: the connection would go back to the pool inside of a
    /// transaction, and the next write on it would fail.
    async fn begin_read(&self) -> Result<sqlx::Transaction<'static, sqlx::Postgres>, Error> {
        let pool = self.pool.clone();
        let begin = async move { pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await };
        match tokio::spawn(begin).await {
            Ok(begun) => Ok(begun?),
            // The runtime is going down.
            Err(_) => Err(Error::Closed),
        }
    }

    /// Waits for the transactions that run and closes all connections.
    pub(super) async fn close(&self) {
        if let Some(listener) = self.listener.lock().await.take() {
            listener.abort();
            // Aborted is how it is meant to end.
            let _ = listener.await;
        }
        self.pool.close().await;
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(listener) = self.listener.get_mut().take() {
            listener.abort();
        }
    }
}

/// Runs a write until it is committed, fails, or was given up too often.
async fn write(pool: &PgPool, entry: &mut dyn Queued, clock: &dyn Clock) -> Result<i64, Error> {
    let mut attempt = 1;
    loop {
        match attempt_write(pool, entry, clock).await {
            Err(error) if error.is_contention() && attempt < MAX_ATTEMPTS => {
                time::sleep(backoff(attempt)?).await;
                attempt += 1;
            }
            outcome => return outcome,
        }
    }
}

async fn attempt_write(pool: &PgPool, entry: &mut dyn Queued, clock: &dyn Clock) -> Result<i64, Error> {
    let mut transaction = pool.begin().await?;
    let mut tx = Tx::new(Connection::Postgres(&mut transaction), clock.now());
    let newest = entry.run(&mut tx).await?;
    transaction.commit().await.map_err(|error| match Error::from(error) {
        // The server's own answer is a clear no; a lost connection is not.
        Error::Unavailable { source } if source.as_database_error().is_none() => {
            Error::CommitUnknown { source }
        }
        error => error,
    })?;
    Ok(newest)
}

/// Returns a random wait, so that two transactions in each other's way do not meet again.
fn backoff(attempt: u32) -> Result<Duration, Error> {
    let most_ms = FIRST_BACKOFF_MS << attempt.min(MAX_ATTEMPTS);
    let chance = u64::from_be_bytes(random::bytes()?);
    Ok(Duration::from_millis(1 + chance % most_ms))
}

/// Passes on what other instances announce, for as long as the store is open.
async fn listen(mut listener: PgListener, pool: PgPool, head: watch::Sender<i64>) {
    loop {
        let newest = match listener.try_recv().await {
            Ok(Some(notification)) => notification.payload().parse().ok(),
            // The connection was lost and is back; whatever was announced meanwhile went unheard.
            Ok(None) => latest(&pool).await,
            Err(_) if pool.is_closed() => return,
            Err(error) => {
                tracing::warn!(%error, "not hearing of changes from other instances");
                time::sleep(RECONNECT).await;
                latest(&pool).await
            }
        };
        if let Some(newest) = newest {
            head.send_if_modified(|known| raise(known, newest));
        }
    }
}

async fn latest(pool: &PgPool) -> Option<i64> {
    sqlx::query_scalar(change::HEAD_SQL).fetch_one(pool).await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(url: &str) -> String {
        format!("{:?}", options(url).unwrap().get_ssl_mode())
    }

    #[test]
    fn a_host_elsewhere_must_prove_who_it_is() {
        assert_eq!(mode("postgres://u:p@db.example:5432/pegel"), "VerifyFull");
        assert_eq!(mode("postgres://u:p@127.0.0.1:5432/pegel"), "Prefer");
        assert_eq!(mode("postgres://u:p@db.example:5432/pegel?sslmode=disable"), "Disable");
    }

    #[test]
    fn a_wrong_address_is_refused_without_quoting_it() {
        let error = options("postgres://u:hunter2@host:notaport/x").unwrap_err();
        assert_eq!(error.code(), "invalid_setting");
        assert!(!format!("{error:?}").contains("hunter2"));
    }

    #[test]
    fn waits_are_random_and_bounded() {
        for attempt in 1..=MAX_ATTEMPTS {
            let wait = backoff(attempt).unwrap();
            assert!(
                wait >= Duration::from_millis(1)
                    && wait <= Duration::from_millis(FIRST_BACKOFF_MS << attempt)
            );
        }
    }
}
