//! A catalog of the size of a large estate starts and answers fast enough to be used in tests.

use std::time::{Duration, Instant};

use fluss_codec::messages::{ListDatabasesRequest, ListTablesRequest, MetadataRequest};
use fluss_codec::table::TableDescriptor;
use fluss_testkit::fake_server::FakeCluster;

use super::{Peer, path};

#[expect(clippy::disallowed_methods, reason = "measures real work in real time, for people to read")]
fn now() -> Instant {
    Instant::now()
}

#[tokio::test]
async fn ten_thousand_tables_start_and_answer_quickly() {
    let started = now();
    let cluster = FakeCluster::builder().tablet_servers(3).generated_tables(50, 200, 10).start().unwrap();
    let start_time = started.elapsed();
    let buckets = cluster.read(|model| {
        assert_eq!(model.tables().count(), 10_000);
        let count = |table: &fluss_testkit::fake_server::Table| {
            table.buckets.len() + table.partitions.values().map(|part| part.buckets.len()).sum::<usize>()
        };
        model.tables().map(count).sum::<usize>()
    });
    assert_eq!(buckets, 100_000);

    let mut peer = Peer::connect(cluster.coordinator().address()).await;
    let summary = peer.ask(&ListDatabasesRequest { include_summary: Some(true) }).await.unwrap();
    assert_eq!(summary.database_summary.iter().map(|it| i64::from(it.table_count)).sum::<i64>(), 10_000);
    let database = summary.database_summary[0].database_name.clone();
    let names = peer.ask(&ListTablesRequest { database_name: database.clone() }).await.unwrap().table_name;
    assert_eq!(names.len(), 200);

    let request = MetadataRequest {
        table_path: names.iter().map(|name| path(&database, name)).collect(),
        ..MetadataRequest::default()
    };
    let started = now();
    let answer = peer.ask(&request).await.unwrap();
    let answer_time = started.elapsed();
    assert_eq!(answer.table_metadata.len(), 200);
    for table in &answer.table_metadata {
        TableDescriptor::from_json(&table.table_json).unwrap();
    }
    println!("10,000 tables start in {start_time:?}; metadata of 200 answers in {answer_time:?}");
    assert!(start_time < Duration::from_secs(20) && answer_time < Duration::from_secs(5));
}
