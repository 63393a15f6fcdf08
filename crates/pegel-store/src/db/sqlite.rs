//! SQLite: one writer with group commit, a few readers.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pegel_core::clock::Clock;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteSynchronous,
};
use sqlx::{Connection as _, Sqlite as Driver};
use tokio::sync::{Mutex, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time;

use crate::db::job::{self, Queued};
use crate::db::raise;
use crate::error::Error;
use crate::migrate::{self, Migrated};
use crate::tx::{BoxFuture, Connection, Tx};

/// How many jobs may wait in line; a caller beyond that waits for room.
const QUEUE: usize = 1_024;

/// How many jobs one commit may hold.
const MAX_GROUP: usize = 256;

/// How many reads run at once.
const READERS: u32 = 4;

/// How long another process may hold the file before a transaction gives up.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a read waits for a free connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long another process may take to open the file, changes of its schema included.
const TURN_TIMEOUT: Duration = Duration::from_secs(120);

/// How often it is looked whether the other process is done.
const BETWEEN_TURNS: Duration = Duration::from_millis(20);

/// The writer's line and the readers.
pub(super) struct Sqlite {
    queue: Mutex<Option<mpsc::Sender<Box<dyn Queued>>>>,
    readers: Option<SqlitePool>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

/// Opens a file that is there only to read it: nothing is made, migrated or written.
pub(super) async fn open_unchanged(
    path: &Path,
    clock: &Arc<dyn Clock>,
    head: &watch::Sender<i64>,
) -> Result<(Sqlite, Migrated), Error> {
    let options = options(Some(path)).create_if_missing(false).pragma("query_only", "on");
    let mut connection = SqliteConnection::connect_with(&options).await?;
    let migrated = migrate::check(Connection::Sqlite(&mut connection), clock.now()).await?;
    Ok((Sqlite::start(connection, Some(readers(path)), clock, head), migrated))
}

/// Opens the file, or a database in memory, and starts the writer.
pub(super) async fn open(
    path: Option<&Path>,
    clock: &Arc<dyn Clock>,
    head: &watch::Sender<i64>,
) -> Result<(Sqlite, Migrated), Error> {
    // Held until the schema is up to date: two that make one file at once would be in each other's way.
    let _turn = match path {
        Some(path) => Some(take_turn(path).await?),
        None => None,
    };
    if let Some(path) = path {
        migrate::create_private(path)?;
    }
    let mut connection = SqliteConnection::connect_with(&options(path)).await?;
    let migrated = migrate::sqlite(&mut connection, path, migrate::MIGRATIONS, clock.now()).await?;
    Ok((Sqlite::start(connection, path.map(readers), clock, head), migrated))
}

/// Waits until no other process is opening the file, and keeps others from it while the answer lives.
///
/// The lock is on a file of its own: closing another handle on the database itself would drop SQLite's locks.
async fn take_turn(path: &Path) -> Result<File, Error> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let lock = PathBuf::from(name);
    migrate::create_private(&lock)?;
    let file = File::options().write(true).open(&lock).map_err(|error| Error::file("open", &lock, error))?;
    let wait = async {
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) => time::sleep(BETWEEN_TURNS).await,
                Err(TryLockError::Error(error)) => return Err(Error::file("lock", &lock, error)),
            }
        }
    };
    time::timeout(TURN_TIMEOUT, wait).await.unwrap_or(Err(Error::Busy { source: None }))?;
    Ok(file)
}

fn options(path: Option<&Path>) -> SqliteConnectOptions {
    let options = match path {
        Some(path) => SqliteConnectOptions::new().filename(path).journal_mode(SqliteJournalMode::Wal),
        None => SqliteConnectOptions::new().in_memory(true),
    };
    options
        .create_if_missing(true)
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT)
        // In WAL mode anything less may lose the last commits when the power fails.
        .synchronous(SqliteSynchronous::Full)
        // A log grown by one large transaction does not keep its size.
        .pragma("journal_size_limit", "67108864")
        .pragma("trusted_schema", "off")
}

fn readers(path: &Path) -> SqlitePool {
    let options = options(Some(path)).create_if_missing(false).pragma("query_only", "on");
    SqlitePoolOptions::new()
        .max_connections(READERS)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .connect_lazy_with(options)
}

impl Sqlite {
    /// Starts the writer on its connection.
    fn start(
        connection: SqliteConnection,
        readers: Option<SqlitePool>,
        clock: &Arc<dyn Clock>,
        head: &watch::Sender<i64>,
    ) -> Self {
        let (queue, line) = mpsc::channel(QUEUE);
        let writer = Writer { connection, clock: Arc::clone(clock), head: head.clone() };
        let writer = tokio::spawn(writer.serve(line));
        Self { queue: Mutex::new(Some(queue)), readers, writer: Mutex::new(Some(writer)) }
    }

    /// Puts a job in line. Waits while the line is full.
    pub(super) async fn enqueue(&self, entry: Box<dyn Queued>) -> Result<(), Error> {
        let queue = self.queue.lock().await.clone().ok_or(Error::Closed)?;
        queue.send(entry).await.map_err(|_| Error::Closed)
    }

    /// Returns whether reads have connections of their own.
    pub(super) fn has_readers(&self) -> bool {
        self.readers.is_some()
    }

    /// Runs a read on a connection of its own.
    pub(super) async fn read<T, F>(&self, job: F, now: jiff::Timestamp) -> Result<T, Error>
    where
        F: for<'t> Fn(&'t mut Tx<'_>) -> BoxFuture<'t, Result<T, Error>> + Send + Sync,
    {
        let pool = self.readers.as_ref().ok_or(Error::Closed)?;
        // The transaction holds one view for all statements; dropping it rolls back.
        let mut transaction = pool.begin_with("BEGIN").await?;
        let mut tx = Tx::new(Connection::Sqlite(&mut transaction), now);
        let outcome = job::bounded(&job, &mut tx).await;
        transaction.rollback().await?;
        outcome
    }

    /// Lets the writer finish its line and closes the readers.
    pub(super) async fn close(&self) {
        self.queue.lock().await.take();
        if let Some(writer) = self.writer.lock().await.take() {
            // The writer catches panics of jobs; if it failed itself, there is nothing left to wait for.
            let _ = writer.await;
        }
        if let Some(readers) = &self.readers {
            readers.close().await;
        }
    }
}

/// The one task that writes.
struct Writer {
    connection: SqliteConnection,
    clock: Arc<dyn Clock>,
    head: watch::Sender<i64>,
}

/// How each job of a group ended, and the newest change that any announced.
struct Committed {
    outcomes: Vec<Result<(), Error>>,
    newest: i64,
}

impl Writer {
    async fn serve(mut self, mut line: mpsc::Receiver<Box<dyn Queued>>) {
        let mut group = Vec::with_capacity(MAX_GROUP);
        // Takes whatever gathered while the last group was being committed.
        while line.recv_many(&mut group, MAX_GROUP).await > 0 {
            self.serve_group(std::mem::take(&mut group)).await;
        }
        if let Err(error) = self.connection.close().await {
            tracing::warn!(%error, "the store's file did not close cleanly");
        }
    }

    async fn serve_group(&mut self, mut group: Vec<Box<dyn Queued>>) {
        match self.commit(&mut group).await {
            Ok(committed) => self.answer(group, committed),
            // One job may have taken the whole transaction down, as a full disk does: each gets a chance alone.
            Err(_) if group.len() > 1 => {
                for entry in group {
                    let mut alone = vec![entry];
                    let outcome = self.commit(&mut alone).await;
                    self.answer_all(alone, outcome);
                }
            }
            Err(error) => self.answer_all(group, Err(error)),
        }
    }

    fn answer_all(&self, group: Vec<Box<dyn Queued>>, outcome: Result<Committed, Error>) {
        match outcome {
            Ok(committed) => self.answer(group, committed),
            Err(error) => group.into_iter().for_each(|entry| entry.answer(Err(error.clone()))),
        }
    }

    fn answer(&self, group: Vec<Box<dyn Queued>>, committed: Committed) {
        self.head.send_if_modified(|known| raise(known, committed.newest));
        for (entry, outcome) in group.into_iter().zip(committed.outcomes) {
            entry.answer(outcome);
        }
    }

    /// Runs a group in one transaction, each job in a savepoint, and commits.
    ///
    /// # Errors
    /// The transaction is gone as a whole.
    async fn commit(&mut self, group: &mut [Box<dyn Queued>]) -> Result<Committed, Error> {
        self.statement("BEGIN IMMEDIATE").await?;
        match self.run(group).await {
            Ok(committed) => match self.statement("COMMIT").await {
                Ok(()) => Ok(committed),
                Err(error) => Err(self.roll_back(error).await),
            },
            Err(error) => Err(self.roll_back(error).await),
        }
    }

    async fn run(&mut self, group: &mut [Box<dyn Queued>]) -> Result<Committed, Error> {
        let mut committed = Committed { outcomes: Vec::with_capacity(group.len()), newest: 0 };
        for entry in group {
            self.statement("SAVEPOINT job").await?;
            let mut tx = Tx::new(Connection::Sqlite(&mut self.connection), self.clock.now());
            let outcome = entry.run(&mut tx).await;
            if outcome.is_err() || !entry.is_write() {
                // Fails if the database has already dropped the whole transaction; then its error counts.
                if let Err(error) = self.statement("ROLLBACK TO job").await {
                    return Err(outcome.err().unwrap_or(error));
                }
            }
            self.statement("RELEASE job").await?;
            if let Ok(seq) = &outcome {
                committed.newest = committed.newest.max(*seq);
            }
            committed.outcomes.push(outcome.map(|_| ()));
        }
        Ok(committed)
    }

    /// Leaves the transaction, if there still is one, and hands the error on.
    async fn roll_back(&mut self, error: Error) -> Error {
        // After a full disk SQLite has rolled back by itself, and says that there is no transaction.
        if let Err(rollback) = self.statement("ROLLBACK").await {
            tracing::debug!(error = %rollback, "the transaction was already gone");
        }
        error
    }

    async fn statement(&mut self, sql: &'static str) -> Result<(), Error> {
        sqlx::query::<Driver>(sql).execute(&mut self.connection).await?;
        Ok(())
    }
}
