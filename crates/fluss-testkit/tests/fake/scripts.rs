//! Each script does what it says, for as many requests as told.

use std::time::Duration;

use bytes::{Buf, Bytes};
use fluss_codec::api_key::ApiKey;
use fluss_codec::frame::{ResponseFrame, encode_success};
use fluss_codec::messages::{
    CreateDatabaseRequest, GetTableStatsRequest, ListDatabasesRequest, ListDatabasesResponse,
    ListOffsetsRequest, PbTableStatsReqForBucket,
};
use fluss_testkit::fake_server::{Bits, FakeCluster, NewTable, Rule, Script};
use tokio::io::AsyncReadExt;
use tokio::time;

use super::{BOUND, MOMENT, Peer, hello};

const KEY: ApiKey = ApiKey::ListDatabases;

/// Starts a cluster with one database, whose coordinator follows a script for `LIST_DATABASES`.
async fn scripted(rule: impl Into<Rule>) -> (FakeCluster, Peer) {
    let cluster = FakeCluster::builder().table(NewTable::log("shop", "clicks")).start().unwrap();
    cluster.coordinator().on(KEY, rule);
    let peer = Peer::connect(cluster.coordinator().address()).await;
    (cluster, peer)
}

fn list() -> ListDatabasesRequest {
    ListDatabasesRequest { include_summary: None }
}

/// The proper answer to the first request of a peer, as a whole frame.
fn proper() -> Bytes {
    let answer =
        ListDatabasesResponse { database_name: vec!["shop".to_owned()], database_summary: Vec::new() };
    encode_success(100, &answer).unwrap()
}

/// Reads so many bytes as they come.
async fn raw(peer: &mut Peer, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    time::timeout(BOUND, peer.stream.read_exact(&mut bytes)).await.unwrap().unwrap();
    bytes
}

#[tokio::test]
async fn answer_is_the_proper_one_without_a_script() {
    let (_cluster, mut peer) = scripted(Script::Answer).await;
    peer.send(&list()).await;
    assert_eq!(raw(&mut peer, proper().len()).await, proper());
}

#[tokio::test]
async fn silence_lasts_as_many_requests_as_told() {
    let (cluster, mut peer) = scripted(Script::NeverAnswer.times(2)).await;
    for _ in 0..2 {
        peer.send(&list()).await;
        peer.expect_silence().await;
    }
    assert_eq!(peer.ask(&list()).await.unwrap().database_name, ["shop"]);
    assert_eq!(cluster.coordinator().request_count(KEY), 3);
}

#[tokio::test]
async fn scripts_change_while_the_server_runs() {
    let (cluster, mut peer) = scripted(Script::error(7, "first")).await;
    assert_eq!(peer.ask(&list()).await.unwrap_err(), (7, "first".to_owned()));
    cluster.coordinator().on(KEY, Script::bare_error(8).times(1));
    cluster.coordinator().then(KEY, Script::bare_error(9).after(1).times(1));
    assert_eq!(peer.ask(&list()).await.unwrap_err(), (8, String::new()));
    assert!(peer.ask(&list()).await.is_ok());
    assert_eq!(peer.ask(&list()).await.unwrap_err().0, 9);
    assert!(peer.ask(&list()).await.is_ok());
    cluster.coordinator().on_any(Script::bare_error(10));
    assert_eq!(peer.ask(&hello()).await.unwrap_err().0, 10);
    cluster.coordinator().clear_all();
    peer.versions().await;
}

#[tokio::test]
async fn delayed_answer_keeps_those_behind_it_waiting() {
    let (cluster, mut peer) = scripted(Script::Delay(MOMENT).times(1)).await;
    let first = peer.send(&list()).await;
    let second = peer.send(&hello()).await;
    assert_eq!([peer.next_id_answered().await, peer.next_id_answered().await], [first, second]);

    cluster.coordinator().on(KEY, Script::Delay(Duration::from_secs(3600)));
    peer.send(&list()).await;
    assert!(time::timeout(MOMENT, peer.next_frame()).await.is_err());
    cluster.coordinator().on(KEY, Script::bare_error(7).after_delay(Duration::from_secs(3600)));
    let mut peer = Peer::connect(cluster.coordinator().address()).await;
    peer.send(&list()).await;
    assert!(time::timeout(MOMENT, peer.next_frame()).await.is_err());
}

#[tokio::test]
async fn late_and_held_answers_let_others_pass() {
    let (cluster, mut peer) = scripted(Script::LateAnswer(MOMENT)).await;
    let late = peer.send(&list()).await;
    let next = peer.send(&hello()).await;
    assert_eq!([peer.next_id_answered().await, peer.next_id_answered().await], [next, late]);

    cluster.coordinator().on(KEY, Script::Hold);
    let held = peer.send(&list()).await;
    let server = cluster.coordinator();
    time::timeout(BOUND, server.until(|server| server.held_count() == 1)).await.unwrap();
    let next = peer.send(&hello()).await;
    assert_eq!(peer.next_id_answered().await, next);
    assert!(time::timeout(MOMENT, peer.next_frame()).await.is_err());
    cluster.coordinator().release();
    assert_eq!(peer.next_id_answered().await, held);
    assert_eq!(server.held_count(), 0);
    assert_eq!(cluster.coordinator().in_flight_max(), 2);
    assert_eq!(cluster.coordinator().connection_in_flight_max(), 2);
}

#[tokio::test]
async fn reordered_answer_follows_the_next_one() {
    let (_cluster, mut peer) = scripted(Script::Reorder.times(2)).await;
    let ids = [peer.send(&list()).await, peer.send(&list()).await, peer.send(&hello()).await];
    let answered =
        [peer.next_id_answered().await, peer.next_id_answered().await, peer.next_id_answered().await];
    assert_eq!(answered, [ids[2], ids[0], ids[1]]);
}

#[tokio::test]
async fn closing_scripts_send_as_much_as_told() {
    let whole = proper();
    for (script, expected) in [
        (Script::Close, Bytes::new()),
        (Script::CloseAfterBytes(0), Bytes::new()),
        (Script::CloseAfterBytes(3), whole.slice(..3)),
        (Script::CloseAfterBytes(9), whole.slice(..9)),
        (Script::CloseAfterBytes(9999), whole.clone()),
    ] {
        let label = format!("{script:?}");
        let (cluster, mut peer) = scripted(script.times(1)).await;
        peer.send(&list()).await;
        assert_eq!(peer.rest().await.unwrap(), expected, "{label}");
        drop(peer);
        let server = cluster.coordinator();
        time::timeout(BOUND, server.until(|server| server.open_count() == 0)).await.unwrap();
        assert!(Peer::connect(server.address()).await.ask(&list()).await.is_ok(), "{label}");
        assert_eq!(server.accepted_count(), 2);
    }
}

#[tokio::test]
async fn reset_is_no_orderly_end() {
    let (_cluster, mut peer) = scripted(Script::Reset).await;
    peer.send(&list()).await;
    assert_eq!(peer.rest().await.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn corrupted_answer_differs_where_told() {
    let whole = proper();
    let (_cluster, mut peer) = scripted(Script::Corrupt(Bits::At(vec![9 * 8 + 7]))).await;
    peer.send(&list()).await;
    let got = raw(&mut peer, whole.len()).await;
    let different: Vec<usize> = (0..whole.len()).filter(|index| got[*index] != whole[*index]).collect();
    assert_eq!((different, got[9] ^ whole[9]), (vec![9], 1));

    let bits = Bits::Random { seed: 3, count: 4, spare_bytes: 9 };
    let (_cluster, mut peer) = scripted(Script::Corrupt(bits)).await;
    peer.send(&list()).await;
    let got = raw(&mut peer, whole.len()).await;
    assert_eq!(got[..9], whole[..9]);
    assert_ne!(got[9..], whole[9..]);
}

#[tokio::test]
async fn truncated_answer_has_a_true_or_a_false_length() {
    let whole = proper();
    let (_cluster, mut peer) = scripted(Script::Truncate { keep_bytes: 11, true_length: true }).await;
    peer.send(&list()).await;
    match peer.receive().await {
        ResponseFrame::Success { request_id: 100, body } => assert_eq!(body, whole.slice(9..11)),
        other => panic!("{other:?}"),
    }
    peer.versions().await;

    let (_cluster, mut peer) = scripted(Script::Truncate { keep_bytes: 11, true_length: false }).await;
    peer.send(&list()).await;
    assert_eq!(raw(&mut peer, 11).await, whole.slice(..11));
    assert!(time::timeout(MOMENT, peer.stream.read_u8()).await.is_err(), "nothing more comes");
}

#[tokio::test]
async fn length_field_and_request_id_can_lie() {
    for (script, at, number) in [
        (Script::oversized(), 0, 1 << 30),
        (Script::negative_length(), 0, -1),
        (Script::Length(6), 0, 6),
        (Script::WrongRequestId(4711), 5, 4711),
    ] {
        let (_cluster, mut peer) = scripted(script).await;
        peer.send(&list()).await;
        let got = raw(&mut peer, proper().len()).await;
        assert_eq!((&got[at..]).get_i32(), number);
        assert_eq!(got[9..], proper()[9..]);
    }
}

#[tokio::test]
async fn answer_can_come_twice_or_as_anything() {
    let (_cluster, mut peer) = scripted(Script::DuplicateAnswer).await;
    let id = peer.send(&list()).await;
    assert_eq!([peer.next_id_answered().await, peer.next_id_answered().await], [id, id]);

    let (_cluster, mut peer) = scripted(Script::RawBytes(Bytes::from_static(b"nonsense"))).await;
    peer.send(&list()).await;
    assert_eq!(raw(&mut peer, 8).await, b"nonsense");

    let (_cluster, mut peer) = scripted(Script::Body(Bytes::from_static(b"\xff\xff"))).await;
    peer.send(&list()).await;
    match peer.receive().await {
        ResponseFrame::Success { request_id: 100, body } => assert_eq!(&body[..], b"\xff\xff"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn unserved_request_can_be_given_an_answer() {
    let (cluster, mut peer) = scripted(Script::Answer).await;
    cluster.coordinator().on(ApiKey::CreateDatabase, Script::bare_error(6).times(1));
    let create =
        CreateDatabaseRequest { database_name: "shop".to_owned(), ..CreateDatabaseRequest::default() };
    assert_eq!(peer.ask(&create).await.unwrap_err().0, 6);
    peer.send(&create).await;
    peer.expect_silence().await;
    assert_eq!(cluster.coordinator().last_request::<CreateDatabaseRequest>().unwrap(), create);
}

#[tokio::test]
async fn server_failure_ends_the_connection() {
    let (_cluster, mut peer) = scripted(Script::ServerFailure { code: -1, message: None }).await;
    peer.send(&list()).await;
    match peer.receive().await {
        ResponseFrame::ServerFailure { error } => assert_eq!(error.error_code, -1),
        other => panic!("{other:?}"),
    }
    assert!(peer.rest().await.unwrap().is_empty());
}

#[tokio::test]
async fn trickled_answer_is_whole_in_the_end() {
    let (_cluster, mut peer) = scripted(Script::TrickleBytes(Duration::from_millis(2))).await;
    peer.send(&list()).await;
    let mut sizes = Vec::new();
    while sizes.iter().sum::<usize>() < proper().len() {
        let mut buffer = [0; 64];
        sizes.push(time::timeout(BOUND, peer.stream.read(&mut buffer)).await.unwrap().unwrap());
    }
    assert!(sizes.len() > proper().len() / 2, "came in pieces of {sizes:?}");
}

#[tokio::test]
async fn single_buckets_can_fail() {
    let cluster = FakeCluster::builder().table(NewTable::log("shop", "clicks").buckets(2)).start().unwrap();
    let server = &cluster.tablet_servers()[0];
    let mut peer = Peer::connect(server.address()).await;
    let table_id = cluster.read(|model| model.table("shop", "clicks").unwrap().id());
    let offsets = ListOffsetsRequest {
        follower_server_id: -1,
        offset_type: 1,
        table_id,
        bucket_id: vec![0, 1],
        ..ListOffsetsRequest::default()
    };
    server.on(ApiKey::ListOffsets, Script::bucket_error(12).times(1));
    server.then(ApiKey::ListOffsets, Script::BucketError { code: 44, buckets: vec![1] }.times(1));
    for expected in [[Some(12), Some(12)], [None, Some(44)], [None, None]] {
        let answer = peer.ask(&offsets).await.unwrap();
        assert_eq!([answer.buckets_resp[0].error_code, answer.buckets_resp[1].error_code], expected);
    }
    server.on(ApiKey::GetTableStats, Script::bucket_error(12));
    let stats = GetTableStatsRequest {
        table_id,
        buckets_req: vec![PbTableStatsReqForBucket { partition_id: None, bucket_id: 0 }],
        target_columns: vec![],
    };
    assert_eq!(peer.ask(&stats).await.unwrap().buckets_resp[0].error_code, Some(12));
}
