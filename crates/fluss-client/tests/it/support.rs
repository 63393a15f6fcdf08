//! Shared by the tests: clients with short limits, tables of the scripted cluster.

use std::future::Future;
use std::time::{Duration, Instant};

use fluss_client::bucket_read::BucketAnswer;
use fluss_client::client::FlussClient;
use fluss_client::error::Error;
use fluss_client::settings::{ConnectionOptions, ConnectionSettings};
use fluss_codec::name::TablePath;
use fluss_testkit::fake_server::NewTable;
use fluss_testkit::fake_server::{FakeCluster, FakeClusterBuilder};

/// Shortest request timeout the settings allow, used by most tests.
pub(crate) const SECOND: Duration = Duration::from_secs(1);
/// What a deadline may be late on a busy machine.
pub(crate) const SLACK: Duration = Duration::from_millis(700);

pub(crate) fn options(endpoint: &str) -> ConnectionOptions {
    ConnectionOptions {
        endpoint: Some(endpoint.to_owned()),
        request_timeout_seconds: Some(1),
        dial_timeout_seconds: Some(1),
        ..ConnectionOptions::default()
    }
}

pub(crate) fn client_with(options: ConnectionOptions) -> FlussClient {
    FlussClient::new(ConnectionSettings::try_from(options).unwrap()).unwrap()
}

pub(crate) fn client(endpoint: &str) -> FlussClient {
    client_with(options(endpoint))
}

/// A cluster of three tablet servers with the primary-key table `shop.orders` of six buckets.
pub(crate) fn shop() -> FakeClusterBuilder {
    FakeCluster::builder()
        .tablet_servers(3)
        .table(NewTable::primary_key("shop", "orders").buckets(6))
        .table(NewTable::log("shop", "clicks").buckets(2))
}

pub(crate) fn path(text: &str) -> TablePath {
    text.parse().unwrap()
}

/// Runs a future and returns what it gave and how long it took.
pub(crate) async fn timed<F: Future>(future: F) -> (F::Output, Duration) {
    let started = Instant::now();
    let output = future.await;
    (output, started.elapsed())
}

/// Checks that something took its limit and hardly more.
pub(crate) fn assert_took(took: Duration, limit: Duration) {
    assert!(took >= limit && took < limit + SLACK, "took {took:?}, limit {limit:?}");
}

/// Returns the numbers of the buckets that failed, and the codes they failed with.
pub(crate) fn failed(answers: &[BucketAnswer<i64>]) -> Vec<(i32, &'static str)> {
    answers
        .iter()
        .filter_map(|one| one.result.as_ref().err().map(|error| (one.bucket, error.code())))
        .collect()
}

/// Joins an error and its causes, as a person reads them.
pub(crate) fn chain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
