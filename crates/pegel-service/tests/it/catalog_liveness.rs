//! Servers that come and go, as the watch sees them.

use std::time::Duration;

use fluss_testkit::fake_server::FakeCluster;
use pegel_api_types::operations::cluster::GetCluster;
use pegel_api_types::operations::servers::{ListServers, ServerState, Servers};
use pegel_core::envelope::{Envelope, SourceKind, Status};
use pegel_service::clusters;
use pegel_store::change::Changes;
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::catalog_house::{Console, now, watchful};
use crate::clusters::SOON;

fn states(envelope: &Envelope<Servers>) -> Vec<ServerState> {
    envelope.data.iter().flat_map(|data| &data.servers).map(|server| server.state).collect()
}

/// Returns how often a change of the servers was announced so far.
async fn announced(console: &Console) -> usize {
    match console.yard.house.db.changes_after(0, 1_000).await.unwrap() {
        Changes::Page(page) => page.iter().filter(|change| change.resource_key == "cluster/eu/state").count(),
        Changes::Resync { .. } => panic!("nothing was trimmed"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_are_told_with_both_facts_and_their_age() {
    let cluster = FakeCluster::builder().tablet_servers(2).rack(1, "r1").start().unwrap();
    let console = Console::of(&cluster, watchful()).await;
    let seen = console.ask::<ListServers>(json!({})).await;
    assert_eq!((seen.status, seen.source.kind), (Status::Ok, SourceKind::Cache));
    let servers = seen.data.unwrap();
    assert_eq!((servers.total_count, servers.tablet_servers_alive_count), (3, 2));
    for server in &servers.servers {
        assert!(server.is_in_metadata && server.answers && server.latency_ms.is_some());
        assert!(server.asked_at.is_some() && server.answered_at == server.asked_at);
    }
    assert_eq!(servers.metadata_at, servers.servers[0].asked_at);
    let found = console.ask::<ListServers>(json!({"search": "R1"})).await.data.unwrap();
    assert_eq!((found.servers.len(), found.servers[0].id, found.tablet_servers_registered_count), (1, 1, 2));
    let overview = console.ask::<GetCluster>(json!({})).await.data.unwrap();
    assert!(overview.is_coordinator_alive && overview.coordinator.is_some());
    assert_eq!((overview.alive_tablet_servers.len(), overview.tablet_servers_registered_count), (2, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_announced_once_and_quiet_is_not() {
    let cluster = FakeCluster::builder().tablet_servers(2).start().unwrap();
    let console = Console::of(&cluster, watchful()).await;
    let mut feed = console.yard.house.db.watch();
    let begin = announced(&console).await;
    let all = |envelope: &Envelope<Servers>| envelope.status == Status::Ok;
    console.until::<ListServers>(json!({}), all).await;
    timeout(SOON, async {
        while announced(&console).await < begin.max(1) {
            feed.changed().await.unwrap();
        }
    })
    .await
    .unwrap();
    let quiet = announced(&console).await;
    sleep(Duration::from_millis(900)).await;
    assert_eq!(announced(&console).await, quiet, "several looks that saw nothing new");
    cluster.tablet_servers()[1].stop().await.unwrap();
    timeout(SOON, async {
        while announced(&console).await == quiet {
            feed.changed().await.unwrap();
        }
    })
    .await
    .unwrap();
    let seen = console.ask::<ListServers>(json!({})).await;
    assert_eq!(seen.status, Status::Partial);
    assert_eq!(states(&seen)[2], ServerState::NotAnswering);
    assert_eq!(seen.evidence[0].check, "ping");
    cluster.tablet_servers()[1].start_again().await.unwrap();
    console.until::<ListServers>(json!({}), all).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_coordinator_known_servers_stay_with_the_age_of_what_named_them() {
    let cluster = FakeCluster::builder().tablet_servers(2).start().unwrap();
    let console = Console::of(&cluster, watchful()).await;
    let before = console.ask::<ListServers>(json!({})).await.data.unwrap();
    cluster.coordinator().stop().await.unwrap();
    let is_down = |envelope: &Envelope<Servers>| envelope.status != Status::Ok;
    console.until::<ListServers>(json!({}), is_down).await;
    console.yard.house.clock.advance(Duration::from_secs(600));
    let is_later = |envelope: &Envelope<Servers>| Some(envelope.observed_at) > before.metadata_at;
    let seen = console.until::<ListServers>(json!({}), is_later).await;
    assert_eq!(seen.status, Status::Partial);
    assert_eq!(states(&seen), [ServerState::NotAnswering, ServerState::Alive, ServerState::Alive]);
    assert!(seen.warnings.iter().any(|warning| warning.contains("last named")), "{:?}", seen.warnings);
    let servers = seen.data.unwrap();
    assert_eq!(servers.metadata_at, before.metadata_at);
    assert!(servers.servers[0].answered_at < servers.servers[0].asked_at);
    let overview = console.ask::<GetCluster>(json!({})).await;
    assert_eq!(overview.status, Status::Partial);
    assert!(!overview.data.unwrap().is_coordinator_alive);
    for server in cluster.tablet_servers() {
        server.stop().await.unwrap();
    }
    let none =
        console.until::<ListServers>(json!({}), |envelope| envelope.status == Status::Unavailable).await;
    assert_eq!(states(&none), [ServerState::NotAnswering; 3]);
    for server in cluster.servers() {
        server.start_again().await.unwrap();
    }
    console.until::<ListServers>(json!({}), |envelope| envelope.status == Status::Ok).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_was_never_there_is_unavailable() {
    let cluster = FakeCluster::builder().start().unwrap();
    cluster.coordinator().stop().await.unwrap();
    let console = Console::of(&cluster, watchful()).await;
    let none = console.ask::<ListServers>(json!({})).await;
    assert_eq!((none.status, none.data.is_none()), (Status::Unavailable, true));
    assert!(!none.evidence.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_takes_connections_and_drops_them_is_dialled_once_a_look() {
    let cluster = FakeCluster::builder().tablet_servers(1).start().unwrap();
    let console = Console::of(&cluster, watchful()).await;
    console.ask::<ListServers>(json!({})).await;
    let server = &cluster.tablet_servers()[0];
    server.accept_and_close();
    server.close_connections().await.unwrap();
    console.until::<ListServers>(json!({}), |envelope| envelope.status != Status::Ok).await;
    cluster.reset_counters();
    let started = now();
    for _ in 0..100 {
        console.ask::<ListServers>(json!({})).await;
        sleep(Duration::from_millis(10)).await;
    }
    let looks = u64::try_from(started.elapsed().as_millis() / 200).unwrap() + 2;
    assert!(server.accepted_count() <= looks, "{} dials in {looks} looks", server.accepted_count());
}

#[tokio::test(flavor = "multi_thread")]
async fn as_installed_a_state_is_right_within_fifteen_seconds() {
    let cluster = FakeCluster::builder().tablet_servers(2).start().unwrap();
    let console = Console::of(&cluster, clusters::Settings::default()).await;
    let comes = async |status: Status| {
        let started = now();
        while console.ask::<ListServers>(json!({})).await.status != status {
            assert!(started.elapsed() < Duration::from_secs(15), "it never became {}", status.as_str());
            sleep(Duration::from_millis(100)).await;
        }
    };
    comes(Status::Ok).await;
    cluster.coordinator().freeze();
    cluster.tablet_servers()[0].freeze();
    comes(Status::Partial).await;
    cluster.coordinator().thaw();
    cluster.tablet_servers()[0].thaw();
    comes(Status::Ok).await;
}
