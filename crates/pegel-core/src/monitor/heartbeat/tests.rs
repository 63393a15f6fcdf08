//! Heartbeats by example, and against a reading of the whole history.

use proptest::prelude::*;

use super::*;
use crate::monitor::span::moved;

const MINUTE: i64 = 60_000;

fn every(period_minutes: i64, grace_minutes: i64) -> Rule {
    Rule {
        expects: Expectation::Every { period_ms: ms(period_minutes) },
        grace_ms: ms(grace_minutes),
        max_run_ms: ms(10),
        misses_to_down: 1,
        fails_to_down: 1,
        min_sources: 1,
    }
}

fn cron(expression: &str, zone: &str, grace_minutes: i64, early_minutes: Option<i64>) -> Rule {
    let schedule = CronSchedule::parse(expression, zone).unwrap();
    let early_ms = early_minutes.map(ms);
    Rule { expects: Expectation::Cron { schedule, early_ms }, ..every(1, grace_minutes) }
}

fn ms(minutes: i64) -> u64 {
    u64::try_from(minutes * MINUTE).unwrap()
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

struct Heartbeat {
    rule: Rule,
    state: State,
    now: Timestamp,
}

impl Heartbeat {
    fn new(rule: Rule, now: &str) -> Self {
        Self { rule, state: State::default(), now: at(now) }
    }

    fn input(&mut self, input: &Input) -> Vec<Effect> {
        let stored: State = serde_json::from_str(&serde_json::to_string(&self.state).unwrap()).unwrap();
        let Step { state, effects } = step(&stored, &self.rule, self.now, input);
        self.state = state;
        effects
    }

    fn wait(&mut self, minutes: i64) -> &mut Self {
        self.now = moved(self.now, minutes * MINUTE);
        self
    }

    fn wait_ms(&mut self, ms: i64) -> &mut Self {
        self.now = moved(self.now, ms);
        self
    }

    fn tick(&mut self) -> Phase {
        self.input(&Input::Tick);
        self.state.phase
    }

    fn ping(&mut self, kind: Kind) -> Vec<Effect> {
        self.ping_of(kind, None, None)
    }

    fn ping_of(&mut self, kind: Kind, run: Option<&str>, source: Option<&str>) -> Vec<Effect> {
        let (run_id, source_id) = (run.map(str::to_owned), source.map(str::to_owned));
        self.input(&Input::Ping(Ping { kind, run_id, source_id }))
    }
}

fn down(since: Timestamp, reason: Reason) -> Phase {
    Phase::Down { since, reason }
}

const NOON: &str = "2026-03-01T12:00:00Z";

#[test]
fn a_heartbeat_that_never_was_well_is_never_missed() {
    let mut heartbeat = Heartbeat::new(every(2, 1), NOON);
    assert_eq!(heartbeat.wait(100_000).tick(), Phase::New);
    assert_eq!(heartbeat.state.wake_at(), None);
}

#[test]
fn it_is_down_exactly_at_the_end_of_its_grace() {
    let mut heartbeat = Heartbeat::new(every(2, 1), NOON);
    heartbeat.ping(Kind::Ok);
    assert_eq!(heartbeat.wait(2).tick(), Phase::Up);
    assert!(heartbeat.state.is_late(heartbeat.now));
    assert_eq!(heartbeat.wait(1).wait_ms(-1).tick(), Phase::Up);
    let since = moved(heartbeat.now, 1);
    assert_eq!(heartbeat.state.wake_at(), Some(since));
    let effects = heartbeat.wait_ms(1).input(&Input::Tick);
    let phase = down(since, Reason::Missed);
    assert_eq!(effects, [Effect::Judged { outcome: Outcome::Bad, at: since }, Effect::Flipped(phase)]);
}

#[test]
fn no_grace_is_a_grace_too() {
    let mut heartbeat = Heartbeat::new(every(2, 0), NOON);
    heartbeat.ping(Kind::Ok);
    assert_eq!(heartbeat.wait(2).wait_ms(-1).tick(), Phase::Up);
    assert_eq!(heartbeat.wait_ms(1).tick(), down(heartbeat.now, Reason::Missed));
}

#[test]
fn a_ping_at_the_very_deadline_is_in_time_and_one_later_is_not() {
    for (late, flips) in [(0, 0), (1, 2)] {
        let mut heartbeat = Heartbeat::new(every(2, 1), NOON);
        heartbeat.ping(Kind::Ok);
        let effects = heartbeat.wait(3).wait_ms(late).ping(Kind::Ok);
        let flipped = effects.iter().filter(|effect| matches!(effect, Effect::Flipped(_))).count();
        assert_eq!((flipped, heartbeat.state.phase), (flips, Phase::Up), "{late}");
    }
}

#[test]
fn an_explicit_failure_fires_once_however_long_nothing_follows_a19() {
    let mut heartbeat = Heartbeat::new(every(2, 1), NOON);
    heartbeat.ping(Kind::Ok);
    let failed_at = heartbeat.wait(1).now;
    assert_eq!(heartbeat.ping(Kind::Fail).len(), 2);
    for _ in 0..10 {
        assert_eq!(heartbeat.wait(1).input(&Input::Tick), []);
    }
    assert_eq!(heartbeat.state.phase, down(failed_at, Reason::Failed));
    assert_eq!(heartbeat.ping(Kind::Exit(1)), []);
    heartbeat.ping(Kind::Exit(0));
    assert_eq!(heartbeat.state.phase, Phase::Up);
}

#[test]
fn a_failure_of_a_new_heartbeat_is_down_and_a_log_line_is_nothing() {
    let mut heartbeat = Heartbeat::new(every(2, 1), NOON);
    assert_eq!(heartbeat.ping(Kind::Log), []);
    assert_eq!(heartbeat.state.phase, Phase::New);
    heartbeat.ping(Kind::Exit(137));
    assert_eq!(heartbeat.state.phase, down(heartbeat.now, Reason::Failed));
}

#[test]
fn a_daily_job_that_never_comes_is_missed_although_we_restart_every_twelve_hours_a21() {
    let mut heartbeat = Heartbeat::new(every(24 * 60, 60), NOON);
    heartbeat.ping(Kind::Ok);
    let mut stopped_ms = 0;
    for _ in 0..2 {
        heartbeat.wait(12 * 60);
        let off = moved(heartbeat.now, -5_000);
        assert_eq!(heartbeat.input(&Input::Blackout(Span::new(off, heartbeat.now))), []);
        stopped_ms += 5_000;
    }
    let deadline = moved(at(NOON), 25 * 60 * MINUTE + stopped_ms);
    assert_eq!(heartbeat.state.wake_at(), Some(deadline));
}

#[test]
fn a_ping_that_may_have_been_lost_in_a_blackout_is_given_time_once() {
    let mut heartbeat = Heartbeat::new(every(24 * 60, 60), NOON);
    heartbeat.ping(Kind::Ok);
    let blackout = |heartbeat: &mut Heartbeat| {
        // Two hours around the moment at which the ping is expected.
        heartbeat.now = moved(heartbeat.state.expected_at.unwrap(), 60 * MINUTE);
        let off = moved(heartbeat.now, -120 * MINUTE);
        heartbeat.input(&Input::Blackout(Span::new(off, heartbeat.now)))
    };
    let expected_at = heartbeat.state.expected_at.unwrap();
    assert_eq!(blackout(&mut heartbeat), [Effect::Unverifiable { expected_at }]);
    let back_at = heartbeat.now;
    assert_eq!(heartbeat.state.deadline_at, Some(moved(back_at, 25 * 60 * MINUTE)));
    assert_eq!(blackout(&mut heartbeat), [], "and the second time the blackout itself is all it gets");
    let missed_at = heartbeat.state.deadline_at.unwrap();
    assert_eq!(missed_at, moved(back_at, 27 * 60 * MINUTE));
    heartbeat.now = missed_at;
    assert_eq!(heartbeat.tick(), down(missed_at, Reason::Missed));
}

#[test]
fn the_rest_of_a_grace_is_given_after_a_blackout() {
    let mut heartbeat = Heartbeat::new(every(10, 10), NOON);
    heartbeat.ping(Kind::Ok);
    heartbeat.wait(30);
    // Expected after ten minutes, off from the fifteenth on: five minutes of grace are left.
    let off = moved(at(NOON), 15 * MINUTE);
    assert_eq!(heartbeat.input(&Input::Blackout(Span::new(off, heartbeat.now))), []);
    assert_eq!(heartbeat.state.wake_at(), Some(moved(heartbeat.now, 5 * MINUTE)));
}

#[test]
fn what_was_missed_before_we_went_away_is_dated_to_then() {
    let mut heartbeat = Heartbeat::new(every(2, 1), NOON);
    heartbeat.ping(Kind::Ok);
    heartbeat.wait(60);
    let off = moved(at(NOON), 3 * MINUTE);
    heartbeat.input(&Input::Blackout(Span::new(off, heartbeat.now)));
    assert_eq!(heartbeat.state.phase, down(off, Reason::Missed));
}

#[test]
fn riga_at_three_on_the_day_the_clock_skips_it_a25() {
    let mut heartbeat = Heartbeat::new(cron("0 3 * * *", "Europe/Riga", 30, None), "2021-03-27T01:00:10Z");
    heartbeat.ping(Kind::Ok);
    assert_eq!(heartbeat.state.expected_at, Some(at("2021-03-28T01:00:00Z")));
    heartbeat.now = at("2021-03-28T01:00:30Z");
    heartbeat.ping(Kind::Ok);
    assert_eq!(heartbeat.state.phase, Phase::Up);
    assert_eq!(heartbeat.state.expected_at, Some(at("2021-03-29T00:00:00Z")));
}

#[test]
fn an_hour_that_comes_twice_expects_a_ping_in_both() {
    let mut heartbeat = Heartbeat::new(cron("15 * * * *", "Europe/Riga", 5, None), "2023-10-29T00:55:00Z");
    heartbeat.ping(Kind::Ok);
    heartbeat.now = at("2023-10-29T01:05:00Z");
    assert_eq!(heartbeat.tick(), Phase::Up);
    heartbeat.now = at("2023-10-29T01:19:59.999Z");
    assert_eq!(heartbeat.tick(), Phase::Up);
    heartbeat.now = at("2023-10-29T01:20:00Z");
    assert_eq!(heartbeat.tick(), down(heartbeat.now, Reason::Missed));
}

#[test]
fn an_early_ping_satisfies_its_slot_only_within_the_tolerance_a27() {
    let ping_at = |minute: &str| {
        let rule = cron("0 3 * * *", "UTC", 30, Some(10));
        let mut heartbeat = Heartbeat::new(rule, "2026-03-01T03:01:00Z");
        heartbeat.ping(Kind::Ok);
        heartbeat.now = at(&format!("2026-03-02T02:{minute}:00Z"));
        let effects = heartbeat.ping(Kind::Ok);
        (effects.last().cloned(), heartbeat.state.expected_at.unwrap().to_string())
    };
    assert_eq!(ping_at("52").1, "2026-03-03T03:00:00Z");
    assert_eq!(ping_at("50").1, "2026-03-03T03:00:00Z");
    let (said, expected) = ping_at("30");
    assert_eq!(expected, "2026-03-02T03:00:00Z");
    assert_eq!(said, Some(Effect::SlotStillExpected { slot_at: at("2026-03-02T03:00:00Z") }));
}

#[test]
fn the_tolerance_is_the_grace_and_at_most_a_tenth_of_the_gap() {
    let expected = |rule: Rule, ping: &str| {
        let mut heartbeat = Heartbeat::new(rule, ping);
        heartbeat.ping(Kind::Ok);
        heartbeat.state.expected_at.unwrap().to_string()
    };
    let hourly = || cron("0 * * * *", "UTC", 30, None);
    assert_eq!(expected(hourly(), "2026-03-01T02:54:00Z"), "2026-03-01T04:00:00Z");
    assert_eq!(expected(hourly(), "2026-03-01T02:53:59Z"), "2026-03-01T03:00:00Z");
    let daily = || cron("0 3 * * *", "UTC", 30, None);
    assert_eq!(expected(daily(), "2026-03-01T02:30:00Z"), "2026-03-02T03:00:00Z");
    assert_eq!(expected(daily(), "2026-03-01T02:29:59Z"), "2026-03-01T03:00:00Z");
}

#[test]
fn a_run_that_does_not_end_is_down_at_its_deadline_and_up_when_it_does_a29() {
    let mut heartbeat = Heartbeat::new(every(60, 5), NOON);
    heartbeat.ping(Kind::Start);
    let deadline = moved(heartbeat.now, 10 * MINUTE);
    assert_eq!(heartbeat.wait(10).wait_ms(-1).tick(), Phase::New);
    assert_eq!(heartbeat.wait_ms(1).tick(), down(deadline, Reason::RunTimeout));
    let effects = heartbeat.wait(5).ping(Kind::Ok);
    assert_eq!(effects[0], Effect::RunEnded { id: None, duration_ms: ms(15) });
    assert_eq!(heartbeat.state.phase, Phase::Up);
}

#[test]
fn a_job_that_starts_again_and_again_is_due_by_its_first_start_a29() {
    let mut heartbeat = Heartbeat::new(every(60, 5), NOON);
    for _ in 0..5 {
        heartbeat.ping(Kind::Start);
        heartbeat.wait(2);
    }
    assert_eq!(heartbeat.tick(), down(moved(at(NOON), 10 * MINUTE), Reason::RunTimeout));
}

#[test]
fn of_two_runs_the_stuck_one_is_down_although_the_other_ends_well() {
    let mut heartbeat = Heartbeat::new(every(60, 5), NOON);
    heartbeat.ping_of(Kind::Start, Some("a"), None);
    heartbeat.wait(1).ping_of(Kind::Start, Some("b"), None);
    heartbeat.wait(1).ping_of(Kind::Ok, Some("b"), None);
    assert_eq!(heartbeat.state.phase, Phase::Up);
    heartbeat.wait(8);
    assert_eq!(heartbeat.tick(), down(heartbeat.now, Reason::RunTimeout));
}

#[test]
fn an_end_without_a_name_ends_the_run_without_one_and_else_the_oldest() {
    let mut heartbeat = Heartbeat::new(every(60, 5), NOON);
    for run in [Some("a"), Some("b"), None] {
        heartbeat.ping_of(Kind::Start, run, None);
        heartbeat.wait(1);
    }
    let ended: Vec<Option<String>> = (0..3)
        .filter_map(|_| match heartbeat.ping(Kind::Ok).into_iter().next() {
            Some(Effect::RunEnded { id, .. }) => Some(id),
            _ => None,
        })
        .collect();
    assert_eq!(ended, [None, Some("a".to_owned()), Some("b".to_owned())]);
}

#[test]
fn runs_are_bounded_and_what_is_not_watched_is_said() {
    let mut heartbeat = Heartbeat::new(every(60, 5), NOON);
    for run in 0..MAX_RUNS {
        assert_eq!(heartbeat.ping_of(Kind::Start, Some(&run.to_string()), None), []);
    }
    assert_eq!(heartbeat.ping_of(Kind::Start, Some("more"), None), [Effect::RunNotWatched]);
    heartbeat.wait(10).tick();
    assert_eq!(heartbeat.ping_of(Kind::Start, Some("more"), None), []);
    assert_eq!(heartbeat.state.runs.len(), MAX_RUNS);
}

#[test]
fn two_misses_are_needed_where_the_rule_says_two_and_the_first_dates_the_outage_a61() {
    let mut heartbeat = Heartbeat::new(Rule { misses_to_down: 2, ..every(10, 1) }, NOON);
    heartbeat.ping(Kind::Ok);
    assert_eq!(heartbeat.wait(20).tick(), Phase::Up);
    assert_eq!(heartbeat.state.miss_count, 1);
    assert_eq!(heartbeat.wait(1).tick(), down(moved(at(NOON), 11 * MINUTE), Reason::Missed));
    let mut healed = Heartbeat::new(Rule { misses_to_down: 2, ..every(10, 1) }, NOON);
    healed.ping(Kind::Ok);
    healed.wait(15).ping(Kind::Ok);
    assert_eq!((healed.state.miss_count, healed.wait(20).tick()), (0, Phase::Up));
}

#[test]
fn enough_sources_must_be_well_and_one_live_one_does_not_hide_dead_ones() {
    let mut heartbeat = Heartbeat::new(Rule { min_sources: 2, ..every(2, 1) }, NOON);
    heartbeat.ping_of(Kind::Ok, None, Some("a"));
    assert_eq!(heartbeat.state.phase, Phase::New);
    heartbeat.wait(1).ping_of(Kind::Ok, None, Some("b"));
    assert_eq!(heartbeat.state.phase, Phase::Up);
    for _ in 0..3 {
        heartbeat.wait(1).ping_of(Kind::Ok, None, Some("a"));
    }
    assert_eq!(heartbeat.tick(), down(moved(at(NOON), 4 * MINUTE), Reason::Missed));
    heartbeat.wait(1).ping_of(Kind::Ok, None, Some("a"));
    assert!(matches!(heartbeat.state.phase, Phase::Down { .. }));
    heartbeat.ping_of(Kind::Ok, None, Some("b"));
    assert_eq!(heartbeat.state.phase, Phase::Up);
}

#[test]
fn pausing_is_sticky_and_resuming_waits_for_a_whole_period() {
    let mut heartbeat = Heartbeat::new(every(2, 1), NOON);
    heartbeat.ping(Kind::Ok);
    heartbeat.input(&Input::Pause);
    heartbeat.wait(100).ping(Kind::Ok);
    heartbeat.ping(Kind::Start);
    assert_eq!(heartbeat.tick(), Phase::Paused);
    heartbeat.input(&Input::Resume);
    assert_eq!(heartbeat.state.phase, Phase::Waiting);
    assert_eq!(heartbeat.wait(3).wait_ms(-1).tick(), Phase::Waiting);
    assert_eq!(heartbeat.wait_ms(1).tick(), down(heartbeat.now, Reason::Missed));
}

#[test]
fn resuming_what_never_was_well_is_new() {
    let mut heartbeat = Heartbeat::new(every(2, 1), NOON);
    heartbeat.input(&Input::Pause);
    heartbeat.input(&Input::Resume);
    assert_eq!(heartbeat.wait(1_000).tick(), Phase::New);
}

#[test]
fn an_edit_counts_anew_and_gives_a_grace() {
    let mut heartbeat = Heartbeat::new(every(60, 5), NOON);
    heartbeat.ping(Kind::Ok);
    heartbeat.wait(30);
    heartbeat.rule = every(10, 5);
    assert_eq!(heartbeat.input(&Input::Edited), []);
    assert_eq!(heartbeat.state.wake_at(), Some(moved(heartbeat.now, 5 * MINUTE)));
    heartbeat.rule = every(120, 5);
    heartbeat.input(&Input::Edited);
    assert_eq!(heartbeat.state.wake_at(), Some(moved(at(NOON), 125 * MINUTE)));
}

#[test]
fn a_clock_that_is_set_changes_no_period() {
    for by in [-60, 60] {
        let mut heartbeat = Heartbeat::new(every(10, 5), NOON);
        heartbeat.ping(Kind::Ok);
        heartbeat.wait(5).wait(by);
        assert_eq!(heartbeat.input(&Input::ClockStep { by_ms: by * MINUTE }), []);
        assert_eq!(heartbeat.state.wake_at(), Some(moved(heartbeat.now, 10 * MINUTE)), "{by}");
    }
}

#[test]
fn a_slot_is_judged_once_although_the_clock_goes_back_over_it() {
    let mut heartbeat = Heartbeat::new(cron("0 3 * * *", "UTC", 10, None), "2026-03-01T03:00:30Z");
    heartbeat.ping(Kind::Ok);
    heartbeat.now = at("2026-03-02T03:00:30Z");
    heartbeat.ping(Kind::Ok);
    heartbeat.wait(-60);
    heartbeat.input(&Input::ClockStep { by_ms: -60 * MINUTE });
    assert_eq!(heartbeat.state.expected_at, Some(at("2026-03-03T03:00:00Z")));
}

#[test]
fn a_slot_that_was_satisfied_early_is_not_expected_again_when_the_clock_goes_back() {
    let mut heartbeat = Heartbeat::new(cron("0 3 * * *", "UTC", 10, None), "2026-03-01T02:55:00Z");
    heartbeat.ping(Kind::Ok);
    heartbeat.wait(-60);
    heartbeat.input(&Input::ClockStep { by_ms: -60 * MINUTE });
    assert_eq!(heartbeat.state.expected_at, Some(at("2026-03-02T03:00:00Z")));
}

#[test]
fn each_ping_may_be_given_time_once_after_one_that_came() {
    let mut heartbeat = Heartbeat::new(every(10, 1), NOON);
    for _ in 0..2 {
        heartbeat.ping(Kind::Ok);
        let from = heartbeat.wait(5).now;
        heartbeat.wait(10);
        let effects = heartbeat.input(&Input::Blackout(Span::new(from, heartbeat.now)));
        assert!(matches!(effects[..], [Effect::Unverifiable { .. }]));
    }
}

#[test]
fn an_edit_gives_a_run_that_is_going_on_a_grace_too() {
    let mut heartbeat = Heartbeat::new(every(60, 5), NOON);
    heartbeat.ping(Kind::Start);
    heartbeat.wait(9);
    heartbeat.rule.max_run_ms = ms(2);
    assert_eq!(heartbeat.input(&Input::Edited), []);
    assert_eq!(heartbeat.state.wake_at(), Some(moved(heartbeat.now, 5 * MINUTE)));
}

#[test]
fn rules_out_of_range_are_refused() {
    assert_eq!(every(2, 0).check(), Ok(()));
    let short = Rule { expects: Expectation::Every { period_ms: 4_999 }, ..every(2, 1) };
    assert_eq!(short.check(), Err(RuleError::Period));
    assert_eq!(Rule { max_run_ms: 0, ..every(2, 1) }.check(), Err(RuleError::Duration));
    assert_eq!(Rule { grace_ms: u64::MAX, ..every(2, 1) }.check(), Err(RuleError::Duration));
    assert_eq!(Rule { min_sources: 0, ..every(2, 1) }.check(), Err(RuleError::Threshold));
    assert_eq!(Rule { misses_to_down: 101, ..every(2, 1) }.check(), Err(RuleError::Threshold));
}

#[test]
fn long_names_are_cut_at_a_character() {
    let mut heartbeat = Heartbeat::new(every(60, 5), NOON);
    let name = "ä".repeat(100);
    heartbeat.ping_of(Kind::Start, Some(&name), None);
    assert_eq!(heartbeat.state.runs[0].id.as_ref().unwrap().len(), MAX_ID_BYTES);
    let ended = heartbeat.ping_of(Kind::Ok, Some(&name), None);
    assert!(matches!(ended[0], Effect::RunEnded { .. }));
}

/// What a heartbeat's inputs lead to in the end: incidents with their begin and end.
#[test]
fn what_a_heartbeat_judges_is_one_incident_from_the_first_miss_to_the_next_ping_a61() {
    let mut heartbeat = Heartbeat::new(Rule { misses_to_down: 2, ..every(10, 1) }, NOON);
    let rule = heartbeat.rule.verdict_rule(Severity::Critical, None);
    assert_eq!(rule.check(), Ok(()));
    let mut verdict = verdict::State::new(heartbeat.now);
    let mut told = Vec::new();
    let mut ids = 0;
    for minute in 0..60 {
        let effects = match minute {
            0 | 5 | 40 => heartbeat.ping(Kind::Ok),
            30 => heartbeat.ping(Kind::Fail),
            _ => heartbeat.input(&Input::Tick),
        };
        let judged = effects.into_iter().filter_map(|effect| match effect {
            Effect::Judged { outcome, at } => Some(verdict::Input::Sample { outcome, at }),
            _ => None,
        });
        for input in judged.chain([verdict::Input::Tick]) {
            let context = verdict::Context { rule: &rule, now: heartbeat.now, is_withheld: false };
            let mut new_id = || {
                ids += 1;
                verdict::FiringId(uuid::Uuid::from_u128(ids))
            };
            let step = verdict::step(&verdict, context, input, &mut new_id);
            verdict = step.state;
            told.extend(step.effects);
        }
        assert_eq!(verdict.wake_at(&rule), None, "silence is the heartbeat's to judge");
        heartbeat.wait(1);
    }
    let bounds: Vec<(i64, i64)> = told
        .iter()
        .filter_map(|effect| match effect {
            verdict::Effect::Closed { firing, ended_at, .. } => Some((firing.since, *ended_at)),
            _ => None,
        })
        .map(|(from, to)| [from, to].map(|one| (one.as_second() - at(NOON).as_second()) / 60).into())
        .collect();
    // Pings at minutes 0 and 5; missed at 16 and 26; well again at 40, and not missed twice until the end.
    assert_eq!((bounds, ids), (vec![(16, 40)], 1));
}

/// All flips up to the end of a history, read off it without any state.
fn flips(rule: &Rule, history: &[(Timestamp, Option<Kind>)]) -> Vec<(Timestamp, bool)> {
    let Expectation::Every { period_ms } = rule.expects else { panic!("of periods only") };
    // Each moment stands before the event that is the first to see it, or is that event itself.
    let mut moments: Vec<(usize, Timestamp, bool)> = Vec::new();
    let is_finish = |kind: &Option<Kind>| matches!(kind, Some(Kind::Ok | Kind::Fail));
    let mut deadline = |index: usize, length: u64, ends: &dyn Fn(&Option<Kind>) -> bool| {
        let due = moved(history[index].0, i64::try_from(length).unwrap());
        let seen = (index + 1..history.len())
            .find(|i| history[*i].0 > due || (history[*i].0 == due && history[*i].1.is_none()));
        let before = &history[index + 1..seen.unwrap_or(history.len())];
        if let (Some(seen), false) = (seen, before.iter().any(|(_, kind)| ends(kind))) {
            moments.push((seen * 2, due, false));
        }
    };
    for (index, (_, kind)) in history.iter().enumerate() {
        match kind {
            Some(Kind::Ok) => {
                deadline(index, period_ms + rule.grace_ms, &|kind| *kind == Some(Kind::Ok));
            }
            Some(Kind::Start) => {
                let before = &history[..index];
                let last_finish = before.iter().rposition(|(_, kind)| is_finish(kind)).map_or(0, |at| at + 1);
                if !before[last_finish..].iter().any(|(_, kind)| *kind == Some(Kind::Start)) {
                    deadline(index, rule.max_run_ms, &is_finish);
                }
            }
            _ => {}
        }
    }
    for (index, (at, kind)) in history.iter().enumerate() {
        match kind {
            Some(Kind::Ok) => moments.push((index * 2 + 1, *at, true)),
            Some(Kind::Fail) => moments.push((index * 2 + 1, *at, false)),
            _ => {}
        }
    }
    moments.sort_unstable();
    let mut found: Vec<(Timestamp, bool)> = Vec::new();
    for (_, at, is_up) in moments {
        if found.last().map(|(_, last)| *last) != Some(is_up) {
            found.push((at, is_up));
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn it_flips_when_a_reading_of_the_whole_history_says_so(
        history in proptest::collection::vec(
            (0i64..12, prop_oneof![
                4 => Just(Some(Kind::Ok)), 1 => Just(Some(Kind::Fail)), 2 => Just(Some(Kind::Start)), 4 => Just(None),
            ]),
            1..60,
        ),
        period in 1i64..10, grace in 0i64..5, run in 1i64..12,
    ) {
        let mut heartbeat = Heartbeat::new(Rule { max_run_ms: ms(run), ..every(period, grace) }, NOON);
        let mut seen = Vec::new();
        let mut told = Vec::new();
        for (minutes, kind) in history {
            heartbeat.wait(minutes);
            told.push((heartbeat.now, kind));
            let now = heartbeat.now;
            let effects = match kind {
                Some(kind) => heartbeat.ping(kind),
                None => heartbeat.input(&Input::Tick),
            };
            seen.extend(effects.into_iter().filter_map(|effect| match effect {
                Effect::Flipped(Phase::Down { since, .. }) => Some((since, false)),
                Effect::Flipped(_) => Some((now, true)),
                _ => None,
            }));
        }
        prop_assert_eq!(seen, flips(&heartbeat.rule, &told));
    }
}
