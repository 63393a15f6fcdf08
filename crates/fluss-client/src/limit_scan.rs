//! A few rows of one bucket, without a position: the newest of a log, the first keys of a key-value store.
//!
//! The server offers no continuation: asked again it gives the same rows. A bucket of a primary-key table that gives
//! fewer rows than asked for has no more.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytes::Bytes;
use fluss_codec::kv_value::KvValue;
use fluss_codec::messages::{LimitScanRequest, LimitScanResponse};
use fluss_codec::row::Value;
use fluss_codec::versions::LogMagicOne;

use crate::bucket_call::{BucketCall, BucketPart, Patience};
use crate::connection::Connection;
use crate::error::Error;
use crate::metadata::Layout;
use crate::scan::LogRecord;
use crate::table::Table;

/// What a bucket gave.
#[derive(Debug, Clone, PartialEq)]
pub enum LimitedRows {
    /// The last records of a log, ascending.
    Log(Vec<LogRecord>),
    /// The first rows of a key-value store, in the order of their keys' bytes.
    Keyed(Vec<Vec<Value>>),
}

/// One bucket's request; its answer does not name the bucket.
struct LimitScan {
    bucket: i32,
    limit: i32,
}

#[derive(Clone)]
struct Scanned {
    is_log: bool,
    records: Bytes,
    magic_one: LogMagicOne,
}

impl BucketCall for LimitScan {
    type Item = ();
    type Output = Scanned;
    type Request = LimitScanRequest;

    fn request(&self, layout: &Layout, _: &[(i32, ())]) -> LimitScanRequest {
        LimitScanRequest {
            table_id: layout.table_id,
            partition_id: layout.partition_id,
            bucket_id: self.bucket,
            limit: self.limit,
        }
    }

    fn split(&self, answer: LimitScanResponse, connection: &Connection) -> Vec<BucketPart<Scanned>> {
        let magic_one =
            connection.versions().map_or(LogMagicOne::LeaderEpoch, |versions| versions.log_format());
        let is_log = answer.is_log_table.unwrap_or_default();
        vec![BucketPart {
            bucket: self.bucket,
            error_code: answer.error_code,
            error_message: answer.error_message,
            output: Ok(Scanned { is_log, records: answer.records.unwrap_or_default(), magic_one }),
        }]
    }
}

impl Table {
    /// Reads at most `limit` rows of a bucket of the table or of one of its partitions.
    ///
    /// # Errors
    /// When the leader cannot be learnt or asked; `unreadable_row` for rows that are not of the table.
    pub async fn limit_scan(
        &self,
        partition: Option<&str>,
        bucket: i32,
        limit: u16,
    ) -> Result<LimitedRows, Error> {
        let client = self.client();
        let call = Arc::new(LimitScan { bucket, limit: i32::from(limit) });
        let patience =
            Patience { attempts: client.settings().read_max_attempts(), deadline: client.deadline() };
        let mut called = self.call(partition, BTreeMap::from([(bucket, ())]), &call, patience).await?;
        let scanned = called.answers.remove(&bucket).ok_or(Error::BucketMissing { bucket })??;
        let limit = usize::from(limit);
        if scanned.is_log {
            let (mut records, _) =
                self.batch_reader()?.read(scanned.records, i64::MIN, scanned.magic_one).await?;
            // The server gives whole batches.
            let surplus = records.len().saturating_sub(limit);
            return Ok(LimitedRows::Log(records.split_off(surplus)));
        }
        if scanned.records.is_empty() {
            return Ok(LimitedRows::Keyed(Vec::new()));
        }
        let values = KvValue::decode_batch(scanned.records).map_err(|error| self.unreadable(error))?;
        let mut rows = self.read_values(values, &mut HashMap::new()).await?;
        rows.truncate(limit);
        Ok(LimitedRows::Keyed(rows))
    }
}
