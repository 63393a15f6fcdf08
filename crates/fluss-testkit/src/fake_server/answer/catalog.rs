//! Databases, tables, schemas and partitions.

use fluss_codec::error_code::ServerErrorCode;
use fluss_codec::messages::{
    DatabaseExistsRequest, DatabaseExistsResponse, GetDatabaseInfoRequest, GetDatabaseInfoResponse,
    GetTableInfoRequest, GetTableInfoResponse, GetTableSchemaRequest, GetTableSchemaResponse,
    ListDatabasesRequest, ListDatabasesResponse, ListPartitionInfosRequest, ListPartitionInfosResponse,
    ListTablesRequest, ListTablesResponse, PbDatabaseSummary, PbKeyValue, PbPartitionInfo, PbPartitionSpec,
    TableExistsRequest, TableExistsResponse,
};

use super::{Answering, Refusal};
use crate::fake_server::model::{ServerLine, Table};

impl Answering<'_> {
    pub(super) fn list_databases(
        &self,
        request: &ListDatabasesRequest,
        user: Option<&str>,
    ) -> ListDatabasesResponse {
        let visible = self.model.databases().filter(|(_, database)| database.visibility.includes(user));
        let mut response = ListDatabasesResponse::default();
        for (name, database) in visible {
            if request.include_summary == Some(true) {
                let table_count = i32::try_from(self.model.tables_of(name).count()).unwrap_or(i32::MAX);
                response.database_summary.push(PbDatabaseSummary {
                    database_name: name.to_owned(),
                    created_time: database.created_at_ms,
                    table_count,
                });
            } else {
                response.database_name.push(name.to_owned());
            }
        }
        response
    }

    /// 0.9.1 tells everyone what exists; main only what may be described.
    pub(super) fn database_exists(
        &self,
        request: &DatabaseExistsRequest,
        user: Option<&str>,
    ) -> DatabaseExistsResponse {
        let database = self.model.database(&request.database_name);
        let tells_all = self.model.line == ServerLine::Released;
        DatabaseExistsResponse {
            exists: database.is_some_and(|database| tells_all || database.visibility.includes(user)),
        }
    }

    pub(super) fn database_info(
        &self,
        request: &GetDatabaseInfoRequest,
        user: Option<&str>,
    ) -> Result<GetDatabaseInfoResponse, Refusal> {
        let name = &request.database_name;
        let database = self.model.database(name).ok_or_else(|| missing_database(name))?;
        if !database.visibility.includes(user) {
            let user = user.unwrap_or("ANONYMOUS");
            let message = format!("User {user} has no authorization to DESCRIBE the database {name}");
            return Err(Refusal::new(ServerErrorCode::AUTHORIZATION_EXCEPTION, message));
        }
        Ok(GetDatabaseInfoResponse {
            database_json: database.json.clone(),
            created_time: database.created_at_ms,
            modified_time: database.modified_at_ms,
        })
    }

    pub(super) fn list_tables(
        &self,
        request: &ListTablesRequest,
        user: Option<&str>,
    ) -> Result<ListTablesResponse, Refusal> {
        let name = &request.database_name;
        self.model.database(name).ok_or_else(|| missing_database(name))?;
        let visible = self.model.tables_of(name).filter(|table| table.visibility.includes(user));
        Ok(ListTablesResponse { table_name: visible.map(|table| table.name().to_owned()).collect() })
    }

    /// 0.9.1 tells everyone what exists; main only what may be described.
    pub(super) fn table_exists(
        &self,
        request: &TableExistsRequest,
        user: Option<&str>,
    ) -> TableExistsResponse {
        let path = &request.table_path;
        let table = self.model.table(&path.database_name, &path.table_name);
        let tells_all = self.model.line == ServerLine::Released;
        TableExistsResponse {
            exists: table.is_some_and(|table| tells_all || table.visibility.includes(user)),
        }
    }

    pub(super) fn table_info(
        &self,
        request: &GetTableInfoRequest,
        user: Option<&str>,
    ) -> Result<GetTableInfoResponse, Refusal> {
        let table = self.visible_table(&request.table_path, user)?;
        Ok(GetTableInfoResponse {
            table_id: table.id(),
            schema_id: table.schema_id,
            table_json: table.json.clone(),
            created_time: table.created_at_ms,
            modified_time: table.modified_at_ms,
            remote_data_dir: self.on_main(table.remote_data_dir.as_ref()),
        })
    }

    pub(super) fn table_schema(
        &self,
        request: &GetTableSchemaRequest,
        user: Option<&str>,
    ) -> Result<GetTableSchemaResponse, Refusal> {
        let table = self.visible_table(&request.table_path, user)?;
        let schema_id = request.schema_id.unwrap_or(table.schema_id);
        let schema_json = table.schemas.get(&schema_id).ok_or_else(|| {
            let message = format!(
                "Schema for table {}.{} with schema id {schema_id} does not exist.",
                table.database(),
                table.name()
            );
            Refusal::new(ServerErrorCode::SCHEMA_NOT_EXIST, message)
        })?;
        Ok(GetTableSchemaResponse { schema_id, schema_json: schema_json.clone() })
    }

    pub(super) fn list_partitions(
        &self,
        request: &ListPartitionInfosRequest,
        user: Option<&str>,
    ) -> Result<ListPartitionInfosResponse, Refusal> {
        let table = self.visible_table(&request.table_path, user)?;
        if table.partition_keys().is_empty() {
            let message =
                format!("Table '{}.{}' is not a partitioned table.", table.database(), table.name());
            return Err(Refusal::new(ServerErrorCode::TABLE_NOT_PARTITIONED_EXCEPTION, message));
        }
        let filter = request.partial_partition_spec.as_ref();
        let mut partitions_info = Vec::new();
        for (name, partition) in &table.partitions {
            let values = partition_values(table, name);
            if let Some(filter) = filter
                && !matches_filter(table, &values, filter)?
            {
                continue;
            }
            partitions_info.push(PbPartitionInfo {
                partition_id: partition.id(),
                partition_spec: PbPartitionSpec { partition_key_values: values },
                remote_data_dir: self.on_main(partition.remote_data_dir.as_ref()),
            });
        }
        Ok(ListPartitionInfosResponse { partitions_info })
    }

    /// Passes on what only servers of the main line send.
    pub(super) fn on_main(&self, text: Option<&String>) -> Option<String> {
        text.filter(|_| self.model.line == ServerLine::Main).cloned()
    }
}

fn missing_database(name: &str) -> Refusal {
    Refusal::new(ServerErrorCode::DATABASE_NOT_EXIST, format!("Database {name} does not exist."))
}

/// Returns partition keys with the values in a partition's name, in the order of the keys.
fn partition_values(table: &Table, name: &str) -> Vec<PbKeyValue> {
    let values = name.split('$').map(str::to_owned);
    table.partition_keys().iter().cloned().zip(values).map(|(key, value)| PbKeyValue { key, value }).collect()
}

/// Tells whether a partition has all values of a filter.
///
/// A key that is none of the table's raises `InvalidPartitionException` inside another exception, so that it
/// comes out as −1, and only where there is a partition to compare with (`ResolvedPartitionSpec`, 0.9.1).
fn matches_filter(table: &Table, values: &[PbKeyValue], filter: &PbPartitionSpec) -> Result<bool, Refusal> {
    let mut matches = true;
    for wanted in &filter.partition_key_values {
        let Some(found) = values.iter().find(|pair| pair.key == wanted.key) else {
            let outer = format!(
                "org.apache.fluss.exception.FlussRuntimeException: Fail to list partitions for table: {}.{}.",
                table.database(),
                table.name()
            );
            let message = format!("table don't contains this partitionKey: {}", wanted.key);
            return Err(Refusal::unexpected(&outer, Some(("InvalidPartitionException", &message))));
        };
        matches &= found.value == wanted.value;
    }
    Ok(matches)
}
