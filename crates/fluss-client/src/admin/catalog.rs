//! Databases, tables, partitions and schemas.

use std::sync::Arc;

use bytes::Bytes;
use fluss_codec::database::DatabaseDescriptor;
use fluss_codec::messages::{
    DatabaseExistsRequest, GetDatabaseInfoRequest, GetTableInfoRequest, GetTableSchemaRequest,
    ListDatabasesRequest, ListPartitionInfosRequest, ListTablesRequest, PbPartitionSpec, TableExistsRequest,
};
use fluss_codec::name::TablePath;
use fluss_codec::partition::PartitionSpec;
use fluss_codec::schema::Schema;
use fluss_codec::table::TableDescriptor;

use crate::client::FlussClient;
use crate::error::Error;

/// A database with what the list of databases says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseSummary {
    /// Name.
    pub name: String,
    /// Creation time in milliseconds since the epoch.
    pub created_at_ms: i64,
    /// Number of tables, as far as the principal may see them.
    pub table_count: i32,
}

/// A database in full.
#[derive(Debug, Clone)]
pub struct DatabaseInfo {
    /// Name.
    pub name: String,
    /// Comment and custom properties.
    pub descriptor: DatabaseDescriptor,
    /// Creation time in milliseconds since the epoch.
    pub created_at_ms: i64,
    /// Time of the last change in milliseconds since the epoch.
    pub modified_at_ms: i64,
}

/// A table in full.
#[derive(Debug, Clone)]
pub struct TableInfo {
    /// Database and table name.
    pub path: TablePath,
    /// Id, new with each creation under the same name.
    pub table_id: i64,
    /// Id of the latest schema.
    pub schema_id: i32,
    /// Schema, keys, buckets and properties.
    pub descriptor: Arc<TableDescriptor>,
    /// The description as the server sent it.
    pub json: Bytes,
    /// Creation time in milliseconds since the epoch.
    pub created_at_ms: i64,
    /// Time of the last change in milliseconds since the epoch.
    pub modified_at_ms: i64,
    /// Remote folder of this table, where the server tells it.
    pub remote_data_dir: Option<String>,
}

/// One version of a table's schema.
#[derive(Debug, Clone)]
pub struct SchemaInfo {
    /// Id of this version, from 1.
    pub schema_id: i32,
    /// The schema.
    pub schema: Schema,
    /// The schema as the server sent it.
    pub json: Bytes,
}

/// A partition as the list of partitions names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionInfo {
    /// Id, new with each creation under the same name.
    pub partition_id: i64,
    /// Partition values joined by `$`, in the order of the partition keys.
    pub name: String,
    /// Partition keys with their values, in the order of the partition keys.
    pub spec: PartitionSpec,
    /// Remote folder of this partition, where the server tells it.
    pub remote_data_dir: Option<String>,
}

impl FlussClient {
    /// Lists the names of databases that the principal may see, sorted.
    ///
    /// # Errors
    /// `coordinator_unavailable`, `server_error`.
    pub async fn list_databases(&self) -> Result<Vec<String>, Error> {
        let answer = self.ask_coordinator(&ListDatabasesRequest { include_summary: None }).await?;
        let mut names = answer.database_name;
        names.sort();
        Ok(names)
    }

    /// Lists databases with creation time and number of tables, sorted by name. Keeps to the request budget.
    ///
    /// # Errors
    /// `coordinator_unavailable`, `server_error`.
    pub async fn list_database_summaries(&self) -> Result<Vec<DatabaseSummary>, Error> {
        let request = ListDatabasesRequest { include_summary: Some(true) };
        let (answer, _) = self.ask_coordinator_gently(&request).await?;
        let mut summaries: Vec<DatabaseSummary> = answer
            .database_summary
            .into_iter()
            .map(|database| DatabaseSummary {
                name: database.database_name,
                created_at_ms: database.created_time,
                table_count: database.table_count,
            })
            .collect();
        summaries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(summaries)
    }

    /// Says whether a database exists.
    ///
    /// # Errors
    /// `coordinator_unavailable`, `server_error`.
    pub async fn database_exists(&self, name: &str) -> Result<bool, Error> {
        let request = DatabaseExistsRequest { database_name: name.to_owned() };
        Ok(self.ask_coordinator(&request).await?.exists)
    }

    /// Reads one database with its comment and properties.
    ///
    /// # Errors
    /// `server_error` with code 4 when it does not exist, `corrupt_answer` when
    /// its description cannot be read.
    pub async fn database_info(&self, name: &str) -> Result<DatabaseInfo, Error> {
        let request = GetDatabaseInfoRequest { database_name: name.to_owned() };
        let (answer, connection) = self.ask_coordinator_at(&request, self.deadline()).await?;
        let descriptor = DatabaseDescriptor::from_json(&answer.database_json)
            .map_err(|error| Error::corrupt(connection.address(), format!("database {name}: {error}")))?;
        Ok(DatabaseInfo {
            name: name.to_owned(),
            descriptor,
            created_at_ms: answer.created_time,
            modified_at_ms: answer.modified_time,
        })
    }

    /// Lists the names of a database's tables that the principal may see, sorted.
    ///
    /// # Errors
    /// `server_error` with code 4 when the database does not exist.
    pub async fn list_tables(&self, database: &str) -> Result<Vec<String>, Error> {
        let request = ListTablesRequest { database_name: database.to_owned() };
        let (answer, _) = self.ask_coordinator_gently(&request).await?;
        let mut names = answer.table_name;
        names.sort();
        Ok(names)
    }

    /// Says whether a table exists.
    ///
    /// # Errors
    /// `coordinator_unavailable`, `server_error`.
    pub async fn table_exists(&self, path: &TablePath) -> Result<bool, Error> {
        Ok(self.ask_coordinator(&TableExistsRequest { table_path: path.into() }).await?.exists)
    }

    /// Reads one table in full.
    ///
    /// # Errors
    /// `table_not_found`, `corrupt_answer` when its description cannot be read.
    pub async fn table_info(&self, path: &TablePath) -> Result<TableInfo, Error> {
        let request = GetTableInfoRequest { table_path: path.into() };
        let (answer, connection) = self
            .ask_coordinator_at(&request, self.deadline())
            .await
            .map_err(|error| not_found(path, error))?;
        let descriptor = TableDescriptor::from_json(&answer.table_json)
            .map_err(|error| Error::corrupt(connection.address(), format!("table {path}: {error}")))?;
        Ok(TableInfo {
            path: path.clone(),
            table_id: answer.table_id,
            schema_id: answer.schema_id,
            descriptor: Arc::new(descriptor),
            json: answer.table_json,
            created_at_ms: answer.created_time,
            modified_at_ms: answer.modified_time,
            remote_data_dir: answer.remote_data_dir,
        })
    }

    /// Reads one version of a table's schema, the latest without an id.
    ///
    /// # Errors
    /// `table_not_found`; `server_error` with code 9 when there is no such version.
    pub async fn table_schema(&self, path: &TablePath, schema_id: Option<i32>) -> Result<SchemaInfo, Error> {
        let request = GetTableSchemaRequest { table_path: path.into(), schema_id };
        let (answer, connection) = self
            .ask_coordinator_at(&request, self.deadline())
            .await
            .map_err(|error| not_found(path, error))?;
        let schema = Schema::from_json(&answer.schema_json)
            .map_err(|error| Error::corrupt(connection.address(), format!("schema of {path}: {error}")))?;
        Ok(SchemaInfo { schema_id: answer.schema_id, schema, json: answer.schema_json })
    }

    /// Lists a table's partitions, sorted by name; with `filter`, those that match all its keys.
    ///
    /// # Errors
    /// `table_not_found`; `invalid_setting` when the filter names a column that is no
    /// partition key. A table without partition keys has an empty list.
    pub async fn list_partitions(
        &self,
        table: &TableInfo,
        filter: Option<&PartitionSpec>,
    ) -> Result<Vec<PartitionInfo>, Error> {
        let path = &table.path;
        // Servers answer an unknown key with an unnamed failure, so it is caught here.
        let keys = table.descriptor.partition_keys();
        let mut given = filter.into_iter().flat_map(PartitionSpec::iter);
        if let Some((unknown, _)) = given.find(|(key, _)| !keys.iter().any(|known| known == key)) {
            return Err(Error::InvalidSetting {
                field: "partition",
                reason: format!("`{unknown}` is no partition key of {path}; it has {}", keys.join(", ")),
            });
        }
        let request = ListPartitionInfosRequest {
            table_path: path.into(),
            partial_partition_spec: filter.map(PbPartitionSpec::from),
        };
        let (answer, connection) = self
            .ask_coordinator_at(&request, self.deadline())
            .await
            .map_err(|error| not_found(path, error))?;
        let mut partitions = answer
            .partitions_info
            .into_iter()
            .map(|partition| {
                let named = PartitionSpec::try_from(&partition.partition_spec).and_then(|spec| {
                    let name = spec.to_name(keys)?;
                    Ok((name.to_string(), spec))
                });
                let (name, spec) = named.map_err(|error| {
                    Error::corrupt(connection.address(), format!("partition of {path}: {error}"))
                })?;
                Ok(PartitionInfo {
                    partition_id: partition.partition_id,
                    name,
                    spec,
                    remote_data_dir: partition.remote_data_dir,
                })
            })
            .collect::<Result<Vec<PartitionInfo>, Error>>()?;
        partitions.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(partitions)
    }
}

/// Turns the server's codes for a missing database or table into the client's own error.
pub(crate) fn not_found(path: &TablePath, error: Error) -> Error {
    match error.server_code().map(|code| code.code()) {
        Some(4 | 7) => Error::TableNotFound { path: path.clone() },
        _ => error,
    }
}
