//! Records of a table's log, from an offset on.
//!
//! A scanner keeps a position for each bucket and asks the leaders for what follows; it reads up to the high watermark,
//! in bounded steps. Rows of older schemas are read with the columns of today, and only the columns asked for are
//! fetched where the server can leave out the others.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use fluss_codec::change_type::ChangeType;
use fluss_codec::log_batch::records::LogRecords;
use fluss_codec::log_batch::{ChecksumPolicy, LogBatch};
use fluss_codec::messages::{
    FetchLogRequest, FetchLogResponse, PbFetchLogReqForBucket, PbFetchLogReqForTable, PbRemoteLogFetchInfo,
};
use fluss_codec::read_plan::{ReadPlan, can_push_down, pushed_positions};
use fluss_codec::row::Value;
use fluss_codec::table::LogFormat;
use fluss_codec::versions::LogMagicOne;

use crate::bucket_call::{BucketCall, BucketPart, Patience};
use crate::clock;
use crate::connection::Connection;
use crate::error::Error;
use crate::metadata::Layout;
use crate::table::Table;

/// Most bytes of all buckets that one poll asks a server for.
pub const MAX_POLL_BYTES: i32 = 16 * 1024 * 1024;
/// Most bytes of one bucket that one poll asks for; a single batch may be larger.
pub const MAX_BUCKET_BYTES: i32 = 1024 * 1024;

/// A record of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct LogRecord {
    /// Its offset.
    pub offset: i64,
    /// When the leader appended it, in milliseconds since the epoch.
    pub committed_at_ms: i64,
    /// What happened to the row.
    pub change: ChangeType,
    /// The columns asked for, in that order.
    pub values: Vec<Value>,
}

/// What one bucket gave in one poll.
#[derive(Debug, Clone)]
pub struct BucketRecords {
    /// Number of the bucket.
    pub bucket: i32,
    /// The records, ascending.
    pub records: Vec<LogRecord>,
    /// Offset at which the next poll goes on.
    pub next_offset: i64,
    /// Offset after the last one that can be read now, where the server says so.
    pub high_watermark: Option<i64>,
    /// Whether what follows is only in remote storage, which this scanner does not read.
    pub is_tiered: bool,
}

/// Reads some buckets of a table or of one of its partitions.
pub struct LogScanner {
    partition: Option<String>,
    positions: BTreeMap<i32, i64>,
    reader: BatchReader,
}

/// Reads the records of batches, of whatever schema they are.
pub(crate) struct BatchReader {
    table: Table,
    columns: Vec<usize>,
    format: LogFormat,
    /// Positions that the server has projected to; none where it has not.
    pushed: Option<Vec<usize>>,
    plans: HashMap<i16, ReadPlan>,
}

struct Fetch {
    pushed: Option<Vec<i32>>,
    max_wait_ms: i32,
}

#[derive(Clone)]
struct Fetched {
    records: Bytes,
    high_watermark: Option<i64>,
    remote: Option<PbRemoteLogFetchInfo>,
    filtered_end_offset: Option<i64>,
    magic_one: LogMagicOne,
}

impl BucketCall for Fetch {
    type Item = i64;
    type Output = Fetched;
    type Request = FetchLogRequest;

    fn request(&self, layout: &Layout, items: &[(i32, i64)]) -> FetchLogRequest {
        let bucket = |(bucket, offset): &(i32, i64)| PbFetchLogReqForBucket {
            partition_id: layout.partition_id,
            bucket_id: *bucket,
            fetch_offset: *offset,
            max_fetch_bytes: MAX_BUCKET_BYTES,
        };
        FetchLogRequest {
            // −1 marks a client; an id of 0 or more would be a following server.
            follower_server_id: -1,
            max_bytes: MAX_POLL_BYTES,
            tables_req: vec![PbFetchLogReqForTable {
                table_id: layout.table_id,
                projection_pushdown_enabled: self.pushed.is_some(),
                projected_fields: self.pushed.clone().unwrap_or_default(),
                buckets_req: items.iter().map(bucket).collect(),
                filter_predicate: None,
                filter_schema_id: None,
            }],
            max_wait_ms: Some(self.max_wait_ms),
            // Without it the server does not wait at all.
            min_bytes: Some(1),
            read_preference: None,
        }
    }

    fn split(&self, answer: FetchLogResponse, connection: &Connection) -> Vec<BucketPart<Fetched>> {
        let magic_one =
            connection.versions().map_or(LogMagicOne::LeaderEpoch, |versions| versions.log_format());
        let part = |part: fluss_codec::messages::PbFetchLogRespForBucket| BucketPart {
            bucket: part.bucket_id,
            error_code: part.error_code,
            error_message: part.error_message,
            output: Ok(Fetched {
                records: part.records.unwrap_or_default(),
                high_watermark: part.high_watermark,
                remote: part.remote_log_fetch_info,
                filtered_end_offset: part.filtered_end_offset,
                magic_one,
            }),
        };
        answer.tables_resp.into_iter().flat_map(|table| table.buckets_resp).map(part).collect()
    }
}

impl Table {
    /// Makes a scanner of some columns, by their positions, that begins each bucket at the offset given for it.
    ///
    /// # Errors
    /// `unreadable_row` for a column that does not exist or a log format unknown here; what goes wrong when older schemas
    /// are read.
    pub async fn log_scanner(
        &self,
        partition: Option<&str>,
        columns: &[usize],
        positions: BTreeMap<i32, i64>,
    ) -> Result<LogScanner, Error> {
        let format = self.descriptor().log_format().map_err(|error| self.unreadable(error))?;
        // Any row may be of any schema the table has had.
        let latest = self.info().schema_id;
        let mut schemas = Vec::new();
        let is_all = columns.len() >= self.schema().columns().len();
        if format == LogFormat::Arrow && !is_all {
            for schema_id in 1..=latest {
                schemas.push(self.schema_of(schema_id).await?);
            }
        }
        let refs: Vec<_> = schemas.iter().map(|schema| &**schema).collect();
        let can_push = !refs.is_empty() && can_push_down(columns, self.schema(), &refs);
        let reader = BatchReader {
            table: self.clone(),
            columns: columns.to_vec(),
            format,
            pushed: can_push.then(|| pushed_positions(columns)),
            plans: HashMap::new(),
        };
        Ok(LogScanner { partition: partition.map(str::to_owned), positions, reader })
    }

    /// Makes a reader of whole batches.
    pub(crate) fn batch_reader(&self) -> Result<BatchReader, Error> {
        let format = self.descriptor().log_format().map_err(|error| self.unreadable(error))?;
        let (table, columns) = (self.clone(), self.all_columns());
        Ok(BatchReader { table, columns, format, pushed: None, plans: HashMap::new() })
    }
}

impl LogScanner {
    /// Returns the offset at which each bucket goes on.
    pub fn positions(&self) -> &BTreeMap<i32, i64> {
        &self.positions
    }

    /// Tells whether the server leaves out the columns that are not wanted.
    pub fn is_pushed_down(&self) -> bool {
        self.reader.pushed.is_some()
    }

    /// Reads what follows in each bucket; waits at most `max_wait` if there is nothing.
    ///
    /// Each bucket has an answer of its own. One that failed keeps its position; `server_error` with code 19 says that
    /// its position is not, or no longer, in the log. If the future is dropped no position has moved.
    ///
    /// # Errors
    /// When the leaders cannot be learnt, or the table is another one now.
    pub async fn poll(
        &mut self,
        max_wait: Duration,
    ) -> Result<Vec<Result<BucketRecords, (i32, Error)>>, Error> {
        let pushed = self.reader.pushed.as_ref().map(|pushed| {
            pushed.iter().map(|position| i32::try_from(*position).unwrap_or(i32::MAX)).collect()
        });
        let client = self.reader.table.client();
        // The answer must come before the request's own deadline.
        let max_wait = max_wait.min(client.limit() / 2);
        let max_wait_ms = i32::try_from(clock::millis(max_wait)).unwrap_or(i32::MAX);
        let call = Arc::new(Fetch { pushed, max_wait_ms });
        let patience =
            Patience { attempts: client.settings().read_max_attempts(), deadline: client.deadline() };
        let called = self
            .reader
            .table
            .call(self.partition.as_deref(), self.positions.clone(), &call, patience)
            .await?;
        let mut polled = Vec::with_capacity(called.answers.len());
        for (bucket, answer) in called.answers {
            let read = match answer {
                Ok(fetched) => self.read(bucket, fetched).await,
                Err(error) => Err(error),
            };
            polled.push(read.map_err(|error| (bucket, error)));
        }
        for records in polled.iter().flatten() {
            self.positions.insert(records.bucket, records.next_offset);
        }
        Ok(polled)
    }

    async fn read(&mut self, bucket: i32, fetched: Fetched) -> Result<BucketRecords, Error> {
        let start = self.positions.get(&bucket).copied().unwrap_or_default();
        let mut read = BucketRecords {
            bucket,
            records: Vec::new(),
            next_offset: start,
            high_watermark: fetched.high_watermark,
            is_tiered: fetched.remote.is_some(),
        };
        let (records, next_offset) = self.reader.read(fetched.records, start, fetched.magic_one).await?;
        read.records = records;
        read.next_offset = next_offset.max(fetched.filtered_end_offset.unwrap_or(start));
        Ok(read)
    }
}

impl BatchReader {
    /// Reads the records from an offset on, and the offset after the last batch.
    pub(crate) async fn read(
        &mut self,
        mut bytes: Bytes,
        start: i64,
        magic_one: LogMagicOne,
    ) -> Result<(Vec<LogRecord>, i64), Error> {
        // A server that projects rewrites batches but not their checksums.
        let policy = if self.pushed.is_some() { ChecksumPolicy::Skip } else { ChecksumPolicy::Verify };
        let mut read = Vec::new();
        let mut next_offset = start;
        while let Some(batch) = LogBatch::decode_next(&mut bytes, magic_one, policy)
            .map_err(|error| self.table.unreadable(error))?
        {
            self.prepare(batch.schema_id).await?;
            let plan = self.plans.get(&batch.schema_id).expect("it was prepared");
            let records =
                LogRecords::read(&batch, self.format, plan).map_err(|error| self.table.unreadable(error))?;
            for index in 0..records.len() {
                let offset = records.offset(index);
                // The first batch may begin before the offset that was asked for.
                let (Some(change), true) = (records.change(index), offset >= start) else { continue };
                let values = records.row(index).map_err(|error| self.table.unreadable(error))?;
                read.push(LogRecord { offset, committed_at_ms: batch.commit_timestamp_ms, change, values });
            }
            next_offset = next_offset.max(batch.next_offset());
        }
        Ok((read, next_offset))
    }

    async fn prepare(&mut self, schema_id: i16) -> Result<(), Error> {
        if self.plans.contains_key(&schema_id) {
            return Ok(());
        }
        let plan = match &self.pushed {
            None => self.table.plan(schema_id, &self.columns).await?,
            Some(pushed) => {
                let source = self.table.schema_of(i32::from(schema_id)).await?;
                ReadPlan::pushed_down(&source, pushed, self.table.schema(), &self.columns)
                    .map_err(|error| self.table.unreadable(error))?
            }
        };
        self.plans.insert(schema_id, plan);
        Ok(())
    }
}
