//! The crate's one error type.
//!
//! Every variant has a stable code. What the database said is kept as the source
//! for logs; the display text names no row data and no path but the operator's own.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Everything that can go wrong between a caller and the store.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database cannot be opened, reached or read.
    #[error("the store is unavailable")]
    Unavailable {
        /// What the driver said.
        #[source]
        source: Arc<sqlx::Error>,
    },
    /// There is no room left to write. Nothing of the transaction was kept.
    #[error("the store's disk is full")]
    DiskFull {
        /// What the driver said.
        #[source]
        source: Arc<sqlx::Error>,
    },
    /// Others held what the transaction needs for too long. Nothing was kept; trying again may help.
    #[error("the store is busy")]
    Busy {
        /// What the driver said; `None` if the job itself took too long.
        #[source]
        source: Option<Arc<sqlx::Error>>,
    },
    /// The connection was lost while the transaction was being committed: it may have been kept or not.
    #[error("the store did not say whether it kept the change")]
    CommitUnknown {
        /// What the driver said.
        #[source]
        source: Arc<sqlx::Error>,
    },
    /// A constraint or trigger of the schema refused the change.
    #[error("the store's schema refused the change")]
    IntegrityViolation {
        /// What the driver said.
        #[source]
        source: Arc<sqlx::Error>,
    },
    /// The database refused a statement that the code believes to be right.
    #[error("the store refused a statement")]
    Statement {
        /// What the driver said.
        #[source]
        source: Arc<sqlx::Error>,
    },
    /// The database file is damaged, or is not a database.
    #[error("the store's file is damaged or is not a database")]
    Damaged {
        /// What the driver said.
        #[source]
        source: Arc<sqlx::Error>,
    },
    /// A row holds what the code never wrote.
    #[error("a stored row is not readable: {column}: {reason}")]
    CorruptRow {
        /// The column.
        column: String,
        /// What is wrong with it; never the value itself.
        reason: String,
    },
    /// The database was written by a newer Pegel.
    #[error(
        "the store has schema version {found}, this Pegel knows versions up to {known}: use the newer Pegel or restore a backup"
    )]
    SchemaTooNew {
        /// The version of the database.
        found: i64,
        /// The newest version this program knows.
        known: i64,
    },
    /// The database was last opened by an older Pegel, and is not to be changed.
    #[error("the store has schema version {found}, this Pegel works with version {known}")]
    SchemaOutdated {
        /// The version of the database; 0 if it is empty.
        found: i64,
        /// The version this program works with.
        known: i64,
    },
    /// A migration that was applied is not the one this program carries.
    #[error("migration {number} of the store is not the one this Pegel carries")]
    MigrationChanged {
        /// Its number.
        number: i64,
    },
    /// A migration failed and was rolled back.
    #[error("migration {number} of the store failed and was rolled back")]
    MigrationFailed {
        /// Its number.
        number: i64,
        /// Why.
        #[source]
        source: Box<Error>,
    },
    /// Someone else changed it meanwhile, or something of this name is already there.
    #[error("{what} was changed by someone else or exists already")]
    Conflict {
        /// What, as kind and name.
        what: String,
    },
    /// There is no such thing.
    #[error("{what} does not exist")]
    NotFound {
        /// What, as kind and name.
        what: String,
    },
    /// A stored secret cannot be decrypted with the key at hand.
    #[error("the secret {field} of {owner} cannot be read: {reason}")]
    SecretUnreadable {
        /// Whose secret.
        owner: String,
        /// Which one.
        field: String,
        /// What is wrong: another key, or changed bytes.
        reason: String,
    },
    /// The file of the secret key cannot be used.
    #[error("the key file {} cannot be used: {reason}", path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The setting that says where the store is makes no sense.
    #[error("the store's setting is invalid: {reason}")]
    InvalidSetting {
        /// Why; never the setting itself, which may hold a password.
        reason: String,
    },
    /// Something is larger or longer than may be stored.
    #[error("{what} is over its limit of {limit}")]
    TooLarge {
        /// What, with its unit.
        what: &'static str,
        /// The limit, in that unit.
        limit: usize,
    },
    /// A file beside the database cannot be read or written.
    #[error("cannot {action} {}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: Arc<io::Error>,
    },
    /// The job panicked; its transaction was rolled back.
    #[error("a store job failed by a programming error")]
    JobPanicked,
    /// The store is being or has been closed.
    #[error("the store is closed")]
    Closed,
    /// The system gives no random bytes, or refuses to encrypt.
    #[error("the system's cryptography is unavailable")]
    Cryptography,
}

impl Error {
    /// Returns the stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unavailable { .. } => "store_unavailable",
            Self::DiskFull { .. } => "disk_full",
            Self::Busy { .. } => "store_busy",
            Self::CommitUnknown { .. } => "commit_unknown",
            Self::IntegrityViolation { .. } => "integrity_violation",
            Self::Statement { .. } => "statement_refused",
            Self::Damaged { .. } => "store_damaged",
            Self::CorruptRow { .. } => "corrupt_row",
            Self::SchemaTooNew { .. } => "schema_too_new",
            Self::SchemaOutdated { .. } => "schema_outdated",
            Self::MigrationChanged { .. } => "migration_changed",
            Self::MigrationFailed { .. } => "migration_failed",
            Self::Conflict { .. } => "conflict",
            Self::NotFound { .. } => "not_found",
            Self::SecretUnreadable { .. } => "secret_unreadable",
            Self::KeyFile { .. } => "key_file_unusable",
            Self::InvalidSetting { .. } => "invalid_setting",
            Self::TooLarge { .. } => "too_large",
            Self::File { .. } => "io_failed",
            Self::JobPanicked => "internal",
            Self::Closed => "store_closed",
            Self::Cryptography => "cryptography_unavailable",
        }
    }

    /// Returns whether the same call may succeed later without anyone changing anything.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Busy { .. })
    }

    pub(crate) fn conflict(kind: &str, name: impl std::fmt::Display) -> Self {
        Self::Conflict { what: format!("{kind} {name}") }
    }

    pub(crate) fn not_found(kind: &str, name: impl std::fmt::Display) -> Self {
        Self::NotFound { what: format!("{kind} {name}") }
    }

    pub(crate) fn corrupt(column: &str, reason: impl std::fmt::Display) -> Self {
        Self::CorruptRow { column: column.to_owned(), reason: reason.to_string() }
    }

    pub(crate) fn file(action: &'static str, path: &std::path::Path, source: io::Error) -> Self {
        Self::File { action, path: path.to_owned(), source: Arc::new(source) }
    }

    /// Returns whether PostgreSQL gave up on the transaction in favour of another, so that it can be run again.
    pub(crate) fn is_contention(&self) -> bool {
        let Self::Busy { source: Some(source) } = self else { return false };
        let code = source.as_database_error().and_then(sqlx::error::DatabaseError::code);
        matches!(code.as_deref(), Some("40001" | "40P01"))
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        let kind = match &error {
            sqlx::Error::Database(database) => {
                let code = database.code();
                let is_postgres = database.try_downcast_ref::<sqlx::postgres::PgDatabaseError>().is_some();
                let code = code.as_deref().unwrap_or_default();
                if is_postgres { postgres_kind(code) } else { sqlite_kind(code) }
            }
            sqlx::Error::PoolTimedOut => Kind::Busy,
            sqlx::Error::PoolClosed => return Self::Closed,
            sqlx::Error::ColumnNotFound(_) | sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => {
                return Self::corrupt("unknown", &error);
            }
            sqlx::Error::Configuration(_) => Kind::Statement,
            _ => Kind::Unavailable,
        };
        let source = Arc::new(error);
        match kind {
            Kind::Unavailable => Self::Unavailable { source },
            Kind::DiskFull => Self::DiskFull { source },
            Kind::Busy => Self::Busy { source: Some(source) },
            Kind::Integrity => Self::IntegrityViolation { source },
            Kind::Damaged => Self::Damaged { source },
            Kind::Statement => Self::Statement { source },
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unavailable,
    DiskFull,
    Busy,
    Integrity,
    Damaged,
    Statement,
}

/// Sorts the extended result codes of SQLite, whose low byte is the kind.
fn sqlite_kind(code: &str) -> Kind {
    match code.parse::<u32>().map(|code| code & 0xff) {
        Ok(5 | 6 | 15) => Kind::Busy,
        Ok(11 | 26) => Kind::Damaged,
        Ok(13) => Kind::DiskFull,
        Ok(19) => Kind::Integrity,
        Ok(8 | 10 | 14 | 3 | 7 | 23) => Kind::Unavailable,
        _ => Kind::Statement,
    }
}

/// Sorts the SQLSTATE codes of PostgreSQL, whose first two characters are the class.
fn postgres_kind(code: &str) -> Kind {
    match (code.get(..2).unwrap_or_default(), code) {
        (_, "53100") => Kind::DiskFull,
        // Serialization failure, deadlock, lock not available, statement timeout.
        (_, "40001" | "40P01" | "55P03" | "57014") => Kind::Busy,
        // Constraints, and what a trigger raises.
        ("23", _) | (_, "P0001") => Kind::Integrity,
        ("XX", _) => Kind::Damaged,
        ("08" | "28" | "3D" | "53" | "57" | "58" | "25", _) => Kind::Unavailable,
        _ => Kind::Statement,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_sqlite_are_sorted_by_their_low_byte() {
        for (code, kind) in [
            ("13", Kind::DiskFull),
            ("5", Kind::Busy),
            ("517", Kind::Busy),
            ("1555", Kind::Integrity),
            ("1811", Kind::Integrity),
            ("778", Kind::Unavailable),
            ("26", Kind::Damaged),
            ("1", Kind::Statement),
            ("", Kind::Statement),
        ] {
            assert_eq!(sqlite_kind(code), kind, "{code}");
        }
    }

    #[test]
    fn codes_of_postgresql_are_sorted_by_their_class() {
        for (code, kind) in [
            ("53100", Kind::DiskFull),
            ("53300", Kind::Unavailable),
            ("40P01", Kind::Busy),
            ("23505", Kind::Integrity),
            ("P0001", Kind::Integrity),
            ("57P01", Kind::Unavailable),
            ("XX001", Kind::Damaged),
            ("42601", Kind::Statement),
            ("", Kind::Statement),
        ] {
            assert_eq!(postgres_kind(code), kind, "{code}");
        }
    }
}
