//! One database in full.

use pegel_api_types::operations::database::{DatabaseDetail, GetDatabase, GetDatabaseInput};
use pegel_core::envelope::Status;
use pegel_core::error_code::ErrorCode;
use pegel_core::exact::time_from_millis;

use crate::catalog::within::Within;
use crate::catalog::{Execute, names, properties};
use crate::execution::{Answer, Execution};
use crate::failure::Failure;
use crate::policy::Authorized;
use crate::policy::permission::CatalogRead;

impl Execute for GetDatabase {
    type Permit = CatalogRead;

    /// Reads one database.
    ///
    /// # Errors
    /// `database_not_found`, `invalid` for a name no database can have.
    async fn execute(
        execution: &Execution,
        may: &Authorized<CatalogRead>,
        input: GetDatabaseInput,
    ) -> Result<Answer<DatabaseDetail>, Failure> {
        read(execution, Within::of(may), &input.database).await
    }
}

async fn read(
    execution: &Execution,
    within: Within<'_>,
    name: &str,
) -> Result<Answer<DatabaseDetail>, Failure> {
    names::check_database(name)?;
    let info = execution.client.database_info(name).await.map_err(|error| named(name, &error))?;
    let tables = execution.client.list_tables(name).await.map_err(|error| named(name, &error));
    let status = if tables.is_ok() { Status::Ok } else { Status::Partial };
    let mut answer = Answer::new(
        status,
        DatabaseDetail {
            name: info.name,
            comment: info.descriptor.comment,
            custom_properties: properties::shown(info.descriptor.custom_properties.iter()),
            table_count: tables
                .as_ref()
                .ok()
                .map(|tables| tables.iter().filter(|table| within.has_table(name, table)).count()),
            created_at: time_from_millis(info.created_at_ms),
            modified_at: time_from_millis(info.modified_at_ms),
        },
    );
    answer.evidence.extend(tables.err().map(|failure| failure.evidence("list_tables", execution.sight)));
    answer.warnings.extend(execution.filter_warning(false));
    Ok(answer)
}

/// Tells a failure about a database, with its name when it is not there.
pub(super) fn named(database: &str, error: &fluss_client::error::Error) -> Failure {
    let failure = Failure::from(error);
    if failure.code != ErrorCode::DatabaseNotFound {
        return failure;
    }
    Failure::new(failure.code, format!("database {database} does not exist or may not be seen"))
        .with_hint("`pegel databases` lists what may be seen")
}
