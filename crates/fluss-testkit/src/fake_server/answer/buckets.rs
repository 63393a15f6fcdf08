//! Offsets and row counts.
//!
//! Follows `ReplicaManager` and `Replica`, 0.9.1: any replica answers, led here or not; a bucket that is
//! elsewhere gives 12, one that nobody knows 21.

use std::collections::BTreeSet;

use fluss_codec::codes::OffsetType;
use fluss_codec::error_code::ServerErrorCode;
use fluss_codec::messages::{
    GetTableStatsRequest, GetTableStatsResponse, ListOffsetsRequest, ListOffsetsResponse,
    PbListOffsetsRespForBucket, PbTableStatsRespForBucket,
};

use super::{Answering, Refusal, forbidden};
use crate::clock;
use crate::fake_server::model::{Bucket, ServerLine, Table};

impl Answering<'_> {
    pub(super) fn list_offsets(
        &self,
        request: &ListOffsetsRequest,
        user: Option<&str>,
    ) -> Result<ListOffsetsResponse, Refusal> {
        let table = self.model.table_by_id(request.table_id);
        // 0.9.1 forgot to ask for permission here.
        if let Some(table) = table.filter(|table| !table.visibility.includes(user))
            && self.model.line == ServerLine::Main
        {
            return Err(forbidden(table, user));
        }
        let buckets: BTreeSet<i32> = request.bucket_id.iter().copied().collect();
        let answers = buckets.into_iter().map(|number| {
            let offset = self
                .local_bucket(request.table_id, request.partition_id, number)
                .and_then(|(_, bucket)| self.offset(bucket, request));
            let (offset, error) = split(offset);
            PbListOffsetsRespForBucket {
                bucket_id: number,
                error_code: error.as_ref().map(|error| error.code),
                error_message: error.and_then(|error| error.message),
                offset,
            }
        });
        Ok(ListOffsetsResponse { buckets_resp: answers.collect() })
    }

    pub(super) fn table_stats(
        &self,
        request: &GetTableStatsRequest,
        user: Option<&str>,
    ) -> Result<GetTableStatsResponse, Refusal> {
        let table = self.model.table_by_id(request.table_id);
        if let Some(table) = table.filter(|table| !table.visibility.includes(user)) {
            return Err(forbidden(table, user));
        }
        let answers = request.buckets_req.iter().map(|asked| {
            let count = self
                .local_bucket(request.table_id, asked.partition_id, asked.bucket_id)
                .and_then(|(table, bucket)| self.row_count(table, bucket));
            let (row_count, error) = split(count);
            PbTableStatsRespForBucket {
                error_code: error.as_ref().map(|error| error.code),
                error_message: error.and_then(|error| error.message),
                partition_id: asked.partition_id,
                bucket_id: asked.bucket_id,
                row_count,
            }
        });
        Ok(GetTableStatsResponse { buckets_resp: answers.collect() })
    }

    /// Returns a bucket with a replica on this server, unless a script or the model gives it an error.
    fn local_bucket(
        &self,
        table_id: i64,
        partition_id: Option<i64>,
        number: i32,
    ) -> Result<(&Table, &Bucket), Refusal> {
        if let Some((code, numbers)) = self.bucket_error
            && (numbers.is_empty() || numbers.contains(&number))
        {
            return Err(Refusal { code, message: None });
        }
        let partition = match partition_id {
            None => Some(None),
            Some(id) => self.model.partition_by_id(id).map(|(_, name, _)| Some(name)),
        };
        let found = self
            .model
            .table_by_id(table_id)
            .and_then(|table| Some((table, table.bucket(partition?, number)?)));
        let Some((table, bucket)) = found else {
            let message = format!("Unknown table or bucket: {}", bucket_name(table_id, partition_id, number));
            return Err(Refusal::new(ServerErrorCode::UNKNOWN_TABLE_OR_BUCKET_EXCEPTION, message));
        };
        if let Some(code) = bucket.error {
            return Err(Refusal { code, message: None });
        }
        if bucket.leader != Some(self.server_id) && !bucket.replicas.contains(&self.server_id) {
            let message = format!(
                "server {} is not leader or follower for {}",
                self.server_id,
                bucket_name(table_id, partition_id, number)
            );
            return Err(Refusal::new(ServerErrorCode::NOT_LEADER_OR_FOLLOWER, message));
        }
        Ok((table, bucket))
    }

    fn offset(&self, bucket: &Bucket, request: &ListOffsetsRequest) -> Result<i64, Refusal> {
        let java =
            |text: String| Refusal::unexpected(&format!("java.lang.IllegalArgumentException: {text}"), None);
        match OffsetType::from_code(request.offset_type) {
            Some(OffsetType::Earliest) => Ok(bucket.earliest),
            Some(OffsetType::Latest) => Ok(bucket.latest),
            Some(OffsetType::Timestamp) => {
                let wanted = request.start_timestamp.ok_or_else(|| {
                    java("startTimestamp is not present while list offset by timestamp.".to_owned())
                })?;
                let now = self.model.now_ms.unwrap_or_else(|| clock::wall().as_millisecond());
                if wanted > now {
                    let message = format!(
                        "Get offset error, the fetch timestamp {wanted} is larger than the current timestamp {now}"
                    );
                    return Err(Refusal::new(ServerErrorCode::INVALID_TIMESTAMP_EXCEPTION, message));
                }
                let first = bucket.timestamps.iter().find(|(timestamp, _)| *timestamp >= wanted);
                Ok(first.map_or(bucket.latest, |(_, offset)| *offset))
            }
            None => Err(java(format!("Invalid list offset type: {}", request.offset_type))),
        }
    }

    fn row_count(&self, table: &Table, bucket: &Bucket) -> Result<i64, Refusal> {
        // A follower has no key-value store and falls back to its log.
        if !table.has_primary_key() || bucket.leader != Some(self.server_id) {
            return Ok(bucket.latest - bucket.earliest);
        }
        bucket.row_count.ok_or_else(|| {
            let message = format!("Row count is disabled for table '{}.{}'", table.database(), table.name());
            Refusal::new(ServerErrorCode::INVALID_TABLE_EXCEPTION, message)
        })
    }
}

fn split(result: Result<i64, Refusal>) -> (Option<i64>, Option<Refusal>) {
    match result {
        Ok(number) => (Some(number), None),
        Err(refusal) => (None, Some(refusal)),
    }
}

fn bucket_name(table_id: i64, partition_id: Option<i64>, number: i32) -> String {
    match partition_id {
        None => format!("TableBucket{{tableId={table_id}, bucket={number}}}"),
        Some(id) => format!("TableBucket{{tableId={table_id}, partitionId={id}, bucket={number}}}"),
    }
}
