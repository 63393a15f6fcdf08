//! Writes whose answers are lost, late or refused: what is sent again, and what is said of it.

use bytes::Bytes;
use fluss_client::client::FlussClient;
use fluss_client::table::Table;
use fluss_client::write::{BatchOutcome, RowChange, WriteOptions, WriteOutcome};
use fluss_codec::api_key::ApiKey;
use fluss_codec::data_type::TypeKind;
use fluss_codec::log_batch::{ChecksumPolicy, LogBatch};
use fluss_codec::messages::{
    InitWriterResponse, PbProduceLogRespForBucket, ProduceLogRequest, ProduceLogResponse,
};
use fluss_codec::row::Value;
use fluss_codec::versions::LogMagicOne;
use fluss_testkit::fake_server::{FakeCluster, NewTable, Script};

use crate::support::{client, path};

fn cluster() -> FakeCluster {
    let table = NewTable::log("shop", "clicks").buckets(1);
    FakeCluster::builder().tablet_servers(1).table(table).start().unwrap()
}

async fn open(client: &FlussClient) -> (Table, RowChange) {
    let table = client.table(&path("shop.clicks")).await.unwrap();
    let value = |kind: &TypeKind| match kind {
        TypeKind::Int => Value::Int(1),
        TypeKind::BigInt => Value::BigInt(1),
        TypeKind::String => Value::String("text".to_owned()),
        _ => Value::Null,
    };
    let row = table.info().descriptor.schema().columns().iter().map(|column| value(column.data_type.kind()));
    let row = RowChange::Append(row.collect());
    (table, row)
}

fn produced(error_code: Option<i32>, base_offset: Option<i64>) -> Script {
    Script::message(&ProduceLogResponse {
        buckets_resp: vec![PbProduceLogRespForBucket {
            partition_id: None,
            bucket_id: 0,
            error_code,
            error_message: None,
            base_offset,
        }],
    })
}

/// Writer id and sequence of the batch that was sent last, and its bytes.
fn last_batch(cluster: &FakeCluster) -> (i64, i32, Bytes) {
    let request: ProduceLogRequest = cluster.tablet_servers()[0].last_request().unwrap();
    let records = request.buckets_req[0].records.clone();
    let batch = LogBatch::decode_next(&mut records.clone(), LogMagicOne::LeaderEpoch, ChecksumPolicy::Verify);
    let batch = batch.unwrap().unwrap();
    (batch.writer_id, batch.batch_sequence, records)
}

fn only(outcomes: Vec<BatchOutcome>) -> WriteOutcome {
    let [outcome] = <[BatchOutcome; 1]>::try_from(outcomes).unwrap();
    assert_eq!((outcome.bucket, outcome.rows), (0, vec![0]));
    outcome.outcome
}

#[tokio::test]
async fn a_batch_whose_answer_was_lost_is_sent_again_as_it_was() {
    let cluster = cluster();
    let server = &cluster.tablet_servers()[0];
    server.on(ApiKey::InitWriter, Script::message(&InitWriterResponse { writer_id: 7 }));
    server.on(ApiKey::ProduceLog, Script::Close.times(1));
    server.then(ApiKey::ProduceLog, produced(None, Some(5)).times(1));
    server.then(ApiKey::ProduceLog, produced(None, Some(6)));
    let client = client(&cluster.bootstrap());
    let (table, row) = open(&client).await;
    let mut writer = table.writer(WriteOptions::default()).unwrap();

    let outcome = only(writer.write(std::slice::from_ref(&row)).await.unwrap());
    assert!(matches!(outcome, WriteOutcome::Written { offset: Some(5) }), "{outcome:?}");
    assert_eq!(server.request_count(ApiKey::ProduceLog), 2);
    let (writer_id, sequence, first) = last_batch(&cluster);
    assert_eq!((writer_id, sequence), (7, 0));

    writer.write(std::slice::from_ref(&row)).await.unwrap();
    let (writer_id, sequence, second) = last_batch(&cluster);
    assert_eq!((writer_id, sequence), (7, 1));
    assert_ne!(first, second);
    assert_eq!(server.request_count(ApiKey::InitWriter), 1);
}

#[tokio::test]
async fn without_a_writer_id_nothing_is_sent_twice() {
    let cluster = cluster();
    let server = &cluster.tablet_servers()[0];
    server.on(ApiKey::ProduceLog, Script::Close);
    let client = client(&cluster.bootstrap());
    let (table, row) = open(&client).await;
    let mut writer = table.writer(WriteOptions { max_attempts: 1, ..WriteOptions::default() }).unwrap();
    let outcome = only(writer.write(&[row]).await.unwrap());
    assert!(
        matches!(&outcome, WriteOutcome::Unknown(error) if error.code() == "connection_lost"),
        "{outcome:?}"
    );
    assert_eq!((server.request_count(ApiKey::ProduceLog), server.request_count(ApiKey::InitWriter)), (1, 0));
    assert_eq!(last_batch(&cluster).0, -1);
}

#[tokio::test]
async fn a_writer_that_the_server_has_forgotten_begins_anew() {
    let cluster = cluster();
    let server = &cluster.tablet_servers()[0];
    server.on(ApiKey::InitWriter, Script::message(&InitWriterResponse { writer_id: 7 }).times(1));
    server.then(ApiKey::InitWriter, Script::message(&InitWriterResponse { writer_id: 8 }));
    server.on(ApiKey::ProduceLog, produced(None, Some(0)).times(1));
    server.then(ApiKey::ProduceLog, produced(Some(31), None).times(1));
    server.then(ApiKey::ProduceLog, produced(None, Some(1)));
    let client = client(&cluster.bootstrap());
    let (table, row) = open(&client).await;
    let mut writer = table.writer(WriteOptions::default()).unwrap();
    let mut outcomes = Vec::new();
    for _ in 0..3 {
        outcomes.push(only(writer.write(std::slice::from_ref(&row)).await.unwrap()));
    }
    assert!(matches!(outcomes[1], WriteOutcome::Unknown(_)), "{outcomes:?}");
    assert!(matches!(outcomes[2], WriteOutcome::Written { offset: Some(1) }), "{outcomes:?}");
    let (writer_id, sequence, _) = last_batch(&cluster);
    assert_eq!((writer_id, sequence), (8, 0));
}

#[tokio::test]
async fn a_row_that_does_not_fit_keeps_all_from_being_sent() {
    let cluster = cluster();
    let server = &cluster.tablet_servers()[0];
    server.on(ApiKey::InitWriter, Script::message(&InitWriterResponse { writer_id: 7 }));
    let client = client(&cluster.bootstrap());
    let (table, row) = open(&client).await;
    let mut writer = table.writer(WriteOptions::default()).unwrap();
    let wrong = RowChange::Append(vec![Value::Boolean(true)]);
    let error = writer.write(&[row.clone(), wrong]).await.unwrap_err();
    assert_eq!(error.code(), "invalid_row");
    assert!(error.to_string().starts_with("row 1 "), "{error}");
    let error = writer.write(&[row, RowChange::Delete(vec![Value::Int(1)])]).await.unwrap_err();
    assert_eq!(error.code(), "unsuitable_table");
    assert_eq!(server.request_count(ApiKey::ProduceLog), 0);
    let options = WriteOptions { target_columns: Some(vec![0]), ..WriteOptions::default() };
    assert_eq!(table.writer(options).err().unwrap().code(), "unsuitable_table");
    let error = table.lookup(&[vec![Value::Int(1)]]).await.unwrap_err();
    assert_eq!(error.code(), "unsuitable_table");
}
