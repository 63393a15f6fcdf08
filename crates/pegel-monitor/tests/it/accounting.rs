//! What was seen, and what nobody was there to see.

use pegel_core::monitor::span::Span;
use pegel_core::monitor::uptime::{HOLD_INTERVALS, Known, account};
use pegel_store::samples::results;
use pegel_store::{blackouts, monitors, samples};
use pegel_testkit::on_each_database;

use crate::target::{Target, WELL};
use crate::world::{INTERVAL_MS, World, read, rule};

on_each_database!(crate::world::World; our_own_stop_is_unknown_and_neither_up_nor_down_a23);

async fn our_own_stop_is_unknown_and_neither_up_nor_down_a23(world: World) {
    let target = Target::start(WELL).await;
    let id = world.http("coordinator", &target.url(), rule(1)).await;
    world.settle().await;
    let from = world.now();
    world.rounds(10).await;
    world.wait_ms(10 * INTERVAL_MS);
    let world = world.restarted().await;
    world.settle().await;
    world.rounds(10).await;
    let range = Span::new(from, world.now());
    let key = monitors::resource_key(id);
    let chunks = read!(world.db, [key], |tx| samples::range(tx, &key, samples::RAW, range, 100).await);
    let taken: Vec<_> =
        chunks.iter().flat_map(|chunk| results::decode(&chunk.data).unwrap()).map(|one| one.at).collect();
    let kept = read!(world.db, [], |tx| blackouts::within(tx, range).await);
    let blackouts: Vec<Span> = kept.iter().map(|one| one.span).collect();
    assert_eq!(blackouts.len(), 1);
    assert!((9..=11).contains(&(blackouts[0].length_ms() / 60_000)), "{blackouts:?}");
    let known = Known {
        range,
        samples: &taken,
        hold_ms: HOLD_INTERVALS * INTERVAL_MS,
        down: &[],
        maintenance: &[],
        blackouts: &blackouts,
    };
    let uptime = account(&known);
    assert_eq!(uptime.percent().unwrap(), "100.000");
    let unknown_minutes = uptime.unknown_ms / 60_000;
    assert!((9..=12).contains(&unknown_minutes), "{uptime:?} {blackouts:?}");
}
