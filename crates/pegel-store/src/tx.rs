//! One transaction, whichever database it runs on.

use std::pin::Pin;

use jiff::Timestamp;
use sqlx::encode::IsNull;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgConnection, PgTypeInfo};
use sqlx::sqlite::SqliteConnection;
use sqlx::{Encode, Postgres, Type};
use uuid::Uuid;

use crate::error::Error;
use crate::random;
use crate::value::{Row, Value};

/// A future on the heap, as jobs return it.
pub type BoxFuture<'t, T> = Pin<Box<dyn Future<Output = T> + Send + 't>>;

/// The most keys one transaction may announce.
pub const MAX_ANNOUNCEMENTS: usize = 10_000;

/// The connection a transaction runs on.
#[derive(Debug)]
pub(crate) enum Connection<'c> {
    Sqlite(&'c mut SqliteConnection),
    Postgres(&'c mut PgConnection),
}

/// What a job works with: statements inside one transaction, and the time it has.
///
/// Statements are static text with `$1`, `$2`, …; the same text should serve both databases. A job
/// whose statement failed should return the error: PostgreSQL refuses anything further.
#[derive(Debug)]
pub struct Tx<'c> {
    connection: Connection<'c>,
    now: Timestamp,
    announced: Vec<Announcement>,
}

/// One change to be written into the feed when the job has done its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Announcement {
    pub(crate) resource_key: String,
    pub(crate) version: Option<i64>,
}

impl<'c> Tx<'c> {
    pub(crate) fn new(connection: Connection<'c>, now: Timestamp) -> Self {
        Self { connection, now, announced: Vec::new() }
    }

    /// Returns the time of this transaction, by the store's clock, the same for all of its statements.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns a new id that sorts by the time of this transaction.
    ///
    /// # Errors
    /// `cryptography_unavailable`.
    pub fn new_id(&self) -> Result<Uuid, Error> {
        random::new_id(self.now)
    }

    /// Runs a statement and returns how many rows it touched.
    ///
    /// # Errors
    /// Whatever the database says, sorted by [`Error::code`].
    pub async fn execute(&mut self, sql: &'static str, values: &[Value]) -> Result<u64, Error> {
        match &mut self.connection {
            Connection::Sqlite(connection) => {
                Ok(for_sqlite(sql, values).execute(&mut **connection).await?.rows_affected())
            }
            Connection::Postgres(connection) => {
                Ok(for_postgres(sql, values).execute(&mut **connection).await?.rows_affected())
            }
        }
    }

    /// Runs a statement and returns its rows. The statement itself must limit them.
    ///
    /// # Errors
    /// Whatever the database says, sorted by [`Error::code`].
    pub async fn fetch_all(&mut self, sql: &'static str, values: &[Value]) -> Result<Vec<Row>, Error> {
        match &mut self.connection {
            Connection::Sqlite(connection) => {
                let rows = for_sqlite(sql, values).fetch_all(&mut **connection).await?;
                Ok(rows.into_iter().map(Row::from).collect())
            }
            Connection::Postgres(connection) => {
                let rows = for_postgres(sql, values).fetch_all(&mut **connection).await?;
                Ok(rows.into_iter().map(Row::from).collect())
            }
        }
    }

    /// Runs a statement and returns its first row, if it has one.
    ///
    /// # Errors
    /// Whatever the database says, sorted by [`Error::code`].
    pub async fn fetch_optional(
        &mut self,
        sql: &'static str,
        values: &[Value],
    ) -> Result<Option<Row>, Error> {
        match &mut self.connection {
            // Read to its end: a statement left half-way would keep its locks.
            Connection::Sqlite(connection) => Ok(for_sqlite(sql, values)
                .fetch_all(&mut **connection)
                .await?
                .into_iter()
                .next()
                .map(Row::from)),
            Connection::Postgres(connection) => {
                Ok(for_postgres(sql, values).fetch_optional(&mut **connection).await?.map(Row::from))
            }
        }
    }

    /// Runs a statement that always has a row, such as one that counts, and returns the row.
    ///
    /// # Errors
    /// `corrupt_row` if there is none, else whatever the database says.
    pub async fn fetch_one(&mut self, sql: &'static str, values: &[Value]) -> Result<Row, Error> {
        self.fetch_optional(sql, values).await?.ok_or_else(|| Error::corrupt("row", "there is none"))
    }

    /// Runs a script of several statements, as migrations are.
    pub(crate) async fn run_script(&mut self, sql: &'static str) -> Result<(), Error> {
        match &mut self.connection {
            Connection::Sqlite(connection) => {
                sqlx::raw_sql(sql).execute(&mut **connection).await?;
            }
            Connection::Postgres(connection) => {
                sqlx::raw_sql(sql).execute(&mut **connection).await?;
            }
        }
        Ok(())
    }

    /// Announces that a resource has changed, such as `cluster/orders-eu`.
    ///
    /// The change is written in this transaction, after the job's own statements. The same key twice
    /// counts once. In a read it does nothing.
    pub fn announce(&mut self, resource_key: impl Into<String>) {
        self.push(Announcement { resource_key: resource_key.into(), version: None });
    }

    /// Announces a resource that counts its own versions, so that readers who have this one need not ask.
    pub fn announce_version(&mut self, resource_key: impl Into<String>, version: i64) {
        self.push(Announcement { resource_key: resource_key.into(), version: Some(version) });
    }

    fn push(&mut self, announcement: Announcement) {
        match self.announced.iter_mut().find(|known| known.resource_key == announcement.resource_key) {
            Some(known) => known.version = known.version.max(announcement.version),
            None => self.announced.push(announcement),
        }
    }

    pub(crate) fn take_announced(&mut self) -> Vec<Announcement> {
        std::mem::take(&mut self.announced)
    }

    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self.connection, Connection::Postgres(_))
    }
}

type SqliteQuery = sqlx::query::Query<'static, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>;
type PostgresQuery = sqlx::query::Query<'static, Postgres, sqlx::postgres::PgArguments>;

fn for_sqlite(sql: &'static str, values: &[Value]) -> SqliteQuery {
    values.iter().fold(sqlx::query(sql), |query, value| match value {
        Value::Null => query.bind(None::<i64>),
        Value::Int(number) => query.bind(*number),
        Value::Text(text) => query.bind(text.clone()),
        Value::Blob(bytes) => query.bind(bytes.clone()),
    })
}

fn for_postgres(sql: &'static str, values: &[Value]) -> PostgresQuery {
    values.iter().fold(sqlx::query(sql), |query, value| match value {
        Value::Null => query.bind(Untyped),
        Value::Int(number) => query.bind(*number),
        Value::Text(text) => query.bind(text.clone()),
        Value::Blob(bytes) => query.bind(bytes.clone()),
    })
}

/// No value, of a type that PostgreSQL infers from where it stands.
#[derive(Debug, Clone, Copy)]
struct Untyped;

impl Type<Postgres> for Untyped {
    fn type_info() -> PgTypeInfo {
        // Type number 0 in the protocol's Parse message means "not stated".
        PgTypeInfo::with_oid(Oid(0))
    }
}

impl Encode<'_, Postgres> for Untyped {
    fn encode_by_ref(&self, _: &mut PgArgumentBuffer) -> Result<IsNull, sqlx::error::BoxDynError> {
        Ok(IsNull::Yes)
    }
}
