//! Addresses that are never dialled, however a cluster leads to them.

use fluss_testkit::fake_server::FakeCluster;
use pegel_api_types::operations::cluster_config::ListClusterConfig;
use pegel_api_types::operations::servers::ListServers;
use pegel_core::access::decision::Target;
use pegel_core::envelope::{Envelope, Status};
use pegel_service::policy::permission::ClustersRead;
use pegel_store::clusters::{self as table, Settings};
use serde_json::json;

use crate::catalog_house::{Console, watchful};

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_a_cluster_advertises_at_a_metadata_service_are_not_dialled() {
    let cluster = FakeCluster::builder().tablet_servers(3).start().unwrap();
    cluster.tablet_servers()[1].advertise("169.254.169.254", 80);
    // Resolvers read this as the same address, so that only what a name resolves to tells.
    cluster.tablet_servers()[2].advertise("2852039166", 80);
    let console = Console::of(&cluster, watchful()).await;
    let seen = console.ask::<ListServers>(json!({})).await;
    assert_eq!(seen.status, Status::Partial, "the others answer");
    let codes: Vec<_> = seen.evidence.iter().map(|one| one.code.unwrap().as_str()).collect();
    assert_eq!(codes, ["egress_refused"; 2]);
    assert!(seen.evidence[0].message.contains("is link-local"), "{:?}", seen.evidence);
    let target = Target::WholeCluster(&console.slug);
    let may = console.yard.service.policy().authorize::<ClustersRead>(&console.admin, target).await.unwrap();
    let tested = console.yard.service.clusters().test_stored(&may).await.unwrap();
    let codes: Vec<_> = tested.evidence.iter().filter_map(|one| one.code).map(|code| code.as_str()).collect();
    assert_eq!(codes, ["egress_refused"; 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coordinator_at_a_metadata_service_is_not_dialled_and_not_called_down() {
    let cluster = FakeCluster::builder().tablet_servers(1).start().unwrap();
    let console = Console::of(&cluster, watchful()).await;
    cluster.coordinator().advertise("fd00:ec2::254", 80);
    cluster.coordinator().stop().await.unwrap();
    let wanted = |envelope: &Envelope<_>| {
        envelope.status == Status::Unavailable
            && envelope.evidence.iter().any(|one| one.code.unwrap().as_str() == "egress_refused")
    };
    console.until::<ListClusterConfig>(json!({}), wanted).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_address_that_resolves_to_a_metadata_service_is_not_dialled() {
    let cluster = FakeCluster::builder().tablet_servers(1).start().unwrap();
    let console = Console::of(&cluster, watchful()).await;
    let written = console.yard.house.db.write(|tx| {
        Box::pin(async move {
            let slug = "eu".parse().unwrap();
            let settings = table::get(tx, &slug).await?.settings;
            let options = (&json!({ "endpoint": "2852039166:80" })).into();
            table::update(tx, &slug, 1, &Settings { options, ..settings }).await
        })
    });
    written.await.unwrap();
    let is_refused = |envelope: &Envelope<_>| {
        envelope.evidence.iter().any(|one| one.code.unwrap().as_str() == "egress_refused")
    };
    console.until::<ListClusterConfig>(json!({}), is_refused).await;
    assert_eq!(console.ask::<ListClusterConfig>(json!({})).await.status, Status::Unavailable);
}
