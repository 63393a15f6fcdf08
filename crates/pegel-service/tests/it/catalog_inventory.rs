//! The inventory: lists without asking, readings that are shared, and what is said when there is no newer one.

use std::time::Duration;

use fluss_codec::api_key::ApiKey;
use fluss_testkit::fake_server::{FakeCluster, FakeClusterBuilder, NewTable, Script, peak_count};
use pegel_api_types::operations::databases::ListDatabases;
use pegel_api_types::operations::servers::ListServers;
use pegel_api_types::operations::tables::{ListTables, Tables};
use pegel_core::envelope::{Envelope, EvidenceState, SourceKind, Status};
use pegel_service::catalog::inventory;
use pegel_service::clusters;
use serde_json::json;

use crate::catalog_house::{Console, now, on_demand, watchful};

fn shop() -> FakeClusterBuilder {
    FakeCluster::builder()
        .table(NewTable::primary_key("shop", "orders").buckets(2))
        .table(NewTable::log("shop", "clicks"))
        .table(NewTable::log("audit", "events"))
}

fn names(envelope: &Envelope<Tables>) -> Vec<String> {
    let rows = envelope.data.iter().flat_map(|data| &data.tables.items);
    rows.map(|row| format!("{}.{}", row.database, row.name)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_answered_from_one_reading() {
    let cluster = shop().start().unwrap();
    let console = Console::of(&cluster, on_demand()).await;
    let first = console.ask::<ListTables>(json!({})).await;
    assert_eq!(names(&first), ["audit.events", "shop.clicks", "shop.orders"]);
    let count = cluster.total_request_count();
    for offset in 0..3 {
        let page = console.ask::<ListTables>(json!({"offset": offset, "limit": 1, "search": "S"})).await;
        assert_eq!((page.status, page.source.kind), (Status::Ok, SourceKind::Cache));
        assert!(page.source.servers.is_empty(), "nobody was asked");
    }
    let databases = console.ask::<ListDatabases>(json!({})).await.data.unwrap();
    assert_eq!(
        databases.items.iter().map(|database| database.table_count).collect::<Vec<_>>(),
        [Some(1), Some(2)]
    );
    assert_eq!(cluster.total_request_count(), count);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_age_of_a_list_is_told() {
    let cluster = shop().start().unwrap();
    let console = Console::of(&cluster, on_demand()).await;
    let fresh = console.ask::<ListTables>(json!({})).await;
    assert_eq!(fresh.source.age_ms, 0);
    console.yard.house.clock.advance(Duration::from_secs(40));
    let old = console.ask::<ListTables>(json!({})).await;
    assert_eq!((old.observed_at, old.source.age_ms), (fresh.observed_at, 40_000));
}

#[tokio::test(flavor = "multi_thread")]
async fn refreshes_at_once_are_one_reading_and_show_what_is_new() {
    let cluster = shop().start().unwrap();
    let console = Console::of(&cluster, on_demand()).await;
    console.ask::<ListTables>(json!({})).await;
    cluster.change(|model| {
        model.add_table(NewTable::log("shop", "returns"));
    });
    assert_eq!(names(&console.ask::<ListTables>(json!({})).await).len(), 3);
    cluster.reset_counters();
    cluster.coordinator().on(ApiKey::ListDatabases, Script::Hold);
    let refresh = || console.ask::<ListTables>(json!({"refresh": true}));
    let late = async {
        cluster.coordinator().until(|server| server.held_count() == 1).await;
        let release = async {
            cluster.coordinator().clear_all();
            cluster.coordinator().release();
        };
        tokio::join!(biased; refresh(), release).0
    };
    let (one, two, three) = tokio::join!(refresh(), refresh(), late);
    assert_eq!(cluster.request_count(ApiKey::ListDatabases), 1);
    for envelope in [one, two, three] {
        assert_eq!(names(&envelope).len(), 4);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refreshes_one_after_another_keep_the_least_gap() {
    let cluster = shop().start().unwrap();
    let settings = clusters::Settings {
        inventory: inventory::Settings { least_gap: Duration::from_secs(3_600), ..on_demand().inventory },
        ..on_demand()
    };
    let console = Console::of(&cluster, settings).await;
    console.ask::<ListTables>(json!({})).await;
    let started = now();
    for _ in 0..5 {
        assert_eq!(console.ask::<ListTables>(json!({"refresh": true})).await.status, Status::Ok);
    }
    // None of them waits for a reading that will not come.
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(cluster.request_count(ApiKey::ListDatabases), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_could_not_be_read_anew_is_never_told_as_whole() {
    let cluster = shop().start().unwrap();
    let console = Console::of(&cluster, watchful()).await;
    let before = console.ask::<ListTables>(json!({})).await;
    cluster.coordinator().stop().await.unwrap();
    let input = json!({"refresh": true});
    let stale = console.until::<ListTables>(input, |envelope| envelope.status != Status::Ok).await;
    assert_eq!((stale.status, names(&stale)), (Status::Partial, names(&before)));
    let evidence = stale.evidence.iter().find(|evidence| evidence.check == "read_inventory").unwrap();
    assert_eq!(evidence.code.unwrap().as_str(), "coordinator_unavailable");
    assert!(stale.warnings.iter().any(|warning| warning.contains("could not be read anew")), "{stale:?}");
    let databases = console.ask::<ListDatabases>(json!({})).await;
    assert_eq!((databases.status, databases.data.unwrap().items.len()), (Status::Partial, 2));
    console.until::<ListServers>(json!({}), |envelope| envelope.status != Status::Ok).await;
    cluster.coordinator().start_again().await.unwrap();
    // Nobody has to ask: the watch on the servers tells that the coordinator is back.
    console.until::<ListTables>(json!({}), |envelope| envelope.status == Status::Ok).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_never_answered_is_unavailable_and_then_there() {
    let cluster = shop().start().unwrap();
    cluster.coordinator().stop().await.unwrap();
    let console = Console::of(&cluster, watchful()).await;
    let none = console.ask::<ListTables>(json!({})).await;
    assert_eq!((none.status, none.data.is_none()), (Status::Unavailable, true));
    assert_eq!(none.evidence[0].state, EvidenceState::Failed);
    cluster.coordinator().start_again().await.unwrap();
    let there = console.until::<ListTables>(json!({}), |envelope| envelope.data.is_some()).await;
    assert_eq!((there.status, names(&there).len()), (Status::Ok, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_coordinator_is_down_no_reading_dials_it() {
    let cluster = shop().start().unwrap();
    let console = Console::of(&cluster, watchful()).await;
    console.ask::<ListTables>(json!({})).await;
    cluster.coordinator().accept_and_close();
    cluster.coordinator().close_connections().await.unwrap();
    console.until::<ListTables>(json!({"refresh": true}), |envelope| envelope.status != Status::Ok).await;
    // It takes two looks to be certain.
    cluster.reset_counters();
    cluster.coordinator().until(|server| server.accepted_count() >= 3).await;
    cluster.reset_counters();
    let started = now();
    for _ in 0..50 {
        let stale = console.ask::<ListTables>(json!({"refresh": true})).await;
        assert_eq!(stale.status, Status::Partial);
    }
    // One dial a look, five looks a second: fifty refreshes add none, and wait for none.
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    assert!(cluster.coordinator().accepted_count() < 20, "{} dials", cluster.coordinator().accepted_count());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_cannot_be_listed_is_told_and_the_others_are_there() {
    let cluster = shop().start().unwrap();
    cluster.coordinator().on(ApiKey::ListTables, Script::error(48, "no").times(1));
    let console = Console::of(&cluster, on_demand()).await;
    let tables = console.ask::<ListTables>(json!({})).await;
    assert_eq!(tables.status, Status::Partial);
    assert_eq!(tables.evidence[0].check, "list_tables");
    assert_eq!(tables.evidence[0].code.unwrap().as_str(), "authorization_failed");
    assert!(!names(&tables).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_first_reading_goes_on_there_is_what_there_is() {
    let cluster = shop().start().unwrap();
    cluster.coordinator().on(ApiKey::ListTables, Script::NeverAnswer);
    let console = Console::of(&cluster, on_demand()).await;
    let started = now();
    let databases = console.ask::<ListDatabases>(json!({})).await;
    assert_eq!((databases.status, databases.data.unwrap().items.len()), (Status::Ok, 2));
    // As long as one request may take is waited for tables, not for what is there.
    assert!(started.elapsed() < Duration::from_millis(1_500), "{:?}", started.elapsed());
    let tables = console.ask::<ListTables>(json!({})).await;
    assert_eq!((tables.status, tables.data.is_none()), (Status::Unavailable, true));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_newer_than_the_inventory_is_read_by_itself() {
    let cluster = shop().start().unwrap();
    let console = Console::of(&cluster, on_demand()).await;
    console.ask::<ListTables>(json!({})).await;
    cluster.change(|model| {
        model.add_table(NewTable::log("new", "things"));
    });
    let tables = console.ask::<ListTables>(json!({"database": "new"})).await;
    assert_eq!((tables.source.kind, names(&tables)), (SourceKind::Live, vec!["new.things".to_owned()]));
    let missing = console.ask_as::<ListTables>(&console.admin, json!({"database": "nowhere"})).await;
    assert_eq!(missing.unwrap_err().code().as_str(), "database_not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_tables_are_read_gently_and_listed_at_once() {
    let cluster = FakeCluster::builder().tablet_servers(3).generated_tables(20, 500, 10).start().unwrap();
    let console = Console::of(&cluster, clusters::Settings::default()).await;
    let whole = console.until::<ListTables>(json!({}), |envelope| envelope.status == Status::Ok).await;
    assert_eq!(whole.data.unwrap().tables.total_count, 10_000);
    // As the test starts anew, the first second holds a login and a look besides.
    let peak = peak_count(&cluster.seen(), Duration::from_secs(1));
    assert!(peak <= 20, "{peak} requests in a second");
    let some = crate::house::scope(
        r#"{"clusters":[{"cluster":"eu","tables":{"only":["*.no_such_table","*.neither_this_one"]}}]}"#,
    );
    let ann = console.viewer("ann", some).await;
    let mut took = Vec::new();
    for number in 0..60 {
        let input = match number % 3 {
            0 => json!({"offset": number * 100, "limit": 100}),
            1 => json!({"search": format!("table_{number}")}),
            _ => json!({"limit": 1_000}),
        };
        let started = now();
        let asked = if number % 10 == 0 {
            console.ask_as::<ListTables>(&ann, input).await.unwrap()
        } else {
            console.ask::<ListTables>(input).await
        };
        took.push(started.elapsed());
        assert!(asked.data.is_some());
    }
    took.sort();
    let p95 = took[took.len() * 95 / 100];
    // The goal of 50 ms is for a release build; this one is not optimised.
    assert!(p95 < Duration::from_millis(250), "{took:?}");
}
