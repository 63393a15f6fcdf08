//! Who hears of what.

use pegel_core::monitor::routing::{Fate, Route};
use pegel_core::monitor::severity::Severity;
use pegel_monitor::routing::{dry_run, labels_of};
use pegel_store::routes;
use pegel_testkit::on_each_database;
use uuid::Uuid;

use crate::end::{End, Role};
use crate::target::{ILL, Target};
use crate::world::{World, read, rule, write};

on_each_database!(
    crate::world::World;
    a_dry_run_says_who_would_hear_and_why_and_is_what_happens,
    what_nobody_hears_of_is_said_in_the_story
);

async fn a_dry_run_says_who_would_hear_and_why_and_is_what_happens(world: World) {
    let target = Target::start(ILL).await;
    let (pager, slack) = (End::start(Role::PagerDuty).await, End::start(Role::Slack).await);
    let (pager_id, slack_id) =
        (world.channel(Role::PagerDuty, &pager).await, world.channel(Role::Slack, &slack).await);
    let route = |id: u128, severities: &[Severity], channel_id| Route {
        id: Uuid::from_u128(id),
        name: format!("route {id}"),
        is_enabled: true,
        severities: severities.iter().copied().collect(),
        matchers: Vec::new(),
        channel_ids: vec![channel_id],
        is_continued: false,
    };
    let list = [route(1, &[Severity::Low], slack_id), route(2, &[Severity::Critical], pager_id)];
    write!(world.db, [list], |tx| routes::replace(tx, 0, &list).await).unwrap();
    let id = world.http("coordinator", &target.url(), rule(1)).await;
    let monitor = world.get(id).await;
    assert_eq!(labels_of(&monitor)["kind"], "http");
    let dry = read!(world.db, [monitor], |tx| dry_run(tx, &monitor, Severity::Critical).await);
    let fates: Vec<&Fate> = dry.hears.decision.routes.iter().map(|(_, fate)| fate).collect();
    assert_eq!(fates, [&Fate::OtherSeverity, &Fate::Taken]);
    assert_eq!(dry.hears.channels.iter().map(|one| one.id).collect::<Vec<_>>(), [pager_id]);
    world.settle().await;
    assert_eq!((pager.taken().len(), slack.got().len()), (1, 0));
}

async fn what_nobody_hears_of_is_said_in_the_story(world: World) {
    let target = Target::start(ILL).await;
    world.http("coordinator", &target.url(), rule(1)).await;
    world.settle().await;
    assert_eq!(world.story(world.incidents().await[0].id).await, ["opened", "nobody_told"]);
}
