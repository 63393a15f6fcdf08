//! How channels are spoken to, and what their answers lead to.

use std::time::Duration;

use pegel_core::monitor::delivery::lane::Attempt;
use pegel_monitor::judge::Change;
use pegel_store::deliveries::{self, Of};
use pegel_store::{channels, own_alerts};
use pegel_testkit::on_each_database;

use crate::end::{Do, End, ROUTING_KEY, Role};
use crate::target::{ILL, Target, WELL};
use crate::world::{World, read, rule};

on_each_database!(
    crate::world::World;
    pagerduty_is_told_of_a_trigger_an_acknowledgement_and_a_resolve_under_one_key,
    an_answer_that_comes_too_late_is_tried_again_under_the_same_key_a11,
    a_retry_keeps_to_the_time_that_the_target_asks_for,
    a_refusal_breaks_the_channel_and_the_others_hear_of_it,
    a_route_that_fails_for_minutes_is_told_over_other_channels_and_its_recovery_too,
    a_webhook_is_signed_and_has_one_id_over_all_attempts,
    a_test_is_sent_and_closed_and_leaves_nothing_behind
);

async fn pagerduty_is_told_of_a_trigger_an_acknowledgement_and_a_resolve_under_one_key(world: World) {
    let (target, pager) = (Target::start(ILL).await, End::start(Role::PagerDuty).await);
    world.tell(Role::PagerDuty, &pager).await;
    let id = world.http("coordinator", &target.url(), rule(1)).await;
    world.settle().await;
    world.apply(id, Change::Acknowledge).await;
    world.deliver().await;
    target.is(WELL);
    world.rounds(1).await;
    assert_eq!(pager.actions(), ["trigger", "acknowledge", "resolve"]);
    let event = &pager.got()[0].body;
    assert_eq!(event["routing_key"], ROUTING_KEY);
    assert_eq!(event["payload"]["severity"], "critical");
    assert_eq!(event["payload"]["summary"], "coordinator is down: status 503 is not expected");
    let firing = world.incidents().await[0].id.0.simple().to_string();
    assert!(event["dedup_key"].as_str().unwrap().contains(&firing));
    assert!(event["client_url"].as_str().unwrap().starts_with("https://pegel.example.com/incidents/"));
    let story = world.story(world.incidents().await[0].id).await;
    let expected = ["opened", "told", "delivered", "acknowledged", "delivered", "closed", "delivered"];
    assert_eq!(story, expected);
}

async fn an_answer_that_comes_too_late_is_tried_again_under_the_same_key_a11(world: World) {
    let (target, pager) = (Target::start(ILL).await, End::start(Role::PagerDuty).await);
    world.tell(Role::PagerDuty, &pager).await;
    pager.script([Do::TakeAndAnswerAfter(Duration::from_secs(15))]);
    world.http("coordinator", &target.url(), rule(1)).await;
    world.settle().await;
    assert_eq!(pager.taken().len(), 1);
    world.wait_ms(5_000);
    world.deliver().await;
    let taken = pager.taken();
    assert_eq!((taken.len(), pager.incident_count()), (2, 1));
    assert_eq!(taken[0], taken[1]);
    target.is(WELL);
    world.rounds(1).await;
    assert_eq!(pager.open_count(), 0);
}

async fn a_retry_keeps_to_the_time_that_the_target_asks_for(world: World) {
    let (target, slack) = (Target::start(ILL).await, End::start(Role::Slack).await);
    let id = world.tell(Role::Slack, &slack).await;
    slack.script([Do::Refuse(429, &[("retry-after", "120")], "rate_limited")]);
    world.http("coordinator", &target.url(), rule(1)).await;
    world.settle().await;
    world.wait_ms(119_000);
    world.deliver().await;
    assert_eq!(slack.got().len(), 1);
    assert!(read!(world.db, [], |tx| channels::get(tx, id).await).failing_since.is_some());
    world.wait_ms(3_000);
    world.deliver().await;
    assert_eq!(slack.taken().len(), 1);
    let channel = read!(world.db, [], |tx| channels::get(tx, id).await);
    assert_eq!((channel.failing_since, channel.broken), (None, None));
    let log = read!(world.db, [], |tx| deliveries::list(tx, Of::Channel(id), None, 10).await);
    let results: Vec<&str> = log.iter().map(|one| one.result.as_str()).collect();
    assert_eq!(results, ["delivered", "retry"]);
    assert_eq!((log[0].attempt, log[1].detail.as_str()), (2, "status 429: rate_limited"));
}

async fn a_refusal_breaks_the_channel_and_the_others_hear_of_it(world: World) {
    let target = Target::start(ILL).await;
    let (pager, slack) = (End::start(Role::PagerDuty).await, End::start(Role::Slack).await);
    let id = world.tell(Role::PagerDuty, &pager).await;
    world.channel(Role::Slack, &slack).await;
    let said = "{\"status\":\"invalid event\",\"errors\":[\"0123456789abcdef0123456789abcdef is no key\"]}";
    pager.script([Do::Refuse(400, &[], said)]);
    world.http("coordinator", &target.url(), rule(1)).await;
    world.settle().await;
    let channel = read!(world.db, [], |tx| channels::get(tx, id).await);
    let (_, reason) = channel.broken.unwrap();
    assert!(reason.contains("invalid event") && !reason.contains(ROUTING_KEY), "{reason}");
    let told = slack.taken();
    assert!(told.len() == 1 && told[0].contains("can deliver nothing"), "{told:?}");
    assert_eq!(pager.got().len(), 1, "it is not told about itself");
    target.is(WELL);
    world.rounds(1).await;
    assert_eq!(pager.got().len(), 1, "what never arrived is not resolved");
    target.is(ILL);
    world.rounds(1).await;
    world.wait_ms(31_000);
    world.deliver().await;
    assert_eq!(pager.actions(), ["trigger"], "it is tried all the same, and works again");
    world.wait_ms(31_000);
    world.deliver().await;
    assert_eq!(read!(world.db, [], |tx| own_alerts::list(tx).await).len(), 0);
    assert!(slack.taken().last().unwrap().contains("up again"), "{:?}", slack.taken());
}

async fn a_route_that_fails_for_minutes_is_told_over_other_channels_and_its_recovery_too(world: World) {
    let target = Target::start(ILL).await;
    let (pager, slack) = (End::start(Role::PagerDuty).await, End::start(Role::Slack).await);
    world.tell(Role::PagerDuty, &pager).await;
    world.channel(Role::Slack, &slack).await;
    pager.script(std::iter::repeat_n(Do::Refuse(500, &[], "down"), 12));
    world.http("coordinator", &target.url(), rule(1)).await;
    for _ in 0..9 {
        world.minute().await;
    }
    let told = slack.taken();
    assert!(told.len() == 1 && told[0].contains("nobody hears"), "{told:?}");
    assert!(!world.watch.health(0).await.is_well);
    for _ in 0..40 {
        world.minute().await;
        if slack.taken().len() == 2 {
            break;
        }
    }
    assert!(slack.taken().last().unwrap().contains("up again"), "{:?}", slack.taken());
    assert_eq!(pager.open_count(), 1);
    assert!(world.watch.health(0).await.is_well, "{:?}", world.watch.health(0).await);
}

async fn a_webhook_is_signed_and_has_one_id_over_all_attempts(world: World) {
    let (target, hook) = (Target::start(ILL).await, End::start(Role::Webhook).await);
    world.tell(Role::Webhook, &hook).await;
    hook.script([Do::Refuse(503, &[], "later")]);
    world.http("coordinator", &target.url(), rule(1)).await;
    world.settle().await;
    world.wait_ms(5_000);
    world.deliver().await;
    let got = hook.got();
    assert_eq!(got.iter().map(|one| one.status).collect::<Vec<_>>(), [503, 204]);
    assert_eq!(got[0].headers["webhook-id"], got[1].headers["webhook-id"]);
    assert_ne!(got[0].headers["webhook-timestamp"], got[1].headers["webhook-timestamp"]);
    assert_eq!(hook.taken(), ["incident.trigger"]);
    assert_eq!(got[1].body["data"]["monitor"]["name"], "coordinator");
}

async fn a_test_is_sent_and_closed_and_leaves_nothing_behind(world: World) {
    let pager = End::start(Role::PagerDuty).await;
    let id = world.channel(Role::PagerDuty, &pager).await;
    let channel = read!(world.db, [], |tx| channels::get(tx, id).await);
    let attempted = world.delivery.try_out(&channel, None).await.unwrap();
    assert!(attempted.iter().all(|one| one.attempt == Attempt::Arrived), "{attempted:?}");
    assert_eq!((pager.actions().join(" ").as_str(), pager.open_count()), ("trigger resolve", 0));
    assert_eq!(world.incidents().await.len(), 0);
}
