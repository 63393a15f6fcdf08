//! What one reading of an inventory came to, and the lists that are made of it.

use std::ops::Range;
use std::sync::Arc;

use jiff::Timestamp;
use pegel_api_types::operations::databases::Database;
use pegel_api_types::operations::tables::TableFacts;
use pegel_core::limits::{Page, PageRequest};

use crate::catalog::within::Within;
use crate::failure::Failure;

/// A cluster's databases and tables as they were read at one time.
#[derive(Debug, Clone)]
pub(in crate::catalog) struct Snapshot {
    /// When the reading began: nothing in it is older.
    pub(in crate::catalog) read_at: Timestamp,
    /// The databases by name.
    pub(in crate::catalog) databases: Vec<DatabaseEntry>,
    /// The tables by database and name.
    pub(in crate::catalog) tables: Vec<TableEntry>,
}

/// One database.
#[derive(Debug, Clone)]
pub(in crate::catalog) struct DatabaseEntry {
    pub(in crate::catalog) name: Arc<str>,
    pub(in crate::catalog) lower_name: Box<str>,
    pub(in crate::catalog) created_at: Option<Timestamp>,
    /// Number of tables as the server counts them.
    pub(in crate::catalog) server_count: Option<usize>,
    /// Which of the tables are its own.
    pub(in crate::catalog) tables: Listing,
}

/// Which tables of a snapshot belong to one database.
#[derive(Debug, Clone)]
pub(in crate::catalog) enum Listing {
    /// These, as far as they have been read; there may be more.
    Unfinished(Range<usize>),
    /// These.
    Whole(Range<usize>),
    /// They could not be listed.
    Lost(Failure),
}

/// One table.
#[derive(Debug, Clone)]
pub(in crate::catalog) struct TableEntry {
    pub(in crate::catalog) database: Arc<str>,
    pub(in crate::catalog) name: Box<str>,
    /// `database.table` in lower case, for searches.
    pub(in crate::catalog) lower_path: Box<str>,
    /// What it is made of, or why that could not be read.
    pub(in crate::catalog) facts: Result<TableFacts, Failure>,
}

impl Snapshot {
    /// Returns whether a database was listed that the caller may know of.
    pub(in crate::catalog) fn has_database(&self, within: Within<'_>, name: &str) -> bool {
        within.has_database(name) && self.database(name).is_some()
    }

    /// Lists databases, each with the number of those of its tables that the caller may know of.
    pub(in crate::catalog) fn databases(&self, within: Within<'_>, page: &PageRequest) -> Page<Database> {
        let known = self.databases.iter().filter(|database| within.has_database(&database.name));
        page.pick(known, |database| &database.lower_name).map(|database| Database {
            name: database.name.to_string(),
            table_count: self.table_count(database, within),
            created_at: database.created_at,
        })
    }

    /// Lists tables that the caller may know of, of one database or of all.
    pub(in crate::catalog) fn tables(
        &self,
        within: Within<'_>,
        database: Option<&str>,
        page: &PageRequest,
    ) -> Page<&TableEntry> {
        let meant = self.meant(within, database);
        let tables = meant.flat_map(|database| {
            let is_whole = within.has_whole_database(&database.name);
            let is_known =
                move |table: &&TableEntry| is_whole || within.has_table(&table.database, &table.name);
            self.tables_of(database).iter().filter(is_known)
        });
        page.pick(tables, |table| &table.lower_path)
    }

    /// Returns the databases whose tables could not be listed, of those that a list is about.
    pub(in crate::catalog) fn lost<'a>(
        &'a self,
        within: Within<'a>,
        database: Option<&'a str>,
    ) -> impl Iterator<Item = (&'a str, &'a Failure)> {
        self.meant(within, database).filter_map(|database| match &database.tables {
            Listing::Lost(failure) => Some((&*database.name, failure)),
            Listing::Unfinished(_) | Listing::Whole(_) => None,
        })
    }

    /// Returns whether a list lacks tables that are there, since not all were read or are kept.
    pub(in crate::catalog) fn lacks_tables(&self, within: Within<'_>, database: Option<&str>) -> bool {
        self.meant(within, database).any(|database| matches!(database.tables, Listing::Unfinished(_)))
    }

    fn meant<'a>(
        &'a self,
        within: Within<'a>,
        database: Option<&'a str>,
    ) -> impl Iterator<Item = &'a DatabaseEntry> {
        let is_meant = move |entry: &&DatabaseEntry| {
            database.is_none_or(|name| name == &*entry.name) && within.has_database(&entry.name)
        };
        self.databases.iter().filter(is_meant)
    }

    fn database(&self, name: &str) -> Option<&DatabaseEntry> {
        let place = self.databases.binary_search_by(|database| (*database.name).cmp(name)).ok()?;
        self.databases.get(place)
    }

    fn tables_of(&self, database: &DatabaseEntry) -> &[TableEntry] {
        match &database.tables {
            Listing::Unfinished(range) | Listing::Whole(range) => {
                self.tables.get(range.clone()).unwrap_or_default()
            }
            Listing::Lost(_) => &[],
        }
    }

    /// Counts the tables of a database that the caller may know of; nothing is known of a list that was lost.
    fn table_count(&self, database: &DatabaseEntry, within: Within<'_>) -> Option<usize> {
        if within.has_whole_database(&database.name) {
            return database.server_count;
        }
        let Listing::Whole(range) = &database.tables else { return None };
        let tables = self.tables.get(range.clone())?;
        Some(tables.iter().filter(|table| within.has_table(&table.database, &table.name)).count())
    }
}
