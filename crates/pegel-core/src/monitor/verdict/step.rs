//! The step itself.

use jiff::Timestamp;

use crate::monitor::severity::Severity;
use crate::monitor::span::{Span, later, moved};
use crate::monitor::verdict::{
    Cause, Effect, Ending, Firing, FiringId, Input, Notice, Outcome, Rule, State, flapping, is_stale,
};

/// What a step needs beside state and input.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// How the monitor judges.
    pub rule: &'a Rule,
    /// The present time.
    pub now: Timestamp,
    /// Whether maintenance, a silence or a parent that is down withholds triggers and reminders.
    pub is_withheld: bool,
}

/// What a step leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The new state.
    pub state: State,
    /// What it causes, in order.
    pub effects: Vec<Effect>,
}

/// Takes one input. `new_id` gives ids to firings that begin; a step asks for at most two.
///
/// A sample that was taken under another version of the monitor's settings is not to be given here.
pub fn step(state: &State, context: Context<'_>, input: Input, new_id: &mut dyn FnMut() -> FiringId) -> Step {
    let mut machine = Machine { state: state.clone(), context, effects: Vec::new(), new_id };
    if let Input::ClockStep { by_ms } = input {
        // Before anything is compared with the new time.
        machine.shift(by_ms);
    }
    machine.clamp();
    match input {
        Input::Delete => machine.stop(Ending::Deleted),
        Input::Pause if !machine.state.is_paused => machine.stop(Ending::Paused),
        Input::Resume if machine.state.is_paused => machine.state = State::new(context.now),
        _ if machine.state.is_paused => {}
        other => machine.live(other),
    }
    Step { state: machine.state, effects: machine.effects }
}

struct Machine<'a> {
    state: State,
    context: Context<'a>,
    effects: Vec<Effect>,
    new_id: &'a mut dyn FnMut() -> FiringId,
}

impl Machine<'_> {
    fn live(&mut self, input: Input) {
        if let Input::Blackout(span) = input {
            self.forgive(span);
        }
        self.calm_down();
        match input {
            Input::Sample { outcome: Outcome::Ok, at } => self.ok(at),
            Input::Sample { outcome: Outcome::Bad, at } => self.bad(at),
            Input::Acknowledge => self.acknowledge(),
            _ => self.age(),
        }
        self.announce();
        self.remind();
    }

    fn ok(&mut self, at: Timestamp) {
        self.state.fail_count = 0;
        self.state.bad_since = None;
        self.state.ok_count = self.state.ok_count.saturating_add(1);
        let since = *self.state.ok_since.get_or_insert(at);
        self.state.known_at = Some(at.min(self.context.now));
        match self.state.verdict {
            Some(Cause::Bad) if self.state.ok_count >= self.context.rule.oks_to_resolve => {
                self.judge(None, since, Ending::Recovered);
            }
            Some(Cause::NoData) => self.judge(None, at, Ending::DataBack),
            _ => {}
        }
    }

    fn bad(&mut self, at: Timestamp) {
        self.state.ok_count = 0;
        self.state.ok_since = None;
        self.state.fail_count = self.state.fail_count.saturating_add(1);
        let since = *self.state.bad_since.get_or_insert(at);
        self.state.known_at = Some(at.min(self.context.now));
        if self.state.verdict == Some(Cause::NoData) {
            self.judge(None, at, Ending::DataBack);
        }
        if self.state.verdict.is_none() && self.state.fail_count >= self.context.rule.fails_to_fire {
            self.judge(Some(Cause::Bad), since, Ending::Recovered);
        }
    }

    /// Missing data neither counts as bad nor hides what is bad already.
    fn age(&mut self) {
        let is_untold = match self.state.verdict {
            None => is_stale(&self.state, self.context.rule, self.context.now),
            // An edit may have given missing data a severity meanwhile.
            Some(Cause::NoData) => !self.state.is_alerting && self.context.rule.no_data_severity.is_some(),
            Some(Cause::Bad) => false,
        };
        if is_untold {
            let since = self.state.known_at.unwrap_or(self.state.armed_at);
            self.judge(Some(Cause::NoData), since, Ending::DataBack);
        }
    }

    /// Sets what the samples say, and opens or closes the firing unless changes are too many to be told.
    fn judge(&mut self, verdict: Option<Cause>, since: Timestamp, ending: Ending) {
        let severity = self.severity_of(verdict);
        let was_alerting = self.state.is_alerting;
        self.state.verdict = verdict;
        self.state.is_alerting = severity.is_some();
        if was_alerting == self.state.is_alerting {
            return;
        }
        let is_too_often = flapping::note_change(&mut self.state, self.context.now);
        if self.state.flapping_changed_at.is_some() {
            self.state.flapping_changed_at = Some(self.context.now);
            return;
        }
        match (verdict, severity) {
            (Some(cause), Some(severity)) => self.open(cause, severity, since),
            _ if !is_too_often => self.close(since, ending),
            _ => {}
        }
        if let (true, Some(firing)) = (is_too_often, &self.state.firing) {
            self.state.flapping_changed_at = Some(self.context.now);
            self.effects.push(Effect::FlappingBegan(firing.id));
        }
    }

    /// How bad a verdict is, or `None` if nobody is to be told of it.
    fn severity_of(&self, verdict: Option<Cause>) -> Option<Severity> {
        match verdict? {
            Cause::Bad => Some(self.context.rule.severity),
            Cause::NoData => self.context.rule.no_data_severity,
        }
    }

    fn open(&mut self, cause: Cause, severity: Severity, since: Timestamp) {
        let firing = Firing {
            id: (self.new_id)(),
            cause,
            severity,
            since,
            fired_at: self.context.now,
            announced_at: None,
            acknowledged_at: None,
            reminded_at: None,
            told_flapping: false,
        };
        self.effects.push(Effect::Opened(firing.clone()));
        self.state.firing = Some(firing);
    }

    /// Closes what fires. People are told at once if they were told that it fires, and never otherwise.
    fn close(&mut self, ended_at: Timestamp, ending: Ending) {
        let Some(firing) = self.state.firing.take() else { return };
        if firing.announced_at.is_some() {
            self.effects.push(notify(&firing, Notice::Resolve(ending)));
        }
        self.effects.push(Effect::Closed { firing, ended_at, ending });
    }

    /// Ends flapping once nothing has changed for long enough, and brings the firing up to the verdict.
    fn calm_down(&mut self) {
        let Some(changed_at) = self.state.flapping_changed_at else { return };
        if self.context.now < flapping::calm_at(changed_at, self.context.rule) {
            return;
        }
        self.state.flapping_changed_at = None;
        let Some(firing) = &self.state.firing else { return };
        let fires_for = firing.cause;
        self.effects.push(Effect::FlappingEnded(firing.id));
        if self.state.verdict == Some(fires_for) {
            return;
        }
        let ending = if fires_for == Cause::Bad { Ending::Recovered } else { Ending::DataBack };
        self.close(self.state.ok_since.unwrap_or(changed_at), ending);
        if let (Some(cause), Some(severity)) = (self.state.verdict, self.severity_of(self.state.verdict)) {
            let since = if cause == Cause::Bad { self.state.bad_since } else { self.state.known_at };
            self.open(cause, severity, since.unwrap_or(changed_at));
        }
    }

    fn acknowledge(&mut self) {
        let now = self.context.now;
        let Some(firing) = self.state.firing.as_mut().filter(|firing| firing.acknowledged_at.is_none())
        else {
            return;
        };
        firing.acknowledged_at = Some(now);
        if firing.announced_at.is_some() {
            self.effects.push(notify(firing, Notice::Acknowledge));
        }
    }

    fn announce(&mut self) {
        let is_flapping = self.state.flapping_changed_at.is_some();
        let Some(firing) = self.state.firing.as_mut().filter(|_| !self.context.is_withheld) else { return };
        if firing.announced_at.is_none() {
            firing.announced_at = Some(self.context.now);
            firing.told_flapping = is_flapping;
            self.effects.push(notify(firing, Notice::Trigger));
        }
        if is_flapping && !firing.told_flapping {
            firing.told_flapping = true;
            self.effects.push(notify(firing, Notice::Flapping));
        }
    }

    fn remind(&mut self) {
        let is_quiet = self.context.is_withheld || self.state.flapping_changed_at.is_some();
        let (now, rule) = (self.context.now, self.context.rule);
        let Some(firing) = self.state.firing.as_mut().filter(|_| !is_quiet) else { return };
        if firing.reminder_at(rule).is_some_and(|at| at <= now) {
            firing.reminded_at = Some(now);
            self.effects.push(notify(firing, Notice::Reminder));
        }
    }

    /// Pauses or deletes: what fires is closed, and nothing of the past counts afterwards.
    fn stop(&mut self, ending: Ending) {
        self.close(self.context.now, ending);
        self.state = State { is_paused: true, ..State::new(self.context.now) };
    }

    /// Time in which we ourselves saw nothing is no time without data, and not calm either.
    fn forgive(&mut self, blackout: Span) {
        let now = self.context.now;
        let push = |at: &mut Timestamp| {
            *at = later(*at, blackout.intersection(Span::new(*at, now)).length_ms()).min(now);
        };
        push(&mut self.state.armed_at);
        self.state.known_at.iter_mut().for_each(push);
        self.state.flapping_changed_at.iter_mut().for_each(push);
    }

    /// Moves what durations are measured from with the clock. When things began stays as it was told.
    fn shift(&mut self, by_ms: i64) {
        let shifted = |at: &mut Timestamp| *at = moved(*at, by_ms);
        let state = &mut self.state;
        shifted(&mut state.armed_at);
        state.known_at.iter_mut().for_each(shifted);
        state.flapping_changed_at.iter_mut().for_each(shifted);
        state.changes.iter_mut().for_each(shifted);
        if let Some(firing) = &mut state.firing {
            firing.announced_at.iter_mut().for_each(shifted);
            firing.reminded_at.iter_mut().for_each(shifted);
        }
    }

    /// After the clock went back unnoticed, as over a restart, nothing may wait for the old time.
    fn clamp(&mut self) {
        let now = self.context.now;
        let clamped = |at: &mut Timestamp| *at = (*at).min(now);
        let state = &mut self.state;
        clamped(&mut state.armed_at);
        state.known_at.iter_mut().for_each(clamped);
        state.flapping_changed_at.iter_mut().for_each(clamped);
        state.changes.iter_mut().for_each(clamped);
        if let Some(firing) = &mut state.firing {
            firing.announced_at.iter_mut().for_each(clamped);
            firing.reminded_at.iter_mut().for_each(clamped);
        }
    }
}

fn notify(firing: &Firing, notice: Notice) -> Effect {
    Effect::Notify { firing_id: firing.id, severity: firing.severity, notice }
}
