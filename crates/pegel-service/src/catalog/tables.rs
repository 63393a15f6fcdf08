//! The list of tables, of one database or of all.
//!
//! A live cluster's list comes from its inventory. Without one, names come first and
//! cost one request a database; what a table is made of is read for the page in view
//! alone, in batches. Row counts and offsets are read only when asked for, and for no
//! more than [`MAX_RUNTIME_ROWS`] tables.

use fluss_client::error::Error as ClientError;
use fluss_client::metadata::TableMetadata;
use fluss_client::parallel::in_parallel;
use fluss_codec::name::TablePath;
use pegel_api_types::operations::tables::{ListTables, ListTablesInput, TableFacts, TableRow, Tables};
use pegel_core::envelope::{Evidence, Status};
use pegel_core::error_code::ErrorCode;
use pegel_core::exact::{ExactInt, time_from_millis};
use pegel_core::limits::{Page, PageRequest};

use crate::catalog::buckets::Failures;
use crate::catalog::inventory::Need;
use crate::catalog::inventory::snapshot::Snapshot;
use crate::catalog::inventory::view::View;
use crate::catalog::table::kind_of;
use crate::catalog::within::Within;
use crate::catalog::{Execute, database, figures, list_status, names};
use crate::execution::{Answer, Execution};
use crate::failure::Failure;
use crate::failure::sight::Sight;
use crate::policy::Authorized;
use crate::policy::permission::CatalogRead;

/// Most tables of a page whose row counts and offsets are read.
pub(super) const MAX_RUNTIME_ROWS: usize = 100;
/// Databases whose tables are listed at the same time.
const PARALLEL_DATABASES: usize = 4;

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

impl Execute for ListTables {
    type Permit = CatalogRead;

    /// Lists tables.
    ///
    /// # Errors
    /// `database_not_found`, and what keeps the coordinator from answering.
    async fn execute(
        execution: &Execution,
        may: &Authorized<CatalogRead>,
        input: ListTablesInput,
    ) -> Result<Answer<Tables>, Failure> {
        let page = execution.page(input.search.as_deref(), input.offset, input.limit)?;
        let database = input.database.as_deref();
        database.map_or(Ok(()), names::check_database)?;
        let mut answer = list(execution, Within::of(may), &input, &page).await?;
        if input.runtime
            && let Some(tables) = &mut answer.data
        {
            let failures = figures::add(execution, &mut tables.tables.items, input.refresh).await;
            let evidence = failures.into_evidence("read_runtime", execution.sight);
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
}

/// Lists tables from the inventory, or from the cluster where there is none.
async fn list(
    execution: &Execution,
    within: Within<'_>,
    input: &ListTablesInput,
    page: &PageRequest,
) -> Result<Answer<Tables>, Failure> {
    let database = input.database.as_deref();
    let Some(inventory) = &execution.inventory else { return read(execution, within, database, page).await };
    if input.refresh {
        inventory.refresh().await;
    }
    // One database is read sooner than all; and one that is not listed may be newer than the list.
    if let Some(name) = database
        && !inventory.lists_database(within, name)
    {
        return read(execution, within, database, page).await;
    }
    let view = View::of(inventory.held(Need::Tables).await)?;
    let is_begun = |snapshot: &&Snapshot| view.is_whole() || !snapshot.tables.is_empty();
    let Some(snapshot) = view.snapshot().filter(is_begun) else { return Ok(view.without_data()) };
    let mut failures = Failures::default();
    for (name, failure) in snapshot.lost(within, database) {
        failures.note_whole(format!("database {name}"), failure);
    }
    let lost_lists = failures.into_evidence("list_tables", execution.sight);
    let outcomes = snapshot.tables(within, database, page).map(|table| {
        let named = Named { database: table.database.to_string(), name: table.name.to_string() };
        (named, table.facts.clone())
    });
    let mut answer = judge(database, outcomes, lost_lists, execution.sight);
    answer.warnings.extend(execution.filter_warning(answer.status == Status::Empty));
    if !view.is_whole() || snapshot.lacks_tables(within, database) {
        view.mark_unfinished(&mut answer);
    }
    view.mark(&mut answer, execution);
    Ok(answer)
}

async fn read(
    execution: &Execution,
    within: Within<'_>,
    database: Option<&str>,
    page: &PageRequest,
) -> Result<Answer<Tables>, Failure> {
    let (mut names, lost_lists) = match database {
        Some(database) => (names_of(execution, database).await?, Vec::new()),
        None => all_names(execution, within).await?,
    };
    names.retain(|named| within.has_table(&named.database, &named.name));
    let page = page.cut(names, |named| vec![named.full()]);
    let outcomes = describe(execution, page).await?;
    let mut answer = judge(database, outcomes, lost_lists, execution.sight);
    answer.warnings.extend(execution.filter_warning(answer.status == Status::Empty));
    Ok(answer)
}

async fn names_of(execution: &Execution, database: &str) -> Result<Vec<Named>, Failure> {
    let names =
        execution.client.list_tables(database).await.map_err(|error| database::named(database, &error))?;
    Ok(names.into_iter().map(|name| Named { database: database.to_owned(), name }).collect())
}

/// Lists the tables of every database. Databases that cannot be listed are told apart.
async fn all_names(
    execution: &Execution,
    within: Within<'_>,
) -> Result<(Vec<Named>, Vec<Evidence>), Failure> {
    let mut databases = execution.client.list_databases().await?;
    databases.retain(|database| within.has_database(database));
    let listed = in_parallel(databases, PARALLEL_DATABASES, |database: String| {
        let client = execution.client.clone();
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
        _ => Ok((names, failures.into_evidence("list_tables", execution.sight))),
    }
}

/// Reads what the tables of a page are made of.
async fn describe(execution: &Execution, page: Page<Named>) -> Result<Page<Outcome>, Failure> {
    let legal = |named: &Named| TablePath::new(named.database.as_str(), named.name.as_str()).ok();
    let paths: Vec<TablePath> = page.items.iter().filter_map(legal).collect();
    let mut found = Vec::with_capacity(paths.len());
    // Only the facts are kept: a long list must not hold every schema at once.
    execution
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
            None => Err(unnamed()),
        };
        (named, result)
    }))
}

/// Says that the cluster lists what cannot be.
pub(super) fn unnamed() -> Failure {
    Failure::new(ErrorCode::CorruptAnswer, "the cluster lists a name that no table can have")
}

fn judge(
    database: Option<&str>,
    page: Page<Outcome>,
    lost_lists: Vec<Evidence>,
    sight: Sight,
) -> Answer<Tables> {
    let mut failures = Failures::default();
    let page = page.map(|(named, result)| row(named, result, sight, &mut failures));
    let (listed, warning) = list_status(&page);
    let mut evidence = lost_lists;
    evidence.extend(failures.into_evidence("read_table", sight));
    let status = if evidence.is_empty() { listed } else { Status::Partial };
    let mut answer = Answer::new(status, Tables { database: database.map(str::to_owned), tables: page });
    answer.evidence = evidence;
    answer.warnings.extend(warning);
    answer
}

fn row(named: Named, result: Result<TableFacts, Failure>, sight: Sight, failures: &mut Failures) -> TableRow {
    let failure = result.as_ref().err().map(|failure| failure.part(sight));
    if let Err(failure) = &result {
        failures.note_whole(named.full(), failure);
    }
    TableRow { database: named.database, name: named.name, facts: result.ok(), runtime: None, failure }
}

/// Returns what a table is made of, as it is told.
pub(super) fn facts(metadata: &TableMetadata) -> TableFacts {
    let descriptor = &metadata.descriptor;
    TableFacts {
        kind: kind_of(descriptor.kind()),
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
mod tests {
    use super::*;
    use crate::catalog::table::tests::orders;

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
    fn one_hidden() -> Answer<Tables> {
        let page = PageRequest::new(None, 0, Some(2)).unwrap();
        let names = vec![named("orders"), named("payroll"), named("returns")];
        let page = page.cut(names, |named| vec![named.full()]).map(|named| {
            let result = match named.name.as_str() {
                "orders" => Ok(facts(&metadata())),
                _ => Err(ClientError::TableNotFound { path: named.full().parse().unwrap() }.into()),
            };
            (named, result)
        });
        judge(Some("shop"), page, Vec::new(), Sight::Everything)
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
        assert_eq!(judge(None, none(), Vec::new(), Sight::Everything).status, Status::Empty);
        let lost = Failure::new(ErrorCode::RequestTimeout, "no answer");
        let lost = lost.evidence("list_tables", Sight::Everything);
        assert_eq!(judge(None, none(), vec![lost], Sight::Everything).status, Status::Partial);
    }
}
