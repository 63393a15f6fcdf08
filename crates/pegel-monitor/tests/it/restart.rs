//! Nothing is told twice, and nothing is lost, when the installation ends at any moment and begins again.

use jiff::SignedDuration;
use pegel_core::monitor::verdict::Status;
use pegel_store::{incidents, monitors};
use pegel_testkit::on_each_database;

use crate::end::{End, Role};
use crate::target::{ILL, Target, WELL};
use crate::world::{World, read, rule, write};

on_each_database!(
    crate::world::World;
    a_restart_while_firing_tells_nothing_again_and_the_recovery_once_a01,
    what_healed_while_nobody_was_there_is_resolved_once_under_the_triggers_key_a03,
    a_reload_of_fifty_firing_monitors_tells_nothing_again_a13,
    ten_that_heal_during_a_stop_are_ten_resolves_and_no_triggers_a17,
    a_streak_goes_on_over_a_restart,
    what_was_being_sent_when_the_instance_died_is_sent_again_under_its_key_a05
);

async fn a_restart_while_firing_tells_nothing_again_and_the_recovery_once_a01(world: World) {
    let (target, pager) = (Target::start(ILL).await, End::start(Role::PagerDuty).await);
    world.tell(Role::PagerDuty, &pager).await;
    let id = world.http("coordinator", &target.url(), rule(1)).await;
    world.settle().await;
    assert_eq!(pager.actions(), ["trigger"]);
    let world = world.restarted().await;
    world.rounds(5).await;
    assert_eq!(pager.actions(), ["trigger"], "five more failures are no news");
    target.is(WELL);
    world.rounds(2).await;
    assert_eq!(pager.actions(), ["trigger", "resolve"]);
    let keys: Vec<String> =
        pager.taken().iter().map(|told| told.split(' ').nth(1).unwrap().to_owned()).collect();
    assert_eq!(keys[0], keys[1]);
    assert_eq!(world.status(id).await, Status::Up);
}

async fn what_healed_while_nobody_was_there_is_resolved_once_under_the_triggers_key_a03(world: World) {
    let (target, pager) = (Target::start(ILL).await, End::start(Role::PagerDuty).await);
    world.tell(Role::PagerDuty, &pager).await;
    world.http("coordinator", &target.url(), rule(1)).await;
    world.settle().await;
    target.is(WELL);
    world.wait_ms(3_600_000);
    let world = world.restarted().await;
    world.rounds(3).await;
    assert_eq!(pager.actions(), ["trigger", "resolve"]);
    assert_eq!((pager.incident_count(), pager.open_count()), (1, 0));
}

async fn a_reload_of_fifty_firing_monitors_tells_nothing_again_a13(world: World) {
    let (target, pager) = (Target::start(ILL).await, End::start(Role::PagerDuty).await);
    world.tell(Role::PagerDuty, &pager).await;
    for number in 0..50 {
        world.http(&format!("monitor {number}"), &target.url(), rule(1)).await;
    }
    world.settle().await;
    assert_eq!(pager.taken().len(), 50);
    for day in 0..10 {
        let ids = read!(world.db, [], |tx| monitors::list(tx, None, 100).await);
        for monitor in ids {
            let mut settings = monitor.settings.clone();
            settings.labels.insert("reload".to_owned(), day.to_string());
            let (id, version) = (monitor.id, monitor.version);
            write!(world.db, [settings], |tx| monitors::update(tx, id, version, &settings).await).unwrap();
        }
        world.wait_ms(24 * 3_600_000);
        world.rounds(1).await;
    }
    assert_eq!(pager.taken().len(), 50);
    assert_eq!(pager.incident_count(), 50);
}

async fn ten_that_heal_during_a_stop_are_ten_resolves_and_no_triggers_a17(world: World) {
    let (ill, healing) = (Target::start(ILL).await, Target::start(ILL).await);
    let pager = End::start(Role::PagerDuty).await;
    world.tell(Role::PagerDuty, &pager).await;
    for number in 0..10 {
        world.http(&format!("ill {number}"), &ill.url(), rule(1)).await;
        world.http(&format!("healing {number}"), &healing.url(), rule(1)).await;
    }
    world.settle().await;
    assert_eq!(pager.taken().len(), 20);
    healing.is(WELL);
    world.wait_ms(600_000);
    let world = world.restarted().await;
    world.rounds(3).await;
    let actions = pager.actions();
    assert_eq!(actions.iter().filter(|action| *action == "resolve").count(), 10);
    assert_eq!((actions.len(), pager.open_count()), (30, 10));
}

async fn a_streak_goes_on_over_a_restart(world: World) {
    let (target, pager) = (Target::start(ILL).await, End::start(Role::PagerDuty).await);
    world.tell(Role::PagerDuty, &pager).await;
    let id = world.http("coordinator", &target.url(), rule(3)).await;
    world.settle().await;
    let first = world.now();
    world.rounds(1).await;
    assert_eq!(world.state(id).await.verdict.fail_count, 2);
    let world = world.restarted().await;
    world.settle().await;
    world.rounds(1).await;
    assert_eq!(pager.actions(), ["trigger"]);
    let since = world.incidents().await[0].since;
    assert!(since.duration_since(first).abs() < SignedDuration::from_secs(1), "since the first failure");
}

async fn what_was_being_sent_when_the_instance_died_is_sent_again_under_its_key_a05(world: World) {
    let (target, pager) = (Target::start(ILL).await, End::start(Role::PagerDuty).await);
    let channel_id = world.tell(Role::PagerDuty, &pager).await;
    world.http("coordinator", &target.url(), rule(1)).await;
    world.engine.tick().await.unwrap();
    world.engine.settle().await;
    // Claimed, and then nothing more was ever heard of it.
    let until = world.now() + SignedDuration::from_secs(90);
    let claimed = write!(world.db, [], |tx| {
        pegel_store::outbox::claim(tx, channel_id, "a", until, 10, false).await
    });
    assert_eq!(claimed.unwrap().len(), 1);
    let world = world.restarted().await;
    world.deliver().await;
    assert_eq!(pager.actions(), ["trigger"], "an instance need not wait for leases of its own");
    target.is(WELL);
    world.rounds(2).await;
    assert_eq!(pager.open_count(), 0, "whatever became of the trigger, nothing stays open");
    let firing = world.incidents().await[0].id;
    let taken = pager.taken();
    assert!(!taken.is_empty() && taken.iter().all(|told| told.contains(&firing.0.simple().to_string())));
    let open = read!(world.db, [], |tx| incidents::list(tx, None, true, 10).await);
    assert_eq!(open.len(), 0);
}
