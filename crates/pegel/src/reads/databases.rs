//! The list of databases.

use fluss_client::admin::DatabaseSummary;
use jiff::Timestamp;
use pegel_core::envelope::Status;
use pegel_core::exact::time_from_millis;
use pegel_core::limits::{Page, PageRequest};
use serde::Serialize;

use crate::failure::Failure;
use crate::reads::list_status;
use crate::session::{Answer, Session};

/// One database in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Database {
    /// Name.
    pub(crate) name: String,
    /// Number of tables, as the server counts them.
    pub(crate) table_count: i32,
    /// Creation time, absent when the server does not know it.
    pub(crate) created_at: Option<Timestamp>,
}

/// Lists databases.
///
/// # Errors
/// What keeps the coordinator from answering.
pub(crate) async fn read(session: &Session, page: &PageRequest) -> Result<Answer<Page<Database>>, Failure> {
    let summaries = session.client.list_database_summaries().await?;
    let page = page.cut(summaries, |database| vec![database.name.clone()]).map(view);
    let (status, warning) = list_status(&page);
    let mut answer = Answer::new(status, page);
    answer.warnings.extend(warning.into_iter().chain(session.filter_warning(status == Status::Empty)));
    Ok(answer)
}

fn view(database: DatabaseSummary) -> Database {
    Database {
        name: database.name,
        table_count: database.table_count,
        created_at: time_from_millis(database.created_at_ms),
    }
}
