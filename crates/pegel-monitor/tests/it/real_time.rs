//! The loops as they run in a server, in real time.

use std::time::Duration;

use pegel_core::monitor::heartbeat::{Expectation, Kind, Rule};
use pegel_core::monitor::kind::MonitorKind;
use pegel_core::monitor::verdict::Status;
use pegel_monitor::pings::{Kept, Request};
use pegel_store::{pings, token};
use serde_json::json;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::end::{End, Role};
use crate::target::{ILL, Target, WELL};
use crate::world::{World, read, rule, write};

/// Within this everything that should happen does, also on a busy machine.
const BOUND: Duration = Duration::from_secs(20);

/// Waits until something is so.
async fn until(what: impl AsyncFn() -> bool) {
    let waiting = async {
        while !what().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(BOUND, waiting).await.unwrap();
}

#[tokio::test]
async fn what_falls_ill_is_told_and_what_heals_is_told_while_hundreds_of_others_are_probed() {
    let world = World::in_real_time().await;
    let (well, target) = (Target::start(WELL).await, Target::start(WELL).await);
    let pager = End::start(Role::PagerDuty).await;
    world.tell(Role::PagerDuty, &pager).await;
    let mut often = rule(1);
    often.interval_ms = 1_000;
    let monitor = async |name: String, url: String| {
        let settings = json!({ "url": url, "timeout_ms": 10_000 });
        world.monitor(&name, MonitorKind::Http, settings, often.clone(), None).await
    };
    for number in 0..200 {
        monitor(format!("well {number}"), well.url()).await;
    }
    let id = monitor("coordinator".to_owned(), target.url()).await;
    let stop = CancellationToken::new();
    let (engine, delivery) = (world.engine.clone(), world.delivery.clone());
    let running = tokio::spawn({
        let stop = stop.clone();
        async move { tokio::join!(engine.run(stop.clone()), delivery.run(stop)) }
    });
    until(async || world.status(id).await == Status::Up).await;
    target.is(ILL);
    until(async || pager.taken().len() == 1).await;
    let incident = world.incidents().await[0].clone();
    target.is(WELL);
    until(async || pager.taken().len() == 2).await;
    assert_eq!(pager.actions(), ["trigger", "resolve"]);
    let figures = world.engine.figures();
    eprintln!("{figures:?}, fired at {}", incident.fired_at);
    assert_eq!((figures.held_count, figures.lost_count), (201, 0));
    stop.cancel();
    timeout(BOUND, running).await.unwrap().unwrap();
    let other = world.beside("b").await;
    other.engine.tick().await.unwrap();
    assert_eq!(other.engine.figures().held_count, 201, "what was given back is taken at once");
    other.engine.settle().await;
}

#[tokio::test]
async fn a_heartbeat_is_down_soon_after_its_deadline_and_a_thousand_pings_are_kept() {
    let world = World::in_real_time().await;
    let pager = End::start(Role::PagerDuty).await;
    world.tell(Role::PagerDuty, &pager).await;
    let promise = Rule {
        expects: Expectation::Every { period_ms: 5_000 },
        grace_ms: 0,
        max_run_ms: 60_000,
        misses_to_down: 1,
        fails_to_down: 1,
        min_sources: 1,
    };
    let id = world.heartbeat("job", promise).await;
    let (key, hash) = token::generate("").unwrap();
    let hash = hash.to_bytes();
    write!(world.db, [], |tx| pings::add_key(tx, id, hash).await).unwrap();
    let stop = CancellationToken::new();
    let (engine, delivery) = (world.engine.clone(), world.delivery.clone());
    let running = tokio::spawn({
        let stop = stop.clone();
        async move { tokio::join!(engine.run(stop.clone()), delivery.run(stop)) }
    });
    let ping = || Request {
        key: key.clone(),
        kind: Kind::Ok,
        run_id: None,
        source_id: None,
        remote: "127.0.0.1".to_owned(),
        body: Vec::new(),
    };
    let all = (0..1_000).map(|_| world.pings.receive(ping()));
    let kept = futures_util::future::join_all(all).await;
    assert!(kept.into_iter().all(|kept| matches!(kept, Ok(Kept::Judged | Kept::Spilled))));
    let expected = world.state(id).await.heartbeat.unwrap().deadline_at;
    until(async || pager.taken().len() == 1).await;
    let count = async || read!(world.db, [], |tx| pings::list(tx, id, None, 1_000).await).len();
    until(async || count().await == 1_000).await;
    let incident = world.incidents().await[0].clone();
    eprintln!("expected by {expected:?}, fired at {}", incident.fired_at);
    stop.cancel();
    timeout(BOUND, running).await.unwrap().unwrap();
}
