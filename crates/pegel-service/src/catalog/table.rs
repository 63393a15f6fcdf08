//! One table in full.

use fluss_client::admin::TableInfo;
use fluss_client::error::Error as ClientError;
use fluss_client::metadata::{BucketMetadata, TableMetadata};
use fluss_codec::name::TablePath;
use fluss_codec::schema::Column as SchemaColumn;
use fluss_codec::table;
use pegel_api_types::operations::buckets::Bucket;
use pegel_api_types::operations::table::{Column, GetTable, GetTableInput, Table, TableKind};
use pegel_core::envelope::Status;
use pegel_core::exact::{ExactInt, time_from_millis};
use pegel_core::redaction::redact;

use crate::catalog::{Execute, names, properties};
use crate::execution::{Answer, Execution};
use crate::failure::Failure;
use crate::failure::sight::Sight;
use crate::policy::Authorized;
use crate::policy::permission::CatalogRead;

impl Execute for GetTable {
    type Permit = CatalogRead;

    /// Reads one table.
    ///
    /// # Errors
    /// `table_not_found`, `invalid` for a name no table can have.
    async fn execute(
        execution: &Execution,
        _may: &Authorized<CatalogRead>,
        input: GetTableInput,
    ) -> Result<Answer<Table>, Failure> {
        read(execution, &names::table_path(&input.database, &input.table)?).await
    }
}

async fn read(execution: &Execution, path: &TablePath) -> Result<Answer<Table>, Failure> {
    let info = execution.client.table_info(path).await.map_err(|error| named(path, &error))?;
    let metadata = if info.descriptor.is_partitioned() {
        None
    } else {
        let asked = execution.client.tables_metadata(std::slice::from_ref(path)).await;
        Some(asked.and_then(|outcomes| match outcomes.into_iter().next() {
            Some((_, result)) => result,
            None => Err(ClientError::TableNotFound { path: path.clone() }),
        }))
    };
    Ok(judge(&info, metadata, execution.sight))
}

/// Tells a failure about a table, with the next step when it is not there.
pub(super) fn named(path: &TablePath, error: &ClientError) -> Failure {
    let failure = Failure::from(error);
    if failure.code == pegel_core::error_code::ErrorCode::TableNotFound {
        let hint = format!("`pegel tables --database {}` lists what may be seen", path.database());
        return failure.with_hint(hint);
    }
    failure
}

fn judge(
    info: &TableInfo,
    metadata: Option<Result<TableMetadata, ClientError>>,
    sight: Sight,
) -> Answer<Table> {
    let mut evidence = Vec::new();
    let buckets = match metadata {
        None => None,
        Some(Ok(metadata)) if metadata.table_id == info.table_id => {
            let expected = info.descriptor.bucket_count().and_then(|count| i32::try_from(count).ok());
            let is_known = |bucket: &i32| metadata.buckets.iter().any(|found| found.bucket == *bucket);
            if let Some(bucket) = (0..expected.unwrap_or(0)).find(|bucket| !is_known(bucket)) {
                evidence.push(
                    Failure::from(&ClientError::BucketMissing { bucket }).evidence("read_leaders", sight),
                );
            }
            Some(metadata.buckets.iter().map(bucket_of).collect())
        }
        Some(Ok(metadata)) => {
            let error = ClientError::TableRecreated {
                what: format!("table {}", info.path),
                expected: info.table_id,
                found: metadata.table_id,
            };
            evidence.push(Failure::from(&error).evidence("read_leaders", sight));
            None
        }
        Some(Err(error)) => {
            evidence.push(Failure::from(&error).evidence("read_leaders", sight));
            None
        }
    };
    let status = if evidence.is_empty() { Status::Ok } else { Status::Partial };
    let mut answer = Answer::new(status, view(info, buckets));
    answer.evidence = evidence;
    answer
}

/// Returns the kind of a table as it is told.
pub(super) fn kind_of(kind: table::TableKind) -> TableKind {
    match kind {
        table::TableKind::Log => TableKind::Log,
        table::TableKind::PrimaryKey => TableKind::PrimaryKey,
    }
}

/// Returns a bucket's place as it is told.
pub(super) fn bucket_of(bucket: &BucketMetadata) -> Bucket {
    Bucket { bucket: bucket.bucket, leader: bucket.leader, replicas: bucket.replicas.clone() }
}

fn view(info: &TableInfo, buckets: Option<Vec<Bucket>>) -> Table {
    let descriptor = &info.descriptor;
    let schema = descriptor.schema();
    Table {
        table: info.path.to_string(),
        kind: kind_of(descriptor.kind()),
        table_id: ExactInt(info.table_id),
        schema_id: info.schema_id,
        comment: descriptor.comment().map(str::to_owned),
        created_at: time_from_millis(info.created_at_ms),
        modified_at: time_from_millis(info.modified_at_ms),
        columns: schema.columns().iter().map(column).collect(),
        primary_key: schema.primary_key().to_vec(),
        bucket_keys: descriptor.bucket_keys().into_iter().map(str::to_owned).collect(),
        partition_keys: descriptor.partition_keys().to_vec(),
        auto_increment_column: schema.auto_increment().map(str::to_owned),
        bucket_count: descriptor.bucket_count(),
        buckets,
        properties: properties::shown(descriptor.properties().iter()),
        custom_properties: properties::shown(descriptor.custom_properties().iter()),
        remote_data_dir: info.remote_data_dir.as_deref().map(|dir| redact("remote.data.dir", dir).value),
    }
}

fn column(column: &SchemaColumn) -> Column {
    Column {
        name: column.name.clone(),
        data_type: column.data_type.clone().nullable().to_string(),
        is_nullable: column.data_type.is_nullable(),
        comment: column.comment.clone(),
        aggregation: column.aggregation.as_ref().map(|aggregation| aggregation.function.name().to_owned()),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use fluss_codec::table::TableDescriptor;

    use super::*;

    const ORDERS: &str = r#"{"version":1,"schema":{"version":1,"columns":[
        {"name":"id","data_type":{"type":"BIGINT","nullable":false},"comment":"order number","id":0},
        {"name":"total","data_type":{"type":"DECIMAL","precision":10,"scale":2},"id":1},
        {"name":"note","data_type":{"type":"STRING"},"id":2}],
        "primary_key":["id"],"highest_field_id":2},
        "comment":"orders of the shop","partition_key":[],"bucket_key":["id"],"bucket_count":3,
        "properties":{"table.replication.factor":"3","table.merge-engine":"first_row"},
        "custom_properties":{"owner":"shop","sink.password":"hunter2"}}"#;

    /// A primary-key table with three buckets and a secret in its properties.
    pub(in crate::catalog) fn orders() -> TableInfo {
        TableInfo {
            path: "shop.orders".parse().unwrap(),
            table_id: 12,
            schema_id: 1,
            descriptor: Arc::new(TableDescriptor::from_json(ORDERS.as_bytes()).unwrap()),
            json: Vec::from(ORDERS).into(),
            created_at_ms: 1_767_225_600_000,
            modified_at_ms: -1,
            remote_data_dir: None,
        }
    }

    fn metadata(table_id: i64) -> TableMetadata {
        let info = orders();
        let bucket = |bucket, leader, replicas: &[i32]| BucketMetadata {
            bucket,
            leader,
            replicas: replicas.to_vec(),
            leader_epoch: None,
        };
        TableMetadata {
            path: info.path,
            table_id,
            schema_id: 1,
            descriptor: info.descriptor,
            created_at_ms: info.created_at_ms,
            modified_at_ms: info.modified_at_ms,
            buckets: vec![
                bucket(0, Some(0), &[0, 1, 2]),
                bucket(1, Some(1), &[1, 2, 0]),
                bucket(2, None, &[2, 0, 1]),
            ],
        }
    }

    /// The table with all that can be told about it.
    fn in_full() -> Answer<Table> {
        judge(&orders(), Some(Ok(metadata(12))), Sight::Everything)
    }

    #[test]
    fn secrets_in_properties_are_hidden() {
        let table = in_full().data.unwrap();
        assert!(!format!("{table:?}").contains("hunter2"));
        assert!(table.custom_properties.iter().any(|p| p.key == "sink.password" && p.is_redacted));
        assert_eq!((table.created_at.is_some(), table.modified_at), (true, None));
    }

    #[test]
    fn table_without_leaders_is_partial_and_has_no_buckets() {
        let error = ClientError::CoordinatorUnavailable { address: None, source: None };
        let lost = judge(&orders(), Some(Err(error)), Sight::Everything);
        assert_eq!(lost.status, Status::Partial);
        assert_eq!(lost.data.unwrap().buckets, None);
        let other = judge(&orders(), Some(Ok(metadata(13))), Sight::Everything);
        assert_eq!(other.status, Status::Partial);
        assert_eq!(other.evidence[0].code.unwrap().as_str(), "table_recreated");
        assert_eq!(in_full().status, Status::Ok);
    }
}
