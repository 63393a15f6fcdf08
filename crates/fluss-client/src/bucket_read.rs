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
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::bootstrap::HostPort;
use crate::client::FlussClient;
use crate::error::Error;
use crate::metadata::Layout;

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

impl FlussClient {
    /// Reads one offset of every bucket of a table, or of one partition of it.
    ///
    /// # Errors
    /// When the table cannot be found or its leaders cannot be learnt. What goes
    /// wrong with single buckets is in their answers.
    pub async fn list_offsets(
        &self,
        path: &TablePath,
        partition: Option<&str>,
        spec: OffsetSpec,
    ) -> Result<Vec<BucketAnswer<i64>>, Error> {
        self.read_buckets(path, partition, OffsetQuestion(spec)).await
    }

    /// Reads the row count of every bucket of a table, or of one partition of it.
    ///
    /// A primary-key table keeps a count (not with `table.changelog.image=WAL`: code 15);
    /// for a log table it is high watermark minus log start.
    ///
    /// # Errors
    /// As [`FlussClient::list_offsets`].
    pub async fn row_counts(
        &self,
        path: &TablePath,
        partition: Option<&str>,
    ) -> Result<Vec<BucketAnswer<i64>>, Error> {
        self.read_buckets(path, partition, RowCountQuestion).await
    }

    async fn read_buckets<Q: BucketQuestion>(
        &self,
        path: &TablePath,
        partition: Option<&str>,
        question: Q,
    ) -> Result<Vec<BucketAnswer<i64>>, Error> {
        let deadline = self.deadline();
        let api = Q::Request::KEY.name();
        let mut layout = self.layout(path, partition, deadline, false).await?;
        let mut answers: BTreeMap<i32, BucketAnswer<i64>> = BTreeMap::new();
        let mut open: BTreeSet<i32> = layout.buckets.iter().map(|bucket| bucket.bucket).collect();
        for attempt in 1.. {
            let round = self.ask_leaders(&layout, &open, &question, deadline).await;
            answers.extend(round.into_iter().map(|answer| (answer.bucket, answer)));
            let failed = |bucket: &i32| answers.get(bucket).and_then(|answer| answer.result.as_ref().err());
            open.retain(|bucket| failed(bucket).is_some_and(Error::is_retryable));
            let Some(error) = open.iter().find_map(failed).cloned() else { break };
            let is_stale = open.iter().filter_map(failed).any(Error::invalidates_metadata);
            if !self.may_retry(&error, attempt, deadline, api).await {
                break;
            }
            if is_stale {
                // Without new metadata the first errors stand; they say more than "no metadata".
                let Ok(fresh) = self.layout(path, partition, deadline, true).await else { break };
                if fresh.table_id != layout.table_id {
                    let error = Error::TableRecreated {
                        path: path.clone(),
                        expected: layout.table_id,
                        found: fresh.table_id,
                    };
                    for answer in answers.values_mut() {
                        answer.result = Err(error.clone());
                    }
                    break;
                }
                layout = fresh;
            }
        }
        Ok(answers.into_values().collect())
    }

    /// Asks each leader once for its share of `wanted`.
    async fn ask_leaders<Q: BucketQuestion>(
        &self,
        layout: &Arc<Layout>,
        wanted: &BTreeSet<i32>,
        question: &Q,
        deadline: Instant,
    ) -> Vec<BucketAnswer<i64>> {
        let mut answers = Vec::new();
        let mut shares: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
        for bucket in layout.buckets.iter().filter(|bucket| wanted.contains(&bucket.bucket)) {
            match bucket.leader.filter(|leader| layout.servers.contains_key(leader)) {
                Some(leader) => shares.entry(leader).or_default().push(bucket.bucket),
                None => answers.push(BucketAnswer {
                    bucket: bucket.bucket,
                    leader: bucket.leader,
                    result: Err(Error::LeaderNotAvailable { bucket: bucket.bucket }),
                }),
            }
        }
        let mut asking = JoinSet::new();
        for (leader, buckets) in shares {
            let Some(address) = layout.servers.get(&leader).cloned() else { continue };
            let (client, layout, question) = (self.clone(), Arc::clone(layout), question.clone());
            asking.spawn(async move {
                client.ask_leader(leader, &address, &layout, buckets, &question, deadline).await
            });
        }
        while let Some(share) = asking.join_next().await {
            // A task only fails when it is aborted, which drops this future too.
            answers.extend(share.unwrap_or_default());
        }
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
            Ok(connection) => connection.request(&request, deadline, self.limit()).await,
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
