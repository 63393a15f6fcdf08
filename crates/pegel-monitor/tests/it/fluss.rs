//! Fluss servers that answer, freeze, stand by and change places.

use std::sync::Arc;

use fluss_client::client::FlussClient;
use fluss_client::settings::{ConnectionOptions, ConnectionSettings};
use fluss_testkit::fake_server::{FakeCluster, Script};
use pegel_core::ids::ClusterSlug;
use pegel_core::monitor::kind::MonitorKind;
use pegel_core::monitor::labels::Labels;
use pegel_core::monitor::verdict::Outcome;
use pegel_http::Outbound;
use pegel_http::egress::Egress;
use pegel_http::resolve::SystemResolver;
use pegel_http::trust::Trust;
use pegel_monitor::probe::{FlussClusters, Observation, Probes};
use pegel_monitor::target::Target;
use pegel_monitor::time::BoxFuture;
use pegel_store::monitors::{Monitor, Settings};
use serde_json::json;
use uuid::Uuid;

use crate::world::{World, rule};

struct OneCluster(FlussClient);

impl FlussClusters for OneCluster {
    fn client<'a>(&'a self, _: &'a ClusterSlug) -> BoxFuture<'a, Option<FlussClient>> {
        Box::pin(std::future::ready(Some(self.0.clone())))
    }
}

/// Looks once at a cluster with a monitor of this kind.
async fn observe(cluster: &FakeCluster, kind: MonitorKind, timeout_ms: u64) -> Observation {
    let world = World::sqlite().await;
    let options = ConnectionOptions { endpoint: Some(cluster.bootstrap()), ..ConnectionOptions::default() };
    let client = FlussClient::new(ConnectionSettings::try_from(options).unwrap()).unwrap();
    let clock = Arc::clone(&world.time) as Arc<dyn pegel_core::clock::Clock>;
    let outbound = Outbound::new(
        Arc::new(SystemResolver::default()),
        Egress::default(),
        Trust::system(None).unwrap(),
        clock,
    );
    let probes =
        Probes::new(outbound, world.db.clone(), Arc::clone(&world.key), Arc::new(OneCluster(client)));
    let monitor = Monitor {
        id: Uuid::from_u128(1),
        cluster: Some("orders-eu".parse().unwrap()),
        kind,
        settings: Settings {
            name: "fluss".to_owned(),
            target: json!({ "timeout_ms": timeout_ms }),
            rule: rule(1),
            heartbeat_rule: None,
            labels: Labels::new(),
        },
        created_at: world.now(),
        updated_at: world.now(),
        version: 1,
    };
    let target = Target::read(kind, &monitor.settings.target).unwrap();
    probes.observe(&monitor, &target).await
}

fn states(observation: &Observation) -> Vec<String> {
    let steps = observation.evidence["steps"].as_array().unwrap();
    let state = |step: &serde_json::Value| {
        format!("{} {}", step["step"].as_str().unwrap(), step["state"].as_str().unwrap())
    };
    steps.iter().map(state).collect()
}

#[tokio::test]
async fn each_step_of_a_server_that_is_well_has_its_own_status() {
    let cluster = FakeCluster::builder().start().unwrap();
    let observation = observe(&cluster, MonitorKind::FlussProbe, 5_000).await;
    assert_eq!(observation.outcome, Outcome::Ok, "{observation:?}");
    assert_eq!(states(&observation), ["tcp ok", "negotiation ok", "metadata ok"]);
}

#[tokio::test]
async fn a_frozen_server_accepts_and_fails_at_the_second_step_a63() {
    let cluster = FakeCluster::builder().tablet_servers(1).start().unwrap();
    cluster.servers().for_each(|server| server.freeze());
    let observation = observe(&cluster, MonitorKind::FlussProbe, 600).await;
    assert_eq!(observation.outcome, Outcome::Bad, "{observation:?}");
    assert!(!observation.is_network, "the connection was accepted");
}

#[tokio::test]
async fn a_server_that_hangs_up_on_the_first_request_fails_at_that_step() {
    let cluster = FakeCluster::builder().start().unwrap();
    cluster.servers().for_each(|server| server.on_any(Script::Close));
    let observation = observe(&cluster, MonitorKind::FlussProbe, 5_000).await;
    assert_eq!(observation.outcome, Outcome::Bad);
    assert_eq!(states(&observation), ["tcp ok", "negotiation failed", "metadata skipped"]);
    assert!(observation.summary.starts_with("negotiation failed"), "{}", observation.summary);
}

#[tokio::test]
async fn a_coordinator_that_is_away_for_a_moment_is_no_outage_and_one_that_stays_away_is() {
    let cluster = FakeCluster::builder().start().unwrap();
    let observation = observe(&cluster, MonitorKind::Coordinator, 5_000).await;
    assert_eq!(observation.outcome, Outcome::Ok, "{observation:?}");
    cluster.coordinator().stop().await.unwrap();
    let coming_back = async {
        tokio::time::sleep(std::time::Duration::from_millis(700)).await;
        cluster.coordinator().start_again().await.unwrap();
    };
    let (observation, ()) = tokio::join!(observe(&cluster, MonitorKind::Coordinator, 8_000), coming_back);
    assert_eq!(observation.outcome, Outcome::Ok, "{observation:?}");
    cluster.coordinator().stop().await.unwrap();
    let observation = observe(&cluster, MonitorKind::Coordinator, 1_500).await;
    assert_eq!(observation.outcome, Outcome::Bad);
    assert!(observation.summary.starts_with("no coordinator answered in"), "{}", observation.summary);
}
