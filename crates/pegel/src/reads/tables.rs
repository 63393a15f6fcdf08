//! The list of tables, of one database or of all.
//!
//! Names come first and cost one request a database; what a table is made of is
//! read for the page in view alone, in batches. Row counts and offsets are read
//! only when asked for, and for no more than [`MAX_RUNTIME_ROWS`] tables.

use fluss_client::error::Error as ClientError;
use fluss_client::metadata::TableMetadata;
use fluss_codec::name::TablePath;
use jiff::Timestamp;
use pegel_core::envelope::{Evidence, Status};
use pegel_core::error_code::ErrorCode;
use pegel_core::exact::{ExactInt, time_from_millis};
use pegel_core::limits::{Page, PageRequest};
use serde::Serialize;

use crate::failure::Failure;
use crate::reads::buckets::{Failures, PartFailure};
use crate::reads::database;
use crate::reads::list_status;
use crate::reads::table::Kind;
use crate::session::{Answer, Session};
use fluss_client::parallel::in_parallel;

pub(crate) mod runtime;

pub(crate) use runtime::{Runtime, RuntimeState};

/// Most tables of a page whose row counts and offsets are read.
pub(crate) const MAX_RUNTIME_ROWS: usize = 100;
/// Databases whose tables are listed at the same time.
const PARALLEL_DATABASES: usize = 4;

/// The list of tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Tables {
    /// The database, absent when all are listed.
    pub(crate) database: Option<String>,
    /// The tables, by database and name.
    #[serde(flatten)]
    pub(crate) tables: Page<TableRow>,
}

/// One table in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct TableRow {
    /// Database.
    pub(crate) database: String,
    /// Name.
    pub(crate) name: String,
    /// What the table is made of, absent when it could not be read.
    #[serde(flatten)]
    pub(crate) facts: Option<TableFacts>,
    /// Row count and offsets, when they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) runtime: Option<Runtime>,
    /// Why the table could not be read.
    pub(crate) failure: Option<PartFailure>,
}

/// What a table is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct TableFacts {
    /// Kind.
    pub(crate) kind: Kind,
    /// Id, new with each creation under the same name.
    pub(crate) table_id: ExactInt,
    /// Id of the latest schema.
    pub(crate) schema_id: i32,
    /// Buckets of the table, or of each partition.
    pub(crate) bucket_count: Option<u32>,
    /// Whether the table has partitions.
    pub(crate) is_partitioned: bool,
    /// Columns whose values choose the partition.
    pub(crate) partition_keys: Vec<String>,
    /// Columns of the primary key.
    pub(crate) primary_key: Vec<String>,
    /// Creation time, absent when the server does not know it.
    pub(crate) created_at: Option<Timestamp>,
    /// Time of the last change, absent when the server does not know it.
    pub(crate) modified_at: Option<Timestamp>,
}

/// A table as a list of names gives it.
#[derive(Debug, Clone)]
struct Named {
    database: String,
    name: String,
}

impl Named {
    fn full(&self) -> String {
        format!("{}.{}", self.database, self.name)
    }
}

/// What the table's metadata came to.
type Outcome = (Named, Result<TableFacts, Failure>);

/// Lists tables.
///
/// # Errors
/// `database_not_found`, and what keeps the coordinator from answering.
pub(crate) async fn read(
    session: &Session,
    database: Option<&str>,
    page: &PageRequest,
    with_runtime: bool,
) -> Result<Answer<Tables>, Failure> {
    let (names, lost_lists) = match database {
        Some(database) => (names_of(session, database).await?, Vec::new()),
        None => all_names(session).await?,
    };
    let page = page.cut(names, |named| vec![named.full()]);
    let outcomes = describe(session, page).await?;
    let mut answer = judge(database, outcomes, lost_lists);
    answer.warnings.extend(session.filter_warning(answer.status == Status::Empty));
    if with_runtime && let Some(tables) = &mut answer.data {
        let failures = runtime::add(session, &mut tables.tables.items).await;
        let evidence = failures.into_evidence("read_runtime");
        if !evidence.is_empty() {
            answer.status = Status::Partial;
        }
        answer.evidence.extend(evidence);
        if tables.tables.items.len() > MAX_RUNTIME_ROWS {
            answer.warnings.push(format!(
                "row counts and offsets were read for the first {MAX_RUNTIME_ROWS} tables only"
            ));
        }
    }
    Ok(answer)
}

async fn names_of(session: &Session, database: &str) -> Result<Vec<Named>, Failure> {
    fluss_codec::name::validate_database_name(database)
        .map_err(|error| Failure::invalid(error.to_string()))?;
    let names =
        session.client.list_tables(database).await.map_err(|error| database::named(database, &error))?;
    Ok(names.into_iter().map(|name| Named { database: database.to_owned(), name }).collect())
}

/// Lists the tables of every database. Databases that cannot be listed are told apart.
async fn all_names(session: &Session) -> Result<(Vec<Named>, Vec<Evidence>), Failure> {
    let databases = session.client.list_databases().await?;
    let listed = in_parallel(databases, PARALLEL_DATABASES, |database: String| {
        let client = session.client.clone();
        async move {
            let tables = client.list_tables(&database).await;
            (database, tables)
        }
    })
    .await;
    let (mut names, mut failures, mut first, mut is_any) = (Vec::new(), Failures::default(), None, false);
    for (database, tables) in listed {
        match tables {
            Ok(tables) => {
                is_any = true;
                names.extend(tables.into_iter().map(|name| Named { database: database.clone(), name }));
            }
            Err(error) => {
                let failure = Failure::from(&error);
                // A database that was dropped since it was listed has no tables to miss.
                if failure.code != ErrorCode::DatabaseNotFound {
                    failures.note_whole(format!("database {database}"), &failure);
                    first.get_or_insert(failure);
                }
            }
        }
    }
    match first {
        Some(failure) if !is_any => Err(failure),
        _ => Ok((names, failures.into_evidence("list_tables"))),
    }
}

/// Reads what the tables of a page are made of.
async fn describe(session: &Session, page: Page<Named>) -> Result<Page<Outcome>, Failure> {
    let legal = |named: &Named| TablePath::new(named.database.as_str(), named.name.as_str()).ok();
    let paths: Vec<TablePath> = page.items.iter().filter_map(legal).collect();
    let mut found = Vec::with_capacity(paths.len());
    // Only the facts are kept: a long list must not hold every schema at once.
    session
        .client
        .each_table_metadata(&paths, |_, result| found.push(result.map(|metadata| facts(&metadata))))
        .await?;
    let mut found = found.into_iter();
    Ok(page.map(|named| {
        let result = match legal(&named) {
            Some(path) => match found.next() {
                Some(result) => result.map_err(Failure::from),
                None => Err(Failure::from(ClientError::TableNotFound { path })),
            },
            None => {
                Err(Failure::new(ErrorCode::CorruptAnswer, "the cluster lists a name that no table can have"))
            }
        };
        (named, result)
    }))
}

fn judge(database: Option<&str>, page: Page<Outcome>, lost_lists: Vec<Evidence>) -> Answer<Tables> {
    let mut failures = Failures::default();
    let page = page.map(|(named, result)| row(named, result, &mut failures));
    let (listed, warning) = list_status(&page);
    let mut evidence = lost_lists;
    evidence.extend(failures.into_evidence("read_table"));
    let status = if evidence.is_empty() { listed } else { Status::Partial };
    let mut answer = Answer::new(status, Tables { database: database.map(str::to_owned), tables: page });
    answer.evidence = evidence;
    answer.warnings.extend(warning);
    answer
}

fn row(named: Named, result: Result<TableFacts, Failure>, failures: &mut Failures) -> TableRow {
    let failure = result.as_ref().err().map(PartFailure::from);
    if let Err(failure) = &result {
        failures.note_whole(named.full(), failure);
    }
    TableRow { database: named.database, name: named.name, facts: result.ok(), runtime: None, failure }
}

fn facts(metadata: &TableMetadata) -> TableFacts {
    let descriptor = &metadata.descriptor;
    TableFacts {
        kind: Kind::from(descriptor.kind()),
        table_id: ExactInt(metadata.table_id),
        schema_id: metadata.schema_id,
        bucket_count: descriptor.bucket_count(),
        is_partitioned: descriptor.is_partitioned(),
        partition_keys: descriptor.partition_keys().to_vec(),
        primary_key: descriptor.schema().primary_key().to_vec(),
        created_at: time_from_millis(metadata.created_at_ms),
        modified_at: time_from_millis(metadata.modified_at_ms),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::reads::table::tests::orders;

    fn metadata() -> TableMetadata {
        let info = orders();
        TableMetadata {
            path: info.path,
            table_id: i64::MAX,
            schema_id: 1,
            descriptor: info.descriptor,
            created_at_ms: info.created_at_ms,
            modified_at_ms: info.modified_at_ms,
            buckets: Vec::new(),
        }
    }

    fn named(name: &str) -> Named {
        Named { database: "shop".to_owned(), name: name.to_owned() }
    }

    /// Two tables of many, one of which the principal may not see.
    pub(crate) fn one_hidden() -> Answer<Tables> {
        let page = PageRequest::new(None, 0, Some(2)).unwrap();
        let names = vec![named("orders"), named("payroll"), named("returns")];
        let page = page.cut(names, |named| vec![named.full()]).map(|named| {
            let result = match named.name.as_str() {
                "orders" => Ok(facts(&metadata())),
                _ => Err(ClientError::TableNotFound { path: named.full().parse().unwrap() }.into()),
            };
            (named, result)
        });
        judge(Some("shop"), page, Vec::new())
    }

    #[test]
    fn table_that_may_not_be_seen_is_listed_without_facts() {
        let answer = one_hidden();
        assert_eq!(answer.status, Status::Partial);
        let page = answer.data.unwrap().tables;
        assert_eq!((page.total_count, page.next_offset), (3, Some(2)));
        assert!(page.items[0].facts.is_some());
        assert_eq!(page.items[1].facts, None);
        assert_eq!(page.items[1].failure.as_ref().unwrap().code, ErrorCode::TableNotFound);
    }

    #[test]
    fn ids_are_exact_in_json() {
        let json = serde_json::to_value(one_hidden().data.unwrap()).unwrap();
        assert_eq!(json["items"][0]["table_id"], "9223372036854775807");
        assert_eq!(json["items"][1].get("kind"), None);
    }

    #[test]
    fn nothing_is_empty_and_a_lost_database_makes_it_partial() {
        let none =
            || PageRequest::new(None, 0, None).unwrap().cut(Vec::new(), |o: &Outcome| vec![o.0.full()]);
        assert_eq!(judge(None, none(), Vec::new()).status, Status::Empty);
        let lost = Failure::new(ErrorCode::RequestTimeout, "no answer").evidence("list_tables");
        assert_eq!(judge(None, none(), vec![lost]).status, Status::Partial);
    }
}
