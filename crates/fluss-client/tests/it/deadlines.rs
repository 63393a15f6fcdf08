//! Every wait has an end, and the end is where the settings say.

use std::sync::Arc;

use fluss_client::bucket_read::{BucketTarget, OffsetSpec};
use fluss_client::client::FlussClient;
use fluss_client::observer::Aggregates;
use fluss_client::settings::ConnectionSettings;
use fluss_codec::api_key::ApiKey;
use fluss_testkit::fake_server::ForeignListener;
use fluss_testkit::fake_server::Script;

use crate::support::{SECOND, assert_took, client, client_with, failed, options, path, shop, timed};

#[tokio::test]
async fn port_that_accepts_and_never_answers_costs_the_request_timeout() {
    let mute = ForeignListener::mute().await.unwrap();
    let (result, took) = timed(client(&mute.address().to_string()).list_databases()).await;
    assert_took(took, SECOND);
    assert_eq!(result.unwrap_err().code(), "request_timeout");
}

#[tokio::test]
async fn request_that_is_never_answered_costs_the_request_timeout() {
    let cluster = shop().start().unwrap();
    let client = client(&cluster.bootstrap());
    client.list_databases().await.unwrap();
    cluster.coordinator().on(ApiKey::ListTables, Script::NeverAnswer);
    let (result, took) = timed(client.list_tables("shop")).await;
    assert_took(took, SECOND);
    let error = result.unwrap_err();
    assert_eq!(error.code(), "coordinator_unavailable");
    assert!(crate::support::chain(&error).contains("no answer from"), "{error:?}");
    // The connection was silent, so the next request gets a new one.
    cluster.coordinator().clear(ApiKey::ListTables);
    let accepted = cluster.coordinator().accepted_count();
    client.list_tables("shop").await.unwrap();
    assert_eq!(cluster.coordinator().accepted_count(), accepted + 1);
}

#[tokio::test]
async fn slow_answer_within_the_limit_is_an_answer() {
    let cluster = shop().start().unwrap();
    cluster.coordinator().on(ApiKey::ListTables, Script::Delay(SECOND / 2));
    assert_eq!(client(&cluster.bootstrap()).list_tables("shop").await.unwrap().len(), 2);
}

/// Byte by byte is still an answer or still a deadline, never a hang.
#[tokio::test]
async fn trickled_answer_ends_at_the_deadline() {
    let cluster = shop().start().unwrap();
    cluster.coordinator().on(ApiKey::ListTables, Script::TrickleBytes(SECOND / 4));
    let (result, took) = timed(client(&cluster.bootstrap()).list_tables("shop")).await;
    assert_took(took, SECOND);
    assert!(result.is_err());
}

#[tokio::test]
async fn frozen_tablet_server_fails_its_buckets_at_the_deadline_and_no_others() {
    let cluster = shop().start().unwrap();
    let client = client(&cluster.bootstrap());
    let orders = path("shop.orders");
    let before = client.offsets(&BucketTarget::named(&orders, None), OffsetSpec::Latest).await.unwrap();
    assert!(failed(&before).is_empty());
    let frozen = &cluster.tablet_servers()[1];
    let held: Vec<_> = before
        .iter()
        .filter(|one| one.leader == Some(frozen.id()))
        .map(|one| (one.bucket, "request_timeout"))
        .collect();
    assert!(!held.is_empty() && held.len() < 6);
    frozen.freeze();
    let (answers, took) =
        timed(client.offsets(&BucketTarget::named(&orders, None), OffsetSpec::Latest)).await;
    assert_took(took, SECOND);
    assert_eq!(failed(&answers.unwrap()), held);
    frozen.thaw();
    let after = client.offsets(&BucketTarget::named(&orders, None), OffsetSpec::Latest).await.unwrap();
    assert!(failed(&after).is_empty(), "it comes back by itself: {after:?}");
}

#[tokio::test]
async fn reads_are_tried_as_often_as_the_settings_say() {
    for (attempts, requests) in [(1, 1), (2, 2), (3, 3)] {
        let cluster = shop().start().unwrap();
        cluster.coordinator().on(ApiKey::ListTables, Script::Close);
        let mut limited = options(&cluster.bootstrap());
        limited.read_max_attempts = Some(attempts);
        assert!(client_with(limited).list_tables("shop").await.is_err());
        assert_eq!(cluster.coordinator().request_count(ApiKey::ListTables), requests);
    }
}

#[tokio::test]
async fn refusal_is_not_tried_again() {
    let cluster = shop().start().unwrap();
    cluster.coordinator().on(ApiKey::ListTables, Script::error(48, "no"));
    let error = client(&cluster.bootstrap()).list_tables("shop").await.unwrap_err();
    assert_eq!(error.server_code().unwrap().code(), 48);
    assert_eq!(cluster.coordinator().request_count(ApiKey::ListTables), 1);
}

#[tokio::test]
async fn observer_is_told_of_requests_dials_retries_and_deadlines() {
    let cluster = shop().start().unwrap();
    let aggregates = Arc::new(Aggregates::default());
    let settings = ConnectionSettings::try_from(options(&cluster.bootstrap())).unwrap();
    let client = FlussClient::with_observer(settings, Arc::new(Arc::clone(&aggregates))).unwrap();
    cluster.coordinator().on(ApiKey::ListTables, Script::Close.times(1));
    client.list_tables("shop").await.unwrap();
    cluster.coordinator().on(ApiKey::ListTables, Script::NeverAnswer);
    client.list_tables("shop").await.unwrap_err();
    let seen = aggregates.snapshot();
    let tables = &seen.requests["LIST_TABLES"];
    assert_eq!((tables.count, tables.error_count, tables.timeout_count), (3, 1, 1));
    assert_eq!(seen.retry_count, 1);
    assert!(seen.dials.count >= 2 && seen.closed_connection_count >= 2, "{seen:?}");
}
