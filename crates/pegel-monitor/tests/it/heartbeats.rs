//! Jobs that report themselves.

use std::os::unix::fs::PermissionsExt as _;

use pegel_core::monitor::heartbeat::{Expectation, Kind, Rule};
use pegel_core::monitor::verdict::Status;
use pegel_monitor::pings::{Kept, Request};
use pegel_store::pings;
use pegel_store::token;
use pegel_testkit::on_each_database;
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

use crate::end::{End, Role};
use crate::world::{World, read, write};

on_each_database!(
    crate::world::World;
    it_is_down_at_the_very_deadline_and_up_with_the_next_ping,
    a_failure_that_was_told_is_one_firing_however_long_it_stays_silent_a19,
    restarts_do_not_hide_a_job_that_is_dead_a21,
    a_ping_that_was_expected_while_nobody_was_there_is_given_one_more_period,
    a_run_is_down_at_its_first_deadline_and_up_with_its_late_end_a29,
    two_misses_in_a_row_fire_where_the_rule_says_two_a61,
    each_ping_that_was_answered_is_kept_a31,
    pings_go_beside_a_store_that_takes_none_and_come_back_in_order_and_once,
    a_key_that_belongs_to_nothing_is_refused_and_a_paused_heartbeat_takes_pings
);

const SECOND_MS: u64 = 1_000;

fn every(period_ms: u64, grace_ms: u64) -> Rule {
    Rule {
        expects: Expectation::Every { period_ms },
        grace_ms,
        max_run_ms: 30 * SECOND_MS,
        misses_to_down: 1,
        fails_to_down: 1,
        min_sources: 1,
    }
}

async fn heartbeat(world: &World, rule: Rule) -> (Uuid, SecretString) {
    let id = world.heartbeat("nightly", rule).await;
    let (key, hash) = token::generate("").unwrap();
    let hash = hash.to_bytes();
    write!(world.db, [], |tx| pings::add_key(tx, id, hash).await).unwrap();
    world.pings.learn_keys().await.unwrap();
    (id, key)
}

fn request(key: &SecretString, kind: Kind) -> Request {
    Request {
        key: key.clone(),
        kind,
        run_id: None,
        source_id: None,
        remote: "127.0.0.1".to_owned(),
        body: b"done".to_vec(),
    }
}

/// Lets time go by in steps in which the installation is seen to be alive.
async fn awake_ms(world: &World, ms: u64) {
    let mut left = ms;
    while left > 0 {
        let step = left.min(10_000);
        world.wait_ms(step);
        world.engine.tick().await.unwrap();
        left -= step;
    }
    world.settle().await;
}

async fn it_is_down_at_the_very_deadline_and_up_with_the_next_ping(world: World) {
    let pager = End::start(Role::PagerDuty).await;
    world.tell(Role::PagerDuty, &pager).await;
    let (id, key) = heartbeat(&world, every(60 * SECOND_MS, 30 * SECOND_MS)).await;
    world.settle().await;
    awake_ms(&world, 300 * SECOND_MS).await;
    assert_eq!(world.status(id).await, Status::New, "what never pinged is not missed");
    assert_eq!(world.pings.receive(request(&key, Kind::Ok)).await.unwrap(), Kept::Judged);
    awake_ms(&world, 90 * SECOND_MS - 1).await;
    assert_eq!(world.status(id).await, Status::Up);
    awake_ms(&world, 1).await;
    assert_eq!(world.status(id).await, Status::Down);
    world.pings.receive(request(&key, Kind::Ok)).await.unwrap();
    world.settle().await;
    assert_eq!(pager.actions(), ["trigger", "resolve"]);
    let summary = pager.got()[0].body["payload"]["summary"].clone();
    assert!(
        summary.as_str().unwrap().starts_with("nightly is down: no ping since 2026-03-01T12:05:00Z"),
        "{summary}"
    );
}

async fn a_failure_that_was_told_is_one_firing_however_long_it_stays_silent_a19(world: World) {
    let pager = End::start(Role::PagerDuty).await;
    world.tell(Role::PagerDuty, &pager).await;
    let (_, key) = heartbeat(&world, every(60 * SECOND_MS, 0)).await;
    world.settle().await;
    world.pings.receive(request(&key, Kind::Ok)).await.unwrap();
    world.pings.receive(request(&key, Kind::Fail)).await.unwrap();
    awake_ms(&world, 300 * SECOND_MS).await;
    assert_eq!((pager.actions().len(), pager.incident_count()), (1, 1));
}

async fn restarts_do_not_hide_a_job_that_is_dead_a21(mut world: World) {
    const DAY_MS: u64 = 24 * 3_600_000;
    let (id, key) = heartbeat(&world, every(DAY_MS, 3_600_000)).await;
    world.settle().await;
    world.pings.receive(request(&key, Kind::Ok)).await.unwrap();
    // Down for a minute each twelve hours; awake otherwise.
    for _ in 0..2 {
        let awake = DAY_MS / 2 - 60_000;
        for _ in 0..awake / 10_000 {
            world.wait_ms(10_000);
            world.watch.mark().await.unwrap();
        }
        world.settle().await;
        world.wait_ms(60_000);
        world = world.restarted().await;
        world.settle().await;
    }
    assert_eq!(world.status(id).await, Status::Up);
    awake_ms(&world, 3_600_000 + 60_000).await;
    assert_eq!(world.status(id).await, Status::Up, "two minutes of it nobody could have heard a ping");
    awake_ms(&world, 3 * 60_000).await;
    assert_eq!(world.status(id).await, Status::Down, "later by the blackouts, and not by a whole period");
}

async fn a_ping_that_was_expected_while_nobody_was_there_is_given_one_more_period(world: World) {
    let pager = End::start(Role::PagerDuty).await;
    world.tell(Role::PagerDuty, &pager).await;
    let (id, key) = heartbeat(&world, every(60 * SECOND_MS, 0)).await;
    world.settle().await;
    world.pings.receive(request(&key, Kind::Ok)).await.unwrap();
    world.wait_ms(600 * SECOND_MS);
    let world = world.restarted().await;
    world.settle().await;
    assert_eq!((world.status(id).await, pager.got().len()), (Status::Up, 0));
    awake_ms(&world, 59 * SECOND_MS).await;
    assert_eq!(world.status(id).await, Status::Up);
    awake_ms(&world, SECOND_MS).await;
    assert_eq!(world.status(id).await, Status::Down);
}

async fn a_run_is_down_at_its_first_deadline_and_up_with_its_late_end_a29(world: World) {
    let (id, key) = heartbeat(&world, every(3_600 * SECOND_MS, 0)).await;
    world.settle().await;
    world.pings.receive(request(&key, Kind::Start)).await.unwrap();
    for _ in 0..2 {
        awake_ms(&world, 10 * SECOND_MS).await;
        world.pings.receive(request(&key, Kind::Start)).await.unwrap();
    }
    awake_ms(&world, 10 * SECOND_MS - 1).await;
    assert_eq!(world.status(id).await, Status::New);
    awake_ms(&world, 1).await;
    assert_eq!(world.status(id).await, Status::Down, "counted from the first start");
    world.pings.receive(request(&key, Kind::Exit(0))).await.unwrap();
    assert_eq!(world.status(id).await, Status::Up);
    world.pings.receive(request(&key, Kind::Exit(3))).await.unwrap();
    assert_eq!(world.status(id).await, Status::Down);
}

async fn two_misses_in_a_row_fire_where_the_rule_says_two_a61(world: World) {
    let rule = Rule { misses_to_down: 2, ..every(60 * SECOND_MS, 0) };
    let (id, key) = heartbeat(&world, rule).await;
    world.settle().await;
    world.pings.receive(request(&key, Kind::Ok)).await.unwrap();
    let first_miss = world.now() + jiff::SignedDuration::from_secs(60);
    awake_ms(&world, 60 * SECOND_MS).await;
    assert_eq!(world.status(id).await, Status::Up);
    awake_ms(&world, 60 * SECOND_MS).await;
    assert_eq!(world.status(id).await, Status::Down);
    assert_eq!(world.incidents().await[0].since, first_miss);
}

async fn kept(world: &World, id: Uuid) -> Vec<pings::Stored> {
    let mut kept = read!(world.db, [], |tx| pings::list(tx, id, None, 1_000).await);
    kept.reverse();
    kept
}

async fn each_ping_that_was_answered_is_kept_a31(world: World) {
    let (id, key) = heartbeat(&world, every(60 * SECOND_MS, 0)).await;
    world.settle().await;
    let all = (0..200).map(|_| world.pings.receive(request(&key, Kind::Ok)));
    let answered = futures_util::future::join_all(all).await;
    assert!(answered.iter().all(Result::is_ok));
    // A busy store may have sent some of them aside.
    world.settle().await;
    assert_eq!(kept(&world, id).await.len(), 200);
}

async fn pings_go_beside_a_store_that_takes_none_and_come_back_in_order_and_once(world: World) {
    let (id, key) = heartbeat(&world, every(60 * SECOND_MS, 0)).await;
    world.settle().await;
    world.pings.receive(request(&key, Kind::Ok)).await.unwrap();
    let hide = "ALTER TABLE heartbeat_ping RENAME TO hidden";
    write!(world.db, [], |tx| tx.execute(hide, &[]).await).unwrap();
    let mut sent_at = Vec::new();
    for kind in [Kind::Fail, Kind::Log, Kind::Ok] {
        world.wait_ms(1_000);
        sent_at.push(world.now());
        assert_eq!(world.pings.receive(request(&key, kind)).await.unwrap(), Kept::Spilled);
    }
    let file = world.folder.join("pings.spill");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!std::fs::read_to_string(&file).unwrap().contains(key.expose_secret()));
    let spilled = std::fs::read(&file).unwrap();
    // Not yet: and after a restart the file is still there.
    assert!(world.engine.tick().await.is_err());
    let world = world.restarted().await;
    let show = "ALTER TABLE hidden RENAME TO heartbeat_ping";
    write!(world.db, [], |tx| tx.execute(show, &[]).await).unwrap();
    world.wait_ms(1_000);
    assert_eq!(
        world.pings.receive(request(&key, Kind::Log)).await.unwrap(),
        Kept::Spilled,
        "behind the others"
    );
    world.settle().await;
    let pings = kept(&world, id).await;
    let kinds: Vec<Kind> = pings.iter().map(|one| one.received.ping.kind).collect();
    assert_eq!(kinds, [Kind::Ok, Kind::Fail, Kind::Log, Kind::Ok, Kind::Log]);
    assert_eq!(pings[1..4].iter().map(|one| one.received_at).collect::<Vec<_>>(), sent_at);
    assert_eq!(world.status(id).await, Status::Up, "the last word counts");
    assert_eq!(world.incidents().await.len(), 1, "and what was told before it happened");
    world.pings.replay().await.unwrap();
    assert_eq!(kept(&world, id).await.len(), 5);
    assert_eq!(world.pings.receive(request(&key, Kind::Ok)).await.unwrap(), Kept::Judged);
    // As after a crash between the store's commit and the end of the file.
    std::fs::write(&file, spilled).unwrap();
    let world = world.restarted().await;
    world.settle().await;
    assert_eq!((kept(&world, id).await.len(), file.exists()), (6, false));
}

async fn a_key_that_belongs_to_nothing_is_refused_and_a_paused_heartbeat_takes_pings(world: World) {
    let (id, key) = heartbeat(&world, every(60 * SECOND_MS, 0)).await;
    let other = SecretString::from("f".repeat(64));
    assert_eq!(world.pings.receive(request(&other, Kind::Ok)).await.unwrap_err().code(), "not_found");
    world.apply(id, pegel_monitor::judge::Change::Pause).await;
    let mut large = request(&key, Kind::Fail);
    large.body = vec![b'x'; 100_000];
    world.pings.receive(large).await.unwrap();
    let pings = kept(&world, id).await;
    assert_eq!((pings[0].received.body.len(), pings[0].body_bytes), (pings::MAX_BODY_BYTES, 100_000));
    assert_eq!((world.status(id).await, world.incidents().await.len()), (Status::Paused, 0));
}
