//! A second judge for tests: it keeps no state, but looks at the whole history anew for each input.
//!
//! It shares with the machine only its words. What samples say is read off runs in the list of samples;
//! incidents are cut out of the list of changes; notices are found per incident.

use std::ops::Range;

use jiff::Timestamp;

use super::*;

/// What happens, without when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Ok,
    Bad,
    Unknown,
    Tick,
    Pause,
    Resume,
    Acknowledge,
}

impl What {
    pub(super) fn input(self, at: Timestamp) -> Input {
        match self {
            Self::Ok => Input::Sample { outcome: Outcome::Ok, at },
            Self::Bad => Input::Sample { outcome: Outcome::Bad, at },
            Self::Unknown => Input::Sample { outcome: Outcome::Unknown, at },
            Self::Tick => Input::Tick,
            Self::Pause => Input::Pause,
            Self::Resume => Input::Resume,
            Self::Acknowledge => Input::Acknowledge,
        }
    }
}

/// One entry of a history.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event {
    pub(super) at: Timestamp,
    pub(super) is_withheld: bool,
    pub(super) what: What,
}

/// What one input led to, as far as people see it: notices in order, and the bounds of incidents.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Told {
    pub(super) notices: Vec<(u128, Notice)>,
    pub(super) opened: Vec<(u128, Cause, Timestamp)>,
    pub(super) closed: Vec<(u128, Ending, Timestamp)>,
}

impl Told {
    pub(super) fn of(effects: &[Effect]) -> Self {
        let mut told = Self::default();
        for effect in effects {
            match effect {
                Effect::Notify { firing_id, notice, .. } => {
                    told.notices.push((firing_id.0.as_u128(), *notice));
                }
                Effect::Opened(firing) => {
                    told.opened.push((firing.id.0.as_u128(), firing.cause, firing.since));
                }
                Effect::Closed { firing, ended_at, ending } => {
                    told.closed.push((firing.id.0.as_u128(), *ending, *ended_at));
                }
                Effect::FlappingBegan(_) | Effect::FlappingEnded(_) => {}
            }
        }
        told
    }
}

/// An incident as a stretch of the history: indices of the events that opened and closed it.
#[derive(Debug, Clone)]
struct Incident {
    cause: Cause,
    since: Timestamp,
    opened: usize,
    closed: Option<(usize, Ending, Timestamp)>,
}

/// Judges a whole history.
pub(super) fn run(rule: &Rule, made_at: Timestamp, events: &[Event]) -> Vec<Told> {
    let (mut incidents, mut flapping) = (Vec::new(), Vec::new());
    for (first, last) in watched_stretches(events) {
        let armed_at = if first == 0 { made_at } else { events[first - 1].at };
        let (found, periods) = incidents_of(rule, armed_at, events, first, last);
        incidents.extend(found);
        flapping.extend(periods);
    }
    let mut told = vec![Told::default(); events.len()];
    for (incident, id) in incidents.iter().zip(1u128..) {
        told[incident.opened].opened.push((id, incident.cause, incident.since));
        for (index, notice) in notices_of(rule, events, incident, &flapping) {
            told[index].notices.push((id, notice));
        }
        if let Some((index, ending, ended_at)) = incident.closed {
            told[index].closed.push((id, ending, ended_at));
        }
    }
    told
}

/// From after a resume to the pause that ends it (which belongs to it), as indices.
fn watched_stretches(events: &[Event]) -> Vec<(usize, usize)> {
    let mut stretches = Vec::new();
    let mut from = Some(0);
    for (index, event) in events.iter().enumerate() {
        match (event.what, from) {
            (What::Pause, Some(first)) => {
                stretches.push((first, index + 1));
                from = None;
            }
            (What::Resume, None) => from = Some(index + 1),
            _ => {}
        }
    }
    stretches.extend(from.map(|first| (first, events.len())));
    stretches
}

/// The verdict after each event of a stretch, from the runs in the samples before it, nothing else.
fn verdict_at(
    rule: &Rule,
    armed_at: Timestamp,
    events: &[Event],
    first: usize,
    index: usize,
) -> Option<Cause> {
    let known: Vec<usize> =
        (first..=index).filter(|i| matches!(events[*i].what, What::Ok | What::Bad)).collect();
    let last_end_of_run = |what: What, length: u32| {
        let ends = known.windows(length as usize).filter(|run| run.iter().all(|i| events[*i].what == what));
        ends.filter_map(|run| run.last().copied()).max()
    };
    let bad = last_end_of_run(What::Bad, rule.fails_to_fire);
    if bad.is_some() && bad > last_end_of_run(What::Ok, rule.oks_to_resolve) {
        return Some(Cause::Bad);
    }
    let known_at = known.last().map_or(armed_at, |i| events[*i].at);
    let silent_from = known.last().map_or(first, |i| i + 1);
    let looks = (silent_from..=index).filter(|i| !matches!(events[*i].what, What::Acknowledge | What::Pause));
    let is_stale = looks.into_iter().any(|i| {
        events[i].at.as_millisecond() - known_at.as_millisecond()
            > i64::try_from(rule.stale_after_ms).unwrap()
    });
    is_stale.then_some(Cause::NoData)
}

/// Whether people are told of a verdict.
fn alerts(rule: &Rule, verdict: Option<Cause>) -> Option<Cause> {
    verdict.filter(|cause| *cause == Cause::Bad || rule.no_data_severity.is_some())
}

/// One change of what people are told of. Missing data that ends with bad news is two at one event.
struct Change {
    index: usize,
    to: Option<Cause>,
}

fn changes_of(rule: &Rule, armed_at: Timestamp, events: &[Event], first: usize, last: usize) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut before = None;
    for index in first..last {
        if events[index].what == What::Pause {
            break;
        }
        let now = alerts(rule, verdict_at(rule, armed_at, events, first, index));
        if now != before {
            if before.is_some() && now.is_some() {
                changes.push(Change { index, to: None });
            }
            changes.push(Change { index, to: now });
        }
        before = now;
    }
    changes
}

/// Incidents, and the periods of flapping as indices.
fn incidents_of(
    rule: &Rule,
    armed_at: Timestamp,
    events: &[Event],
    first: usize,
    last: usize,
) -> (Vec<Incident>, Vec<Range<usize>>) {
    let changes = changes_of(rule, armed_at, events, first, last);
    let ms = |index: usize| events[index].at.as_millisecond();
    let is_too_often = |nth: usize| {
        let recent = changes[..=nth].iter().filter(|one| ms(changes[nth].index) - ms(one.index) < 3_600_000);
        recent.count() > 6
    };
    let mut incidents: Vec<Incident> = Vec::new();
    let mut flapping = Vec::new();
    let mut nth = 0;
    while nth < changes.len() {
        let change = &changes[nth];
        let is_open = incidents.last().is_some_and(|incident| incident.closed.is_none());
        if let Some(cause) = change.to.filter(|_| !is_open) {
            let since = begin_of(armed_at, events, first, change.index, cause);
            incidents.push(Incident { cause, since, opened: change.index, closed: None });
        }
        if is_too_often(nth) {
            // Everything up to the first gap of three intervals is one incident.
            let calm = 3 * i64::try_from(rule.interval_ms).unwrap();
            let end_of_gap = |from: usize| {
                (changes[from].index + 1..last)
                    .find(|i| ms(*i) - ms(changes[from].index) >= calm && events[*i].what != What::Pause)
            };
            // Changes at the very event that ends the gap come after its end.
            while changes.get(nth + 1).is_some_and(|next| end_of_gap(nth).is_none_or(|gap| next.index < gap))
            {
                nth += 1;
            }
            flapping.push(change.index..end_of_gap(nth).unwrap_or(last));
            let verdict = changes[nth].to;
            if let (Some(gap), Some(open)) = (end_of_gap(nth), incidents.last_mut())
                && verdict != Some(open.cause)
            {
                let ending = if open.cause == Cause::Bad { Ending::Recovered } else { Ending::DataBack };
                let ended_at =
                    run_before(events, first, gap, What::Ok).unwrap_or(events[changes[nth].index].at);
                open.closed = Some((gap, ending, ended_at));
                if let Some(cause) = verdict {
                    let what = if cause == Cause::Bad { What::Bad } else { What::Tick };
                    let since = match what {
                        What::Bad => run_before(events, first, gap, What::Bad),
                        _ => last_known(events, first, gap),
                    };
                    let since = since.unwrap_or(events[changes[nth].index].at);
                    incidents.push(Incident { cause, since, opened: gap, closed: None });
                }
            }
        } else if let (None, Some(open)) = (change.to, incidents.last_mut()) {
            let at = events[change.index].at;
            open.closed = Some(match open.cause {
                Cause::Bad => {
                    let ended_at = run_before(events, first, change.index + 1, What::Ok).unwrap_or(at);
                    (change.index, Ending::Recovered, ended_at)
                }
                Cause::NoData => (change.index, Ending::DataBack, at),
            });
        }
        nth += 1;
    }
    let is_paused = last > first && events[last - 1].what == What::Pause;
    if let (true, Some(open)) = (is_paused, incidents.last_mut().filter(|open| open.closed.is_none())) {
        open.closed = Some((last - 1, Ending::Paused, events[last - 1].at));
    }
    (incidents, flapping)
}

/// When the run of such samples began that is the newest before `end`, if the newest known are such.
fn run_before(events: &[Event], first: usize, end: usize, what: What) -> Option<Timestamp> {
    let known =
        (first..end).rev().map(|i| events[i]).filter(|event| matches!(event.what, What::Ok | What::Bad));
    known.take_while(|event| event.what == what).last().map(|event| event.at)
}

fn last_known(events: &[Event], first: usize, end: usize) -> Option<Timestamp> {
    (first..end).rev().find(|i| matches!(events[*i].what, What::Ok | What::Bad)).map(|i| events[i].at)
}

fn begin_of(armed_at: Timestamp, events: &[Event], first: usize, index: usize, cause: Cause) -> Timestamp {
    match cause {
        Cause::Bad => run_before(events, first, index + 1, What::Bad).unwrap_or(armed_at),
        Cause::NoData => last_known(events, first, index).unwrap_or(armed_at),
    }
}

/// What is told of one incident, and at which event.
fn notices_of(
    rule: &Rule,
    events: &[Event],
    incident: &Incident,
    flapping: &[Range<usize>],
) -> Vec<(usize, Notice)> {
    let is_flapping = |index: usize| flapping.iter().any(|period| period.contains(&index));
    let open = incident.opened..incident.closed.map_or(events.len(), |(index, ..)| index);
    let Some(trigger) = open.clone().find(|index| !events[*index].is_withheld) else { return Vec::new() };
    let acknowledged = open.clone().find(|index| events[*index].what == What::Acknowledge);
    let flapped = (trigger..open.end).find(|index| is_flapping(*index) && !events[*index].is_withheld);
    let mut notices = vec![(trigger, Notice::Trigger)];
    let mut told_at = events[trigger].at;
    for (index, event) in events.iter().enumerate().take(open.end).skip(trigger + 1) {
        if acknowledged == Some(index) {
            notices.push((index, Notice::Acknowledge));
        }
        if flapped == Some(index) {
            notices.push((index, Notice::Flapping));
        }
        let is_hushed = event.is_withheld || is_flapping(index);
        let is_taken = acknowledged.is_some_and(|taken| taken <= index);
        let waited = event.at.as_millisecond() - told_at.as_millisecond();
        let is_due = rule.remind_every_ms.is_some_and(|every| waited >= i64::try_from(every).unwrap());
        if is_due && !is_hushed && !is_taken {
            notices.push((index, Notice::Reminder));
            told_at = event.at;
        }
    }
    notices.extend(incident.closed.map(|(index, ending, _)| (index, Notice::Resolve(ending))));
    notices
}
