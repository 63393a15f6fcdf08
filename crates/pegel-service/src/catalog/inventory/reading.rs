//! One reading of an inventory: databases, then the names of their tables, then what the tables are made of.

use std::sync::Arc;

use fluss_client::admin::DatabaseSummary;
use fluss_client::client::FlussClient;
use fluss_client::error::Error as ClientError;
use fluss_client::parallel::in_parallel;
use fluss_codec::name::TablePath;
use jiff::Timestamp;
use pegel_core::error_code::ErrorCode;
use pegel_core::exact::time_from_millis;
use tokio::sync::Semaphore;

use crate::catalog::inventory::snapshot::{DatabaseEntry, Listing, Snapshot, TableEntry};
use crate::catalog::tables::{facts, unnamed};
use crate::failure::Failure;

/// Databases whose tables are listed at the same time.
const PARALLEL_DATABASES: usize = 4;
/// Most tables of one inventory; of a larger cluster the first ones by database and name are kept.
const MAX_TABLES: usize = 100_000;
/// After how many tables a first reading tells what it has come to.
const PUBLISH_EVERY: usize = 2_000;

/// Reads the inventory. What it comes to on the way is handed to `publish`.
///
/// # Errors
/// What keeps the coordinator from answering. Single databases and tables fail for themselves.
pub(super) async fn read(
    client: &FlussClient,
    read_at: Timestamp,
    gate: &Semaphore,
    publish: impl Fn(Snapshot),
) -> Result<Snapshot, Failure> {
    // A cluster that does not answer takes no place from those that do.
    let summaries = client.list_database_summaries().await?;
    let databases: Vec<DatabaseEntry> = summaries.iter().map(entry).collect();
    publish(Snapshot { read_at, databases, tables: Vec::new() });
    // The gate is never closed.
    let _place = gate.acquire().await;
    let names = summaries.iter().map(|database| database.name.clone()).collect();
    let listed = in_parallel(names, PARALLEL_DATABASES, |database: String| {
        let client = client.clone();
        async move { client.list_tables(&database).await }
    })
    .await;
    let mut snapshot = names_of(&summaries, listed, read_at, MAX_TABLES)?;
    read_facts(client, &mut snapshot, publish).await?;
    Ok(snapshot)
}

fn entry(database: &DatabaseSummary) -> DatabaseEntry {
    DatabaseEntry {
        name: database.name.as_str().into(),
        lower_name: database.name.to_lowercase().into(),
        created_at: time_from_millis(database.created_at_ms),
        server_count: usize::try_from(database.table_count).ok(),
        tables: Listing::Unfinished(0..0),
    }
}

/// Puts the names of at most `limit` tables together. What is known of a table before it is read is that it
/// was not.
///
/// # Errors
/// The first failure, if no list could be read.
fn names_of(
    summaries: &[DatabaseSummary],
    listed: Vec<Result<Vec<String>, ClientError>>,
    read_at: Timestamp,
    limit: usize,
) -> Result<Snapshot, Failure> {
    let mut snapshot = Snapshot { read_at, databases: Vec::new(), tables: Vec::new() };
    let (mut first, mut is_any) = (None, false);
    for (summary, tables) in summaries.iter().zip(listed) {
        let mut database = entry(summary);
        match tables {
            Ok(names) => {
                is_any = true;
                let count = names.len();
                let start = snapshot.tables.len();
                let room = limit.saturating_sub(start);
                let tables = names.into_iter().take(room).map(|name| table_entry(&database, &name));
                snapshot.tables.extend(tables);
                let range = start..snapshot.tables.len();
                let is_cut = range.len() < count;
                database.tables = if is_cut { Listing::Unfinished(range) } else { Listing::Whole(range) };
            }
            Err(error) => {
                let failure = Failure::from(&error);
                // A database that was dropped since it was listed is no longer one.
                if failure.code == ErrorCode::DatabaseNotFound {
                    continue;
                }
                first.get_or_insert_with(|| failure.clone());
                database.tables = Listing::Lost(failure);
            }
        }
        snapshot.databases.push(database);
    }
    match first {
        Some(failure) if !is_any => Err(failure),
        _ => Ok(snapshot),
    }
}

fn table_entry(database: &DatabaseEntry, name: &str) -> TableEntry {
    TableEntry {
        database: Arc::clone(&database.name),
        name: name.into(),
        lower_path: format!("{}.{name}", database.name).to_lowercase().into(),
        facts: Err(unnamed()),
    }
}

/// Reads what the tables are made of, and drops what was dropped from the cluster meanwhile.
async fn read_facts(
    client: &FlussClient,
    snapshot: &mut Snapshot,
    publish: impl Fn(Snapshot),
) -> Result<(), Failure> {
    let path = |table: &TableEntry| TablePath::new(&*table.database, &*table.name).ok();
    // A name that no table can have keeps the failure that says so.
    let (places, paths): (Vec<usize>, Vec<TablePath>) =
        snapshot.tables.iter().enumerate().filter_map(|(place, table)| Some((place, path(table)?))).unzip();
    let mut places = places.into_iter();
    let read = client.each_table_metadata(&paths, |path, result| {
        let Some(place) = places.next() else { return };
        if let Some(table) = snapshot.tables.get_mut(place) {
            debug_assert_eq!(path.table(), &*table.name);
            table.facts = result.map(|metadata| facts(&metadata)).map_err(Failure::from);
        }
        if (place + 1).is_multiple_of(PUBLISH_EVERY) {
            publish(read_so_far(snapshot, place + 1));
        }
    });
    read.await?;
    Ok(())
}

/// Returns the part of a snapshot whose first `count` tables are read.
fn read_so_far(snapshot: &Snapshot, count: usize) -> Snapshot {
    let listing = |listing| match listing {
        Listing::Whole(range) if range.end > count => Listing::Unfinished(range.start.min(count)..count),
        listing => listing,
    };
    let databases = snapshot.databases.iter().cloned();
    let databases = databases.map(|database| DatabaseEntry { tables: listing(database.tables), ..database });
    let tables = snapshot.tables.iter().take(count).cloned().collect();
    Snapshot { read_at: snapshot.read_at, databases: databases.collect(), tables }
}

#[cfg(test)]
mod tests {
    use pegel_core::access::scope::Scope;

    use super::*;
    use crate::catalog::within::Within;

    fn summaries() -> Vec<DatabaseSummary> {
        ["a", "b", "c"]
            .map(|name| DatabaseSummary { name: name.to_owned(), created_at_ms: 0, table_count: 2 })
            .to_vec()
    }

    fn tables() -> Result<Vec<String>, ClientError> {
        Ok(vec!["one".to_owned(), "Two".to_owned()])
    }

    fn lost() -> Result<Vec<String>, ClientError> {
        Err(ClientError::CoordinatorUnavailable { address: None, source: None })
    }

    fn read(listed: Vec<Result<Vec<String>, ClientError>>, limit: usize) -> Result<Snapshot, Failure> {
        names_of(&summaries(), listed, Timestamp::UNIX_EPOCH, limit)
    }

    /// Returns the number of tables of each database, nothing for one whose list was lost.
    fn counts(snapshot: &Snapshot) -> Vec<Option<usize>> {
        let count = |database: &DatabaseEntry| match &database.tables {
            Listing::Unfinished(range) | Listing::Whole(range) => Some(range.len()),
            Listing::Lost(_) => None,
        };
        snapshot.databases.iter().map(count).collect()
    }

    #[test]
    fn a_list_that_is_lost_is_its_databases_alone_and_all_lost_is_a_failure() {
        let snapshot = read(vec![tables(), lost(), tables()], 100).unwrap();
        assert_eq!(counts(&snapshot), [Some(2), None, Some(2)]);
        assert_eq!(&*snapshot.tables[3].lower_path, "c.two");
        let failure = read(vec![lost(), lost(), lost()], 100).unwrap_err();
        assert_eq!(failure.code, ErrorCode::CoordinatorUnavailable);
    }

    #[test]
    fn more_tables_than_are_kept_are_missed() {
        let slug = "eu".parse().unwrap();
        let within = Within::whole(&Scope::All, &slug);
        let snapshot = read(vec![tables(), tables(), tables()], 3).unwrap();
        assert_eq!(counts(&snapshot), [Some(2), Some(1), Some(0)]);
        assert!(snapshot.lacks_tables(within, None) && snapshot.lacks_tables(within, Some("b")));
        assert!(!snapshot.lacks_tables(within, Some("a")));
        assert!(!read(vec![tables(), tables(), tables()], 6).unwrap().lacks_tables(within, None));
    }

    #[test]
    fn what_is_read_so_far_ends_within_a_database() {
        let whole = read(vec![tables(), tables(), tables()], 100).unwrap();
        let part = read_so_far(&whole, 3);
        assert_eq!((counts(&part), part.tables.len()), (vec![Some(2), Some(1), Some(0)], 3));
        assert!(matches!(part.databases[0].tables, Listing::Whole(_)));
        assert!(matches!(part.databases[1].tables, Listing::Unfinished(_)));
    }
}
