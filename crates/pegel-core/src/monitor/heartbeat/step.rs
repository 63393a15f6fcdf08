//! The step itself.

use jiff::Timestamp;

use crate::monitor::heartbeat::{
    Effect, Expectation, Input, Kind, MAX_ID_BYTES, MAX_RUNS, MAX_SOURCES, Phase, Ping, Reason, Rule, Run,
    Source, State, expectation,
};
use crate::monitor::span::{Span, elapsed_ms, later, moved};
use crate::monitor::verdict::Outcome;

/// What a step leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The new state.
    pub state: State,
    /// What it causes, in order.
    pub effects: Vec<Effect>,
}

/// Takes one input. A ping that comes at the very instant of a deadline is in time.
pub fn step(state: &State, rule: &Rule, now: Timestamp, input: &Input) -> Step {
    let mut machine = Machine { state: state.clone(), rule, now, effects: Vec::new() };
    if let Input::ClockStep { by_ms } = input {
        machine.shift(*by_ms);
    }
    match input {
        Input::Pause => machine.pause(),
        Input::Resume => machine.resume(),
        _ if machine.state.phase == Phase::Paused => {}
        Input::Ping(ping) => {
            machine.judge_until(moved(now, -1));
            machine.ping(ping);
        }
        Input::Blackout(span) => {
            machine.forgive(*span);
            machine.judge_until(now);
        }
        Input::Edited => {
            machine.edited();
            machine.judge_until(now);
        }
        Input::Tick | Input::ClockStep { .. } => machine.judge_until(now),
    }
    Step { state: machine.state, effects: machine.effects }
}

struct Machine<'a> {
    state: State,
    rule: &'a Rule,
    now: Timestamp,
    effects: Vec<Effect>,
}

impl Machine<'_> {
    /// Judges every deadline up to an instant, the earlier first.
    fn judge_until(&mut self, until: Timestamp) {
        // Each round judges a deadline for good: misses end with being down, runs are bounded.
        while let Some(due) = self.state.wake_at().filter(|due| *due <= until) {
            let run = self.state.runs.iter_mut().find(|run| !run.is_overdue && run.deadline_at == due);
            if let Some(run) = run {
                run.is_overdue = true;
                self.down(due, Reason::RunTimeout);
            } else {
                self.miss(due);
            }
        }
    }

    fn miss(&mut self, deadline: Timestamp) {
        let since = *self.state.missed_since.get_or_insert(deadline);
        self.state.miss_count = self.state.miss_count.saturating_add(1);
        self.state.is_granted = false;
        let expected = self.state.expected_at.unwrap_or(deadline);
        self.state.judged_slot_at = self.state.judged_slot_at.max(Some(expected));
        if self.state.miss_count >= self.rule.misses_to_down {
            self.down(since, Reason::Missed);
        } else {
            self.expect(expectation::after_miss(self.rule, expected));
        }
    }

    fn down(&mut self, since: Timestamp, reason: Reason) {
        self.expect(None);
        if matches!(self.state.phase, Phase::Down { .. }) {
            return;
        }
        self.state.phase = Phase::Down { since, reason };
        self.effects.push(Effect::Judged { outcome: Outcome::Bad, at: since });
        self.effects.push(Effect::Flipped(self.state.phase));
    }

    fn ping(&mut self, ping: &Ping) {
        match ping.kind {
            Kind::Ok | Kind::Exit(0) => {
                self.end_run(ping);
                self.ok(ping);
            }
            Kind::Fail | Kind::Exit(_) => {
                self.end_run(ping);
                self.state.fail_count = self.state.fail_count.saturating_add(1);
                if self.state.fail_count >= self.rule.fails_to_down {
                    self.down(self.now, Reason::Failed);
                }
            }
            Kind::Start => self.start(ping),
            Kind::Log => {}
        }
    }

    fn ok(&mut self, ping: &Ping) {
        self.state.fail_count = 0;
        self.note_source(ping);
        let Some(anchor) = self.anchor() else { return };
        let next = expectation::after(self.rule, anchor, self.state.judged_slot_at);
        let deadline = next.expected_at.map(|at| later(at, self.rule.grace_ms));
        if deadline.is_some_and(|deadline| deadline < self.now) {
            // One source is back, but not yet enough of them.
            return;
        }
        let expected_before = self.state.expected_at;
        let gone_by = expected_before.filter(|expected| *expected <= anchor);
        self.state.judged_slot_at = self.state.judged_slot_at.max(gone_by).max(next.satisfied_at);
        self.state.anchor_at = Some(anchor);
        self.state.last_ok_at = Some(anchor);
        self.state.miss_count = 0;
        self.state.missed_since = None;
        self.state.is_granted = false;
        self.expect(next.expected_at);
        let is_up = self.state.phase == Phase::Up;
        self.state.phase = Phase::Up;
        self.effects.push(Effect::Judged { outcome: Outcome::Ok, at: self.now });
        if !is_up {
            self.effects.push(Effect::Flipped(Phase::Up));
        }
        if let (Expectation::Cron { .. }, Some(slot_at), true) =
            (&self.rule.expects, expected_before, expected_before == next.expected_at)
        {
            self.effects.push(Effect::SlotStillExpected { slot_at });
        }
    }

    /// Returns the time since which enough sources have been well; `None` while they are too few.
    fn anchor(&self) -> Option<Timestamp> {
        let nth = usize::try_from(self.rule.min_sources).unwrap_or(usize::MAX).max(1) - 1;
        let mut times: Vec<Timestamp> = self.state.sources.iter().map(|source| source.ok_at).collect();
        times.sort_unstable_by(|one, other| other.cmp(one));
        times.get(nth).copied()
    }

    fn note_source(&mut self, ping: &Ping) {
        let id = cut(ping.source_id.as_deref().unwrap_or_default());
        let now = self.now;
        let sources = &mut self.state.sources;
        if self.rule.min_sources == 1 {
            // Nobody counts them: one entry is enough.
            *sources = vec![Source { id: id.to_owned(), ok_at: now }];
        } else if let Some(known) = sources.iter_mut().find(|source| source.id == id) {
            known.ok_at = now;
        } else {
            if sources.len() >= MAX_SOURCES
                && let Some(index) = (0..sources.len()).min_by_key(|i| sources.get(*i).map(|one| one.ok_at))
            {
                sources.swap_remove(index);
            }
            sources.push(Source { id: id.to_owned(), ok_at: now });
        }
    }

    fn start(&mut self, ping: &Ping) {
        let id = ping.run_id.as_deref().map(cut);
        if self.state.runs.iter().any(|run| run.id.as_deref() == id) {
            // The first start counts: one that comes again after a crash gives no more time.
            return;
        }
        if self.state.runs.len() >= MAX_RUNS {
            match self.state.runs.iter().position(|run| run.is_overdue) {
                Some(overdue) => drop(self.state.runs.remove(overdue)),
                None => return self.effects.push(Effect::RunNotWatched),
            }
        }
        self.state.runs.push(Run {
            id: id.map(str::to_owned),
            started_at: self.now,
            deadline_at: later(self.now, self.rule.max_run_ms),
            is_overdue: false,
        });
    }

    /// Ends the run that a ping is about: the one it names, else the one without a name, else the oldest.
    fn end_run(&mut self, ping: &Ping) {
        let runs = &self.state.runs;
        let index = match ping.run_id.as_deref().map(cut) {
            Some(id) => runs.iter().position(|run| run.id.as_deref() == Some(id)),
            None => (runs.iter().position(|run| run.id.is_none()))
                .or_else(|| runs.iter().position(|run| !run.is_overdue))
                .or((!runs.is_empty()).then_some(0)),
        };
        if let Some(index) = index {
            let run = self.state.runs.remove(index);
            let duration_ms = elapsed_ms(run.started_at, self.now);
            self.effects.push(Effect::RunEnded { id: run.id, duration_ms });
        }
    }

    fn expect(&mut self, expected_at: Option<Timestamp>) {
        self.state.expected_at = expected_at;
        self.state.deadline_at = expected_at.map(|at| later(at, self.rule.grace_ms));
    }

    fn pause(&mut self) {
        let State { last_ok_at, judged_slot_at, .. } = self.state;
        self.state = State { phase: Phase::Paused, last_ok_at, judged_slot_at, ..State::default() };
    }

    /// A job that was ever well and does not come back is missed; one that never was is new again.
    fn resume(&mut self) {
        if self.state.phase != Phase::Paused {
            return;
        }
        if self.state.last_ok_at.is_none() {
            self.state.phase = Phase::New;
            return;
        }
        self.state.phase = Phase::Waiting;
        self.state.anchor_at = Some(self.now);
        self.expect(match &self.rule.expects {
            Expectation::Every { period_ms } => Some(later(self.now, *period_ms)),
            Expectation::Cron { schedule, .. } => schedule.next_after(self.now),
        });
    }

    /// Counts anew by the edited rule, but nothing goes down sooner than a grace after the edit.
    fn edited(&mut self) {
        let soonest = later(self.now, self.rule.grace_ms);
        for run in self.state.runs.iter_mut().filter(|run| !run.is_overdue) {
            run.deadline_at = later(run.started_at, self.rule.max_run_ms).max(soonest);
        }
        if let (Phase::Up | Phase::Waiting, Some(anchor)) = (self.state.phase, self.state.anchor_at) {
            let judged = self.state.judged_slot_at.map(|slot| slot.min(self.now));
            let next = expectation::after(self.rule, anchor, judged);
            self.expect(next.expected_at);
            self.state.deadline_at = self.state.deadline_at.max(Some(soonest));
        }
    }

    /// Gives back the time in which nobody could have heard a ping.
    fn forgive(&mut self, blackout: Span) {
        for run in self.state.runs.iter_mut().filter(|run| !run.is_overdue) {
            run.deadline_at = pushed(run.deadline_at, run.started_at, blackout);
        }
        let (Some(expected), Some(deadline), Some(anchor)) =
            (self.state.expected_at, self.state.deadline_at, self.state.anchor_at)
        else {
            return;
        };
        if blackout.contains(expected) && !self.state.is_granted {
            self.effects.push(Effect::Unverifiable { expected_at: expected });
            self.expect(match &self.rule.expects {
                Expectation::Every { period_ms } => Some(later(blackout.to, *period_ms)),
                Expectation::Cron { schedule, .. } => schedule.next_after(blackout.to),
            });
            self.state.is_granted = true;
        } else {
            self.state.deadline_at = Some(pushed(deadline, anchor, blackout));
            if let Expectation::Every { .. } = self.rule.expects {
                self.state.expected_at = Some(pushed(expected, anchor, blackout));
            }
        }
    }

    /// Moves what durations are measured from with the clock; slots of a crontab are those of the new time.
    fn shift(&mut self, by_ms: i64) {
        let shifted = |at: &mut Timestamp| *at = moved(*at, by_ms);
        let state = &mut self.state;
        state.anchor_at.iter_mut().for_each(shifted);
        state.last_ok_at.iter_mut().for_each(shifted);
        state.missed_since.iter_mut().for_each(shifted);
        state.sources.iter_mut().for_each(|source| shifted(&mut source.ok_at));
        for run in &mut state.runs {
            shifted(&mut run.started_at);
            shifted(&mut run.deadline_at);
        }
        match (&self.rule.expects, state.anchor_at, state.expected_at) {
            (Expectation::Cron { .. }, Some(anchor), Some(_)) => {
                let next = expectation::after(self.rule, anchor, state.judged_slot_at);
                self.expect(next.expected_at);
            }
            _ => {
                state.expected_at.iter_mut().for_each(shifted);
                state.deadline_at.iter_mut().for_each(shifted);
            }
        }
    }
}

/// Returns a deadline later by the part of a blackout that lies between what it counts from and itself, the
/// part by which it becomes later included.
fn pushed(deadline: Timestamp, from: Timestamp, blackout: Span) -> Timestamp {
    if blackout.from >= deadline {
        return deadline;
    }
    let lost = Span::new(blackout.from.max(from), blackout.to).length_ms();
    later(deadline, lost)
}

/// Cuts an id to its limit, at a character.
fn cut(id: &str) -> &str {
    let end = (0..=MAX_ID_BYTES.min(id.len())).rev().find(|end| id.is_char_boundary(*end));
    id.get(..end.unwrap_or(0)).unwrap_or_default()
}
