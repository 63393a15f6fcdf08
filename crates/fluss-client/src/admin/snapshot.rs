//! Snapshots: of primary-key tables in remote storage, and of tables in a data lake.

use fluss_codec::messages::{
    GetKvSnapshotMetadataRequest, GetLakeSnapshotRequest, GetLatestKvSnapshotsRequest,
};
use fluss_codec::name::TablePath;

use crate::admin::catalog::not_found;
use crate::client::FlussClient;
use crate::error::Error;

/// The latest snapshots of a primary-key table or partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KvSnapshots {
    /// Id of the table.
    pub table_id: i64,
    /// Id of the partition, where one was asked for.
    pub partition_id: Option<i64>,
    /// One entry per bucket, in the order of their numbers.
    pub buckets: Vec<KvSnapshot>,
}

/// The latest snapshot of one bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KvSnapshot {
    /// Number of the bucket.
    pub bucket: i32,
    /// Id of the snapshot, absent while there is none.
    pub snapshot_id: Option<i64>,
    /// Log offset up to which the snapshot holds everything.
    pub log_offset: Option<i64>,
}

/// Where a snapshot's files lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KvSnapshotFiles {
    /// Log offset up to which the snapshot holds everything.
    pub log_offset: i64,
    /// Files of a RocksDB checkpoint.
    pub files: Vec<KvSnapshotFile>,
}

/// One file of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KvSnapshotFile {
    /// Path in remote storage.
    pub remote_path: String,
    /// Name the file has within the checkpoint.
    pub local_name: String,
}

/// A table's snapshot in the data lake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LakeSnapshot {
    /// Id of the table.
    pub table_id: i64,
    /// Id of the snapshot in the lake.
    pub snapshot_id: i64,
    /// Offsets up to which each bucket is in the lake.
    pub buckets: Vec<LakeBucket>,
}

/// One bucket's part of a lake snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LakeBucket {
    /// Id of the partition, for partitioned tables.
    pub partition_id: Option<i64>,
    /// Name of the partition, for partitioned tables.
    pub partition_name: Option<String>,
    /// Number of the bucket.
    pub bucket: i32,
    /// Offset after the last record in the lake, absent when nothing is there yet.
    pub log_offset: Option<i64>,
}

impl FlussClient {
    /// Reads which snapshot is the latest of each bucket.
    ///
    /// # Errors
    /// `table_not_found`; `server_error` with code 20 when the table has no primary key
    /// and 36 when there is no such partition.
    pub async fn latest_kv_snapshots(
        &self,
        path: &TablePath,
        partition: Option<&str>,
    ) -> Result<KvSnapshots, Error> {
        let request = GetLatestKvSnapshotsRequest {
            table_path: path.into(),
            partition_name: partition.map(str::to_owned),
        };
        let answer = self.ask_coordinator(&request).await.map_err(|error| not_found(path, error))?;
        let mut buckets: Vec<KvSnapshot> = answer
            .latest_snapshots
            .into_iter()
            .map(|snapshot| KvSnapshot {
                bucket: snapshot.bucket_id,
                snapshot_id: snapshot.snapshot_id,
                log_offset: snapshot.log_offset,
            })
            .collect();
        buckets.sort_by_key(|snapshot| snapshot.bucket);
        Ok(KvSnapshots { table_id: answer.table_id, partition_id: answer.partition_id, buckets })
    }

    /// Reads where the files of one snapshot lie.
    ///
    /// # Errors
    /// `server_error` with code 41 when the snapshot is gone: only the last few are kept.
    pub async fn kv_snapshot_files(
        &self,
        table_id: i64,
        partition_id: Option<i64>,
        bucket: i32,
        snapshot_id: i64,
    ) -> Result<KvSnapshotFiles, Error> {
        let request = GetKvSnapshotMetadataRequest { table_id, partition_id, bucket_id: bucket, snapshot_id };
        let answer = self.ask_coordinator(&request).await?;
        let files = answer
            .snapshot_files
            .into_iter()
            .map(|file| KvSnapshotFile { remote_path: file.remote_path, local_name: file.local_file_name })
            .collect();
        Ok(KvSnapshotFiles { log_offset: answer.log_offset, files })
    }

    /// Reads how far a table is in the data lake: the given snapshot, or the latest.
    ///
    /// # Errors
    /// `table_not_found`; `server_error` with code 53 when there is no snapshot and 40
    /// when the cluster has no lake.
    pub async fn lake_snapshot(
        &self,
        path: &TablePath,
        snapshot_id: Option<i64>,
    ) -> Result<LakeSnapshot, Error> {
        let request = GetLakeSnapshotRequest { table_path: path.into(), snapshot_id, readable: None };
        let answer = self.ask_coordinator(&request).await.map_err(|error| not_found(path, error))?;
        let mut buckets: Vec<LakeBucket> = answer
            .bucket_snapshots
            .into_iter()
            .map(|bucket| LakeBucket {
                partition_id: bucket.partition_id,
                partition_name: bucket.partition_name,
                bucket: bucket.bucket_id,
                log_offset: bucket.log_offset,
            })
            .collect();
        buckets.sort_by_key(|bucket| (bucket.partition_id, bucket.bucket));
        Ok(LakeSnapshot { table_id: answer.table_id, snapshot_id: answer.snapshot_id, buckets })
    }
}
