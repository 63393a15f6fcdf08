//! What goes into statements and comes out of rows: numbers, texts and bytes.
//!
//! Columns are whole numbers (times in milliseconds UTC, truths as 0 and 1), texts
//! and bytes only, so that both databases hold the same. Getters return errors:
//! nothing that is stored can make the process panic.

use std::fmt::Display;
use std::str::FromStr;

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{Postgres, Row as _, Sqlite};
use uuid::Uuid;

use crate::error::Error;

/// One argument of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// No value. PostgreSQL infers its type from where it stands; where that tells none, as in
    /// `$1 IS NULL`, the statement says it: `CAST($1 AS TEXT) IS NULL`.
    Null,
    /// A whole number.
    Int(i64),
    /// A text.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

impl Value {
    /// Returns a value as JSON text.
    ///
    /// # Errors
    /// `corrupt_row` if it has no JSON form, such as a map whose keys are not texts.
    pub fn json<T: Serialize>(value: &T) -> Result<Self, Error> {
        serde_json::to_string(value).map(Self::Text).map_err(|error| Error::corrupt("json", error))
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::Int(i64::from(value))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Int(i64::from(value))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Blob(value)
    }
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Self::Blob(value.to_vec())
    }
}

impl From<Timestamp> for Value {
    /// Whole milliseconds, cut.
    fn from(value: Timestamp) -> Self {
        Self::Int(value.as_millisecond())
    }
}

impl From<Uuid> for Value {
    fn from(value: Uuid) -> Self {
        Self::Text(value.to_string())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// One row of an answer.
#[derive(Debug)]
pub struct Row(Inner);

#[derive(Debug)]
enum Inner {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl From<SqliteRow> for Row {
    fn from(row: SqliteRow) -> Self {
        Self(Inner::Sqlite(row))
    }
}

impl From<PgRow> for Row {
    fn from(row: PgRow) -> Self {
        Self(Inner::Postgres(row))
    }
}

impl Row {
    /// Returns a number, or `None` for no value.
    ///
    /// # Errors
    /// `corrupt_row` if there is no such column or it holds something else; likewise all others.
    pub fn optional_int(&self, column: &'static str) -> Result<Option<i64>, Error> {
        self.get(column)
    }

    /// Returns a number.
    ///
    /// # Errors
    /// `corrupt_row`, also if there is no value; likewise all others without `optional`.
    pub fn int(&self, column: &'static str) -> Result<i64, Error> {
        present(column, self.get(column)?)
    }

    /// Returns a text, or `None` for no value.
    ///
    /// # Errors
    /// `corrupt_row`.
    pub fn optional_text(&self, column: &'static str) -> Result<Option<String>, Error> {
        self.get(column)
    }

    /// Returns a text.
    ///
    /// # Errors
    /// `corrupt_row`.
    pub fn text(&self, column: &'static str) -> Result<String, Error> {
        present(column, self.get(column)?)
    }

    /// Returns bytes, or `None` for no value.
    ///
    /// # Errors
    /// `corrupt_row`.
    pub fn optional_blob(&self, column: &'static str) -> Result<Option<Vec<u8>>, Error> {
        self.get(column)
    }

    /// Returns bytes.
    ///
    /// # Errors
    /// `corrupt_row`.
    pub fn blob(&self, column: &'static str) -> Result<Vec<u8>, Error> {
        present(column, self.get(column)?)
    }

    /// Returns bytes of a known length, such as a hash.
    ///
    /// # Errors
    /// `corrupt_row`.
    pub fn array<const N: usize>(&self, column: &'static str) -> Result<[u8; N], Error> {
        <[u8; N]>::try_from(self.blob(column)?).map_err(|_| Error::corrupt(column, "wrong length"))
    }

    /// Returns a truth, stored as 0 or 1.
    ///
    /// # Errors
    /// `corrupt_row`.
    pub fn truth(&self, column: &'static str) -> Result<bool, Error> {
        match self.int(column)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Error::corrupt(column, "neither 0 nor 1")),
        }
    }

    /// Returns a time, or `None` for no value.
    ///
    /// # Errors
    /// `corrupt_row`.
    pub fn optional_time(&self, column: &'static str) -> Result<Option<Timestamp>, Error> {
        self.optional_int(column)?
            .map(|ms| Timestamp::from_millisecond(ms).map_err(|_| Error::corrupt(column, "not a time")))
            .transpose()
    }

    /// Returns a time.
    ///
    /// # Errors
    /// `corrupt_row`.
    pub fn time(&self, column: &'static str) -> Result<Timestamp, Error> {
        present(column, self.optional_time(column)?)
    }

    /// Returns something written as text, such as an id, a slug or a role; `None` for no value.
    ///
    /// # Errors
    /// `corrupt_row`.
    pub fn optional_parsed<T>(&self, column: &'static str) -> Result<Option<T>, Error>
    where
        T: FromStr<Err: Display>,
    {
        self.optional_text(column)?
            .map(|text| text.parse().map_err(|error| Error::corrupt(column, error)))
            .transpose()
    }

    /// Returns something written as text, such as an id, a slug or a role.
    ///
    /// # Errors
    /// `corrupt_row`.
    pub fn parsed<T>(&self, column: &'static str) -> Result<T, Error>
    where
        T: FromStr<Err: Display>,
    {
        present(column, self.optional_parsed(column)?)
    }

    /// Returns something written as JSON; `None` for no value.
    ///
    /// # Errors
    /// `corrupt_row`. The reason names line and column of the text, not what is there.
    pub fn optional_json<T: DeserializeOwned>(&self, column: &'static str) -> Result<Option<T>, Error> {
        self.optional_text(column)?.map(|text| read_json(column, &text)).transpose()
    }

    /// Returns something written as JSON.
    ///
    /// # Errors
    /// `corrupt_row`, as [`Self::optional_json`].
    pub fn json<T: DeserializeOwned>(&self, column: &'static str) -> Result<T, Error> {
        present(column, self.optional_json(column)?)
    }

    fn get<T>(&self, column: &'static str) -> Result<Option<T>, Error>
    where
        T: for<'r> sqlx::Decode<'r, Sqlite> + sqlx::Type<Sqlite>,
        T: for<'r> sqlx::Decode<'r, Postgres> + sqlx::Type<Postgres>,
    {
        let outcome = match &self.0 {
            Inner::Sqlite(row) => row.try_get(column),
            Inner::Postgres(row) => row.try_get(column),
        };
        outcome.map_err(|error| match error {
            sqlx::Error::ColumnNotFound(_) => Error::corrupt(column, "there is no such column"),
            _ => Error::corrupt(column, "not of the expected type"),
        })
    }
}

/// Reads JSON that a column holds.
///
/// # Errors
/// `corrupt_row`. The reason names line and column of the text, not what is there.
pub(crate) fn read_json<T: DeserializeOwned>(column: &'static str, text: &str) -> Result<T, Error> {
    let place = |error: serde_json::Error| format!("line {} column {}", error.line(), error.column());
    serde_json::from_str(text).map_err(|error| Error::corrupt(column, place(error)))
}

fn present<T>(column: &'static str, value: Option<T>) -> Result<T, Error> {
    value.ok_or_else(|| Error::corrupt(column, "no value"))
}
