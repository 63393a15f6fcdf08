//! Whole servers stop, freeze, change their address or type, and count what they see.

use std::time::Duration;

use fluss_codec::api_key::ApiKey;
use fluss_codec::messages::{GetTableInfoRequest, ListDatabasesRequest, MetadataRequest};
use fluss_codec::server_type::ServerType;
use fluss_testkit::fake_server::{BlackHole, FakeCluster, ForeignListener, NewTable};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time;

use super::{BOUND, MOMENT, Peer, hello, path};

#[tokio::test]
async fn stopped_server_refuses_and_comes_back_on_its_port() {
    let cluster = FakeCluster::builder().start().unwrap();
    let server = cluster.coordinator();
    let address = server.address();
    let mut peer = Peer::connect(address).await;
    peer.versions().await;

    server.stop().await.unwrap();
    assert_eq!(server.open_count(), 0);
    assert!(peer.rest().await.is_ok_and(|rest| rest.is_empty()));
    let refused = TcpStream::connect(address).await.unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    server.stop().await.unwrap();

    server.start_again().await.unwrap();
    server.start_again().await.unwrap();
    assert_eq!(server.address(), address);
    Peer::connect(address).await.versions().await;
}

#[tokio::test]
async fn dropped_cluster_leaves_nothing_behind() {
    let cluster = FakeCluster::builder().start().unwrap();
    let address = cluster.coordinator().address();
    let mut peer = Peer::connect(address).await;
    peer.versions().await;
    drop(cluster);
    assert!(peer.rest().await.unwrap().is_empty());
    // The task that listens ends on its own; the port is refused once it has.
    let refused = async { while TcpStream::connect(address).await.is_ok() {} };
    time::timeout(BOUND, refused).await.unwrap();
}

#[tokio::test]
async fn frozen_server_accepts_and_answers_after_the_thaw() {
    let cluster = FakeCluster::builder().start().unwrap();
    let server = cluster.coordinator();
    let mut old = Peer::connect(server.address()).await;
    old.versions().await;
    server.freeze();
    let mut new = Peer::connect(server.address()).await;
    let ids = [old.send(&hello()).await, new.send(&hello()).await];
    assert!(time::timeout(MOMENT, old.next_frame()).await.is_err());
    assert!(time::timeout(MOMENT, new.next_frame()).await.is_err());
    server.thaw();
    assert_eq!([old.next_id_answered().await, new.next_id_answered().await], ids);
}

#[tokio::test]
async fn connections_can_be_closed_at_once_or_all_together() {
    let cluster = FakeCluster::builder().start().unwrap();
    let server = cluster.coordinator();
    let mut old = Peer::connect(server.address()).await;
    old.versions().await;
    server.accept_and_close();
    for _ in 0..3 {
        assert!(Peer::connect(server.address()).await.rest().await.unwrap().is_empty());
    }
    assert_eq!((server.accepted_count(), server.open_count()), (4, 1));
    old.versions().await;
    server.accept_normally();
    server.close_connections().await.unwrap();
    assert_eq!(server.open_count(), 0);
    assert!(old.rest().await.unwrap().is_empty());
    Peer::connect(server.address()).await.versions().await;
}

#[tokio::test]
async fn server_can_be_of_the_wrong_type() {
    let cluster = FakeCluster::builder().start().unwrap();
    let server = &cluster.tablet_servers()[0];
    server.answers_as(ServerType::Coordinator);
    let answer = Peer::connect(server.address()).await.versions().await;
    assert_eq!((answer.server_type, answer.api_versions.len()), (Some(1), 45));
}

#[tokio::test]
async fn standby_coordinator_negotiates_and_refuses_the_rest() {
    let cluster = FakeCluster::builder().start().unwrap();
    cluster.coordinator().stand_by(true);
    let mut peer = Peer::connect(cluster.coordinator().address()).await;
    peer.versions().await;
    assert_eq!(peer.ask(&MetadataRequest::default()).await.unwrap_err().0, 65);
    cluster.coordinator().stand_by(false);
    peer.ask(&MetadataRequest::default()).await.unwrap();
}

#[tokio::test]
async fn advertised_address_and_membership_can_change() {
    let mut cluster = FakeCluster::builder().tablet_servers(2).start().unwrap();
    cluster.coordinator().advertise("proxy.example", 9123);
    cluster.tablet_servers()[1].advertise("::1", 1);
    cluster.change(|model| model.lose_tablet_server(0));
    let added = cluster.add_tablet_server().unwrap().address();
    let mut peer = Peer::connect(added).await;
    let answer = peer.ask(&MetadataRequest::default()).await.unwrap();
    let coordinator = answer.coordinator_server.unwrap();
    assert_eq!((coordinator.host.as_str(), coordinator.port), ("proxy.example", 9123));
    let nodes: Vec<_> =
        answer.tablet_servers.iter().map(|node| (node.node_id, node.host.as_str(), node.port)).collect();
    assert_eq!(nodes, [(1, "::1", 1), (2, "127.0.0.1", i32::from(added.port()))]);
    // A server that is not registered any more still runs.
    Peer::connect(cluster.tablet_servers()[0].address()).await.versions().await;
}

#[tokio::test]
async fn stale_server_answers_what_was_true_before() {
    let cluster = FakeCluster::builder().table(NewTable::log("shop", "clicks")).start().unwrap();
    let server = &cluster.tablet_servers()[0];
    server.go_stale();
    cluster.change(|model| model.drop_table("shop", "clicks"));
    let request = GetTableInfoRequest { table_path: path("shop", "clicks") };
    let mut peer = Peer::connect(server.address()).await;
    assert!(peer.ask(&request).await.is_ok());
    assert_eq!(Peer::connect(cluster.coordinator().address()).await.ask(&request).await.unwrap_err().0, 7);
    server.catch_up();
    assert_eq!(peer.ask(&request).await.unwrap_err().0, 7);
}

#[tokio::test]
async fn requests_and_connections_are_counted() {
    let cluster = FakeCluster::builder().start().unwrap();
    let server = cluster.coordinator();
    let mut first = Peer::connect(server.address()).await;
    let mut second = Peer::connect(server.address()).await;
    for _ in 0..3 {
        first.versions().await;
    }
    second.ask(&ListDatabasesRequest { include_summary: Some(true) }).await.unwrap();
    Peer::connect(cluster.tablet_servers()[0].address()).await.versions().await;

    assert_eq!((server.request_count(ApiKey::ApiVersions), server.total_request_count()), (3, 4));
    assert_eq!((cluster.request_count(ApiKey::ApiVersions), cluster.total_request_count()), (4, 5));
    assert_eq!((server.accepted_count(), cluster.accepted_count()), (2, 3));
    let last: ListDatabasesRequest = server.last_request().unwrap();
    assert_eq!(last.include_summary, Some(true));
    let seen = server.seen();
    assert_eq!(seen.iter().filter(|request| request.connection == 1).count(), 3);
    assert!(seen.windows(2).all(|pair| pair[0].at <= pair[1].at));
    assert_eq!(server.peak_count(Duration::from_secs(3600)), 4);
    assert_eq!(cluster.seen().len(), 5);
    drop(first);
    time::timeout(BOUND, server.until(|server| server.open_count() == 1)).await.unwrap();
    cluster.reset_counters();
    assert_eq!((server.total_request_count(), server.accepted_count(), server.seen().len()), (0, 0, 0));
    second.versions().await;
    assert_eq!(server.total_request_count(), 1);
}

#[tokio::test]
async fn foreign_listeners_speak_their_own_protocol() {
    let http = ForeignListener::http().await.unwrap();
    let mut peer = Peer::connect(http.address()).await;
    peer.send(&hello()).await;
    assert!(peer.rest().await.unwrap().starts_with(b"HTTP/1.1 400 "));

    let ssh = ForeignListener::ssh().await.unwrap();
    let mut peer = Peer::connect(ssh.address()).await;
    let mut banner = [0; 8];
    time::timeout(BOUND, peer.stream.read_exact(&mut banner)).await.unwrap().unwrap();
    assert_eq!(&banner, b"SSH-2.0-");

    let mute = ForeignListener::mute().await.unwrap();
    let mut peer = Peer::connect(mute.address()).await;
    peer.send(&hello()).await;
    assert!(time::timeout(MOMENT, peer.next_frame()).await.is_err());
    assert_eq!(mute.accepted_count(), 1);
    drop(mute);
    assert!(peer.rest().await.map_or(true, |rest| rest.is_empty()));

    let closing = ForeignListener::closing().await.unwrap();
    let mut peer = Peer::connect(closing.address()).await;
    assert!(peer.rest().await.map_or(true, |rest| rest.is_empty()));
}

#[tokio::test]
async fn connecting_to_a_black_hole_hangs() {
    let hole = BlackHole::open().await.unwrap();
    for _ in 0..3 {
        assert!(time::timeout(MOMENT, TcpStream::connect(hole.address())).await.is_err());
    }
}
