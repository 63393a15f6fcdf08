//! Truncated, corrupted and oversized answers: an error each, no panic, nothing allocated on a lie.

use std::time::Duration;

use fluss_client::bucket_read::{BucketTarget, OffsetSpec};
use fluss_client::client::FlussClient;
use fluss_client::error::Error;
use fluss_codec::api_key::ApiKey;
use fluss_testkit::fake_server::{Bits, Script};
use tokio::task::JoinSet;

use crate::support::{client_with, options, path, shop};

/// Reads that together touch every kind of answer.
async fn read_everything(client: &FlussClient) -> Vec<(ApiKey, Result<(), Error>)> {
    let orders = path("shop.orders");
    let offsets = client.offsets(&BucketTarget::named(&orders, None), OffsetSpec::Latest).await;
    let offsets =
        offsets.and_then(|answers| answers.into_iter().try_for_each(|answer| answer.result.map(drop)));
    let counts = client.row_counts(&BucketTarget::named(&orders, None)).await;
    let counts =
        counts.and_then(|answers| answers.into_iter().try_for_each(|answer| answer.result.map(drop)));
    let info = client.table_info(&orders).await;
    vec![
        (ApiKey::ListDatabases, client.list_databases().await.map(drop)),
        (ApiKey::ListDatabases, client.list_database_summaries().await.map(drop)),
        (ApiKey::GetDatabaseInfo, client.database_info("shop").await.map(drop)),
        (ApiKey::ListTables, client.list_tables("shop").await.map(drop)),
        (ApiKey::GetTableSchema, client.table_schema(&orders, None).await.map(drop)),
        (ApiKey::DescribeClusterConfigs, client.cluster_config().await.map(drop)),
        (ApiKey::GetLatestKvSnapshots, client.latest_kv_snapshots(&orders, None).await.map(drop)),
        (ApiKey::GetMetadata, client.cluster_metadata().await.map(drop)),
        (ApiKey::GetTableInfo, info.map(drop)),
        (ApiKey::ListOffsets, offsets),
        (ApiKey::GetTableStats, counts),
    ]
}

/// Makes every answer but the negotiation come out as `script` says, and reads everything.
async fn read_under(script: Script) -> Vec<(ApiKey, Result<(), Error>)> {
    let cluster = shop().tablet_servers(1).start().unwrap();
    let mut once = options(&cluster.bootstrap());
    once.read_max_attempts = Some(1);
    let client = client_with(once);
    // Leaders and connections are known before the bytes go bad.
    client.offsets(&BucketTarget::named(&path("shop.orders"), None), OffsetSpec::Latest).await.unwrap();
    for server in cluster.servers() {
        for key in ApiKey::ALL.iter().filter(|key| **key != ApiKey::ApiVersions) {
            server.on(*key, script.clone());
        }
    }
    let results = tokio::time::timeout(Duration::from_secs(60), read_everything(&client)).await.unwrap();
    for server in cluster.servers() {
        server.clear_all();
    }
    // Whatever came before, a healthy server is read again right away.
    let back = async {
        while client.list_databases().await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), back).await.unwrap();
    results
}

async fn every_read_fails_under(script: Script) {
    let shown = format!("{script:?}");
    for (key, result) in read_under(script).await {
        let error = result.expect_err(&format!("{} under {shown}", key.name()));
        assert!(!error.to_string().is_empty());
    }
}

#[tokio::test]
async fn oversized_frame_is_an_error_without_its_memory() {
    every_read_fails_under(Script::Length(i32::MAX)).await;
    every_read_fails_under(Script::oversized()).await;
}

#[tokio::test]
async fn negative_and_tiny_lengths_are_errors() {
    every_read_fails_under(Script::negative_length()).await;
    every_read_fails_under(Script::Length(0)).await;
    every_read_fails_under(Script::Length(2)).await;
}

/// Later answers would fall into the frame that is never whole; only a new connection helps.
#[tokio::test]
async fn length_that_promises_too_much_costs_one_deadline() {
    let cluster = shop().start().unwrap();
    let client = client_with(options(&cluster.bootstrap()));
    client.list_databases().await.unwrap();
    cluster.coordinator().on(ApiKey::ListDatabases, Script::Length(1_000_000).times(1));
    client.list_databases().await.unwrap_err();
    assert_eq!(client.list_databases().await.unwrap(), ["shop"]);
}

#[tokio::test]
async fn answer_cut_at_each_place_is_an_error() {
    for bytes in [0, 1, 3, 4, 5, 8, 9, 10] {
        every_read_fails_under(Script::CloseAfterBytes(bytes)).await;
    }
}

#[tokio::test]
async fn answer_to_a_request_never_sent_is_an_error() {
    every_read_fails_under(Script::WrongRequestId(77_777)).await;
    every_read_fails_under(Script::WrongRequestId(-5)).await;
}

#[tokio::test]
async fn server_failure_frame_fails_the_request_and_the_connection() {
    every_read_fails_under(Script::ServerFailure { code: -1, message: Some("boom".to_owned()) }).await;
}

#[tokio::test]
async fn random_bytes_are_errors() {
    every_read_fails_under(Script::RawBytes(vec![0xff; 64].into())).await;
    every_read_fails_under(Script::RawBytes(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec().into())).await;
}

/// A flipped bit may still make a legal answer (a digit of an offset, a letter of a name): then it is
/// read as such. It must never panic, hang, or leave the client unusable.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flipped_bits_never_panic_or_hang() {
    let mut reading = JoinSet::new();
    for seed in 0..40 {
        reading.spawn(read_under(Script::Corrupt(Bits::Random { seed, count: 3, spare_bytes: 0 })));
    }
    let results: Vec<_> = reading.join_all().await.into_iter().flatten().collect();
    let errors = results.iter().filter(|(_, result)| result.is_err()).count();
    assert!(errors > 200, "{errors} errors in {} reads", results.len());
}
