//! A resolve follows every trigger that may have arrived, and none follows one that cannot have.

use std::sync::Arc;

use jiff::SignedDuration;
use pegel_core::monitor::labels::{Matcher, Operator};
use pegel_core::monitor::quiet::Silence;
use pegel_core::monitor::verdict::{Outcome, Status};
use pegel_monitor::channel::secret;
use pegel_monitor::judge::{Change, Sample};
use pegel_store::quiet_times::{self, Definition};
use pegel_store::{channels, routes};
use pegel_testkit::on_each_database;
use secrecy::SecretString;
use serde_json::json;

use crate::end::{Do, End, Role};
use crate::target::{ILL, Target, WELL};
use crate::world::{World, read, rule, write};

on_each_database!(
    crate::world::World;
    an_alert_silenced_while_firing_is_resolved_inside_the_silence_a07,
    nothing_recovers_that_was_never_told_a09,
    what_still_fires_when_a_silence_is_ended_early_is_told_then,
    a_pause_resolves_and_a_resumed_monitor_needs_fresh_failures_a15,
    a_trigger_that_was_never_sent_and_its_resolve_are_one_message_or_none,
    a_trigger_of_unknown_fate_is_resolved,
    a_resolve_that_comes_while_its_trigger_is_being_sent_is_not_lost,
    the_resolve_goes_where_the_trigger_went_whatever_the_routes_say_now,
    the_resolve_is_sent_with_the_key_of_its_trigger_after_the_channel_was_given_another,
    heal_and_refire_at_once_while_notices_are_sent_leaves_every_firing_paired_a59
);

async fn silence(world: &World, hours: i64) -> quiet_times::QuietTime {
    let silence = Silence {
        matchers: vec![Matcher {
            label: "team".to_owned(),
            operator: Operator::In,
            values: vec!["streams".to_owned()],
        }],
        starts_at: world.now(),
        ends_at: world.now() + SignedDuration::from_hours(hours),
    };
    let definition = Definition::Silence(silence);
    write!(world.db, [definition], |tx| quiet_times::create(tx, &definition, "work", "ann").await).unwrap()
}

async fn an_alert_silenced_while_firing_is_resolved_inside_the_silence_a07(world: World) {
    let (target, pager) = (Target::start(ILL).await, End::start(Role::PagerDuty).await);
    world.tell(Role::PagerDuty, &pager).await;
    world.http("coordinator", &target.url(), rule(1)).await;
    world.settle().await;
    silence(&world, 1).await;
    world.rounds(1).await;
    target.is(WELL);
    world.rounds(1).await;
    assert_eq!(pager.actions(), ["trigger", "resolve"]);
    target.is(ILL);
    world.rounds(2).await;
    assert_eq!(pager.actions(), ["trigger", "resolve"], "what begins inside is withheld");
}

async fn nothing_recovers_that_was_never_told_a09(world: World) {
    let (target, pager) = (Target::start(ILL).await, End::start(Role::PagerDuty).await);
    world.tell(Role::PagerDuty, &pager).await;
    let id = world.http("coordinator", &target.url(), rule(3)).await;
    world.settle().await;
    world.rounds(1).await;
    target.is(WELL);
    world.rounds(1).await;
    assert_eq!((world.status(id).await, world.incidents().await.len()), (Status::Up, 0));
    silence(&world, 1).await;
    target.is(ILL);
    world.rounds(4).await;
    assert_eq!(world.status(id).await, Status::Down, "the verdict goes on");
    target.is(WELL);
    world.rounds(1).await;
    assert_eq!(world.incidents().await.len(), 1);
    world.wait_ms(2 * 3_600_000);
    world.rounds(2).await;
    assert_eq!(pager.got().len(), 0);
}

async fn what_still_fires_when_a_silence_is_ended_early_is_told_then(world: World) {
    let (target, pager) = (Target::start(ILL).await, End::start(Role::PagerDuty).await);
    world.tell(Role::PagerDuty, &pager).await;
    let quiet = silence(&world, 100).await;
    world.http("coordinator", &target.url(), rule(1)).await;
    world.settle().await;
    assert_eq!(pager.got().len(), 0);
    assert_eq!(world.story(world.incidents().await[0].id).await, ["opened", "withheld"]);
    let Definition::Silence(mut ended) = quiet.definition.clone() else { panic!() };
    ended.ends_at = world.now() + SignedDuration::from_millis(1);
    let (id, ended) = (quiet.id, Definition::Silence(ended));
    write!(world.db, [ended], |tx| quiet_times::update(tx, id, 1, &ended, "").await).unwrap();
    world.wait_ms(2);
    world.settle().await;
    assert_eq!(pager.actions(), ["trigger"], "at once, and not with the next sample");
}

async fn a_pause_resolves_and_a_resumed_monitor_needs_fresh_failures_a15(world: World) {
    let (target, pager) = (Target::start(ILL).await, End::start(Role::PagerDuty).await);
    world.tell(Role::PagerDuty, &pager).await;
    let mut reminding = rule(2);
    reminding.remind_every_ms = Some(60_000);
    let id = world.http("coordinator", &target.url(), reminding).await;
    world.settle().await;
    world.rounds(3).await;
    assert_eq!(pager.actions()[..2], ["trigger", "trigger"], "a reminder is a trigger under its key");
    world.apply(id, Change::Pause).await;
    world.settle().await;
    let told = pager.actions();
    assert_eq!(told.last().unwrap(), "resolve");
    let asked = target.asked_count();
    world.rounds(5).await;
    assert_eq!((pager.actions(), target.asked_count()), (told.clone(), asked), "then it is silent");
    world.apply(id, Change::Resume).await;
    world.settle().await;
    assert_eq!(pager.actions().len(), told.len(), "one failure is not enough");
    world.rounds(1).await;
    assert_eq!(pager.actions().last().unwrap(), "trigger");
    assert_eq!(pager.incident_count(), 2);
}

async fn a_trigger_that_was_never_sent_and_its_resolve_are_one_message_or_none(world: World) {
    let target = Target::start(ILL).await;
    let (pager, slack) = (End::start(Role::PagerDuty).await, End::start(Role::Slack).await);
    world.tell(Role::PagerDuty, &pager).await;
    world.tell(Role::Slack, &slack).await;
    world.http("coordinator", &target.url(), rule(1)).await;
    world.engine.tick().await.unwrap();
    world.engine.settle().await;
    for _ in 0..4 {
        world.wait_ms(60_000);
        if world.incidents().await[0].closed_at.is_none() {
            target.is(WELL);
        }
        world.engine.tick().await.unwrap();
        world.engine.settle().await;
    }
    world.deliver().await;
    assert_eq!(pager.got().len(), 0);
    let told = slack.taken();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("coordinator is up again; it was down for"), "{told:?}");
}

async fn a_trigger_of_unknown_fate_is_resolved(world: World) {
    let (target, pager) = (Target::start(ILL).await, End::start(Role::PagerDuty).await);
    world.tell(Role::PagerDuty, &pager).await;
    // Whoever answers so may have passed it on.
    pager.script([Do::Refuse(502, &[], "bad gateway")]);
    world.http("coordinator", &target.url(), rule(1)).await;
    world.engine.tick().await.unwrap();
    world.engine.settle().await;
    world.delivery.tick().await.unwrap();
    world.delivery.settle().await;
    assert_eq!(pager.got().len(), 1);
    target.is(WELL);
    world.rounds(1).await;
    assert_eq!(pager.actions().last().unwrap(), "resolve");
    assert_eq!(pager.open_count(), 0);
}

async fn a_resolve_that_comes_while_its_trigger_is_being_sent_is_not_lost(world: World) {
    let (target, pager) = (Target::start(ILL).await, End::start(Role::PagerDuty).await);
    let channel_id = world.tell(Role::PagerDuty, &pager).await;
    world.http("coordinator", &target.url(), rule(1)).await;
    world.engine.tick().await.unwrap();
    world.engine.settle().await;
    pager.script([Do::TakeAndAnswerAfter(std::time::Duration::from_millis(800))]);
    world.delivery.tick().await.unwrap();
    while pager.got().is_empty() {
        tokio::task::yield_now().await;
    }
    target.is(WELL);
    world.wait_ms(60_000);
    world.engine.tick().await.unwrap();
    world.engine.settle().await;
    let incident = world.incidents().await[0].clone();
    assert!(incident.closed_at.is_some());
    let lane = read!(world.db, [], |tx| pegel_store::outbox::lane(tx, channel_id, incident.id).await);
    assert_eq!(lane.len(), 1, "nothing can be said yet");
    world.delivery.settle().await;
    world.deliver().await;
    assert_eq!(pager.actions(), ["trigger", "resolve"]);
}

async fn the_resolve_goes_where_the_trigger_went_whatever_the_routes_say_now(world: World) {
    let target = Target::start(ILL).await;
    let (first, second) = (End::start(Role::PagerDuty).await, End::start(Role::PagerDuty).await);
    let first_id = world.tell(Role::PagerDuty, &first).await;
    world.http("coordinator", &target.url(), rule(1)).await;
    world.settle().await;
    write!(world.db, [], |tx| routes::replace(tx, 1, &[]).await).unwrap();
    world.tell(Role::PagerDuty, &second).await;
    let mut channel = read!(world.db, [], |tx| channels::get(tx, first_id).await);
    channel.settings.is_enabled = false;
    write!(world.db, [channel], |tx| {
        channels::update(tx, channel.id, channel.version, &channel.settings).await
    })
    .unwrap();
    target.is(WELL);
    world.rounds(1).await;
    assert_eq!(first.actions(), ["trigger", "resolve"]);
    assert_eq!(second.got().len(), 0);
}

async fn the_resolve_is_sent_with_the_key_of_its_trigger_after_the_channel_was_given_another(world: World) {
    let (target, pager) = (Target::start(ILL).await, End::start(Role::PagerDuty).await);
    let id = world.tell(Role::PagerDuty, &pager).await;
    world.http("coordinator", &target.url(), rule(1)).await;
    world.settle().await;
    let (key, url) = (Arc::clone(&world.key), pager.url());
    let sweep = write!(world.db, [key, url], |tx| {
        let channel = channels::get(tx, id).await?;
        let value = SecretString::from("f".repeat(32));
        let name = secret::keep(tx, &key, id, "routing_key", &value).await?;
        let settings =
            channels::Settings { settings: json!({ "routing_key": name, "url": url }), ..channel.settings };
        channels::update(tx, id, channel.version, &settings).await?;
        secret::sweep(tx, id).await
    });
    assert_eq!(sweep.unwrap(), 0, "what is still to be ended keeps its secret");
    target.is(WELL);
    world.rounds(1).await;
    target.is(ILL);
    world.rounds(1).await;
    let keys: Vec<String> =
        pager.got().iter().map(|got| got.body["routing_key"].as_str().unwrap()[..4].to_owned()).collect();
    assert_eq!(keys, ["0123", "0123", "ffff"]);
    let swept = write!(world.db, [], |tx| secret::sweep(tx, id).await);
    assert_eq!(swept.unwrap(), 1, "then it goes");
}

async fn heal_and_refire_at_once_while_notices_are_sent_leaves_every_firing_paired_a59(world: World) {
    let pager = End::start(Role::PagerDuty).await;
    world.tell(Role::PagerDuty, &pager).await;
    let mut ids = Vec::new();
    for number in 0..8 {
        let id = world.http(&format!("monitor {number}"), "http://127.0.0.1:1/", rule(1)).await;
        ids.push(id);
    }
    let sample = |outcome| {
        Change::Sample(Sample {
            owner: None,
            version: 1,
            at: world.now(),
            outcome,
            duration_us: Some(1),
            summary: "as it is".to_owned(),
            evidence: json!({}),
        })
    };
    let flips = ids.iter().map(|id| async {
        for outcome in [Outcome::Bad, Outcome::Ok, Outcome::Bad, Outcome::Ok, Outcome::Bad, Outcome::Ok] {
            world.apply(*id, sample(outcome)).await;
        }
    });
    let sending = async {
        for _ in 0..40 {
            world.delivery.tick().await.unwrap();
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::join!(futures_util::future::join_all(flips), sending);
    world.delivery.settle().await;
    world.deliver().await;
    for id in ids {
        assert_eq!(world.status(id).await, Status::Up, "the last sample counts");
    }
    let incidents = world.incidents().await;
    assert_eq!(incidents.len(), 24);
    assert!(incidents.iter().all(|incident| incident.closed_at.is_some()));
    assert_eq!(pager.open_count(), 0, "{:?}", pager.taken());
    let resolves = pager.actions().iter().filter(|action| *action == "resolve").count();
    assert!(resolves <= pager.incident_count(), "never a resolve without a trigger");
}
