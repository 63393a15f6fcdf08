//! Rows written to tables: appended, upserted, deleted.
//!
//! All rows of one call are checked and encoded before the first byte is sent. They go out as one batch per bucket at a
//! time. With a writer id from the cluster each batch has a number, so that a batch whose answer was lost can be sent
//! again, with the same bytes, and is not written twice; without one nothing is ever sent again.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytes::Bytes;
use fluss_codec::change_type::ChangeType;
use fluss_codec::data_type::DataType;
use fluss_codec::key::KeyRules;
use fluss_codec::kv_batch::KvBatchBuilder;
use fluss_codec::log_batch::builder::{LogBatchBuilder, LogEncoding};
use fluss_codec::log_batch::{NO_SEQUENCE, NO_WRITER};
use fluss_codec::messages::{
    InitWriterRequest, PbProduceLogReqForBucket, PbPutKvReqForBucket, ProduceLogRequest, ProduceLogResponse,
    PutKvRequest, PutKvResponse, Request as _,
};
use fluss_codec::row::{RowError, RowFormat, Value};
use fluss_codec::table::LogFormat;

use crate::bucket_call::{BucketCall, BucketPart, Patience};
use crate::clock;
use crate::connection::Connection;
use crate::error::Error;
use crate::metadata::Layout;
use crate::table::Table;

/// Size from which on a batch is closed: 1 MiB of records before compression.
const BATCH_BYTES: usize = 1024 * 1024;
/// Most bytes that are on their way at the same time, but for one larger batch.
const REQUEST_BYTES: usize = 8 * 1024 * 1024;
/// Share of the request timeout that the servers get to replicate.
const REPLICATION_PERCENT: u32 = 75;
/// The server's code for a sequence that it has already.
const DUPLICATE_SEQUENCE: i32 = 32;

/// Which replicas must have a batch before it counts as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acks {
    /// All that are in sync.
    All,
    /// The leader.
    Leader,
}

/// One change of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum RowChange {
    /// Appends a row to a log table: one value per column.
    Append(Vec<Value>),
    /// Inserts or updates a row of a primary-key table: one value per column.
    Upsert(Vec<Value>),
    /// Deletes a row of a primary-key table: one value per column of the primary key, in its declared order.
    Delete(Vec<Value>),
}

/// How a writer writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteOptions {
    /// Which replicas must have a batch.
    pub acks: Acks,
    /// How often a batch is sent at most, 1 to 3; above 1 the writer is idempotent.
    pub max_attempts: u32,
    /// Columns that upserts and deletes change, by position; all of them if there are none. They must hold the primary
    /// key, and every other column must take null.
    pub target_columns: Option<Vec<usize>>,
    /// Bucket that appends go to in a log table without bucket key; one after the other if there is none.
    pub bucket: Option<i32>,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self { acks: Acks::All, max_attempts: 2, target_columns: None, bucket: None }
    }
}

/// What became of one batch.
#[derive(Debug, Clone)]
pub struct BatchOutcome {
    /// Partition it went to, in partitioned tables.
    pub partition: Option<String>,
    /// Bucket it went to.
    pub bucket: i32,
    /// Positions of its rows among those given.
    pub rows: Vec<usize>,
    /// What happened.
    pub outcome: WriteOutcome,
}

/// Whether a batch was written.
#[derive(Debug, Clone)]
pub enum WriteOutcome {
    /// It was. For appends `offset` is that of the first row, for upserts and deletes the one after the last change; it
    /// may be absent when an earlier attempt had succeeded.
    Written {
        /// The offset.
        offset: Option<i64>,
    },
    /// It was not.
    Refused(Error),
    /// It may have been.
    Unknown(Error),
    /// It was not sent, because an earlier batch of its bucket failed.
    NotSent,
}

/// Writes to one table.
pub struct Writer {
    table: Table,
    options: WriteOptions,
    rules: Option<KeyRules>,
    /// The id under which batches are numbered; asked for with the first write, and anew after a batch was lost.
    writer_id: Option<i64>,
    sequences: HashMap<(Option<String>, i32), i32>,
    /// Bucket of the next call's rows where no key chooses it.
    next_bucket: u32,
}

/// A batch ready to be sent.
struct Pending {
    rows: Vec<usize>,
    bytes: Bytes,
}

/// Batches by partition and bucket, each in its order.
type Batches = BTreeMap<(Option<String>, i32), Vec<Pending>>;
/// Positions of rows by partition and bucket.
type Shares = BTreeMap<(Option<String>, i32), Vec<usize>>;

struct Produce {
    acks: i32,
    timeout_ms: i32,
}

impl BucketCall for Produce {
    type Item = Bytes;
    type Output = Option<i64>;
    type Request = ProduceLogRequest;

    fn request(&self, layout: &Layout, items: &[(i32, Bytes)]) -> ProduceLogRequest {
        let bucket = |(bucket, records): &(i32, Bytes)| PbProduceLogReqForBucket {
            partition_id: layout.partition_id,
            bucket_id: *bucket,
            records: records.clone(),
        };
        ProduceLogRequest {
            acks: self.acks,
            table_id: layout.table_id,
            timeout_ms: self.timeout_ms,
            buckets_req: items.iter().map(bucket).collect(),
        }
    }

    fn split(&self, answer: ProduceLogResponse, _: &Connection) -> Vec<BucketPart<Option<i64>>> {
        let part = |part: fluss_codec::messages::PbProduceLogRespForBucket| BucketPart {
            bucket: part.bucket_id,
            error_code: part.error_code,
            error_message: part.error_message,
            output: Ok(part.base_offset),
        };
        answer.buckets_resp.into_iter().map(part).collect()
    }
}

struct Put {
    acks: i32,
    timeout_ms: i32,
    target_columns: Vec<i32>,
}

impl BucketCall for Put {
    type Item = Bytes;
    type Output = Option<i64>;
    type Request = PutKvRequest;

    fn request(&self, layout: &Layout, items: &[(i32, Bytes)]) -> PutKvRequest {
        let bucket = |(bucket, records): &(i32, Bytes)| PbPutKvReqForBucket {
            partition_id: layout.partition_id,
            bucket_id: *bucket,
            records: records.clone(),
        };
        PutKvRequest {
            acks: self.acks,
            table_id: layout.table_id,
            timeout_ms: self.timeout_ms,
            target_columns: self.target_columns.clone(),
            buckets_req: items.iter().map(bucket).collect(),
            agg_mode: None,
        }
    }

    fn split(&self, answer: PutKvResponse, _: &Connection) -> Vec<BucketPart<Option<i64>>> {
        let part = |part: fluss_codec::messages::PbPutKvRespForBucket| BucketPart {
            bucket: part.bucket_id,
            error_code: part.error_code,
            error_message: part.error_message,
            output: Ok(part.log_end_offset),
        };
        answer.buckets_resp.into_iter().map(part).collect()
    }
}

impl Table {
    /// Makes a writer.
    ///
    /// # Errors
    /// `unsuitable_table` or `invalid_row` when the options do not fit the table.
    pub fn writer(&self, options: WriteOptions) -> Result<Writer, Error> {
        let has_key = self.schema().has_primary_key();
        if !(1..=3).contains(&options.max_attempts) {
            let reason = format!("{} is not within 1 to 3", options.max_attempts);
            return Err(Error::InvalidSetting { field: "write_max_attempts", reason });
        }
        if has_key {
            self.check_targets(options.target_columns.as_deref())?;
        } else if options.target_columns.is_some() {
            return Err(self.unsuitable("has no primary key, so that its rows are written whole"));
        }
        let is_keyed = has_key || !self.descriptor().bucket_keys().is_empty();
        if is_keyed && options.bucket.is_some() {
            return Err(self.unsuitable("has a bucket key, which chooses the bucket"));
        }
        let rules = if is_keyed { Some(self.key_rules()?) } else { None };
        Ok(Writer {
            table: self.clone(),
            options,
            rules,
            writer_id: None,
            sequences: HashMap::new(),
            next_bucket: 0,
        })
    }

    fn check_targets(&self, targets: Option<&[usize]>) -> Result<(), Error> {
        let auto_increment = self.schema().auto_increment().and_then(|name| self.schema().position(name));
        let Some(targets) = targets else {
            return match auto_increment {
                Some(_) => {
                    Err(self.unsuitable("has an auto-increment column: name the columns to be written"))
                }
                None => Ok(()),
            };
        };
        let keys = self.positions(self.schema().primary_key());
        if !keys.iter().all(|key| targets.contains(key)) {
            return Err(self.unsuitable("needs its primary key among the columns to be written"));
        }
        if auto_increment.is_some_and(|position| targets.contains(&position)) {
            return Err(self.unsuitable("has an auto-increment column, which only the servers write"));
        }
        let others = self.schema().columns().iter().enumerate();
        let mut others = others.filter(|(position, _)| !targets.contains(position));
        if targets.iter().any(|position| *position >= self.schema().columns().len()) {
            return Err(self.unsuitable("has no such column"));
        }
        let is_fixed = |(position, column): (usize, &fluss_codec::schema::Column)| {
            !column.data_type.is_nullable() && Some(position) != auto_increment
        };
        if others.any(is_fixed) {
            return Err(self.unsuitable("has another column that does not take null"));
        }
        Ok(())
    }
}

impl Writer {
    /// Writes rows and tells what became of each batch.
    ///
    /// Batches of one bucket are written in their order; after one that failed the rest of its bucket is not sent. If
    /// the future is dropped, what was sent may have been written.
    ///
    /// # Errors
    /// `invalid_row` and `unsuitable_table`; `table_recreated`, `partition_not_found` and what keeps leaders or a writer
    /// id from being learnt. Nothing was sent then.
    pub async fn write(&mut self, changes: &[RowChange]) -> Result<Vec<BatchOutcome>, Error> {
        let (shares, keys) = self.place(changes)?;
        if shares.is_empty() {
            return Ok(Vec::new());
        }
        let deadline = self.table.client().deadline();
        for partition in partitions(&shares) {
            self.table.layout(partition.as_deref(), deadline).await?;
        }
        if self.options.max_attempts > 1 && self.writer_id.is_none() {
            let partition = shares.keys().next().and_then(|(partition, _)| partition.clone());
            self.writer_id = Some(self.new_writer_id(partition.as_deref()).await?);
            self.sequences.clear();
        }
        let batches = self.encode(changes, &shares, &keys)?;
        Ok(self.send(batches).await)
    }

    /// Finds the bucket of each change, and the key of those that have one.
    fn place(&mut self, changes: &[RowChange]) -> Result<(Shares, Vec<Bytes>), Error> {
        let mut shares = Shares::new();
        let mut keys = Vec::new();
        let has_key = self.table.schema().has_primary_key();
        let sticky = self.sticky_bucket()?;
        for (index, change) in changes.iter().enumerate() {
            let (partition, bucket) = match (change, has_key) {
                (RowChange::Append(row), false) => {
                    self.check_row(index, row, None)?;
                    let bucket = match &self.rules {
                        Some(rules) => self.table.bucket_of(rules, index, row)?,
                        None => sticky,
                    };
                    (self.table.partition_of(index, row)?, bucket)
                }
                (RowChange::Upsert(row), true) => {
                    self.check_row(index, row, self.options.target_columns.as_deref())?;
                    let place = self.place_keyed(index, row)?;
                    keys.push(place.key);
                    (place.partition, place.bucket)
                }
                (RowChange::Delete(key), true) => {
                    let positions = self.table.positions(self.table.schema().primary_key());
                    if key.len() != positions.len() {
                        let error = RowError::Arity { expected: positions.len(), found: key.len() };
                        return Err(self.table.invalid_row(index, error));
                    }
                    let place = self.place_keyed(index, &self.table.sparse_row(&positions, key))?;
                    keys.push(place.key);
                    (place.partition, place.bucket)
                }
                (RowChange::Append(_), true) => {
                    return Err(self.table.unsuitable("has a primary key: its rows are upserted"));
                }
                (_, false) => return Err(self.table.unsuitable("has no primary key: its rows are appended")),
            };
            shares.entry((partition, bucket)).or_default().push(index);
        }
        Ok((shares, keys))
    }

    fn place_keyed(&self, index: usize, row: &[Value]) -> Result<crate::table::Placement, Error> {
        let rules = self.rules.as_ref().ok_or_else(|| self.table.unsuitable("has no primary key"))?;
        self.table.place(rules, index, row)
    }

    /// Returns the bucket for the rows of this call where no key chooses it.
    fn sticky_bucket(&mut self) -> Result<i32, Error> {
        let count = self.table.descriptor().bucket_count().unwrap_or(1).max(1);
        if let Some(bucket) = self.options.bucket {
            let exists = u32::try_from(bucket).is_ok_and(|bucket| bucket < count);
            return if exists { Ok(bucket) } else { Err(Error::BucketMissing { bucket }) };
        }
        let bucket = self.next_bucket % count;
        self.next_bucket = (bucket + 1) % count;
        i32::try_from(bucket).map_err(|_| self.table.unsuitable("has more buckets than can be numbered"))
    }

    /// Checks that a row has a value wherever one is needed.
    fn check_row(&self, index: usize, row: &[Value], targets: Option<&[usize]>) -> Result<(), Error> {
        let columns = self.table.schema().columns();
        if row.len() != columns.len() {
            let error = RowError::Arity { expected: columns.len(), found: row.len() };
            return Err(self.table.invalid_row(index, error));
        }
        for (position, (column, value)) in columns.iter().zip(row).enumerate() {
            let is_target = targets.is_none_or(|targets| targets.contains(&position));
            if is_target && value.is_null() && !column.data_type.is_nullable() {
                let data_type = column.data_type.to_string();
                let error = RowError::TypeMismatch { position, data_type, found: value.type_name() };
                return Err(self.table.invalid_row(index, error));
            }
        }
        Ok(())
    }

    /// Asks any tablet server for an id under which batches can be numbered.
    async fn new_writer_id(&self, partition: Option<&str>) -> Result<i64, Error> {
        let client = self.table.client();
        let deadline = client.deadline();
        let layout = self.table.layout(partition, deadline).await?;
        let request = InitWriterRequest { table_path: vec![self.table.path().into()] };
        let mut failed = self.table.unsuitable("has no server that could be asked for a writer id");
        for address in layout.servers.values().flatten() {
            let asked = async {
                let connection =
                    client.tablet_server(address, deadline, InitWriterRequest::KEY.name()).await?;
                connection.request(&request, deadline, client.limit()).await
            };
            match asked.await {
                Ok(answer) => return Ok(answer.writer_id),
                Err(error) if error.is_retryable() => failed = error,
                Err(error) => return Err(error),
            }
        }
        Err(failed)
    }

    fn encode(&mut self, changes: &[RowChange], shares: &Shares, keys: &[Bytes]) -> Result<Batches, Error> {
        let mut batches = Batches::new();
        for (place, rows) in shares {
            let encoded = if self.table.schema().has_primary_key() {
                self.encode_puts(place, rows, changes, keys)?
            } else {
                self.encode_appends(place, rows, changes)?
            };
            batches.insert(place.clone(), encoded);
        }
        Ok(batches)
    }

    /// Returns the writer id and the number that the next batch of a bucket gets after `ahead` others.
    fn stamp(&self, place: &(Option<String>, i32), ahead: usize) -> (i64, i32) {
        let Some(writer_id) = self.writer_id else { return (NO_WRITER, NO_SEQUENCE) };
        let next = self.sequences.get(place).copied().unwrap_or_default();
        // Numbers go on with 0 after the highest.
        let ahead = i32::try_from(ahead).unwrap_or_default();
        (writer_id, next.wrapping_add(ahead) & i32::MAX)
    }

    fn encode_appends(
        &self,
        place: &(Option<String>, i32),
        rows: &[usize],
        changes: &[RowChange],
    ) -> Result<Vec<Pending>, Error> {
        let descriptor = self.table.descriptor();
        let unfit = |index: usize| move |error| self.table.invalid_row(index, error);
        let encoding = match descriptor.log_format().map_err(|error| self.table.unreadable(error))? {
            LogFormat::Arrow => LogEncoding::Arrow(
                descriptor.arrow_compression().map_err(|error| self.table.unreadable(error))?,
            ),
            LogFormat::Indexed => LogEncoding::Rows(RowFormat::Indexed),
            LogFormat::Compacted => LogEncoding::Rows(RowFormat::Compacted),
        };
        let types: Arc<[DataType]> = self.table.schema().data_types().into_iter().cloned().collect();
        let schema_id = self.table.schema_id()?;
        let mut builder = LogBatchBuilder::new(types, schema_id, encoding, true).map_err(unfit(0))?;
        let mut batches = Vec::new();
        let mut held = Vec::new();
        for (count, index) in rows.iter().enumerate() {
            let Some(RowChange::Append(row)) = changes.get(*index) else { continue };
            builder.append(ChangeType::Append, row).map_err(unfit(*index))?;
            held.push(*index);
            if builder.size_bytes() >= BATCH_BYTES || count + 1 == rows.len() {
                let (writer_id, sequence) = self.stamp(place, batches.len());
                let bytes = builder.finish(writer_id, sequence).map_err(unfit(*index))?;
                batches.push(Pending { rows: std::mem::take(&mut held), bytes });
            }
        }
        Ok(batches)
    }

    fn encode_puts(
        &self,
        place: &(Option<String>, i32),
        rows: &[usize],
        changes: &[RowChange],
        keys: &[Bytes],
    ) -> Result<Vec<Pending>, Error> {
        let types: Arc<[DataType]> = self.table.schema().data_types().into_iter().cloned().collect();
        let mut builder = KvBatchBuilder::new(types, self.table.schema_id()?, self.table.kv_format()?);
        let mut batches: Vec<Pending> = Vec::new();
        let mut held = Vec::new();
        for (count, index) in rows.iter().enumerate() {
            let (Some(change), Some(key)) = (changes.get(*index), keys.get(*index)) else { continue };
            let row = match change {
                RowChange::Upsert(row) => Some(row.as_slice()),
                RowChange::Append(_) | RowChange::Delete(_) => None,
            };
            builder.append(key, row).map_err(|error| self.table.invalid_row(*index, error))?;
            held.push(*index);
            if builder.size_bytes() >= BATCH_BYTES || count + 1 == rows.len() {
                let (writer_id, sequence) = self.stamp(place, batches.len());
                let bytes = builder.finish(writer_id, sequence);
                let bytes = bytes.map_err(|error| self.table.invalid_row(*index, error))?;
                batches.push(Pending { rows: std::mem::take(&mut held), bytes });
            }
        }
        Ok(batches)
    }

    /// Sends the batches, one of each bucket at a time.
    async fn send(&mut self, batches: Batches) -> Vec<BatchOutcome> {
        let mut outcomes = Vec::new();
        let mut waiting: BTreeMap<_, _> =
            batches.into_iter().map(|(place, batches)| (place, batches.into_iter())).collect();
        let mut failed: Vec<(Option<String>, i32)> = Vec::new();
        loop {
            let mut round: BTreeMap<Option<String>, BTreeMap<i32, Pending>> = BTreeMap::new();
            for (place, batches) in &mut waiting {
                let Some(batch) = batches.next() else { continue };
                if failed.contains(place) {
                    outcomes.push(outcome(place, batch.rows, WriteOutcome::NotSent));
                } else {
                    round.entry(place.0.clone()).or_default().insert(place.1, batch);
                }
            }
            if round.is_empty() {
                if waiting.values().all(|batches| batches.len() == 0) {
                    return outcomes;
                }
                continue;
            }
            for (partition, batches) in round {
                for part in split(batches) {
                    for result in self.send_round(partition.clone(), part).await {
                        if !matches!(result.outcome, WriteOutcome::Written { .. }) {
                            failed.push((result.partition.clone(), result.bucket));
                        }
                        outcomes.push(result);
                    }
                }
            }
        }
    }

    async fn send_round(
        &mut self,
        partition: Option<String>,
        batches: BTreeMap<i32, Pending>,
    ) -> Vec<BatchOutcome> {
        let client = self.table.client();
        let patience = Patience { attempts: self.options.max_attempts, deadline: client.deadline() };
        let timeout_ms = clock::millis(client.limit() * REPLICATION_PERCENT / 100).max(1);
        let timeout_ms = i32::try_from(timeout_ms).unwrap_or(i32::MAX);
        let acks = match self.options.acks {
            Acks::All => -1,
            Acks::Leader => 1,
        };
        let items: BTreeMap<i32, Bytes> =
            batches.iter().map(|(bucket, batch)| (*bucket, batch.bytes.clone())).collect();
        let answers = if self.table.schema().has_primary_key() {
            let targets = self.options.target_columns.iter().flatten();
            let target_columns = targets.map(|at| i32::try_from(*at).unwrap_or(i32::MAX)).collect();
            let call = Arc::new(Put { acks, timeout_ms, target_columns });
            self.table.call(partition.as_deref(), items, &call, patience).await
        } else {
            let call = Arc::new(Produce { acks, timeout_ms });
            self.table.call(partition.as_deref(), items, &call, patience).await
        };
        let mut called = answers.map_err(WriteOutcome::Refused);
        let mut outcomes = Vec::with_capacity(batches.len());
        for (bucket, batch) in batches {
            let place = (partition.clone(), bucket);
            let result = match &mut called {
                Ok(called) => {
                    let answer =
                        called.answers.remove(&bucket).unwrap_or(Err(Error::BucketMissing { bucket }));
                    judge(answer, called.open.contains(&bucket))
                }
                // Without leaders nothing was sent.
                Err(refused) => refused.clone(),
            };
            match &result {
                WriteOutcome::Written { .. } => {
                    let next = self.sequences.entry(place.clone()).or_default();
                    *next = next.wrapping_add(1) & i32::MAX;
                }
                // What the server holds of this writer is not known any more, or was refused for good.
                WriteOutcome::Unknown(_) | WriteOutcome::Refused(_) => self.writer_id = None,
                WriteOutcome::NotSent => {}
            }
            outcomes.push(outcome(&place, batch.rows, result));
        }
        outcomes
    }
}

/// Parts batches so that those sent at the same time are no larger than a request should be.
fn split(batches: BTreeMap<i32, Pending>) -> Vec<BTreeMap<i32, Pending>> {
    let mut parts: Vec<BTreeMap<i32, Pending>> = Vec::new();
    let mut size = usize::MAX;
    for (bucket, batch) in batches {
        let with_this = size.saturating_add(batch.bytes.len());
        match parts.last_mut().filter(|_| with_this <= REQUEST_BYTES) {
            Some(part) => {
                size = with_this;
                part.insert(bucket, batch);
            }
            None => {
                size = batch.bytes.len();
                parts.push(BTreeMap::from([(bucket, batch)]));
            }
        }
    }
    parts
}

fn partitions(shares: &Shares) -> Vec<Option<String>> {
    let mut partitions: Vec<_> = shares.keys().map(|(partition, _)| partition.clone()).collect();
    partitions.dedup();
    partitions
}

fn outcome(place: &(Option<String>, i32), rows: Vec<usize>, outcome: WriteOutcome) -> BatchOutcome {
    BatchOutcome { partition: place.0.clone(), bucket: place.1, rows, outcome }
}

/// Tells from a bucket's last answer whether its batch was written; an earlier attempt may have left that open.
fn judge(answer: Result<Option<i64>, Error>, was_open: bool) -> WriteOutcome {
    match answer {
        Ok(offset) => WriteOutcome::Written { offset },
        // The server has the batch from an attempt whose answer was lost.
        Err(Error::Server { code, .. }) if code.code() == DUPLICATE_SEQUENCE => {
            WriteOutcome::Written { offset: None }
        }
        Err(error) if was_open || error.leaves_outcome_open() => WriteOutcome::Unknown(error),
        Err(error) => WriteOutcome::Refused(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::HostPort;
    use fluss_codec::api_key::ApiKey;

    fn server(code: i32) -> Error {
        let address = HostPort::new("ts0", 9123).expect("address");
        Error::server(&address, ApiKey::PutKv, code, None)
    }

    fn word(outcome: &WriteOutcome) -> &'static str {
        match outcome {
            WriteOutcome::Written { .. } => "written",
            WriteOutcome::Refused(_) => "refused",
            WriteOutcome::Unknown(_) => "unknown",
            WriteOutcome::NotSent => "not sent",
        }
    }

    #[test]
    fn requests_are_not_larger_than_they_should_be() {
        let pending = |size: usize| Pending { rows: Vec::new(), bytes: Bytes::from(vec![0; size]) };
        let sizes = [1, 2, 5, REQUEST_BYTES, 1, REQUEST_BYTES + 1, 1];
        let batches = (0..).zip(sizes).map(|(bucket, size)| (bucket, pending(size))).collect();
        let parts: Vec<Vec<i32>> = split(batches).iter().map(|part| part.keys().copied().collect()).collect();
        assert_eq!(parts, [vec![0, 1, 2], vec![3], vec![4], vec![5], vec![6]]);
        assert!(split(BTreeMap::new()).is_empty());
    }

    #[test]
    fn an_outcome_is_only_certain_when_no_attempt_left_it_open() {
        for (answer, was_open, expected) in [
            (Ok(Some(5)), false, "written"),
            (Ok(None), true, "written"),
            // The batch is there from an attempt whose answer was lost.
            (Err(server(32)), true, "written"),
            // No record, no replica, no leader: it was not appended.
            (Err(server(13)), false, "refused"),
            (Err(server(29)), false, "refused"),
            (Err(server(12)), false, "refused"),
            // The same after an attempt without an answer says nothing about that attempt.
            (Err(server(12)), true, "unknown"),
            (Err(server(25)), false, "unknown"),
            (Err(server(28)), false, "unknown"),
            (Err(server(31)), false, "unknown"),
        ] {
            let shown = format!("{answer:?} {was_open}");
            assert_eq!(word(&judge(answer, was_open)), expected, "{shown}");
        }
    }
}
