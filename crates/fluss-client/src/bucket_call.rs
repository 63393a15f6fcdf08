//! Requests that go to the leaders of single buckets, each with a share of its own.
//!
//! Every bucket gets an answer; those that failed in a way that can pass are asked again, after the leaders have been
//! read anew where the failure says so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fluss_codec::messages::Request;
use tokio::time::{Instant, sleep};

use crate::bootstrap::HostPort;
use crate::client::FlussClient;
use crate::clock;
use crate::connection::{Connection, backoff};
use crate::error::Error;
use crate::metadata::Layout;
use crate::observer::Event;
use crate::parallel::in_parallel;
use crate::table::Table;

/// Most leaders that are asked at the same time.
const PARALLEL_LEADERS: usize = 64;

/// A kind of request with a part for each bucket.
pub(crate) trait BucketCall: Send + Sync + 'static {
    /// What one bucket is asked.
    type Item: Clone + Send + Sync + 'static;
    /// What one bucket answers.
    type Output: Send + 'static;
    /// The message.
    type Request: Request + Send + Sync;

    /// Makes the request for some buckets of one leader.
    fn request(&self, layout: &Layout, items: &[(i32, Self::Item)]) -> Self::Request;

    /// Splits an answer into its buckets.
    fn split(
        &self,
        answer: <Self::Request as Request>::Response,
        connection: &Connection,
    ) -> Vec<BucketPart<Self::Output>>;
}

/// One bucket's part of an answer as it stands on the wire.
pub(crate) struct BucketPart<T> {
    pub(crate) bucket: i32,
    pub(crate) error_code: Option<i32>,
    pub(crate) error_message: Option<String>,
    /// The answer if there is no error code; what is wrong with it otherwise.
    pub(crate) output: Result<T, Error>,
}

/// How often and how long buckets are asked.
#[derive(Clone, Copy)]
pub(crate) struct Patience {
    pub(crate) attempts: u32,
    pub(crate) deadline: Instant,
}

pub(crate) type Answers<T> = BTreeMap<i32, Result<T, Error>>;

/// Buckets of one leader with what each is asked.
type Share<T> = Vec<(i32, T)>;

/// What came of a call.
pub(crate) struct Called<T> {
    /// The last answer of each bucket.
    pub(crate) answers: Answers<T>,
    /// Buckets that may have done what an attempt asked for although its answer is missing.
    pub(crate) open: BTreeSet<i32>,
}

impl Table {
    /// Asks the leaders of buckets of the table or of one of its partitions.
    ///
    /// # Errors
    /// When the leaders cannot be learnt before anything was asked.
    pub(crate) async fn call<C: BucketCall>(
        &self,
        partition: Option<&str>,
        items: BTreeMap<i32, C::Item>,
        call: &Arc<C>,
        patience: Patience,
    ) -> Result<Called<C::Output>, Error> {
        let mut layout = self.layout(partition, patience.deadline).await?;
        let mut answers = Answers::new();
        let mut in_doubt = BTreeSet::new();
        let mut open = items;
        for attempt in 1.. {
            answers.extend(self.call_leaders(&layout, &open, call, patience.deadline).await);
            let failed = |bucket: &i32| answers.get(bucket).and_then(|answer| answer.as_ref().err());
            let is_in_doubt = |bucket: &&i32| failed(bucket).is_some_and(Error::leaves_outcome_open);
            in_doubt.extend(open.keys().filter(is_in_doubt));
            if open.keys().filter_map(failed).any(Error::invalidates_metadata) {
                self.forget(partition, &layout);
            }
            open.retain(|bucket, _| failed(bucket).is_some_and(Error::is_retryable));
            let Some(error) = open.keys().find_map(failed).map(Error::code) else { break };
            let pause = backoff(attempt - 1);
            if attempt >= patience.attempts || clock::remaining(patience.deadline) <= pause {
                break;
            }
            let api = C::Request::KEY.name();
            self.client().inner.pool.observer().observe(&Event::Retry { api, attempt, error });
            sleep(pause).await;
            // Without new metadata the first errors stand; they say more than "no metadata".
            match self.layout(partition, patience.deadline).await {
                Ok(fresh) => layout = fresh,
                Err(_) => break,
            }
        }
        Ok(Called { answers, open: in_doubt })
    }

    async fn call_leaders<C: BucketCall>(
        &self,
        layout: &Arc<Layout>,
        items: &BTreeMap<i32, C::Item>,
        call: &Arc<C>,
        deadline: Instant,
    ) -> Answers<C::Output> {
        let mut answers = Answers::new();
        let mut shares: BTreeMap<i32, (HostPort, Share<C::Item>)> = BTreeMap::new();
        for (bucket, item) in items {
            let known = layout.buckets.iter().find(|known| known.bucket == *bucket);
            let leader = known.and_then(|known| known.leader);
            let error = match (known, leader.and_then(|leader| Some((leader, layout.servers.get(&leader)?))))
            {
                (Some(_), Some((leader, Ok(address)))) => {
                    shares
                        .entry(leader)
                        .or_insert_with(|| (address.clone(), Vec::new()))
                        .1
                        .push((*bucket, item.clone()));
                    continue;
                }
                (Some(_), Some((_, Err(error)))) => error.clone(),
                (Some(_), None) => Error::LeaderNotAvailable { bucket: *bucket, leader },
                (None, _) => Error::BucketMissing { bucket: *bucket },
            };
            answers.insert(*bucket, Err(error));
        }
        let ask = |(address, items): (HostPort, Share<C::Item>)| {
            let (client, layout, call) = (self.client().clone(), Arc::clone(layout), Arc::clone(call));
            async move { call_leader(&client, &address, &layout, &items, &*call, deadline).await }
        };
        let shares = in_parallel(shares.into_values().collect(), PARALLEL_LEADERS, ask).await;
        answers.extend(shares.into_iter().flatten());
        answers
    }
}

async fn call_leader<C: BucketCall>(
    client: &FlussClient,
    address: &HostPort,
    layout: &Layout,
    items: &[(i32, C::Item)],
    call: &C,
    deadline: Instant,
) -> Vec<(i32, Result<C::Output, Error>)> {
    let key = C::Request::KEY;
    let asked = async {
        let connection = client.tablet_server(address, deadline, key.name()).await?;
        let request = call.request(layout, items);
        let answer = connection.request(&request, deadline, client.limit()).await?;
        Ok(call.split(answer, &connection))
    };
    let mut parts: BTreeMap<i32, BucketPart<C::Output>> = match asked.await {
        Ok(parts) => parts.into_iter().map(|part| (part.bucket, part)).collect(),
        Err(error) => {
            let error: Error = error;
            return items.iter().map(|(bucket, _)| (*bucket, Err(error.clone()))).collect();
        }
    };
    let read = |part: Option<BucketPart<C::Output>>| match part {
        Some(BucketPart { error_code: Some(code), error_message, .. }) if code != 0 => {
            Err(Error::server(address, key, code, error_message))
        }
        Some(part) => part.output,
        None => Err(Error::corrupt(address, "a bucket is missing from the answer")),
    };
    items.iter().map(|(bucket, _)| (*bucket, read(parts.remove(bucket)))).collect()
}
