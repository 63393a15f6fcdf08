//! Row counts and offsets in view: read for the page alone, once for all who look, and kept for a while.

use fluss_codec::api_key::ApiKey;
use fluss_testkit::fake_server::{FakeCluster, NewTable, Script};
use pegel_api_types::operations::tables::{ListTables, Runtime, RuntimeState, Tables};
use pegel_core::envelope::{Envelope, Status};
use serde_json::json;

use crate::catalog_house::{Console, on_demand};

fn shop() -> FakeCluster {
    FakeCluster::builder()
        .table(NewTable::primary_key("shop", "orders").buckets(2))
        .table(NewTable::log("shop", "clicks").partitions(["20260101"]))
        .table(NewTable::log("shop", "returns").buckets(2))
        .start()
        .unwrap()
}

fn figures(envelope: &Envelope<Tables>) -> Vec<&Runtime> {
    let rows = envelope.data.iter().flat_map(|data| &data.tables.items);
    rows.map(|row| row.runtime.as_ref().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_who_look_at_once_cause_one_reading_and_it_is_kept() {
    let cluster = shop();
    let console = Console::of(&cluster, on_demand()).await;
    let server = &cluster.tablet_servers()[0];
    server.on(ApiKey::GetTableStats, Script::Hold);
    let look = || console.ask::<ListTables>(json!({"runtime": true}));
    let release = async {
        server.until(|server| server.held_count() == 2).await;
        server.clear_all();
        server.release();
    };
    let (one, two, ()) = tokio::join!(look(), look(), release);
    let states: Vec<RuntimeState> = figures(&one).iter().map(|runtime| runtime.evidence).collect();
    assert_eq!(states, [RuntimeState::PartitionScoped, RuntimeState::Ok, RuntimeState::Ok]);
    assert_eq!(figures(&one), figures(&two));
    assert!(figures(&one)[1].observed_at.is_some() && figures(&one)[0].observed_at.is_none());
    let again = look().await;
    assert_eq!(figures(&again), figures(&one));
    console.ask::<ListTables>(json!({"runtime": true, "refresh": true})).await;
    assert_eq!(cluster.request_count(ApiKey::GetTableStats), 2, "one for each table that has figures");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_page_is_read() {
    let cluster = shop();
    let console = Console::of(&cluster, on_demand()).await;
    let page = console.ask::<ListTables>(json!({"runtime": true, "search": "returns"})).await;
    assert_eq!(figures(&page).len(), 1);
    assert_eq!(cluster.request_count(ApiKey::GetTableStats), 1);
    console.ask::<ListTables>(json!({})).await;
    assert_eq!(cluster.request_count(ApiKey::GetTableStats), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_one_who_reads_goes_away_the_next_one_reads() {
    let cluster = shop();
    let console = Console::of(&cluster, on_demand()).await;
    console.ask::<ListTables>(json!({})).await;
    let server = &cluster.tablet_servers()[0];
    server.on(ApiKey::GetTableStats, Script::Hold.times(1));
    let look = || console.ask::<ListTables>(json!({"runtime": true, "search": "returns"}));
    let mut first = Box::pin(look());
    tokio::select! {
        _ = &mut first => panic!("the answer is held back"),
        () = server.until(|server| server.held_count() == 1) => {}
    }
    let leaving = async move {
        tokio::task::yield_now().await;
        drop(first);
    };
    let (second, ()) = tokio::join!(look(), leaving);
    assert_eq!(figures(&second)[0].evidence, RuntimeState::Ok);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_fails_is_told_to_each_caller() {
    let cluster = shop();
    cluster.change(|model| {
        model.table_mut("shop", "orders").unwrap().bucket_mut(None, 1).unwrap().error = Some(44);
    });
    let console = Console::of(&cluster, on_demand()).await;
    for _ in 0..2 {
        let seen = console.ask::<ListTables>(json!({"runtime": true})).await;
        assert_eq!(seen.status, Status::Partial);
        let orders = figures(&seen)[1];
        assert_eq!((orders.evidence, orders.answered_bucket_count), (RuntimeState::Partial, 1));
        assert_eq!(orders.failure.as_ref().unwrap().code.as_str(), "leader_not_available");
        assert_eq!(seen.evidence[0].check, "read_runtime");
    }
}
