//! Slow, dead and hostile ends and targets hold up nobody but themselves.

use std::time::{Duration, Instant};

use pegel_core::monitor::kind::MonitorKind;
use pegel_core::monitor::verdict::Status;
use pegel_monitor::watch::Anchor;
use pegel_store::blackouts::{self, Kind};
use pegel_testkit::on_each_database;
use serde_json::json;

use crate::end::{Do, End, Role};
use crate::target::{ILL, Manner, Target, WELL};
use crate::world::{World, read, rule, write};

on_each_database!(
    crate::world::World;
    an_end_that_never_answers_holds_up_neither_probes_nor_other_channels_a37,
    a_target_that_stalls_fails_at_its_deadline_and_is_probed_again_a35,
    a_deadline_that_passes_while_this_process_stands_still_says_nothing_a39,
    a_fault_of_the_store_is_never_the_targets_a33,
    a_loss_of_the_own_network_tells_nobody_anything_a41,
    who_watches_from_outside_is_told_each_minute_that_all_is_well_and_nothing_else,
    a_hundred_firings_at_once_are_two_messages_where_people_read_them
);

#[expect(clippy::disallowed_methods, reason = "a test measures real time")]
fn instant() -> Instant {
    Instant::now()
}

async fn an_end_that_never_answers_holds_up_neither_probes_nor_other_channels_a37(world: World) {
    let (ill, well) = (Target::start(ILL).await, Target::start(WELL).await);
    let (pager, slack) = (End::start(Role::PagerDuty).await, End::start(Role::Slack).await);
    world.tell(Role::PagerDuty, &pager).await;
    world.tell(Role::Slack, &slack).await;
    pager.script([Do::Drop]);
    world.http("ill", &ill.url(), rule(1)).await;
    for number in 0..20 {
        world.http(&format!("well {number}"), &well.url(), rule(1)).await;
    }
    let begun = instant();
    world.engine.tick().await.unwrap();
    world.engine.settle().await;
    world.delivery.tick().await.unwrap();
    while slack.taken().is_empty() {
        tokio::task::yield_now().await;
        assert!(begun.elapsed() < Duration::from_secs(9), "the other channel waits for the one that hangs");
    }
    let asked = well.asked_count();
    world.wait_ms(60_000);
    world.engine.tick().await.unwrap();
    world.engine.settle().await;
    assert_eq!(well.asked_count(), asked + 20);
    assert!(begun.elapsed() < Duration::from_secs(9), "probes wait for a channel that hangs");
    world.delivery.settle().await;
    world.wait_ms(60_000);
    world.deliver().await;
    assert_eq!(pager.actions(), ["trigger"], "what hung is tried again");
}

async fn a_target_that_stalls_fails_at_its_deadline_and_is_probed_again_a35(world: World) {
    let stalling = Manner::Stall("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\na");
    let target = Target::start(stalling).await;
    let mut ids = Vec::new();
    for number in 0..50 {
        ids.push(world.http(&format!("monitor {number}"), &target.url(), rule(1)).await);
    }
    for round in 0..3 {
        world.wait_ms(60_000);
        world.engine.tick().await.unwrap();
        world.engine.settle().await;
        assert_eq!(target.asked_count(), 50 * (round + 1));
    }
    for id in ids {
        let state = world.state(id).await;
        assert_eq!((state.verdict.status(), state.verdict.fail_count), (Status::Down, 3));
        assert_eq!(state.evidence.unwrap()["phase"], "body");
    }
    assert_eq!(target.open_count(), 0, "nothing is left of a probe that has ended");
    assert_eq!(world.engine.figures().probe_count, 150);
}

async fn a_fault_of_the_store_is_never_the_targets_a33(world: World) {
    let (target, pager) = (Target::start(WELL).await, End::start(Role::PagerDuty).await);
    world.tell(Role::PagerDuty, &pager).await;
    let id = world.http("coordinator", &target.url(), rule(1)).await;
    world.settle().await;
    assert_eq!(world.status(id).await, Status::Up);
    let hide = "ALTER TABLE sample_chunk RENAME TO hidden";
    write!(world.db, [], |tx| tx.execute(hide, &[]).await).unwrap();
    for _ in 0..3 {
        world.wait_ms(60_000);
        // That the store fails may show here or only where a sample is kept.
        let _ = world.engine.tick().await;
        world.engine.settle().await;
    }
    assert!(world.engine.figures().lost_count > 0);
    let health = world.watch.health(0).await;
    assert!(health.store_failing_since.is_some() && !health.is_well, "{health:?}");
    assert_eq!(world.state(id).await.verdict.fail_count, 0);
    let show = "ALTER TABLE hidden RENAME TO sample_chunk";
    write!(world.db, [], |tx| tx.execute(show, &[]).await).unwrap();
    world.rounds(2).await;
    assert_eq!(world.status(id).await, Status::Up);
    assert!(world.watch.health(0).await.is_well, "{:?}", world.watch.health(0).await);
    assert_eq!(pager.got().len(), 0);
}

async fn a_loss_of_the_own_network_tells_nobody_anything_a41(world: World) {
    let anchor = Target::start(WELL).await;
    let (host, port) = ("127.0.0.1".to_owned(), anchor.address.port());
    let world = world.anchored(vec![Anchor { host, port }]).await;
    let (target, pager) = (Target::start(WELL).await, End::start(Role::PagerDuty).await);
    world.tell(Role::PagerDuty, &pager).await;
    let mut ids = Vec::new();
    for number in 0..20 {
        let settings = json!({ "url": target.url(), "timeout_ms": 400 });
        let name = format!("monitor {number}");
        ids.push(world.monitor(&name, MonitorKind::Http, settings, rule(1), None).await);
    }
    world.settle().await;
    // A network that is gone looks like answers that never come.
    target.is(Manner::Stall(""));
    let address = anchor.address;
    drop(anchor);
    world.rounds(12).await;
    assert!(world.watch.is_egress_lost());
    assert!(world.watch.health(0).await.egress_lost_since.is_some());
    for id in &ids {
        assert_eq!(world.status(*id).await, Status::Up, "neither down nor without data");
    }
    let _anchor = Target::start_on(&address.to_string(), WELL).await;
    target.is(WELL);
    world.rounds(3).await;
    assert!(!world.watch.is_egress_lost());
    assert_eq!(pager.got().len(), 0, "{:?}", pager.taken());
    let kept = read!(world.db, [], |tx| blackouts::after(tx, 0).await);
    let kept: Vec<Kind> = kept.iter().map(|one| one.kind).collect();
    assert!(kept.contains(&Kind::Egress), "{kept:?}");
}

async fn a_hundred_firings_at_once_are_two_messages_where_people_read_them(world: World) {
    let target = Target::start(ILL).await;
    let (pager, slack) = (End::start(Role::PagerDuty).await, End::start(Role::Slack).await);
    world.tell(Role::PagerDuty, &pager).await;
    world.tell(Role::Slack, &slack).await;
    for number in 0..100 {
        world.http(&format!("monitor {number}"), &target.url(), rule(1)).await;
    }
    world.settle().await;
    assert_eq!(slack.taken().len(), 1, "the first leaves at once");
    assert_eq!(pager.taken().len(), 100, "PagerDuty groups by itself");
    world.wait_ms(29_000);
    world.deliver().await;
    assert_eq!(slack.taken().len(), 1);
    world.wait_ms(1_000);
    world.deliver().await;
    let told = slack.taken();
    assert_eq!(told.len(), 2);
    assert!(told[1].starts_with("99 changes") && told[1].contains("and 79 more"), "{}", told[1]);
}

async fn who_watches_from_outside_is_told_each_minute_that_all_is_well_and_nothing_else(world: World) {
    let (outside, target) = (Target::start(WELL).await, Target::start(WELL).await);
    let world = world.watched_by(outside.url()).await;
    world.http("coordinator", &target.url(), rule(1)).await;
    world.settle().await;
    world.rounds(3).await;
    assert_eq!(outside.asked_count(), 4);
    let hide = "ALTER TABLE sample_chunk RENAME TO hidden";
    write!(world.db, [], |tx| tx.execute(hide, &[]).await).unwrap();
    world.rounds(3).await;
    // The first of these minutes found out.
    assert!(outside.asked_count() <= 5, "{}", outside.asked_count());
}

async fn a_deadline_that_passes_while_this_process_stands_still_says_nothing_a39(world: World) {
    let target = Target::start(Manner::Stall("")).await;
    let id = world.http("coordinator", &target.url(), rule(1)).await;
    world.engine.tick().await.unwrap();
    while target.open_count() == 0 {
        tokio::task::yield_now().await;
    }
    // The test's runtime has this one thread.
    std::thread::sleep(Duration::from_millis(1_000));
    world.engine.settle().await;
    let state = world.state(id).await;
    assert_eq!(state.verdict.status(), Status::New);
    let summary = state.evidence.unwrap()["summary"].as_str().unwrap().to_owned();
    assert!(summary.contains("too busy"), "{summary}");
}
