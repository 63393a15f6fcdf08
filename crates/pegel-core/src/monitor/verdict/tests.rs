//! The machine by example, and against a simulator that shares nothing with it.

use jiff::Timestamp;
use proptest::prelude::*;
use uuid::Uuid;

use super::simulator::{self, Told};
use super::*;

pub(super) const SECOND: i64 = 1_000;

pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millisecond(1_767_225_600_000 + seconds * SECOND).unwrap()
}

pub(super) fn rule(fails_to_fire: u32, oks_to_resolve: u32) -> Rule {
    Rule {
        fails_to_fire,
        oks_to_resolve,
        interval_ms: 60_000,
        stale_after_ms: 150_000,
        severity: Severity::High,
        no_data_severity: Some(Severity::Medium),
        remind_every_ms: None,
    }
}

/// A monitor whose inputs come a minute apart, or when the test says.
struct Monitor {
    rule: Rule,
    state: State,
    now: Timestamp,
    is_withheld: bool,
    ids: u128,
    effects: Vec<Effect>,
}

impl Monitor {
    fn new(rule: Rule) -> Self {
        Self { rule, state: State::new(at(0)), now: at(0), is_withheld: false, ids: 0, effects: Vec::new() }
    }

    fn input(&mut self, input: Input) -> Vec<Effect> {
        // What is stored is what counts: nothing may live outside of the state.
        let stored: State = serde_json::from_str(&serde_json::to_string(&self.state).unwrap()).unwrap();
        let context = Context { rule: &self.rule, now: self.now, is_withheld: self.is_withheld };
        let ids = &mut self.ids;
        let mut new_id = || {
            *ids += 1;
            FiringId(Uuid::from_u128(*ids))
        };
        let Step { state, effects } = step(&stored, context, input, &mut new_id);
        self.state = state;
        self.effects.extend(effects.clone());
        effects
    }

    fn wait(&mut self, seconds: i64) -> &mut Self {
        self.now = moved(self.now, seconds * SECOND);
        self
    }

    /// Samples a minute apart: `o` ok, `b` bad, `u` unknown, `t` none.
    fn samples(&mut self, text: &str) -> Vec<String> {
        let mut told = Vec::new();
        for c in text.chars() {
            self.wait(60);
            let outcome = match c {
                'o' => Some(Outcome::Ok),
                'b' => Some(Outcome::Bad),
                'u' => Some(Outcome::Unknown),
                _ => None,
            };
            let at = self.now;
            told.extend(told_of(
                &self.input(outcome.map_or(Input::Tick, |outcome| Input::Sample { outcome, at })),
            ));
        }
        told
    }

    fn told(&mut self, input: Input) -> Vec<String> {
        told_of(&self.input(input))
    }
}

fn told_of(effects: &[Effect]) -> Vec<String> {
    let told = |effect: &Effect| match effect {
        Effect::Notify { firing_id, notice, .. } => Some(format!("{notice:?} {}", firing_id.0.as_u128())),
        _ => None,
    };
    effects.iter().filter_map(told).collect()
}

#[test]
fn one_failure_fires_at_once_where_the_rule_says_one() {
    let mut monitor = Monitor::new(rule(1, 1));
    assert_eq!(monitor.samples("ob"), ["Trigger 1"]);
    assert_eq!(monitor.state.status(), Status::Down);
    assert_eq!(monitor.samples("bbb"), [""; 0]);
    assert_eq!(monitor.samples("o"), ["Resolve(Recovered) 1"]);
    assert_eq!(monitor.state.status(), Status::Up);
}

#[test]
fn three_failures_with_a_success_between_never_fire() {
    let mut monitor = Monitor::new(rule(3, 1));
    assert_eq!(monitor.samples("bbobbo"), [""; 0]);
    assert_eq!(monitor.effects, []);
}

#[test]
fn a_restart_between_the_second_and_the_third_failure_still_fires_at_the_third() {
    // The monitor of these tests stores and reads its state at each step.
    let mut monitor = Monitor::new(rule(3, 1));
    assert_eq!(monitor.samples("bb"), [""; 0]);
    assert_eq!(monitor.state.status(), Status::Failing);
    assert_eq!(monitor.samples("b"), ["Trigger 1"]);
}

#[test]
fn an_outage_is_dated_back_to_its_first_failure_and_to_its_first_success() {
    let mut monitor = Monitor::new(rule(3, 2));
    monitor.samples("obbbobboo");
    let Some(Effect::Opened(firing)) = monitor.effects.first() else { panic!("nothing opened") };
    assert_eq!((firing.since, firing.fired_at), (at(120), at(240)));
    let Some(Effect::Closed { ended_at, ending, .. }) = monitor.effects.last() else { panic!("still open") };
    assert_eq!((*ended_at, *ending), (at(480), Ending::Recovered));
}

#[test]
fn a_restart_while_firing_sends_no_second_trigger_and_heals_once_a01() {
    let mut monitor = Monitor::new(rule(1, 1));
    assert_eq!(monitor.samples("b"), ["Trigger 1"]);
    assert_eq!(monitor.samples("bbbbb"), [""; 0]);
    assert_eq!(monitor.samples("o"), ["Resolve(Recovered) 1"]);
}

#[test]
fn an_alert_silenced_while_firing_is_resolved_inside_the_silence_a07() {
    let mut monitor = Monitor::new(rule(1, 1));
    assert_eq!(monitor.samples("b"), ["Trigger 1"]);
    monitor.is_withheld = true;
    assert_eq!(monitor.samples("bbo"), ["Resolve(Recovered) 1"]);
}

#[test]
fn nothing_is_resolved_that_was_never_told_a09() {
    let mut monitor = Monitor::new(rule(3, 1));
    assert_eq!(monitor.samples("bbo"), [""; 0]);
    monitor.is_withheld = true;
    assert_eq!(monitor.samples("bbbo"), [""; 0]);
    let kinds =
        monitor.effects.iter().map(|effect| matches!(effect, Effect::Opened(_) | Effect::Closed { .. }));
    assert_eq!(kinds.collect::<Vec<_>>(), [true, true], "the incident itself is recorded");
}

#[test]
fn what_still_fires_at_the_end_of_a_maintenance_is_told_then() {
    let mut monitor = Monitor::new(rule(1, 1));
    monitor.is_withheld = true;
    assert_eq!(monitor.samples("bb"), [""; 0]);
    monitor.is_withheld = false;
    assert_eq!(monitor.samples("t"), ["Trigger 1"]);
    assert_eq!(monitor.samples("tb"), [""; 0]);
}

#[test]
fn a_pause_resolves_and_resuming_on_a_bad_target_needs_fresh_failures_a15() {
    let mut monitor = Monitor::new(Rule { remind_every_ms: Some(60_000), ..rule(2, 1) });
    assert_eq!(monitor.samples("bbb"), ["Trigger 1", "Reminder 1"]);
    assert_eq!(monitor.told(Input::Pause), ["Resolve(Paused) 1"]);
    assert_eq!(monitor.state.status(), Status::Paused);
    assert_eq!(monitor.samples("bbbbt"), [""; 0]);
    assert_eq!(monitor.told(Input::Pause), [""; 0]);
    monitor.input(Input::Resume);
    assert_eq!(monitor.samples("b"), [""; 0]);
    assert_eq!(monitor.samples("b"), ["Trigger 2"]);
    assert_eq!(monitor.told(Input::Delete), ["Resolve(Deleted) 2"]);
}

#[test]
fn our_own_faults_never_make_a_target_down_a33() {
    let mut monitor = Monitor::new(rule(1, 1));
    assert_eq!(monitor.samples("ouu"), [""; 0]);
    assert_eq!(monitor.state.status(), Status::Up);
    assert_eq!(monitor.samples("u"), ["Trigger 1"]);
    assert_eq!(monitor.state.status(), Status::NoData);
    let Some(Effect::Opened(firing)) = monitor.effects.first() else { panic!("nothing opened") };
    assert_eq!((firing.cause, firing.severity, firing.since), (Cause::NoData, Severity::Medium, at(60)));
    assert_eq!(monitor.samples("o"), ["Resolve(DataBack) 1"]);
}

#[test]
fn unknown_changes_neither_counter() {
    let mut monitor = Monitor::new(rule(3, 2));
    assert_eq!(monitor.samples("bubub"), ["Trigger 1"]);
    assert_eq!(monitor.samples("ouo"), ["Resolve(Recovered) 1"]);
}

#[test]
fn bad_news_after_missing_data_is_an_incident_of_its_own() {
    let mut monitor = Monitor::new(rule(1, 1));
    assert_eq!(monitor.samples("ottt"), ["Trigger 1"]);
    assert_eq!(monitor.samples("b"), ["Resolve(DataBack) 1", "Trigger 2"]);
}

#[test]
fn a_firing_monitor_without_data_keeps_its_one_incident() {
    let mut monitor = Monitor::new(rule(1, 1));
    assert_eq!(monitor.samples("btttttuu"), ["Trigger 1"]);
    assert_eq!(monitor.state.status(), Status::Down);
}

#[test]
fn data_is_stale_one_millisecond_after_the_limit() {
    let mut monitor = Monitor::new(rule(1, 1));
    monitor.samples("o");
    let wake_at = monitor.state.wake_at(&monitor.rule).unwrap();
    assert_eq!(wake_at, moved(at(60), 150_001));
    monitor.now = moved(wake_at, -1);
    assert_eq!(monitor.told(Input::Tick), [""; 0]);
    monitor.now = wake_at;
    assert_eq!(monitor.told(Input::Tick), ["Trigger 1"]);
}

#[test]
fn missing_data_without_a_severity_is_a_state_and_no_alert() {
    let mut monitor = Monitor::new(Rule { no_data_severity: None, ..rule(1, 1) });
    assert_eq!(monitor.samples("otttt"), [""; 0]);
    assert_eq!(monitor.state.status(), Status::NoData);
    monitor.rule.no_data_severity = Some(Severity::Low);
    assert_eq!(monitor.samples("t"), ["Trigger 1"]);
    monitor.rule.no_data_severity = None;
    assert_eq!(monitor.samples("o"), ["Resolve(DataBack) 1"], "an edit leaves no incident open for ever");
}

#[test]
fn our_own_blackout_is_no_missing_data_a23() {
    let mut monitor = Monitor::new(rule(1, 1));
    monitor.samples("o");
    monitor.wait(600);
    assert_eq!(monitor.told(Input::Blackout(Span::new(at(65), at(660)))), [""; 0]);
    assert_eq!(monitor.samples("t"), [""; 0]);
    assert_eq!(monitor.samples("tt"), ["Trigger 1"], "but what stays silent afterwards is");
}

#[test]
fn a_clock_that_is_set_neither_makes_data_stale_nor_keeps_it_fresh() {
    for by in [-3_600, 3_600] {
        let mut monitor = Monitor::new(rule(1, 1));
        monitor.samples("o");
        monitor.wait(by);
        assert_eq!(monitor.told(Input::ClockStep { by_ms: by * SECOND }), [""; 0]);
        assert_eq!(monitor.samples("tt"), [""; 0], "{by}");
        assert_eq!(monitor.samples("t"), ["Trigger 1"], "{by}");
    }
}

#[test]
fn a_clock_that_went_back_unnoticed_does_not_keep_data_fresh_for_long() {
    let mut monitor = Monitor::new(rule(1, 1));
    monitor.samples("o");
    monitor.wait(-3_600);
    assert_eq!(monitor.samples("tttt"), ["Trigger 1"]);
}

#[test]
fn the_seventh_change_of_an_hour_is_told_as_flapping_and_then_it_is_quiet_until_calm() {
    let mut monitor = Monitor::new(rule(1, 1));
    assert_eq!(monitor.samples("bobobo").len(), 6);
    assert_eq!(monitor.samples("b"), ["Trigger 4"]);
    assert!(monitor.effects.contains(&Effect::FlappingBegan(FiringId(Uuid::from_u128(4)))));
    assert_eq!(monitor.samples("obobobo"), [""; 0]);
    assert_eq!(monitor.state.firing.as_ref().unwrap().id.0.as_u128(), 4, "the incident stays open");
    assert_eq!(monitor.samples("oo"), [""; 0]);
    assert_eq!(monitor.samples("o"), ["Resolve(Recovered) 4"]);
}

#[test]
fn a_resolve_that_is_one_change_too_many_keeps_the_incident_open() {
    let mut monitor = Monitor::new(rule(1, 1));
    monitor.samples("b");
    monitor.state.changes = vec![at(59); 6];
    assert_eq!(monitor.samples("o"), ["Flapping 1"]);
    assert_eq!(monitor.samples("oo"), [""; 0]);
    assert_eq!(monitor.samples("o"), ["Resolve(Recovered) 1"]);
}

#[test]
fn a_change_of_an_hour_ago_does_not_count_any_more() {
    let resolved = |age: i64| {
        let mut monitor = Monitor::new(rule(1, 1));
        monitor.samples("b");
        monitor.wait(60);
        monitor.state.changes = vec![moved(monitor.now, -age); 6];
        let at = monitor.now;
        monitor.told(Input::Sample { outcome: Outcome::Ok, at })
    };
    assert_eq!(resolved(3_599_999), ["Flapping 1"]);
    assert_eq!(resolved(3_600_000), ["Resolve(Recovered) 1"]);
}

#[test]
fn six_changes_spread_over_more_than_an_hour_are_all_told() {
    let mut monitor = Monitor::new(rule(1, 1));
    for _ in 0..20 {
        monitor.wait(600);
        assert_eq!(monitor.samples("b").len(), 1);
        monitor.wait(600);
        assert_eq!(monitor.samples("o").len(), 1);
    }
}

#[test]
fn reminders_come_by_time_and_stop_with_an_acknowledgement() {
    let mut monitor = Monitor::new(Rule { remind_every_ms: Some(120_000), ..rule(1, 1) });
    assert_eq!(monitor.samples("bbbbb"), ["Trigger 1", "Reminder 1", "Reminder 1"]);
    monitor.is_withheld = true;
    assert_eq!(monitor.samples("bbb"), [""; 0]);
    monitor.is_withheld = false;
    assert_eq!(monitor.samples("bb"), ["Reminder 1"], "those that were withheld are not made up");
    assert_eq!(monitor.told(Input::Acknowledge), ["Acknowledge 1"]);
    assert_eq!(monitor.told(Input::Acknowledge), [""; 0]);
    assert_eq!(monitor.samples("bbbbbb"), [""; 0]);
    assert_eq!(monitor.samples("o"), ["Resolve(Recovered) 1"]);
}

#[test]
fn ten_days_of_firing_send_nothing_more_without_reminders_a13() {
    let mut monitor = Monitor::new(rule(1, 1));
    assert_eq!(monitor.samples("b"), ["Trigger 1"]);
    for _ in 0..240 {
        monitor.wait(3_600);
        assert_eq!(monitor.samples("b"), [""; 0]);
    }
}

#[test]
fn heal_and_refire_at_one_instant_pairs_each_firing_a59() {
    let mut monitor = Monitor::new(rule(1, 1));
    monitor.samples("b");
    let at = monitor.now;
    assert_eq!(monitor.told(Input::Sample { outcome: Outcome::Ok, at }), ["Resolve(Recovered) 1"]);
    assert_eq!(monitor.told(Input::Sample { outcome: Outcome::Bad, at }), ["Trigger 2"]);
}

#[test]
fn rules_that_make_no_sense_are_refused() {
    let check = |change: fn(&mut Rule)| {
        let mut rule = rule(1, 1);
        change(&mut rule);
        rule.check()
    };
    assert_eq!(check(|_| {}), Ok(()));
    assert_eq!(check(|rule| rule.fails_to_fire = 0), Err(RuleError::Count));
    assert_eq!(check(|rule| rule.oks_to_resolve = 0), Err(RuleError::Count));
    assert_eq!(check(|rule| rule.interval_ms = 0), Err(RuleError::Interval));
    assert_eq!(check(|rule| rule.stale_after_ms = 59_999), Err(RuleError::Stale));
    assert_eq!(check(|rule| rule.remind_every_ms = Some(59_999)), Err(RuleError::Reminder));
    assert_eq!(check(|rule| rule.remind_every_ms = Some(60_000)), Ok(()));
}

/// One input of a random history, as seconds since the one before.
fn inputs() -> impl Strategy<Value = Vec<(i64, bool, simulator::What)>> {
    use simulator::What;
    let what = prop_oneof![
        6 => Just(What::Ok),
        6 => Just(What::Bad),
        1 => Just(What::Unknown),
        2 => Just(What::Tick),
        1 => Just(What::Pause),
        1 => Just(What::Resume),
        1 => Just(What::Acknowledge),
    ];
    let wait = prop_oneof![6 => 0i64..90, 1 => 90i64..400, 1 => 400i64..5_000];
    proptest::collection::vec((wait, proptest::bool::weighted(0.2), what), 0..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_machine_tells_what_a_simulator_of_the_whole_history_tells(
        history in inputs(),
        fails in 1u32..5,
        oks in 1u32..4,
        no_data in any::<bool>(),
        reminders in any::<bool>(),
    ) {
        let rule = Rule {
            no_data_severity: no_data.then_some(Severity::Low),
            remind_every_ms: reminders.then_some(180_000),
            ..rule(fails, oks)
        };
        let mut monitor = Monitor::new(rule.clone());
        let mut told = Vec::new();
        let mut events = Vec::new();
        for (wait, is_withheld, what) in history {
            monitor.wait(wait);
            monitor.is_withheld = is_withheld;
            events.push(simulator::Event { at: monitor.now, is_withheld, what });
            let effects = monitor.input(what.input(monitor.now));
            told.push(Told::of(&effects));
        }
        prop_assert_eq!(told, simulator::run(&rule, at(0), &events));
    }

    #[test]
    fn each_firing_is_told_and_resolved_at_most_once_and_in_order(history in inputs(), fails in 1u32..4) {
        let mut monitor = Monitor::new(rule(fails, 1));
        for (wait, is_withheld, what) in history {
            monitor.wait(wait);
            monitor.is_withheld = is_withheld;
            monitor.input(what.input(monitor.now));
        }
        monitor.input(Input::Delete);
        for id in 1..=monitor.ids {
            let notices = monitor.effects.iter().filter_map(|effect| match effect {
                Effect::Notify { firing_id, notice, .. } if firing_id.0.as_u128() == id => Some(*notice),
                _ => None,
            });
            let notices: Vec<_> = notices.collect();
            if !notices.is_empty() {
                prop_assert_eq!(notices[0], Notice::Trigger);
                let triggers = notices.iter().filter(|notice| **notice == Notice::Trigger).count();
                let resolves = notices.iter().filter(|notice| matches!(notice, Notice::Resolve(_))).count();
                prop_assert_eq!((triggers, resolves), (1, 1));
                prop_assert!(matches!(notices.last(), Some(Notice::Resolve(_))));
            }
        }
        prop_assert!(monitor.state.changes.len() <= MAX_CHANGES + 1);
    }
}
