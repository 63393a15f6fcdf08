//! Names of databases, tables and partition values.
//!
//! Sources: `TablePath` and `TableDescriptor`, 0.9.1. Names that begin with `__` belong to Fluss: they exist,
//! but a user cannot create them.

use std::fmt;
use std::str::FromStr;

/// Longest name.
pub const MAX_NAME_LENGTH: usize = 200;

/// Beginning of the names that Fluss keeps for itself.
pub const RESERVED_PREFIX: &str = "__";

/// What a name is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// A database.
    Database,
    /// A table.
    Table,
    /// A value of a partition key.
    PartitionValue,
}

impl fmt::Display for NameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Database => "database name",
            Self::Table => "table name",
            Self::PartitionValue => "partition value",
        })
    }
}

/// Why a name is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The name is empty.
    #[error("a {kind} cannot be empty")]
    Empty {
        /// What the name is of.
        kind: NameKind,
    },
    /// The name is longer than [`MAX_NAME_LENGTH`].
    #[error("a {kind} of {length} bytes is above the limit of {MAX_NAME_LENGTH}")]
    TooLong {
        /// What the name is of.
        kind: NameKind,
        /// Bytes in the name.
        length: usize,
    },
    /// The name holds something else than ASCII letters, digits, `_` and `-`.
    #[error("a {kind} holds {character:?}; only ASCII letters, digits, '_' and '-' are allowed")]
    Character {
        /// What the name is of.
        kind: NameKind,
        /// The first such character.
        character: char,
    },
    /// A name to be created begins with [`RESERVED_PREFIX`].
    #[error("a {kind} that begins with {RESERVED_PREFIX:?} is reserved")]
    Reserved {
        /// What the name is of.
        kind: NameKind,
    },
    /// A table path is not `database.table`.
    #[error("a table path has the form database.table")]
    NotAPath,
}

impl NameError {
    /// Returns the stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Reserved { .. } => "name_reserved",
            Self::NotAPath => "table_path_invalid",
            _ => "name_invalid",
        }
    }
}

/// Checks the name of a database.
///
/// # Errors
/// [`NameError`] names the rule that is broken.
pub fn validate_database_name(name: &str) -> Result<(), NameError> {
    validate(NameKind::Database, name)
}

/// Checks the name of a table.
///
/// # Errors
/// [`NameError`] names the rule that is broken.
pub fn validate_table_name(name: &str) -> Result<(), NameError> {
    validate(NameKind::Table, name)
}

/// Checks a value of a partition key.
///
/// # Errors
/// [`NameError`] names the rule that is broken.
pub fn validate_partition_value(value: &str) -> Result<(), NameError> {
    validate(NameKind::PartitionValue, value)
}

/// Checks a name that is to be created: the common rules and the reserved beginning.
///
/// # Errors
/// [`NameError`] names the rule that is broken.
pub fn validate_new(kind: NameKind, name: &str) -> Result<(), NameError> {
    validate(kind, name)?;
    if name.starts_with(RESERVED_PREFIX) { Err(NameError::Reserved { kind }) } else { Ok(()) }
}

fn validate(kind: NameKind, name: &str) -> Result<(), NameError> {
    if name.is_empty() {
        return Err(NameError::Empty { kind });
    }
    if name.len() > MAX_NAME_LENGTH {
        return Err(NameError::TooLong { kind, length: name.len() });
    }
    match name.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))) {
        Some(character) => Err(NameError::Character { kind, character }),
        None => Ok(()),
    }
}

/// Name of a table with its database; both parts follow the rules.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TablePath {
    database: String,
    table: String,
}

impl TablePath {
    /// Creates a path from its two names.
    ///
    /// # Errors
    /// [`NameError`] names the rule that is broken.
    pub fn new(database: impl Into<String>, table: impl Into<String>) -> Result<Self, NameError> {
        let (database, table) = (database.into(), table.into());
        validate_database_name(&database)?;
        validate_table_name(&table)?;
        Ok(Self { database, table })
    }

    /// Returns the name of the database.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// Returns the name of the table without its database.
    pub fn table(&self) -> &str {
        &self.table
    }
}

impl FromStr for TablePath {
    type Err = NameError;

    /// Reads `database.table`.
    fn from_str(text: &str) -> Result<Self, NameError> {
        let (database, table) = text.split_once('.').ok_or(NameError::NotAPath)?;
        Self::new(database, table)
    }
}

impl fmt::Display for TablePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.database, self.table)
    }
}

impl From<&TablePath> for crate::messages::PbTablePath {
    fn from(path: &TablePath) -> Self {
        Self { database_name: path.database.clone(), table_name: path.table.clone() }
    }
}

impl TryFrom<&crate::messages::PbTablePath> for TablePath {
    type Error = NameError;

    fn try_from(path: &crate::messages::PbTablePath) -> Result<Self, NameError> {
        Self::new(path.database_name.as_str(), path.table_name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::PbTablePath;

    #[test]
    fn names_follow_the_rules_of_fluss() {
        let longest = "a".repeat(MAX_NAME_LENGTH);
        for good in ["a", "A-1_b", "_x", "__internal", "-", longest.as_str()] {
            assert_eq!(validate_table_name(good), Ok(()), "{good}");
        }
        let too_long = "a".repeat(MAX_NAME_LENGTH + 1);
        for bad in ["", ".", "..", "a.b", "a b", "é", "a$b", "a/b", too_long.as_str()] {
            assert_eq!(validate_database_name(bad).unwrap_err().code(), "name_invalid", "{bad}");
            assert!(validate_partition_value(bad).is_err(), "{bad}");
        }
        assert_eq!(validate_new(NameKind::Table, "__x").unwrap_err().code(), "name_reserved");
        assert_eq!(validate_new(NameKind::Table, "_x"), Ok(()));
    }

    #[test]
    fn table_path_round_trips() {
        let path: TablePath = "shop.orders".parse().unwrap();
        assert_eq!((path.database(), path.table()), ("shop", "orders"));
        assert_eq!(path.to_string(), "shop.orders");
        assert_eq!(TablePath::try_from(&PbTablePath::from(&path)), Ok(path));
        assert_eq!("orders".parse::<TablePath>().unwrap_err().code(), "table_path_invalid");
        for bad in ["a.b.c", ".b", "a.", "."] {
            assert_eq!(bad.parse::<TablePath>().unwrap_err().code(), "name_invalid", "{bad}");
        }
    }
}
