//! Glances at a cluster whose servers come and go.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fluss_client::admin::{Glance, Named};
use fluss_client::client::FlussClient;
use fluss_client::observer::{Event, Observer};
use fluss_testkit::fake_server::{FakeCluster, Node};

use crate::support::options;

const LIMIT: Duration = Duration::from_secs(1);

/// Counts dials by address.
#[derive(Default)]
struct Dials(Mutex<BTreeMap<String, usize>>);

impl Observer for Dials {
    fn observe(&self, event: &Event<'_>) {
        if let Event::Dial { address, .. } = event {
            *self.0.lock().unwrap().entry(address.to_string()).or_default() += 1;
        }
    }
}

fn client(bootstrap: &str) -> (FlussClient, Arc<Dials>) {
    let dials = Arc::new(Dials::default());
    let observer: Arc<dyn Observer> = Arc::<Dials>::clone(&dials);
    let settings = options(bootstrap).try_into().unwrap();
    (FlussClient::with_observer(settings, observer).unwrap(), dials)
}

/// Returns for the coordinator and each tablet server whether it answers.
fn answers(glance: &Glance) -> (bool, Vec<bool>) {
    let coordinator = glance.coordinator.as_ref().is_some_and(|status| status.answer.is_ok());
    (coordinator, glance.tablet_servers.iter().map(|status| status.answer.is_ok()).collect())
}

#[tokio::test]
async fn all_servers_are_named_and_answer() {
    let cluster = FakeCluster::builder().tablet_servers(3).start().unwrap();
    let (client, _) = client(&cluster.bootstrap());
    let glance = client.glance(&Named::default(), LIMIT).await;
    assert!(glance.metadata.is_ok());
    assert_eq!(answers(&glance), (true, vec![true; 3]));
    let again = client.glance(&glance.named(), LIMIT).await;
    assert_eq!(answers(&again), (true, vec![true; 3]));
}

#[tokio::test]
async fn without_the_coordinator_tablet_servers_stay_as_last_named() {
    let cluster = FakeCluster::builder().tablet_servers(2).start().unwrap();
    let (client, _) = client(&cluster.bootstrap());
    let before = client.glance(&Named::default(), LIMIT).await;
    cluster.coordinator().stop().await.unwrap();
    cluster.tablet_servers()[1].stop().await.unwrap();
    let glance = client.glance(&before.named(), LIMIT).await;
    assert_eq!(glance.metadata.as_ref().unwrap_err().code(), "coordinator_unavailable");
    assert_eq!(answers(&glance), (false, vec![true, false]));
    cluster.coordinator().start_again().await.unwrap();
    cluster.tablet_servers()[1].start_again().await.unwrap();
    let back = client.glance(&glance.named(), LIMIT).await;
    assert_eq!(answers(&back), (true, vec![true; 2]));
}

#[tokio::test]
async fn a_frozen_server_costs_no_more_than_the_limit() {
    let cluster = FakeCluster::builder().tablet_servers(2).start().unwrap();
    let (client, _) = client(&cluster.bootstrap());
    let before = client.glance(&Named::default(), LIMIT).await;
    cluster.coordinator().freeze();
    cluster.tablet_servers()[0].freeze();
    let started = std::time::Instant::now();
    let glance = client.glance(&before.named(), Duration::from_millis(200)).await;
    assert_eq!(answers(&glance), (false, vec![false, true]));
    assert!(started.elapsed() < Duration::from_millis(900), "{:?}", started.elapsed());
    cluster.coordinator().thaw();
    cluster.tablet_servers()[0].thaw();
    assert_eq!(answers(&client.glance(&glance.named(), LIMIT).await), (true, vec![true; 2]));
}

#[tokio::test]
async fn a_dead_server_is_dialled_once_a_glance() {
    let cluster = FakeCluster::builder().tablet_servers(2).start().unwrap();
    let (client, dials) = client(&cluster.bootstrap());
    let mut named = client.glance(&Named::default(), LIMIT).await.named();
    cluster.coordinator().stop().await.unwrap();
    cluster.tablet_servers()[0].stop().await.unwrap();
    dials.0.lock().unwrap().clear();
    for _ in 0..5 {
        named = client.glance(&named, LIMIT).await.named();
    }
    let dials = dials.0.lock().unwrap().clone();
    let of = |address: std::net::SocketAddr| dials.get(&address.to_string()).copied().unwrap_or(0);
    assert_eq!(of(cluster.coordinator().address()), 5, "{dials:?}");
    assert_eq!(of(cluster.tablet_servers()[0].address()), 5, "{dials:?}");
    assert_eq!(of(cluster.tablet_servers()[1].address()), 0, "{dials:?}");
}

#[tokio::test]
async fn a_coordinator_that_took_over_is_found_through_a_tablet_server() {
    let cluster = FakeCluster::builder().tablet_servers(1).start().unwrap();
    let other = FakeCluster::builder().tablet_servers(2).start().unwrap();
    let (client, _) = client(&cluster.bootstrap());
    let before = client.glance(&Named::default(), LIMIT).await;
    cluster.coordinator().stop().await.unwrap();
    let address = other.coordinator().address();
    let node = Node {
        id: 0,
        host: address.ip().to_string(),
        port: i32::from(address.port()),
        rack: None,
        configs: Vec::new(),
    };
    cluster.change(|model| model.coordinator = Some(node));
    let glance = client.glance(&before.named(), LIMIT).await;
    assert_eq!(answers(&glance), (true, vec![true; 2]));
    assert_eq!(glance.coordinator.unwrap().node.advertised, address.to_string());
}

#[tokio::test]
async fn nobody_there_is_told_with_each_address() {
    let cluster = FakeCluster::builder().start().unwrap();
    cluster.coordinator().stop().await.unwrap();
    let (client, _) = client(&cluster.bootstrap());
    let glance = client.glance(&Named::default(), LIMIT).await;
    assert_eq!(glance.metadata.unwrap_err().code(), "bootstrap_failed");
    assert!(glance.coordinator.is_none() && glance.tablet_servers.is_empty());
}

#[tokio::test]
async fn a_handle_tells_its_own_observer_of_its_own_requests_only() {
    #[derive(Default)]
    struct Requests(Mutex<Vec<&'static str>>);
    impl Observer for Requests {
        fn observe(&self, event: &Event<'_>) {
            if let Event::Request { api, .. } = event {
                self.0.lock().unwrap().push(api);
            }
        }
    }
    let cluster = FakeCluster::builder().start().unwrap();
    let (client, _) = client(&cluster.bootstrap());
    let (one, two) = (Arc::new(Requests::default()), Arc::new(Requests::default()));
    let first = client.observed_by(Arc::<Requests>::clone(&one));
    let second = client.observed_by(Arc::<Requests>::clone(&two));
    let (a, b) = tokio::join!(first.list_databases(), second.cluster_config());
    assert!(a.is_ok() && b.is_ok());
    client.list_databases().await.unwrap();
    let of =
        |requests: &Requests, api| requests.0.lock().unwrap().iter().filter(|seen| **seen == api).count();
    assert_eq!((of(&one, "LIST_DATABASES"), of(&one, "DESCRIBE_CLUSTER_CONFIGS")), (1, 0));
    assert_eq!((of(&two, "LIST_DATABASES"), of(&two, "DESCRIBE_CLUSTER_CONFIGS")), (0, 1));
}
