//! Live clusters: in step with what is stored, gentle to what does not answer, gone when they should be.

use std::sync::Arc;
use std::time::Duration;

use fluss_testkit::fake_server::{Config, FakeCluster, FakeServer, peak_count};
use pegel_api_types::clusters::TestConnection;
use pegel_api_types::clusters::state::{ClusterState, ClusterStateView};
use pegel_api_types::operations::cluster_config::{ListClusterConfig, ListClusterConfigInput};
use pegel_api_types::operations::connection_test::ConnectionTest;
use pegel_api_types::operations::tables::{ListTables, ListTablesInput};
use pegel_api_types::people::UpdateUser;
use pegel_core::access::Role;
use pegel_core::access::decision::Target;
use pegel_core::access::scope::Scope;
use pegel_core::envelope::{Envelope, Status};
use pegel_core::ids::ClusterSlug;
use pegel_service::catalog::liveness;
use pegel_service::clusters;
use pegel_service::policy::permission::{ClustersWrite, UsersWrite};
use pegel_store::clusters::{self as table, Settings};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time;

use crate::clusters::{SOON, Yard, request, start, start_with};
use crate::house::{House, code};
use crate::on_both;
use crate::users::as_is;

on_both!(
    a_corrected_password_works_at_once_and_a_wrong_one_does_not_hammer,
    a_removed_cluster_has_its_connections_closed,
    a_changed_connection_closes_the_old_one,
    a_renamed_cluster_keeps_its_connection,
    one_unusable_cluster_stops_neither_the_others_nor_the_start,
    few_clusters_are_connected_to_at_once,
    the_state_is_what_the_watch_has_seen,
    the_end_comes_promptly,
    a_registration_keeps_to_the_request_budget,
    tests_are_bounded_in_number,
    a_test_that_takes_too_long_is_given_up,
    a_test_whose_caller_has_gone_is_audited,
);

/// A time in which anything that goes on in the background would show itself.
const A_WHILE: Duration = Duration::from_millis(1_500);

fn with_password(slug: &str, endpoint: &str, password: &str) -> serde_json::Value {
    json!({ "slug": slug, "name": slug, "environment": "test", "save_despite_failure": true, "connection": {
        "endpoint": endpoint, "security_protocol": "SASL_PLAINTEXT", "sasl_username": "pegel",
        "sasl_password": password } })
}

/// Starts the service anew, so that the only connections are those of the live clusters.
async fn afresh(yard: Yard, cluster: &FakeCluster) -> Yard {
    yard.service.shutdown().await;
    for server in cluster.servers() {
        time::timeout(SOON, server.until(|server| server.open_count() == 0)).await.unwrap();
    }
    let yard = Yard { service: start(yard.house.db.clone(), SOON).await, ..yard };
    time::timeout(SOON, cluster.coordinator().until(is_connected)).await.unwrap();
    yard
}

fn is_connected(server: &FakeServer) -> bool {
    server.open_count() >= 1
}

async fn a_corrected_password_works_at_once_and_a_wrong_one_does_not_hammer(house: House) {
    let config = Config::initial("bucket.number", "3");
    let cluster = FakeCluster::builder().user("pegel", "old").config(config).start().unwrap();
    let yard = Yard::open(house).await;
    let saved = yard.register(with_password("eu", &cluster.bootstrap(), "old")).await.unwrap().cluster;
    let yard = afresh(yard, &cluster).await;
    let coordinator = cluster.coordinator();
    cluster.change(|model| model.users.set("pegel", "new"));
    coordinator.close_connections().await.unwrap();
    cluster.reset_counters();
    assert_eq!(ask(&yard, &saved.slug).await, Status::Refused);
    let hammered = coordinator.until(|server| server.accepted_count() > 10);
    assert!(time::timeout(A_WHILE, hammered).await.is_err(), "{} dials", coordinator.accepted_count());
    yard.update(&saved, json!({ "connection": { "sasl_password": "new" } })).await.unwrap();
    assert_eq!(ask(&yard, &saved.slug).await, Status::Ok);
}

async fn a_registration_keeps_to_the_request_budget(house: House) {
    let builder = FakeCluster::builder().tablet_servers(3).user("pegel", "secret");
    let cluster = builder.generated_tables(20, 20, 1).start().unwrap();
    let yard = Yard::open(house).await;
    let registered = yard.register(with_password("eu", &cluster.bootstrap(), "secret"));
    // The test takes what it needs, the first looks wait for what is left of the second.
    let saved = time::timeout(Duration::from_secs(3), registered).await.unwrap().unwrap();
    assert_eq!(saved.connection_test.unwrap().status, Status::Ok);
    let caller = yard.house.caller(&yard.admin).await;
    let input = ListTablesInput::default();
    let listed = yard.service.run::<ListTables>(&caller, &saved.cluster.slug, input);
    let listed = time::timeout(SOON, listed).await.unwrap().unwrap();
    assert_eq!((listed.status, listed.data.unwrap().tables.total_count), (Status::Ok, 400));
    let busiest = peak_count(&cluster.seen(), Duration::from_secs(1));
    assert!(busiest <= 20, "{busiest} requests within a second");
    yard.service.shutdown().await;
}

/// Asks something that only the cluster itself can answer now.
async fn ask(yard: &Yard, slug: &ClusterSlug) -> Status {
    let caller = yard.house.caller(&yard.admin).await;
    let input = ListClusterConfigInput::default();
    let answer = yard.service.run::<ListClusterConfig>(&caller, slug, input);
    time::timeout(SOON, answer).await.unwrap().unwrap().status
}

async fn a_removed_cluster_has_its_connections_closed(house: House) {
    let cluster = FakeCluster::builder().start().unwrap();
    let yard = Yard::open(house).await;
    let saved = yard.register(request("eu", &cluster.bootstrap())).await.unwrap().cluster;
    let yard = afresh(yard, &cluster).await;
    yard.remove(&saved).await.unwrap();
    for server in cluster.servers() {
        time::timeout(SOON, server.until(|server| server.open_count() == 0)).await.unwrap();
    }
}

async fn a_changed_connection_closes_the_old_one(house: House) {
    let (old, new) = (FakeCluster::builder().start().unwrap(), FakeCluster::builder().start().unwrap());
    let yard = Yard::open(house).await;
    let saved = yard.register(request("eu", &old.bootstrap())).await.unwrap().cluster;
    let yard = afresh(yard, &old).await;
    yard.update(&saved, json!({ "connection": { "endpoint": new.bootstrap() } })).await.unwrap();
    for server in old.servers() {
        time::timeout(SOON, server.until(|server| server.open_count() == 0)).await.unwrap();
    }
    time::timeout(SOON, new.coordinator().until(is_connected)).await.unwrap();
}

async fn a_renamed_cluster_keeps_its_connection(house: House) {
    let cluster = FakeCluster::builder().start().unwrap();
    let yard = Yard::open(house).await;
    let saved = yard.register(request("eu", &cluster.bootstrap())).await.unwrap().cluster;
    let yard = afresh(yard, &cluster).await;
    let coordinator = cluster.coordinator();
    cluster.reset_counters();
    yard.update(&saved, json!({ "name": "Europe" })).await.unwrap();
    let dialled = coordinator.until(|server| server.accepted_count() > 0);
    assert!(time::timeout(A_WHILE, dialled).await.is_err());
    assert_eq!(coordinator.open_count(), 1);
}

/// Only PostgreSQL tells other instances at once; on a file the feed is read from time to time.
#[tokio::test]
async fn another_instance_is_followed() {
    let Some(house) = House::postgres().await else { return };
    let cluster = FakeCluster::builder().start().unwrap();
    let yard = Yard::open(house).await;
    let other = start(yard.house.another_db().await, SOON).await;
    let saved = yard.register(request("eu", &cluster.bootstrap())).await.unwrap().cluster;
    let coordinator = cluster.coordinator();
    time::timeout(SOON, coordinator.until(|server| server.open_count() == 2)).await.unwrap();
    let caller = yard.house.caller(&yard.admin).await;
    let target = Target::WholeCluster(&saved.slug);
    let may = other.policy().authorize::<ClustersWrite>(&caller, target).await.unwrap();
    other.clusters().remove(&may, saved.version).await.unwrap();
    time::timeout(SOON, coordinator.until(|server| server.open_count() == 0)).await.unwrap();
    other.shutdown().await;
}

async fn one_unusable_cluster_stops_neither_the_others_nor_the_start(house: House) {
    let cluster = FakeCluster::builder().user("pegel", "pw").start().unwrap();
    let yard = Yard::open(house).await;
    for slug in ["damaged", "eu", "foreign", "garbled"] {
        yard.register(with_password(slug, &cluster.bootstrap(), "pw")).await.unwrap();
    }
    yard.service.shutdown().await;
    let written = yard.house.db.write(|tx| {
        Box::pin(async move {
            let sql = "UPDATE secret SET ciphertext = $1 WHERE owner = 'cluster/damaged'";
            tx.execute(sql, &[vec![1_u8; 40].into()]).await?;
            tx.execute("UPDATE cluster SET options = '{\"endpoint\"' WHERE slug = 'garbled'", &[]).await?;
            let slug = "foreign".parse().unwrap();
            let settings = table::get(tx, &slug).await?.settings;
            let options = (&json!({ "endpoint": "a:1", "shiny_new_option": true })).into();
            table::update(tx, &slug, 1, &Settings { options, ..settings }).await
        })
    });
    written.await.unwrap();
    for server in cluster.servers() {
        time::timeout(SOON, server.until(|server| server.open_count() == 0)).await.unwrap();
    }
    let yard = Yard { service: start(yard.house.db.clone(), SOON).await, ..yard };
    time::timeout(SOON, cluster.coordinator().until(|server| server.open_count() == 1)).await.unwrap();
    let caller = yard.house.caller(&yard.admin).await;
    let told: Vec<_> = yard
        .list_as(&caller, None, 10)
        .await
        .into_iter()
        .map(|view| (view.slug.to_string(), view.unusable.map(|why| why.code.as_str())))
        .collect();
    assert_eq!(
        told,
        [
            ("damaged".to_owned(), Some("secret_unreadable")),
            ("eu".to_owned(), None),
            ("foreign".to_owned(), Some("invalid_setting")),
            ("garbled".to_owned(), Some("invalid_setting")),
        ]
    );
    // Who may see a part of a cluster only is not told what the connection's settings hold.
    let part = r#"{"clusters":[{"cluster":"foreign","tables":{"only":["shop.*"]}}]}"#;
    let part = serde_json::from_str(part).unwrap();
    let part = yard.house.person(&yard.admin, "part", Role::Viewer, part).await;
    let part = yard.house.caller(&part).await;
    let told = yard.list_as(&part, None, 10).await.pop().unwrap().unusable.unwrap();
    assert_eq!(told.code.as_str(), "invalid_setting");
    assert!(!told.message.contains("shiny"), "{}", told.message);
    let told = yard.get("foreign").await.unwrap().unusable.unwrap();
    assert!(told.message.contains("shiny_new_option"), "{}", told.message);
    // A damaged secret is not kept, and giving it again mends the cluster.
    let damaged = yard.get("damaged").await.unwrap();
    assert_eq!(code(yard.update(&damaged, json!({})).await), "secret_required");
    let mended = yard.update(&damaged, json!({ "connection": { "sasl_password": "pw" } })).await.unwrap();
    assert!(mended.cluster.unusable.is_none());
    assert_eq!(yard.get("foreign").await.unwrap().connection, None);
    // What cannot be read at all can be written anew, with its secret, or removed.
    let garbled = yard.get("garbled").await.unwrap();
    assert_eq!(garbled.connection, None);
    assert_eq!(yard.service.clusters().usable().len(), 4);
    let anew = with_password("garbled", &cluster.bootstrap(), "pw")["connection"].clone();
    let mended = yard.update(&garbled, json!({ "connection": anew })).await.unwrap();
    assert!(mended.cluster.unusable.is_none());
    yard.remove(&mended.cluster).await.unwrap();
}

async fn few_clusters_are_connected_to_at_once(house: House) {
    let cluster = FakeCluster::builder().start().unwrap();
    let yard = Yard::open(house).await;
    for number in 0..12 {
        let slug = format!("c{number}");
        yard.register(request(&slug, &cluster.bootstrap())).await.unwrap();
    }
    yard.service.shutdown().await;
    let coordinator = cluster.coordinator();
    time::timeout(SOON, coordinator.until(|server| server.open_count() == 0)).await.unwrap();
    coordinator.freeze();
    cluster.reset_counters();
    let service = start(yard.house.db.clone(), SOON).await;
    time::timeout(SOON, coordinator.until(|server| server.open_count() == 8)).await.unwrap();
    let more = coordinator.until(|server| server.open_count() > 8);
    assert!(time::timeout(A_WHILE, more).await.is_err());
    coordinator.thaw();
    time::timeout(SOON, coordinator.until(|server| server.open_count() == 12)).await.unwrap();
    service.shutdown().await;
}

async fn the_state_is_what_the_watch_has_seen(house: House) {
    let cluster = FakeCluster::builder().tablet_servers(2).start().unwrap();
    let yard = Yard::open(house).await;
    yard.register(request("eu", &cluster.bootstrap())).await.unwrap();
    yard.service.shutdown().await;
    let quick = Duration::from_millis(100);
    let liveness =
        liveness::Settings { look_every: quick, fresh_for: quick, ..liveness::Settings::default() };
    let settings = clusters::Settings { liveness, ..clusters::Settings::default() };
    let yard = Yard { service: start_with(yard.house.db.clone(), settings).await, ..yard };
    assert_eq!(yard.get("eu").await.unwrap().state, Some(ClusterStateView::unknown()));
    let up = comes_to(&yard, ClusterState::Up).await;
    assert_eq!((up.is_coordinator_up, up.tablet_servers_alive_count), (Some(true), Some(2)));
    assert!(up.observed_at.is_some() && up.reason.is_none());
    cluster.tablet_servers()[0].stop().await.unwrap();
    let degraded = comes_to(&yard, ClusterState::Degraded).await;
    let counts = (degraded.tablet_servers_alive_count, degraded.tablet_servers_registered_count);
    assert_eq!(counts, (Some(1), Some(2)));
    for server in cluster.servers() {
        server.stop().await.unwrap();
    }
    let down = comes_to(&yard, ClusterState::Down).await;
    assert!(down.is_coordinator_up == Some(false) && down.reason.is_some(), "{down:?}");
    // Who may not see servers is not told of them.
    let ann = yard.house.person(&yard.admin, "ann", Role::Viewer, Scope::All).await;
    let caller = yard.house.caller(&ann).await;
    assert!(yard.get_as(&caller, "eu").await.unwrap().state.is_some());
    let bob = yard.house.person(&yard.admin, "bob", Role::Viewer, Scope::All).await;
    let grants = Some(vec!["pegel.clusters.read".parse().unwrap()]);
    let mine = yard.house.may::<UsersWrite>(&yard.house.caller(&yard.admin).await).await;
    let narrowed = UpdateUser { grants, ..as_is(&bob.user) };
    yard.house.people.update_user(&mine, bob.user.id, &narrowed).await.unwrap();
    let caller = yard.house.caller(&bob).await;
    assert_eq!(yard.get_as(&caller, "eu").await.unwrap().state, None);
    yard.service.shutdown().await;
}

/// Waits until a cluster's state is this, looking again whenever the feed says that something changed.
async fn comes_to(yard: &Yard, state: ClusterState) -> ClusterStateView {
    let mut changes = yard.house.db.watch();
    let caller = yard.house.caller(&yard.admin).await;
    let coming = async {
        loop {
            let seen = yard.get_as(&caller, "eu").await.unwrap().state.unwrap();
            if seen.state == state {
                return seen;
            }
            changes.changed().await.unwrap();
        }
    };
    time::timeout(SOON, coming).await.unwrap()
}

async fn the_end_comes_promptly(house: House) {
    let (live, mute) = (FakeCluster::builder().start().unwrap(), FakeCluster::builder().start().unwrap());
    let yard = Yard::open(house).await;
    yard.register(request("eu", &live.bootstrap())).await.unwrap();
    let yard = afresh(yard, &live).await;
    let coordinator = mute.coordinator();
    coordinator.freeze();
    let testing = yard.test_form(Target::Global, json!({ "endpoint": mute.bootstrap() }));
    let ending = async {
        coordinator.until(|server| server.accepted_count() > 0).await;
        time::timeout(Duration::from_secs(5), yard.service.shutdown()).await
    };
    // Far less than what the test, or a question to the mute server, may take.
    let (test, ended) = time::timeout(SOON, async { tokio::join!(testing, ending) }).await.unwrap();
    ended.unwrap();
    assert_eq!(test.unwrap().status, Status::Unavailable);
    // A server that does not read does not see that it was left.
    coordinator.thaw();
    for server in live.servers().chain(mute.servers()) {
        time::timeout(SOON, server.until(|server| server.open_count() == 0)).await.unwrap();
    }
    assert_eq!(yard.audit().await.pop().unwrap().entry.outcome, "connection_test_failed");
    assert_eq!(code(yard.test_form(Target::Global, json!({})).await), "store_closed");
}

async fn tests_are_bounded_in_number(house: House) {
    let cluster = FakeCluster::builder().start().unwrap();
    let yard = Yard::open(house).await;
    let coordinator = cluster.coordinator();
    coordinator.freeze();
    let caller = yard.house.caller(&yard.admin).await;
    let may = yard.service.policy().authorize::<ClustersWrite>(&caller, Target::Global).await.unwrap();
    let form = json!({ "connection": { "endpoint": cluster.bootstrap() } });
    let request: Arc<TestConnection> = Arc::new(serde_json::from_value(form).unwrap());
    let may = Arc::new(may);
    let mut tests = JoinSet::new();
    for _ in 0..25 {
        let (service, may, request) = (yard.service.clone(), Arc::clone(&may), Arc::clone(&request));
        tests.spawn(async move { service.clusters().test_form(&may, &request).await });
    }
    // Four dial, sixteen wait, and those beyond the line are turned away at once.
    for _ in 0..5 {
        let turned_away = time::timeout(SOON, tests.join_next()).await.unwrap().unwrap().unwrap();
        assert_eq!(code(turned_away), "connection_test_busy");
    }
    time::timeout(SOON, coordinator.until(|server| server.open_count() == 4)).await.unwrap();
    let more = coordinator.until(|server| server.open_count() > 4);
    assert!(time::timeout(A_WHILE, more).await.is_err());
    yard.service.shutdown().await;
    let answers = time::timeout(SOON, tests.join_all()).await.unwrap();
    let told: Vec<_> =
        answers.into_iter().map(|answer| answer.map_err(|error| error.code().as_str())).collect();
    let unavailable = |answer: &&Result<Envelope<ConnectionTest>, &str>| matches!(answer, Ok(test) if test.status == Status::Unavailable);
    assert_eq!(told.iter().filter(unavailable).count(), 4);
    assert_eq!(told.iter().filter(|answer| matches!(answer, Err("store_closed"))).count(), 16);
}

async fn a_test_that_takes_too_long_is_given_up(house: House) {
    let cluster = FakeCluster::builder().start().unwrap();
    let yard = Yard::with_deadline(house, Duration::from_millis(300)).await;
    cluster.coordinator().freeze();
    let form = json!({ "endpoint": cluster.bootstrap() });
    let test = time::timeout(SOON, yard.test_form(Target::Global, form)).await.unwrap().unwrap();
    assert_eq!((test.status, test.data), (Status::Unavailable, None));
    assert_eq!(test.evidence[0].code.unwrap().as_str(), "request_timeout");
    assert_eq!(yard.audit().await.pop().unwrap().entry.outcome, "connection_test_failed");
}

async fn a_test_whose_caller_has_gone_is_audited(house: House) {
    let cluster = FakeCluster::builder().start().unwrap();
    let yard = Yard::open(house).await;
    let coordinator = cluster.coordinator();
    coordinator.freeze();
    let test = yard.test_form(Target::Global, json!({ "endpoint": cluster.bootstrap() }));
    tokio::select! {
        _ = test => panic!("nobody answers"),
        () = coordinator.until(|server| server.accepted_count() > 0) => {}
    }
    assert!(yard.audit().await.is_empty());
    let mut changes = yard.house.db.watch();
    coordinator.thaw();
    let written = async {
        while yard.audit().await.is_empty() {
            changes.changed().await.unwrap();
        }
    };
    time::timeout(SOON, written).await.unwrap();
    let row = yard.audit().await.pop().unwrap().entry;
    assert_eq!(
        (row.action.as_str(), &row.detail["endpoint"]),
        ("clusters.test", &json!(cluster.bootstrap()))
    );
}
