//! Reads that go to the leader of each bucket: offsets and row counts.
//!
//! Buckets are asked for together, one request per leader, all under one
//! deadline. Every bucket gets an answer of its own, so that one lost server
//! costs its buckets and no others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fluss_codec::codes::OffsetType;
use fluss_codec::messages::{
    GetTableStatsRequest, GetTableStatsResponse, ListOffsetsRequest, ListOffsetsResponse,
    PbTableStatsReqForBucket, Request,
};
use fluss_codec::name::TablePath;
use tokio::time::Instant;

use crate::admin::TableInfo;
use crate::bootstrap::HostPort;
use crate::client::FlussClient;
use crate::error::Error;
use crate::metadata::Layout;
use crate::parallel::in_parallel;

/// Most leaders of one table that are asked at the same time.
const PARALLEL_LEADERS: usize = 64;

/// What one bucket's leader said, or why it could not be asked.
#[derive(Debug, Clone)]
pub struct BucketAnswer<T> {
    /// Number of the bucket within its table or partition.
    pub bucket: i32,
    /// Id of the leader that was asked, absent when there was none.
    pub leader: Option<i32>,
    /// The leader's answer.
    pub result: Result<T, Error>,
}

/// Which offset of a bucket is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OffsetSpec {
    /// The first offset that can still be read, tiered segments included.
    Earliest,
    /// The offset after the last one that can be read (the high watermark).
    Latest,
    /// The first offset whose commit time is at or after this many milliseconds
    /// since the epoch. A time after the newest record gives the latest offset;
    /// a time in the server's future is refused with code 38.
    Timestamp(i64),
}

/// One kind of question that bucket leaders answer.
trait BucketQuestion: Clone + Send + Sync + 'static {
    type Request: Request + Send + Sync;

    fn request(&self, layout: &Layout, buckets: &[i32]) -> Self::Request;

    /// Splits an answer into its buckets.
    fn split(answer: <Self::Request as Request>::Response) -> Vec<BucketItem>;
}

/// One bucket's part of an answer as it stands on the wire.
struct BucketItem {
    bucket: i32,
    error_code: Option<i32>,
    error_message: Option<String>,
    value: Option<i64>,
}

#[derive(Clone)]
struct OffsetQuestion(OffsetSpec);

impl BucketQuestion for OffsetQuestion {
    type Request = ListOffsetsRequest;

    fn request(&self, layout: &Layout, buckets: &[i32]) -> ListOffsetsRequest {
        let (kind, start_timestamp) = match self.0 {
            OffsetSpec::Earliest => (OffsetType::Earliest, None),
            OffsetSpec::Latest => (OffsetType::Latest, None),
            OffsetSpec::Timestamp(millis) => (OffsetType::Timestamp, Some(millis)),
        };
        ListOffsetsRequest {
            // −1 marks a client; an id of 0 or more would be a following server.
            follower_server_id: -1,
            offset_type: kind.code(),
            table_id: layout.table_id,
            partition_id: layout.partition_id,
            bucket_id: buckets.to_vec(),
            start_timestamp,
        }
    }

    fn split(answer: ListOffsetsResponse) -> Vec<BucketItem> {
        answer
            .buckets_resp
            .into_iter()
            .map(|item| BucketItem {
                bucket: item.bucket_id,
                error_code: item.error_code,
                error_message: item.error_message,
                value: item.offset,
            })
            .collect()
    }
}

#[derive(Clone)]
struct RowCountQuestion;

impl BucketQuestion for RowCountQuestion {
    type Request = GetTableStatsRequest;

    fn request(&self, layout: &Layout, buckets: &[i32]) -> GetTableStatsRequest {
        GetTableStatsRequest {
            table_id: layout.table_id,
            buckets_req: buckets
                .iter()
                .map(|bucket| PbTableStatsReqForBucket {
                    partition_id: layout.partition_id,
                    bucket_id: *bucket,
                })
                .collect(),
            target_columns: Vec::new(),
        }
    }

    fn split(answer: GetTableStatsResponse) -> Vec<BucketItem> {
        answer
            .buckets_resp
            .into_iter()
            .map(|item| BucketItem {
                bucket: item.bucket_id,
                error_code: item.error_code,
                error_message: item.error_message,
                value: item.row_count,
            })
            .collect()
    }
}

/// The buckets of a table, or of one partition of it, and what the caller knows of them.
///
/// What is known is held against the answers: buckets of a table that was made anew are
/// refused, and a bucket that metadata does not list is an answer that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketTarget {
    path: TablePath,
    partition: Option<String>,
    table_id: Option<i64>,
    partition_id: Option<i64>,
    bucket_count: Option<u32>,
}

impl BucketTarget {
    /// Means the buckets of a table without partitions, or of one partition given by name and id.
    pub fn of(table: &TableInfo, partition: Option<(&str, i64)>) -> Self {
        let bucket_count = table.descriptor.bucket_count();
        Self::named(&table.path, partition.map(|(name, _)| name)).expecting(
            table.table_id,
            partition.map(|(_, id)| id),
            bucket_count,
        )
    }

    /// Adds what the caller knows of the table or partition.
    pub fn expecting(self, table_id: i64, partition_id: Option<i64>, bucket_count: Option<u32>) -> Self {
        Self { table_id: Some(table_id), partition_id, bucket_count, ..self }
    }

    /// Means the buckets of a table or partition of which only the name is known.
    pub fn named(path: &TablePath, partition: Option<&str>) -> Self {
        Self {
            path: path.clone(),
            partition: partition.map(str::to_owned),
            table_id: None,
            partition_id: None,
            bucket_count: None,
        }
    }

    /// Returns why `layout` is not of this table or partition.
    fn mismatch(&self, layout: &Layout) -> Option<Error> {
        if let Some(expected) = self.table_id.filter(|id| *id != layout.table_id) {
            let what = format!("table {}", self.path);
            return Some(Error::TableRecreated { what, expected, found: layout.table_id });
        }
        let expected = self.partition_id.filter(|id| Some(*id) != layout.partition_id)?;
        let what = format!("partition {} of {}", self.partition.as_deref().unwrap_or_default(), self.path);
        Some(Error::TableRecreated { what, expected, found: layout.partition_id.unwrap_or(-1) })
    }

    /// Returns the numbers of the buckets that must answer.
    fn expected(&self, layout: &Layout) -> BTreeSet<i32> {
        let known = self.bucket_count.map_or(0, |count| i32::try_from(count).unwrap_or(i32::MAX));
        (0..known).chain(layout.buckets.iter().map(|bucket| bucket.bucket)).collect()
    }
}

impl FlussClient {
    /// Reads one offset of every bucket.
    ///
    /// # Errors
    /// When the table cannot be found or its leaders cannot be learnt. What goes
    /// wrong with single buckets is in their answers.
    pub async fn offsets(
        &self,
        target: &BucketTarget,
        spec: OffsetSpec,
    ) -> Result<Vec<BucketAnswer<i64>>, Error> {
        self.read_buckets(target, OffsetQuestion(spec)).await
    }

    /// Reads the row count of every bucket.
    ///
    /// A primary-key table keeps a count (not with `table.changelog.image=WAL`: code 15);
    /// for a log table it is high watermark minus log start.
    ///
    /// # Errors
    /// As [`FlussClient::offsets`].
    pub async fn row_counts(&self, target: &BucketTarget) -> Result<Vec<BucketAnswer<i64>>, Error> {
        self.read_buckets(target, RowCountQuestion).await
    }

    async fn read_buckets<Q: BucketQuestion>(
        &self,
        target: &BucketTarget,
        question: Q,
    ) -> Result<Vec<BucketAnswer<i64>>, Error> {
        let deadline = self.deadline();
        let api = Q::Request::KEY.name();
        let mut target = target.clone();
        let mut layout = self.layout(&target.path, target.partition.as_deref(), deadline).await?;
        if target.mismatch(&layout).is_some() {
            // What is remembered may be the old table, and the caller may know the new one.
            self.inner.leaders.forget(&target.path, target.partition.as_deref(), &layout);
            layout = self.layout(&target.path, target.partition.as_deref(), deadline).await?;
        }
        if let Some(error) = target.mismatch(&layout) {
            return Err(error);
        }
        target.table_id = Some(layout.table_id);
        target.partition_id = layout.partition_id;

        let mut answers: BTreeMap<i32, BucketAnswer<i64>> = BTreeMap::new();
        let mut open = target.expected(&layout);
        for attempt in 1.. {
            let round = self.ask_leaders(&layout, &open, &question, deadline).await;
            answers.extend(round.into_iter().map(|answer| (answer.bucket, answer)));
            let failed = |bucket: &i32| answers.get(bucket).and_then(|answer| answer.result.as_ref().err());
            if open.iter().filter_map(failed).any(Error::invalidates_metadata) {
                self.inner.leaders.forget(&target.path, target.partition.as_deref(), &layout);
            }
            open.retain(|bucket| failed(bucket).is_some_and(Error::is_retryable));
            let Some(error) = open.iter().find_map(failed).cloned() else { break };
            if !self.may_retry(&error, attempt, deadline, api).await {
                break;
            }
            let fresh = match self.layout(&target.path, target.partition.as_deref(), deadline).await {
                Ok(fresh) => fresh,
                Err(gone @ (Error::TableNotFound { .. } | Error::PartitionNotFound { .. })) => {
                    return Err(gone);
                }
                // Without new metadata the first errors stand; they say more than "no metadata".
                Err(_) => break,
            };
            if let Some(error) = target.mismatch(&fresh) {
                // What has answered so far was the old table.
                return Err(error);
            }
            layout = fresh;
        }
        Ok(answers.into_values().collect())
    }

    /// Asks each leader once for its share of `wanted`; every wanted bucket gets an answer.
    async fn ask_leaders<Q: BucketQuestion>(
        &self,
        layout: &Arc<Layout>,
        wanted: &BTreeSet<i32>,
        question: &Q,
        deadline: Instant,
    ) -> Vec<BucketAnswer<i64>> {
        let mut answers = Vec::new();
        let mut shares: BTreeMap<i32, (HostPort, Vec<i32>)> = BTreeMap::new();
        let known: BTreeMap<i32, Option<i32>> =
            layout.buckets.iter().map(|bucket| (bucket.bucket, bucket.leader)).collect();
        for bucket in wanted.iter().copied() {
            let leader = known.get(&bucket).copied().flatten();
            let address = leader.and_then(|leader| layout.servers.get(&leader));
            let error = match (known.get(&bucket), leader, address) {
                (Some(_), Some(leader), Some(Ok(address))) => {
                    shares.entry(leader).or_insert_with(|| (address.clone(), Vec::new())).1.push(bucket);
                    continue;
                }
                (Some(_), _, Some(Err(error))) => error.clone(),
                (Some(_), leader, _) => Error::LeaderNotAvailable { bucket, leader },
                (None, ..) => Error::BucketMissing { bucket },
            };
            answers.push(BucketAnswer { bucket, leader, result: Err(error) });
        }
        let ask = |(leader, (address, buckets)): (i32, (HostPort, Vec<i32>))| {
            let (client, layout, question) = (self.clone(), Arc::clone(layout), question.clone());
            async move { client.ask_leader(leader, &address, &layout, buckets, &question, deadline).await }
        };
        let shares = in_parallel(shares.into_iter().collect(), PARALLEL_LEADERS, ask).await;
        answers.extend(shares.into_iter().flatten());
        answers
    }

    async fn ask_leader<Q: BucketQuestion>(
        &self,
        leader: i32,
        address: &HostPort,
        layout: &Layout,
        buckets: Vec<i32>,
        question: &Q,
        deadline: Instant,
    ) -> Vec<BucketAnswer<i64>> {
        let key = Q::Request::KEY;
        let request = question.request(layout, &buckets);
        let answered = match self.tablet_server(address, deadline, key.name()).await {
            Ok(connection) => self.send(&connection, &request, deadline).await,
            Err(error) => Err(error),
        };
        let mut items: BTreeMap<i32, BucketItem> = match answered {
            Ok(answer) => Q::split(answer).into_iter().map(|item| (item.bucket, item)).collect(),
            Err(error) => {
                return buckets
                    .into_iter()
                    .map(|bucket| BucketAnswer { bucket, leader: Some(leader), result: Err(error.clone()) })
                    .collect();
            }
        };
        let read = |item: Option<BucketItem>| match item {
            Some(BucketItem { error_code: Some(code), error_message, .. }) if code != 0 => {
                Err(Error::server(address, key, code, error_message))
            }
            Some(BucketItem { value: Some(value), .. }) => Ok(value),
            Some(_) => Err(Error::corrupt(address, "bucket has neither a value nor an error")),
            None => Err(Error::corrupt(address, "a bucket is missing from the answer")),
        };
        buckets
            .into_iter()
            .map(|bucket| BucketAnswer { bucket, leader: Some(leader), result: read(items.remove(&bucket)) })
            .collect()
    }
}
