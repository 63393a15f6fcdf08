//! What is probed when, by whom, and what a probe says.

use pegel_core::monitor::kind::MonitorKind;
use pegel_core::monitor::span::Span;
use pegel_core::monitor::verdict::{Ending, Status};
use pegel_monitor::judge::Change;
use pegel_store::samples::results;
use pegel_store::{monitors, samples};
use pegel_testkit::on_each_database;
use serde_json::json;

use crate::end::{End, Role};
use crate::target::{ILL, Manner, Target, WELL};
use crate::world::{INTERVAL_MS, World, read, rule, write};

on_each_database!(
    crate::world::World;
    each_round_probes_once_over_a_fresh_connection_and_keeps_the_sample,
    a_slot_is_skipped_while_the_probe_of_the_one_before_runs,
    a_result_that_is_older_than_an_edit_is_not_counted,
    a_result_of_an_instance_that_has_lost_its_lease_is_not_counted,
    a_monitor_is_probed_by_one_instance_and_taken_over_when_that_ends,
    deleting_what_fires_resolves_it_with_that_reason,
    a_redirect_that_is_not_followed_is_judged_by_its_status_a45,
    space_in_json_does_not_hide_a_text_unless_raw_is_wanted_a47,
    an_address_of_ipv6_is_a_target_like_any_other_a49,
    an_accepting_port_says_so_and_a_reply_says_more_a63,
    a_clock_that_is_set_neither_stops_probes_nor_fires_anything
);

async fn each_round_probes_once_over_a_fresh_connection_and_keeps_the_sample(world: World) {
    let target = Target::start(WELL).await;
    let id = world.http("coordinator", &target.url(), rule(1)).await;
    world.settle().await;
    assert_eq!(target.asked_count(), 1, "a new monitor is probed at once");
    world.rounds(4).await;
    assert_eq!(target.asked_count(), 5);
    let (key, span) = (monitors::resource_key(id), Span::new(jiff::Timestamp::UNIX_EPOCH, world.now()));
    let chunks = read!(world.db, [key], |tx| samples::range(tx, &key, samples::RAW, span, 10).await);
    let kept = results::decode(&chunks[0].data).unwrap();
    assert_eq!((chunks.len(), kept.len()), (1, 5));
    assert!(kept.iter().all(|one| one.duration_us.is_some()));
    assert_eq!(world.state(id).await.evidence.unwrap()["status"], 200);
    let figures = world.engine.figures();
    assert_eq!((figures.held_count, figures.probe_count, figures.skipped_count), (1, 5, 0));
    assert!(figures.late_ms_max <= INTERVAL_MS / 6 * 6, "{figures:?}");
}

async fn a_slot_is_skipped_while_the_probe_of_the_one_before_runs(world: World) {
    let target = Target::start(Manner::Wait).await;
    let settings = json!({ "url": target.url(), "timeout_ms": 20_000 });
    let id = world.monitor("slow", MonitorKind::Http, settings, rule(1), None).await;
    world.engine.tick().await.unwrap();
    while target.open_count() == 0 {
        tokio::task::yield_now().await;
    }
    for _ in 0..3 {
        world.wait_ms(INTERVAL_MS);
        world.engine.tick().await.unwrap();
    }
    assert_eq!(target.asked_count(), 1);
    target.go_on();
    world.engine.settle().await;
    target.is(WELL);
    world.rounds(1).await;
    assert_eq!((target.asked_count(), world.status(id).await), (2, Status::Up));
}

async fn a_result_that_is_older_than_an_edit_is_not_counted(world: World) {
    let target = Target::start(Manner::Wait).await;
    let settings = json!({ "url": target.url(), "timeout_ms": 20_000 });
    let id = world.monitor("slow", MonitorKind::Http, settings, rule(1), None).await;
    world.engine.tick().await.unwrap();
    while target.open_count() == 0 {
        tokio::task::yield_now().await;
    }
    let monitor = world.get(id).await;
    write!(world.db, [monitor], |tx| monitors::update(tx, id, 1, &monitor.settings).await).unwrap();
    target.go_on();
    world.engine.settle().await;
    assert_eq!((world.status(id).await, world.engine.figures().discarded_count), (Status::New, 1));
}

async fn a_result_of_an_instance_that_has_lost_its_lease_is_not_counted(world: World) {
    let target = Target::start(Manner::Wait).await;
    let settings = json!({ "url": target.url(), "timeout_ms": 20_000 });
    let id = world.monitor("slow", MonitorKind::Http, settings, rule(1), None).await;
    world.engine.tick().await.unwrap();
    while target.open_count() == 0 {
        tokio::task::yield_now().await;
    }
    world.wait_ms(31_000);
    target.is(WELL);
    let other = world.beside("b").await;
    other.engine.tick().await.unwrap();
    other.engine.settle().await;
    let seen = world.state(id).await.verdict;
    assert_eq!((seen.status(), seen.ok_count), (Status::Up, 1));
    target.go_on();
    world.engine.settle().await;
    assert_eq!((world.state(id).await.verdict.ok_count, world.engine.figures().discarded_count), (1, 1));
}

async fn a_monitor_is_probed_by_one_instance_and_taken_over_when_that_ends(world: World) {
    let target = Target::start(WELL).await;
    let id = world.http("coordinator", &target.url(), rule(1)).await;
    world.settle().await;
    let other = world.beside("b").await;
    for _ in 0..3 {
        world.minute().await;
        other.settle().await;
    }
    assert_eq!((target.asked_count(), other.engine.figures().held_count), (4, 0));
    // The first instance is gone now.
    for _ in 0..2 {
        other.minute().await;
    }
    assert_eq!(other.engine.figures().held_count, 1);
    assert!(target.asked_count() >= 5, "{}", target.asked_count());
    let late = world.engine.tick().await;
    assert!(late.is_ok());
    world.engine.settle().await;
    assert_eq!(world.engine.figures().held_count, 0, "what was taken over is not probed twice");
    assert_eq!(world.status(id).await, Status::Up);
}

async fn deleting_what_fires_resolves_it_with_that_reason(world: World) {
    let (target, pager) = (Target::start(ILL).await, End::start(Role::PagerDuty).await);
    world.tell(Role::PagerDuty, &pager).await;
    let id = world.http("coordinator", &target.url(), rule(1)).await;
    world.settle().await;
    world.apply(id, Change::Delete { version: 1 }).await;
    world.rounds(2).await;
    assert_eq!(pager.actions(), ["trigger", "resolve"]);
    let incident = &world.incidents().await[0];
    assert_eq!(incident.ending, Some(Ending::Deleted));
    assert_eq!(world.engine.figures().held_count, 0);
    let told = world.story(incident.id).await;
    assert_eq!(told, ["opened", "told", "delivered", "closed", "delivered"]);
}

async fn observed(
    world: &World,
    kind: MonitorKind,
    target: serde_json::Value,
) -> (Status, serde_json::Value) {
    let id = world.monitor("one", kind, target, rule(1), None).await;
    world.settle().await;
    let state = world.state(id).await;
    (state.verdict.status(), state.evidence.unwrap())
}

async fn a_redirect_that_is_not_followed_is_judged_by_its_status_a45(world: World) {
    let page = Target::start(WELL).await;
    let head = format!("HTTP/1.1 302 Found\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n", page.url());
    let target = Target::start(Manner::Answer(Box::leak(head.into_boxed_str()))).await;
    let settings = json!({ "url": target.url(), "redirects": "keep", "expected_statuses": "200" });
    let (status, evidence) = observed(&world, MonitorKind::Http, settings).await;
    assert_eq!((status, &evidence["status"]), (Status::Down, &json!(302)));
    let texts = json!([{ "text": "ok", "how": "contains" }]);
    let settings = json!({ "url": target.url(), "texts": texts });
    let (status, evidence) = observed(&world, MonitorKind::Http, settings).await;
    assert_eq!((status, evidence["hops"].as_array().unwrap().len()), (Status::Up, 2));
}

async fn space_in_json_does_not_hide_a_text_unless_raw_is_wanted_a47(world: World) {
    let answer =
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 16\r\n\r\n{\"status\": \"ok\"}";
    let target = Target::start(Manner::Answer(answer)).await;
    let look = |how: &str| {
        json!({ "url": target.url(), "expected_statuses": "200",
            "texts": [{ "text": "\"status\":\"ok\"", "how": how }] })
    };
    let (status, evidence) = observed(&world, MonitorKind::Http, look("contains")).await;
    assert_eq!((status, &evidence["found"][0]), (Status::Up, &json!("json_compact")));
    let (status, evidence) = observed(&world, MonitorKind::Http, look("contains_raw")).await;
    assert_eq!((status, &evidence["code"]), (Status::Down, &json!("text_missing")));
}

async fn an_address_of_ipv6_is_a_target_like_any_other_a49(world: World) {
    let target = Target::start_on("[::1]:0", WELL).await;
    let url = format!("http://[::1]:{}/", target.address.port());
    let (status, _) = observed(&world, MonitorKind::Http, json!({ "url": url })).await;
    assert_eq!(status, Status::Up);
}

async fn an_accepting_port_says_so_and_a_reply_says_more_a63(world: World) {
    // Accepts and says nothing, as a frozen process does.
    let target = Target::start(Manner::Stall("")).await;
    let port = target.address.port();
    let settings = json!({ "host": "127.0.0.1", "port": port, "timeout_ms": 2_000 });
    let (status, evidence) = observed(&world, MonitorKind::Tcp, settings).await;
    assert_eq!((status, &evidence["is_connect_only"]), (Status::Up, &json!(true)));
    let settings = json!({ "host": "127.0.0.1", "port": port, "timeout_ms": 2_000, "send": "ruok\r\n\r\n",
        "expect": "imok" });
    let (status, evidence) = observed(&world, MonitorKind::Tcp, settings).await;
    assert_eq!((status, &evidence["code"]), (Status::Down, &json!("outbound_timeout")));
}

async fn a_clock_that_is_set_neither_stops_probes_nor_fires_anything(world: World) {
    let (target, pager) = (Target::start(WELL).await, End::start(Role::PagerDuty).await);
    world.tell(Role::PagerDuty, &pager).await;
    let id = world.http("coordinator", &target.url(), rule(1)).await;
    world.settle().await;
    for hours in [3, -5] {
        world.time.set_wall(world.now() + jiff::SignedDuration::from_hours(hours));
        world.settle().await;
        let asked = target.asked_count();
        world.rounds(3).await;
        assert!(target.asked_count() >= asked + 2, "{hours}");
        assert_eq!(world.status(id).await, Status::Up, "{hours}");
    }
    assert_eq!((pager.got().len(), world.incidents().await.len()), (0, 0));
}
