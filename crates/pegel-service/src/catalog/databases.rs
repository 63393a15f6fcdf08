//! The list of databases.

use fluss_client::admin::DatabaseSummary;
use fluss_client::parallel::in_parallel;
use pegel_api_types::operations::databases::{Database, ListDatabases, ListDatabasesInput};
use pegel_core::envelope::Status;
use pegel_core::exact::time_from_millis;
use pegel_core::limits::{Page, PageRequest};

use crate::catalog::buckets::Failures;
use crate::catalog::inventory::Need;
use crate::catalog::inventory::view::View;
use crate::catalog::within::Within;
use crate::catalog::{Execute, list_status};
use crate::execution::{Answer, Execution};
use crate::failure::Failure;
use crate::policy::Authorized;
use crate::policy::permission::CatalogRead;

/// Databases whose tables are listed at the same time.
const PARALLEL_DATABASES: usize = 4;

impl Execute for ListDatabases {
    type Permit = CatalogRead;

    /// Lists databases.
    ///
    /// # Errors
    /// What keeps the coordinator from answering.
    async fn execute(
        execution: &Execution,
        may: &Authorized<CatalogRead>,
        input: ListDatabasesInput,
    ) -> Result<Answer<Page<Database>>, Failure> {
        let page = execution.page(input.search.as_deref(), input.offset, input.limit)?;
        let within = Within::of(may);
        let Some(inventory) = &execution.inventory else { return read(execution, within, &page).await };
        if input.refresh {
            inventory.refresh().await;
        }
        let view = View::of(inventory.held(Need::Databases).await)?;
        Ok(list(execution, within, &view, &page))
    }
}

/// Lists databases from the inventory.
fn list(
    execution: &Execution,
    within: Within<'_>,
    view: &View,
    page: &PageRequest,
) -> Answer<Page<Database>> {
    let Some(snapshot) = view.snapshot() else { return view.without_data() };
    let page = snapshot.databases(within, page);
    let mut failures = Failures::default();
    let is_uncounted = |name: &str| {
        page.items.iter().any(|database| database.name == name && database.table_count.is_none())
    };
    for (name, failure) in snapshot.lost(within, None).filter(|(name, _)| is_uncounted(name)) {
        failures.note_whole(format!("database {name}"), failure);
    }
    let has_uncounted = page.items.iter().any(|database| database.table_count.is_none());
    let mut answer = judge(execution, page, failures);
    if has_uncounted && (!view.is_whole() || snapshot.lacks_tables(within, None)) {
        view.mark_unfinished(&mut answer);
    }
    view.mark(&mut answer, execution);
    answer
}

async fn read(
    execution: &Execution,
    within: Within<'_>,
    page: &PageRequest,
) -> Result<Answer<Page<Database>>, Failure> {
    let mut summaries = execution.client.list_database_summaries().await?;
    summaries.retain(|database| within.has_database(&database.name));
    let mut page = page.cut(summaries, |database| vec![database.name.clone()]).map(view);
    let failures = count_partly_hidden(execution, within, &mut page.items).await;
    Ok(judge(execution, page, failures))
}

fn judge(execution: &Execution, page: Page<Database>, failures: Failures) -> Answer<Page<Database>> {
    let (listed, warning) = list_status(&page);
    let evidence = failures.into_evidence("list_tables", execution.sight);
    let status = if evidence.is_empty() { listed } else { Status::Partial };
    let mut answer = Answer::new(status, page);
    answer.evidence = evidence;
    answer.warnings.extend(warning.into_iter().chain(execution.filter_warning(status == Status::Empty)));
    answer
}

/// Counts the tables of databases of which the caller may know a part only; the server counts them all.
async fn count_partly_hidden(
    execution: &Execution,
    within: Within<'_>,
    databases: &mut [Database],
) -> Failures {
    let mut failures = Failures::default();
    let is_partly = |database: &&Database| !within.has_whole_database(&database.name);
    let partly = databases.iter().filter(is_partly).map(|database| database.name.clone()).collect();
    let listed = in_parallel(partly, PARALLEL_DATABASES, |database: String| {
        let client = execution.client.clone();
        async move {
            let tables = client.list_tables(&database).await;
            (database, tables)
        }
    })
    .await;
    for (name, tables) in listed {
        let Some(database) = databases.iter_mut().find(|database| database.name == name) else { continue };
        database.table_count = match tables {
            Ok(tables) => Some(tables.iter().filter(|table| within.has_table(&name, table)).count()),
            Err(error) => {
                failures.note_whole(format!("database {name}"), &Failure::from(&error));
                None
            }
        };
    }
    failures
}

fn view(database: DatabaseSummary) -> Database {
    Database {
        name: database.name,
        table_count: usize::try_from(database.table_count).ok(),
        created_at: time_from_millis(database.created_at_ms),
    }
}
