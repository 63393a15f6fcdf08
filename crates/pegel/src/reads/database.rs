//! One database in full.

use jiff::Timestamp;
use pegel_core::envelope::Status;
use pegel_core::error_code::ErrorCode;
use pegel_core::exact::time_from_millis;
use serde::Serialize;

use crate::failure::Failure;
use crate::reads::properties::{self, Property};
use crate::session::{Answer, Session};

/// One database in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct DatabaseDetail {
    /// Name.
    pub(crate) name: String,
    /// Comment.
    pub(crate) comment: Option<String>,
    /// Properties that users give a meaning; secrets are hidden.
    pub(crate) custom_properties: Vec<Property>,
    /// Number of tables that may be seen, absent when they could not be listed.
    pub(crate) table_count: Option<usize>,
    /// Creation time, absent when the server does not know it.
    pub(crate) created_at: Option<Timestamp>,
    /// Time of the last change, absent when the server does not know it.
    pub(crate) modified_at: Option<Timestamp>,
}

/// Reads one database.
///
/// # Errors
/// `database_not_found`, `invalid` for a name no database can have.
pub(crate) async fn read(session: &Session, name: &str) -> Result<Answer<DatabaseDetail>, Failure> {
    fluss_codec::name::validate_database_name(name).map_err(|error| Failure::invalid(error.to_string()))?;
    let info = session.client.database_info(name).await.map_err(|error| named(name, &error))?;
    let tables = session.client.list_tables(name).await.map_err(|error| named(name, &error));
    let status = if tables.is_ok() { Status::Ok } else { Status::Partial };
    let mut answer = Answer::new(
        status,
        DatabaseDetail {
            name: info.name,
            comment: info.descriptor.comment,
            custom_properties: properties::shown(info.descriptor.custom_properties.iter()),
            table_count: tables.as_ref().ok().map(Vec::len),
            created_at: time_from_millis(info.created_at_ms),
            modified_at: time_from_millis(info.modified_at_ms),
        },
    );
    answer.evidence.extend(tables.err().map(|failure| failure.evidence("list_tables")));
    answer.warnings.extend(session.filter_warning(false));
    Ok(answer)
}

/// Tells a failure about a database, with its name when it is not there.
pub(crate) fn named(database: &str, error: &fluss_client::error::Error) -> Failure {
    let failure = Failure::from(error);
    if failure.code != ErrorCode::DatabaseNotFound {
        return failure;
    }
    Failure::new(failure.code, format!("database {database} does not exist or may not be seen"))
        .with_hint("`pegel databases` lists what may be seen")
}
