//! Snapshots of key-value stores and of the lake.

use fluss_codec::error_code::ServerErrorCode;
use fluss_codec::messages::{
    GetKvSnapshotMetadataRequest, GetKvSnapshotMetadataResponse, GetLakeSnapshotRequest,
    GetLakeSnapshotResponse, GetLatestKvSnapshotsRequest, GetLatestKvSnapshotsResponse, PbKvSnapshot,
    PbRemotePathAndLocalFile,
};

use super::{Answering, Refusal};

impl Answering<'_> {
    pub(super) fn latest_kv_snapshots(
        &self,
        request: &GetLatestKvSnapshotsRequest,
        user: Option<&str>,
    ) -> Result<GetLatestKvSnapshotsResponse, Refusal> {
        let table = self.visible_table(&request.table_path, user)?;
        let path = format!("{}.{}", table.database(), table.name());
        let is_partitioned = !table.partition_keys().is_empty();
        let (partition_id, buckets) = match &request.partition_name {
            _ if !table.has_primary_key() => {
                let message = format!(
                    "Table '{path}' is not a primary key table, so it doesn't have any kv snapshots."
                );
                return Err(Refusal::new(ServerErrorCode::NON_PRIMARY_KEY_TABLE_EXCEPTION, message));
            }
            Some(_) if !is_partitioned => {
                let message = format!("Table '{path}' is not a partitioned table.");
                return Err(Refusal::new(ServerErrorCode::TABLE_NOT_PARTITIONED_EXCEPTION, message));
            }
            None if is_partitioned => {
                let message =
                    format!("Table '{path}' is a partitioned table, but partition name is not provided.");
                return Err(Refusal::new(ServerErrorCode::PARTITION_NOT_EXISTS, message));
            }
            None => (None, &table.buckets),
            Some(name) => {
                // The server wraps what it finds wrong here, so that the code gets lost.
                let partition = table.partitions.get(name).ok_or_else(|| {
                    let message = format!("The partition '{name}' of table '{path}' does not exist.");
                    let outer = format!(
                        "java.lang.RuntimeException: org.apache.fluss.exception.PartitionNotExistException: {message}"
                    );
                    Refusal::unexpected(&outer, Some(("PartitionNotExistException", &message)))
                })?;
                (Some(partition.id()), &partition.buckets)
            }
        };
        let latest_snapshots = (0..).zip(buckets).map(|(bucket_id, bucket)| {
            let snapshot = bucket.kv_snapshots.last();
            PbKvSnapshot {
                bucket_id,
                snapshot_id: snapshot.map(|snapshot| snapshot.id),
                log_offset: snapshot.map(|snapshot| snapshot.log_offset),
            }
        });
        Ok(GetLatestKvSnapshotsResponse {
            table_id: table.id(),
            partition_id,
            latest_snapshots: latest_snapshots.collect(),
        })
    }

    pub(super) fn kv_snapshot(
        &self,
        request: &GetKvSnapshotMetadataRequest,
    ) -> Result<GetKvSnapshotMetadataResponse, Refusal> {
        let partition = match request.partition_id {
            None => Some(None),
            Some(id) => self.model.partition_by_id(id).map(|(_, name, _)| Some(name)),
        };
        let bucket = self
            .model
            .table_by_id(request.table_id)
            .and_then(|table| table.bucket(partition?, request.bucket_id));
        let snapshot = bucket.and_then(|bucket| {
            bucket.kv_snapshots.iter().find(|snapshot| snapshot.id == request.snapshot_id)
        });
        let snapshot = snapshot.ok_or_else(|| {
            let message = format!(
                "Failed to get kv snapshot metadata for bucket {} of table {} and snapshot id {}. Error: Kv \
                 snapshot not found",
                request.bucket_id, request.table_id, request.snapshot_id
            );
            Refusal::new(ServerErrorCode::KV_SNAPSHOT_NOT_EXIST, message)
        })?;
        let files = snapshot.files.iter().map(|(remote_path, local_file_name)| PbRemotePathAndLocalFile {
            remote_path: remote_path.clone(),
            local_file_name: local_file_name.clone(),
        });
        Ok(GetKvSnapshotMetadataResponse { log_offset: snapshot.log_offset, snapshot_files: files.collect() })
    }

    pub(super) fn lake_snapshot(
        &self,
        request: &GetLakeSnapshotRequest,
        user: Option<&str>,
    ) -> Result<GetLakeSnapshotResponse, Refusal> {
        let table = self.visible_table(&request.table_path, user)?;
        let wants_readable = request.readable == Some(true);
        if wants_readable && request.snapshot_id.is_some() {
            let outer = "java.lang.IllegalArgumentException: GetLakeSnapshotRequest cannot set both snapshot_id and \
                         readable=true";
            return Err(Refusal::unexpected(outer, None));
        }
        if self.model.lacks_lake {
            let message = "No lake storage is configured.";
            return Err(Refusal::new(ServerErrorCode::LAKE_STORAGE_NOT_CONFIGURED_EXCEPTION, message));
        }
        let snapshot = table.lake_snapshots.iter().rev().find(|snapshot| {
            (!wants_readable || snapshot.is_readable)
                && request.snapshot_id.is_none_or(|id| id == snapshot.id)
        });
        let snapshot = snapshot.ok_or_else(|| {
            let message = format!(
                "Lake table snapshot doesn't exist for table: {}.{}, table id: {}",
                table.database(),
                table.name(),
                table.id()
            );
            Refusal::new(ServerErrorCode::LAKE_SNAPSHOT_NOT_EXIST, message)
        })?;
        Ok(GetLakeSnapshotResponse {
            table_id: table.id(),
            snapshot_id: snapshot.id,
            bucket_snapshots: snapshot.buckets.clone(),
        })
    }
}
