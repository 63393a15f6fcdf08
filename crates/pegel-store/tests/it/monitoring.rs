//! Monitors, their state, incidents, channels, routes and quiet times.

use std::collections::BTreeSet;
use std::time::Duration;

use pegel_core::monitor::delivery::ChannelKind;
use pegel_core::monitor::heartbeat::{self, Expectation, Kind, Ping};
use pegel_core::monitor::kind::MonitorKind;
use pegel_core::monitor::labels::{Labels, Matcher, Operator};
use pegel_core::monitor::quiet::{Maintenance, Recurrence, Silence};
use pegel_core::monitor::routing::Route;
use pegel_core::monitor::schedule::CronSchedule;
use pegel_core::monitor::severity::Severity;
use pegel_core::monitor::verdict::{Cause, Ending, Firing, FiringId, Rule};
use pegel_store::monitors::{Monitor, Settings};
use pegel_store::pings::Received;
use pegel_store::quiet_times::Definition;
use pegel_store::{channels, clusters, incidents, monitors, pings, quiet_times, retention, routes, secrets};
use serde_json::json;
use uuid::Uuid;

use crate::on_both;
use crate::stores::{Store, write};

on_both!(
    a_monitor_is_read_back_as_it_was_written,
    of_two_edits_of_one_version_one_is_a_conflict,
    a_monitor_goes_with_its_cluster_and_takes_its_state_along,
    of_two_writers_of_one_state_one_is_a_conflict,
    monitors_are_due_when_they_wake,
    a_monitor_is_held_by_one_instance_at_a_time,
    an_incident_tells_its_story_and_outlives_its_monitor,
    a_ping_is_kept_with_the_beginning_of_its_body,
    a_key_finds_its_heartbeat,
    a_channel_breaks_and_works_again,
    routes_are_written_together,
    quiet_times_are_read_back_and_end,
);

pub(crate) fn settings(name: &str) -> Settings {
    Settings {
        name: name.to_owned(),
        target: json!({ "url": "http://coordinator:9333/api/v1/status" }),
        rule: Rule {
            fails_to_fire: 1,
            oks_to_resolve: 1,
            interval_ms: 60_000,
            stale_after_ms: 180_000,
            severity: Severity::Critical,
            no_data_severity: None,
            remind_every_ms: None,
        },
        heartbeat_rule: None,
        labels: Labels::from([("team".to_owned(), "data".to_owned())]),
    }
}

fn heartbeat_settings() -> Settings {
    let schedule = CronSchedule::parse("0 3 * * *", "Europe/Riga").unwrap();
    let expects = Expectation::Cron { schedule, early_ms: None };
    let rule = heartbeat::Rule {
        expects,
        grace_ms: 60_000,
        max_run_ms: 60_000,
        misses_to_down: 1,
        fails_to_down: 1,
        min_sources: 1,
    };
    Settings { heartbeat_rule: Some(rule), ..settings("nightly") }
}

pub(crate) async fn create(store: &Store, settings: Settings) -> Monitor {
    let kind = if settings.heartbeat_rule.is_some() { MonitorKind::Heartbeat } else { MonitorKind::Http };
    write!(store, [settings], |tx| monitors::create(tx, None, kind, &settings).await).unwrap()
}

pub(crate) fn firing(store: &Store, number: u128) -> Firing {
    let now = pegel_core::clock::Clock::now(store.clock.as_ref());
    Firing {
        id: FiringId(Uuid::from_u128(number)),
        cause: Cause::Bad,
        severity: Severity::High,
        since: now,
        fired_at: now,
        announced_at: None,
        acknowledged_at: None,
        reminded_at: None,
        told_flapping: false,
    }
}

async fn a_monitor_is_read_back_as_it_was_written(store: Store) {
    for settings in [settings("coordinator"), heartbeat_settings()] {
        let made = create(&store, settings.clone()).await;
        let id = made.id;
        let read = store.db.read(move |tx| Box::pin(monitors::get(tx, id))).await.unwrap();
        assert_eq!((&read, &read.settings, read.version), (&made, &settings, 1));
        let state = store.db.read(move |tx| Box::pin(monitors::state(tx, id))).await.unwrap();
        assert_eq!((state.revision, state.heartbeat.is_some()), (1, settings.heartbeat_rule.is_some()));
    }
    let all = store.db.read(|tx| Box::pin(monitors::list(tx, None, 10))).await.unwrap();
    let first = all[0].id;
    let rest = store.db.read(move |tx| Box::pin(monitors::list(tx, Some(first), 10))).await.unwrap();
    assert_eq!((all.len(), rest.len()), (2, 1));
}

async fn of_two_edits_of_one_version_one_is_a_conflict(store: Store) {
    let id = create(&store, settings("a")).await.id;
    let (one, two) = (settings("one"), settings("two"));
    let first = write!(store, [one], |tx| monitors::update(tx, id, 1, &one).await);
    let second = write!(store, [two], |tx| monitors::update(tx, id, 1, &two).await);
    assert_eq!((first.unwrap(), second.unwrap_err().code()), (2, "conflict"));
    let late = write!(store, [], |tx| monitors::delete(tx, id, 1).await);
    assert_eq!(late.unwrap_err().code(), "conflict");
    write!(store, [], |tx| monitors::delete(tx, id, 2).await).unwrap();
    let gone = store.db.read(move |tx| Box::pin(monitors::get(tx, id))).await;
    assert_eq!(gone.unwrap_err().code(), "not_found");
}

async fn a_monitor_goes_with_its_cluster_and_takes_its_state_along(store: Store) {
    crate::clusters::create(&store, "eu").await;
    let slug: pegel_core::ids::ClusterSlug = "eu".parse().unwrap();
    let settings = settings("a");
    write!(store, [slug, settings], |tx| {
        monitors::create(tx, Some(&slug), MonitorKind::Coordinator, &settings).await
    })
    .unwrap();
    write!(store, [slug], |tx| clusters::delete(tx, &slug, 1).await).unwrap();
    assert_eq!(store.count("SELECT count(*) AS n FROM monitor").await, 0);
    assert_eq!(store.count("SELECT count(*) AS n FROM monitor_state").await, 0);
    let nowhere: pegel_core::ids::ClusterSlug = "us".parse().unwrap();
    let error = write!(store, [nowhere, settings], |tx| {
        monitors::create(tx, Some(&nowhere), MonitorKind::Coordinator, &settings).await
    });
    assert_eq!(error.unwrap_err().code(), "integrity_violation");
}

async fn of_two_writers_of_one_state_one_is_a_conflict(store: Store) {
    let id = create(&store, settings("a")).await.id;
    let mut state = store.db.read(move |tx| Box::pin(monitors::state(tx, id))).await.unwrap();
    state.verdict.fail_count = 2;
    let first = write!(store, [state], |tx| monitors::put_state(tx, &state, true).await);
    let second = write!(store, [state], |tx| monitors::put_state(tx, &state, true).await);
    assert_eq!((first.unwrap(), second.unwrap_err().code()), ((), "conflict"));
    let read = store.db.read(move |tx| Box::pin(monitors::state(tx, id))).await.unwrap();
    assert_eq!((read.revision, read.verdict.fail_count), (2, 2));
}

async fn monitors_are_due_when_they_wake(store: Store) {
    let id = create(&store, settings("a")).await.id;
    let due = || store.db.read(|tx| Box::pin(monitors::due(tx, "a", 10)));
    let until = pegel_core::monitor::span::end_of_time();
    write!(store, [], |tx| monitors::claim(tx, "a", until, 10).await).unwrap();
    store.clock.advance(Duration::from_millis(180_000));
    assert_eq!(due().await.unwrap().len(), 0);
    store.clock.advance(Duration::from_millis(1));
    assert_eq!(due().await.unwrap(), [id]);
}

async fn a_monitor_is_held_by_one_instance_at_a_time(store: Store) {
    let id = create(&store, settings("a")).await.id;
    let claim = async |owner: &'static str| {
        let until =
            pegel_core::monitor::span::later(pegel_core::clock::Clock::now(store.clock.as_ref()), 10_000);
        write!(store, [], |tx| monitors::claim(tx, owner, until, 10).await).unwrap()
    };
    assert_eq!((claim("a").await, claim("b").await), (vec![id], vec![]));
    store.clock.advance(Duration::from_secs(9));
    assert_eq!(claim("a").await, [id], "one that is alive renews");
    store.clock.advance(Duration::from_secs(9));
    assert_eq!(claim("b").await.len(), 0);
    store.clock.advance(Duration::from_secs(1));
    assert_eq!(claim("b").await, [id], "one that died loses it");
    assert_eq!(write!(store, [], |tx| monitors::release(tx, "b").await).unwrap(), 1);
    assert_eq!(claim("a").await, [id]);
}

async fn an_incident_tells_its_story_and_outlives_its_monitor(store: Store) {
    let monitor = create(&store, settings("a")).await;
    let mut firing = firing(&store, 7);
    let id = firing.id;
    write!(store, [monitor, firing], |tx| {
        incidents::open(tx, &monitor, &firing).await?;
        incidents::note(tx, firing.id, "opened", "", &json!({ "status": 503 })).await
    })
    .unwrap();
    firing.announced_at = Some(firing.fired_at);
    write!(store, [firing], |tx| incidents::mark(tx, &firing).await).unwrap();
    let open = store.db.read(|tx| Box::pin(incidents::list(tx, None, true, 10))).await.unwrap();
    assert_eq!((open.len(), open[0].announced_at), (1, firing.announced_at));
    store.clock.advance(Duration::from_secs(60));
    write!(store, [firing], |tx| {
        incidents::note(tx, firing.id, "acknowledged", "ann", &json!({})).await?;
        incidents::close(tx, &firing, firing.since, Ending::Recovered).await?;
        incidents::close(tx, &firing, firing.since, Ending::Deleted).await
    })
    .unwrap();
    let monitor_id = monitor.id;
    write!(store, [], |tx| monitors::delete(tx, monitor_id, 1).await).unwrap();
    let read = store.db.read(move |tx| Box::pin(incidents::get(tx, id))).await.unwrap();
    assert_eq!((read.ending, read.monitor_name.as_str()), (Some(Ending::Recovered), "a"));
    assert_eq!(read.labels, monitor.settings.labels);
    let events = store.db.read(move |tx| Box::pin(incidents::timeline(tx, id, None, 10))).await.unwrap();
    let kinds: Vec<_> = events.iter().map(|event| (event.kind.as_str(), event.actor.as_str())).collect();
    assert_eq!(kinds, [("opened", ""), ("acknowledged", "ann")]);
    assert_eq!(events[0].detail, json!({ "status": 503 }));
    let open = store.db.read(|tx| Box::pin(incidents::list(tx, None, true, 10))).await.unwrap();
    let all = store.db.read(|tx| Box::pin(incidents::list(tx, None, false, 10))).await.unwrap();
    assert_eq!((open.len(), all.len()), (0, 1));
    let policy = retention::Policy::default();
    assert_eq!(retention::run(&store.db, &policy).await.unwrap().incident_count, 0);
    store.clock.advance(policy.incidents + Duration::from_secs(1));
    assert_eq!(retention::run(&store.db, &policy).await.unwrap().incident_count, 1);
    assert_eq!(store.count("SELECT count(*) AS n FROM incident_event").await, 0);
}

async fn a_ping_is_kept_with_the_beginning_of_its_body(store: Store) {
    let id = create(&store, heartbeat_settings()).await.id;
    let received = |kind, body: Vec<u8>| Received {
        ping: Ping { kind, run_id: Some("r1".to_owned()), source_id: None },
        remote: "127.0.0.1".to_owned(),
        body,
    };
    let (first, second) = (received(Kind::Start, vec![0xff; 20_000]), received(Kind::Exit(-9), Vec::new()));
    write!(store, [first], |tx| pings::append(tx, tx.new_id()?, id, &first, tx.now()).await).unwrap();
    store.clock.advance(Duration::from_secs(1));
    write!(store, [second], |tx| pings::append(tx, tx.new_id()?, id, &second, tx.now()).await).unwrap();
    let kept = store.db.read(move |tx| Box::pin(pings::list(tx, id, None, 10))).await.unwrap();
    assert_eq!(kept[0].received, second);
    assert_eq!((kept[1].received.body.len(), kept[1].body_bytes), (pings::MAX_BODY_BYTES, 20_000));
    let before = kept[0].received_at;
    assert_eq!(write!(store, [], |tx| pings::trim(tx, before, 10).await).unwrap(), 1);
}

async fn a_key_finds_its_heartbeat(store: Store) {
    let id = create(&store, heartbeat_settings()).await.id;
    let find = |hash| store.db.read(move |tx| Box::pin(pings::find_by_key(tx, hash)));
    write!(store, [], |tx| pings::add_key(tx, id, [1; 32]).await).unwrap();
    let again = write!(store, [], |tx| pings::add_key(tx, id, [1; 32]).await);
    assert_eq!(again.unwrap_err().code(), "conflict");
    write!(store, [], |tx| pings::add_key(tx, id, [2; 32]).await).unwrap();
    assert_eq!((find([1; 32]).await.unwrap(), find([3; 32]).await.unwrap()), (Some(id), None));
    assert_eq!(write!(store, [], |tx| pings::remove_other_keys(tx, id, [2; 32]).await).unwrap(), 1);
    assert_eq!((find([1; 32]).await.unwrap(), find([2; 32]).await.unwrap()), (None, Some(id)));
}

async fn a_channel_breaks_and_works_again(store: Store) {
    let settings = |name: &str| channels::Settings {
        name: name.to_owned(),
        settings: json!({ "url": "https://hooks.test/" }),
        is_enabled: true,
    };
    let slack = settings("slack");
    let made = write!(store, [slack], |tx| channels::create(tx, ChannelKind::Slack, &slack).await).unwrap();
    assert_eq!((&made.settings, made.kind, &made.broken), (&slack, ChannelKind::Slack, &None));
    let taken = write!(store, [slack], |tx| channels::create(tx, ChannelKind::Smtp, &slack).await);
    assert_eq!(taken.unwrap_err().code(), "conflict");
    let id = made.id;
    let get = || store.db.read(move |tx| Box::pin(channels::get(tx, id)));
    let health = async |health: channels::Health| {
        write!(store, [health], |tx| channels::set_health(tx, id, &health).await).unwrap();
    };
    health(channels::Health::Failing).await;
    let since = get().await.unwrap().failing_since;
    store.clock.advance(Duration::from_secs(1));
    health(channels::Health::Failing).await;
    assert_eq!(get().await.unwrap().failing_since, since);
    health(channels::Health::Broken { reason: "404".to_owned() }).await;
    assert_eq!(get().await.unwrap().broken.unwrap().1, "404");
    health(channels::Health::Working).await;
    assert_eq!((get().await.unwrap().failing_since, get().await.unwrap().broken), (None, None));
    let mail = settings("mail");
    write!(store, [mail], |tx| channels::create(tx, ChannelKind::Smtp, &mail).await).unwrap();
    let clash = write!(store, [mail], |tx| channels::update(tx, id, 1, &mail).await);
    assert_eq!(clash.unwrap_err().code(), "conflict");
    let owner = channels::resource_key(id);
    write!(store, [owner], |tx| {
        let key =
            pegel_store::secret_box::SecretBox::from_text(&secrecy::SecretString::from("a".repeat(64)))?;
        secrets::put(tx, &key, &owner, "url", &secrecy::SecretString::from("https://secret/")).await
    })
    .unwrap();
    write!(store, [], |tx| channels::delete(tx, id, 1).await).unwrap();
    assert_eq!(store.count("SELECT count(*) AS n FROM secret").await, 0);
    assert_eq!(store.db.read(|tx| Box::pin(channels::list(tx))).await.unwrap().len(), 1);
}

async fn routes_are_written_together(store: Store) {
    let route = |id: u128| Route {
        id: Uuid::from_u128(id),
        name: format!("route {id}"),
        is_enabled: true,
        severities: BTreeSet::from([Severity::Critical]),
        matchers: Vec::new(),
        channel_ids: vec![Uuid::from_u128(9)],
        is_continued: false,
    };
    let list = vec![route(2), route(1)];
    assert_eq!(write!(store, [list], |tx| routes::replace(tx, 0, &list).await).unwrap(), 1);
    let late = write!(store, [list], |tx| routes::replace(tx, 0, &list).await);
    assert_eq!(late.unwrap_err().code(), "conflict");
    let twice = vec![route(3), route(3)];
    let twice = write!(store, [twice], |tx| routes::replace(tx, 1, &twice).await);
    assert_eq!(twice.unwrap_err().code(), "conflict");
    let read = store.db.read(|tx| Box::pin(routes::get(tx))).await.unwrap();
    assert_eq!(read, routes::RouteList { routes: list, version: 1 }, "nothing of what failed was kept");
}

async fn quiet_times_are_read_back_and_end(store: Store) {
    let now = pegel_core::clock::Clock::now(store.clock.as_ref());
    let matchers =
        vec![Matcher { label: "team".to_owned(), operator: Operator::In, values: vec!["data".to_owned()] }];
    let ends_at = pegel_core::monitor::span::later(now, 60_000);
    let silence = Silence { matchers: matchers.clone(), starts_at: now, ends_at };
    let begins = CronSchedule::parse("0 2 * * 0", "Europe/Berlin").unwrap();
    let recurrence = Recurrence::Recurring { begins, duration_minutes: 120 };
    let nightly = Definition::Maintenance(Maintenance { matchers, recurrence });
    let silence = Definition::Silence(silence);
    let made = write!(store, [silence], |tx| quiet_times::create(tx, &silence, "why", "ann").await).unwrap();
    assert_eq!((&made.definition, made.comment.as_str(), made.created_by.as_str()), (&silence, "why", "ann"));
    write!(store, [nightly], |tx| quiet_times::create(tx, &nightly, "", "bob").await).unwrap();
    let id = made.id;
    let other = write!(store, [nightly], |tx| quiet_times::update(tx, id, 1, &nightly, "").await);
    assert_eq!(other.unwrap_err().code(), "conflict", "a silence becomes no maintenance");
    let current = || store.db.read(|tx| Box::pin(quiet_times::current(tx, None, 10)));
    assert_eq!(current().await.unwrap().len(), 2);
    store.clock.advance(Duration::from_secs(60));
    let left = current().await.unwrap();
    assert_eq!((left.len(), &left[0].definition), (1, &nightly));
    store.clock.advance(Duration::from_secs(1));
    let before = pegel_core::clock::Clock::now(store.clock.as_ref());
    assert_eq!(write!(store, [], |tx| quiet_times::trim(tx, before, 10).await).unwrap(), 1);
}
