//! Runs a monitor's machines over one change, without the store.

use jiff::Timestamp;
use pegel_core::monitor::heartbeat::{self, Phase, Reason};
use pegel_core::monitor::kind::MonitorKind;
use pegel_core::monitor::verdict::{self, Context, Effect, FiringId, Input};
use pegel_store::blackouts::{Blackout, Kind};
use pegel_store::monitors::{Monitor, MonitorState};
use pegel_store::samples::results::MonitorResult;
use serde_json::{Value as Json, json};

use crate::judge::Change;

/// What a step begins with.
pub(super) struct Before<'a> {
    pub(super) monitor: &'a Monitor,
    pub(super) stored: &'a MonitorState,
    /// Blackouts that it has not been told of.
    pub(super) unseen: &'a [Blackout],
    pub(super) change: &'a Change,
    pub(super) now: Timestamp,
}

/// What it ends with.
#[derive(Debug, Clone)]
pub(super) struct After {
    pub(super) verdict: verdict::State,
    pub(super) heartbeat: Option<heartbeat::State>,
    pub(super) effects: Vec<Effect>,
    pub(super) samples: Vec<MonitorResult>,
    pub(super) remarks: Vec<heartbeat::Effect>,
    pub(super) evidence: Option<Json>,
}

impl Before<'_> {
    /// The most firings that can begin: two for each input of the verdict, and a heartbeat judges each of its
    /// runs and misses at most once.
    pub(super) fn id_count(&self) -> usize {
        let runs = self.stored.heartbeat.as_ref().map_or(0, |state| state.runs.len());
        2 * (self.unseen.len() + runs + 4)
    }
}

/// Returns how a monitor judges its samples.
pub(super) fn rule(monitor: &Monitor) -> verdict::Rule {
    let rule = &monitor.settings.rule;
    match (monitor.kind, &monitor.settings.heartbeat_rule) {
        (MonitorKind::Heartbeat, Some(heartbeat)) => {
            heartbeat.verdict_rule(rule.severity, rule.remind_every_ms)
        }
        _ => rule.clone(),
    }
}

/// Tells the machines of each blackout and then of the change.
pub(super) fn run(before: &Before<'_>, is_withheld: bool, ids: &[FiringId]) -> After {
    let mut machine = Machine {
        rule: rule(before.monitor),
        heartbeat_rule: before.monitor.settings.heartbeat_rule.as_ref(),
        now: before.now,
        is_withheld,
        ids: ids.iter(),
        after: After {
            verdict: before.stored.verdict.clone(),
            heartbeat: before.stored.heartbeat.clone(),
            effects: Vec::new(),
            samples: Vec::new(),
            remarks: Vec::new(),
            evidence: None,
        },
    };
    let is_heartbeat = before.monitor.kind == MonitorKind::Heartbeat;
    for blackout in before.unseen {
        // Pings come from outside: that we reached nothing does not mean that nothing reached us.
        if is_heartbeat && blackout.kind == Kind::Own {
            machine.heartbeat(&heartbeat::Input::Blackout(blackout.span), before.now);
        }
        if !is_heartbeat || blackout.kind == Kind::Own {
            machine.verdict(Input::Blackout(blackout.span));
        }
    }
    machine.change(before.change);
    machine.after
}

struct Machine<'a> {
    rule: verdict::Rule,
    heartbeat_rule: Option<&'a heartbeat::Rule>,
    now: Timestamp,
    is_withheld: bool,
    ids: std::slice::Iter<'a, FiringId>,
    after: After,
}

impl Machine<'_> {
    fn change(&mut self, change: &Change) {
        let now = self.now;
        match change {
            Change::Sample(sample) => {
                let at = sample.at.min(now);
                self.after.samples.push(MonitorResult {
                    at,
                    outcome: sample.outcome,
                    duration_us: sample.duration_us,
                });
                let mut evidence = sample.evidence.clone();
                if let Some(fields) = evidence.as_object_mut() {
                    fields.insert("summary".to_owned(), Json::from(sample.summary.as_str()));
                }
                self.after.evidence = Some(evidence);
                self.verdict(Input::Sample { outcome: sample.outcome, at });
            }
            Change::Ping { received, received_at, .. } => {
                let at = received_at.map_or(now, |at| at.min(now));
                self.heartbeat(&heartbeat::Input::Ping(received.ping.clone()), at);
                if at < now {
                    self.heartbeat(&heartbeat::Input::Tick, now);
                }
                self.verdict(Input::Tick);
            }
            Change::Tick => self.both(&heartbeat::Input::Tick, Input::Tick),
            Change::Edited => self.both(&heartbeat::Input::Edited, Input::Tick),
            Change::ClockStep { by_ms } => {
                // The verdict first: what the heartbeat judges is dated in the new time.
                self.verdict(Input::ClockStep { by_ms: *by_ms });
                self.heartbeat(&heartbeat::Input::ClockStep { by_ms: *by_ms }, now);
            }
            Change::Pause => self.both(&heartbeat::Input::Pause, Input::Pause),
            Change::Resume => {
                self.verdict(Input::Resume);
                self.heartbeat(&heartbeat::Input::Resume, now);
            }
            Change::Delete { .. } => self.verdict(Input::Delete),
            Change::Acknowledge => self.verdict(Input::Acknowledge),
        }
    }

    fn both(&mut self, heartbeat: &heartbeat::Input, verdict: Input) {
        self.heartbeat(heartbeat, self.now);
        self.verdict(verdict);
    }

    fn heartbeat(&mut self, input: &heartbeat::Input, now: Timestamp) {
        let (Some(state), Some(rule)) = (&self.after.heartbeat, self.heartbeat_rule) else { return };
        let step = heartbeat::step(state, rule, now, input);
        self.after.heartbeat = Some(step.state);
        for effect in step.effects {
            match effect {
                heartbeat::Effect::Judged { outcome, at } => {
                    let taken = MonitorResult { at: self.now, outcome, duration_us: None };
                    self.after.samples.push(taken);
                    self.after.evidence = self.after.heartbeat.as_ref().map(heartbeat_evidence);
                    self.verdict(Input::Sample { outcome, at });
                }
                remark => self.after.remarks.push(remark),
            }
        }
    }

    fn verdict(&mut self, input: Input) {
        let context = Context { rule: &self.rule, now: self.now, is_withheld: self.is_withheld };
        let ids = &mut self.ids;
        let mut next = || ids.next().copied().expect("as many ids were made as inputs can ask for");
        let step = verdict::step(&self.after.verdict, context, input, &mut next);
        self.after.verdict = step.state;
        self.after.effects.extend(step.effects);
    }
}

fn heartbeat_evidence(state: &heartbeat::State) -> Json {
    let summary = match (state.phase, state.last_ok_at) {
        (Phase::Down { reason: Reason::Missed, .. }, Some(at)) => format!("no ping since {at:.0}"),
        (Phase::Down { reason: Reason::Missed, .. }, None) => "no ping came".to_owned(),
        (Phase::Down { reason: Reason::Failed, .. }, _) => "the job said that it failed".to_owned(),
        (Phase::Down { reason: Reason::RunTimeout, .. }, _) => "a run did not end in time".to_owned(),
        _ => "it pings".to_owned(),
    };
    json!({ "summary": summary, "phase": state.phase, "last_ok_at": state.last_ok_at })
}
