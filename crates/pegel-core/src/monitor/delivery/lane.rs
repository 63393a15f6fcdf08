//! The lane of one firing over one channel: strictly in order, and never a resolve without a trigger.
//!
//! Lanes are independent of each other. When a new notice comes, what stands in the lane may have become
//! pointless: a resolve makes reminders so, and a trigger that was never sent makes the resolve so.

use serde::{Deserialize, Serialize};

use crate::monitor::delivery::ChannelKind;
use crate::monitor::verdict::Notice;

/// How far a notice in the lane has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// Nothing of it was ever written to the target.
    NeverSent,
    /// Somebody is sending it now.
    Sending {
        /// Whether an earlier attempt may have arrived.
        may_have_arrived: bool,
    },
    /// It was tried, and may have arrived.
    Ambiguous,
    /// It has arrived.
    Delivered,
    /// It was given up.
    Dead {
        /// Whether an attempt may have arrived all the same.
        may_have_arrived: bool,
    },
    /// It became pointless.
    Cancelled,
}

/// How one attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attempt {
    /// The target said that it has it.
    Arrived,
    /// Nothing was written, or the target said that it does not have it.
    NotArrived,
    /// Nobody knows; also when whoever was sending it died.
    Unknown,
    /// The target will never have it, or it took too long.
    GivenUp,
}

impl Progress {
    /// Returns what it is while somebody sends it. What may have arrived once is not forgotten.
    #[must_use]
    pub const fn leased(self) -> Self {
        let may_have_arrived = matches!(self, Self::Ambiguous | Self::Sending { may_have_arrived: true });
        Self::Sending { may_have_arrived }
    }

    /// Returns what it is after an attempt that began with [`Progress::leased`].
    #[must_use]
    pub const fn attempted(self, attempt: Attempt) -> Self {
        let may_have_arrived = matches!(self, Self::Sending { may_have_arrived: true });
        match attempt {
            Attempt::Arrived => Self::Delivered,
            Attempt::Unknown => Self::Ambiguous,
            Attempt::NotArrived if may_have_arrived => Self::Ambiguous,
            Attempt::NotArrived => Self::NeverSent,
            Attempt::GivenUp => Self::Dead { may_have_arrived },
        }
    }
}

/// One notice in a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// What it says.
    pub notice: Notice,
    /// How far it has come.
    pub progress: Progress,
}

/// What to do with a new notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placing {
    /// Put it at the end.
    Append,
    /// Put it nowhere: nobody knows of the firing, or it was said already.
    Drop,
    /// Put it nowhere yet: somebody is sending what it depends on. Ask again when that has ended.
    Wait,
    /// Put one notice there in place of both: it was down and is up again.
    Combine,
}

/// What a new notice leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// What to do with it.
    pub placing: Placing,
    /// Which of the lane have become pointless, by their index.
    pub cancelled: Vec<usize>,
}

/// Returns what a new notice leads to in a lane, oldest first.
pub fn place(kind: ChannelKind, lane: &[Entry], notice: Notice) -> Placed {
    let trigger = lane.iter().find(|entry| entry.notice == Notice::Trigger).map(|entry| entry.progress);
    let is_resolved = lane.iter().any(|entry| matches!(entry.notice, Notice::Resolve(_)));
    let plain = |placing| Placed { placing, cancelled: Vec::new() };
    match (notice, trigger) {
        (Notice::Trigger, None) => plain(Placing::Append),
        (Notice::Trigger, Some(_))
        | (_, None | Some(Progress::Dead { may_have_arrived: false } | Progress::Cancelled)) => {
            plain(Placing::Drop)
        }
        _ if is_resolved => plain(Placing::Drop),
        (Notice::Resolve(_), Some(Progress::Sending { .. })) => {
            Placed { placing: Placing::Wait, cancelled: pointless(lane, false) }
        }
        (Notice::Resolve(_), Some(Progress::NeverSent)) => {
            let placing = if kind.is_read_by_people() { Placing::Combine } else { Placing::Drop };
            Placed { placing, cancelled: pointless(lane, true) }
        }
        (Notice::Resolve(_), Some(Progress::Ambiguous | Progress::Delivered | Progress::Dead { .. })) => {
            Placed { placing: Placing::Append, cancelled: pointless(lane, false) }
        }
        (Notice::Reminder, Some(_)) => {
            // One that has not gone out yet says the same.
            let is_said = lane
                .iter()
                .any(|entry| entry.notice == Notice::Reminder && entry.progress == Progress::NeverSent);
            plain(if is_said { Placing::Drop } else { Placing::Append })
        }
        (Notice::Acknowledge | Notice::Flapping, Some(_)) => plain(Placing::Append),
    }
}

/// What a resolve leaves nothing to say for: all that has not been sent, the trigger only if asked for, since
/// one of unknown fate may be open at the target.
fn pointless(lane: &[Entry], with_trigger: bool) -> Vec<usize> {
    let is_pointless = |entry: &Entry| {
        let is_open = matches!(entry.progress, Progress::NeverSent | Progress::Ambiguous);
        let is_trigger = entry.notice == Notice::Trigger;
        if is_trigger { with_trigger && entry.progress == Progress::NeverSent } else { is_open }
    };
    lane.iter().enumerate().filter(|(_, entry)| is_pointless(entry)).map(|(index, _)| index).collect()
}

/// Returns which entry of a lane, oldest first, may go out now: the first that is not done, unless somebody is
/// sending it already.
///
/// A trigger of unknown fate that is followed by a resolve need not be tried again: the resolve is sent
/// whatever became of it.
pub fn head(lane: &[Entry]) -> Option<usize> {
    let is_superseded =
        |entry: &Entry| entry.notice == Notice::Trigger && entry.progress == Progress::Ambiguous;
    let is_resolved = lane.iter().any(|entry| matches!(entry.notice, Notice::Resolve(_)));
    let is_open = |entry: &Entry| match entry.progress {
        Progress::NeverSent | Progress::Sending { .. } => true,
        Progress::Ambiguous => !(is_resolved && is_superseded(entry)),
        Progress::Delivered | Progress::Dead { .. } | Progress::Cancelled => false,
    };
    let (index, first) = lane.iter().enumerate().find(|(_, entry)| is_open(entry))?;
    (!matches!(first.progress, Progress::Sending { .. })).then_some(index)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::monitor::verdict::Ending;

    const RESOLVE: Notice = Notice::Resolve(Ending::Recovered);
    const SENDING: Progress = Progress::Sending { may_have_arrived: false };

    fn entry(notice: Notice, progress: Progress) -> Entry {
        Entry { notice, progress }
    }

    fn placing(kind: ChannelKind, trigger: Progress, notice: Notice) -> Placing {
        place(kind, &[entry(Notice::Trigger, trigger)], notice).placing
    }

    #[test]
    fn a_trigger_that_was_never_sent_and_its_resolve_are_one_line_to_people_and_nothing_to_a_pager() {
        for (kind, expected) in [
            (ChannelKind::Slack, Placing::Combine),
            (ChannelKind::Smtp, Placing::Combine),
            (ChannelKind::Teams, Placing::Combine),
            (ChannelKind::Pagerduty, Placing::Drop),
            (ChannelKind::Opsgenie, Placing::Drop),
            (ChannelKind::Alertmanager, Placing::Drop),
            (ChannelKind::Webhook, Placing::Drop),
        ] {
            let lane =
                [entry(Notice::Trigger, Progress::NeverSent), entry(Notice::Reminder, Progress::NeverSent)];
            let placed = place(kind, &lane, RESOLVE);
            assert_eq!(placed, Placed { placing: expected, cancelled: vec![0, 1] }, "{kind}");
        }
    }

    #[test]
    fn a_trigger_of_unknown_fate_is_resolved() {
        assert_eq!(placing(ChannelKind::Pagerduty, Progress::Ambiguous, RESOLVE), Placing::Append);
        let lane = [entry(Notice::Trigger, Progress::Ambiguous), entry(RESOLVE, Progress::NeverSent)];
        assert_eq!(head(&lane), Some(1));
    }

    #[test]
    fn nothing_is_resolved_without_a_possible_trigger_a09() {
        assert_eq!(place(ChannelKind::Slack, &[], RESOLVE).placing, Placing::Drop);
        assert_eq!(
            placing(ChannelKind::Slack, Progress::Dead { may_have_arrived: false }, RESOLVE),
            Placing::Drop
        );
        assert_eq!(placing(ChannelKind::Slack, Progress::Cancelled, RESOLVE), Placing::Drop);
        let given_up = Progress::Dead { may_have_arrived: true };
        assert_eq!(placing(ChannelKind::Slack, given_up, RESOLVE), Placing::Append, "it may be open there");
    }

    #[test]
    fn a_resolve_waits_while_its_trigger_is_being_sent() {
        assert_eq!(placing(ChannelKind::Slack, SENDING, RESOLVE), Placing::Wait);
        let lane = [entry(Notice::Trigger, SENDING), entry(Notice::Reminder, Progress::NeverSent)];
        assert_eq!(head(&lane), None, "and nothing overtakes it");
    }

    #[test]
    fn nothing_is_said_twice() {
        assert_eq!(placing(ChannelKind::Slack, Progress::Delivered, Notice::Trigger), Placing::Drop);
        let lane = [entry(Notice::Trigger, Progress::Delivered), entry(RESOLVE, Progress::Delivered)];
        for notice in [RESOLVE, Notice::Reminder, Notice::Acknowledge, Notice::Flapping] {
            assert_eq!(place(ChannelKind::Slack, &lane, notice).placing, Placing::Drop);
        }
        let lane =
            [entry(Notice::Trigger, Progress::Delivered), entry(Notice::Reminder, Progress::NeverSent)];
        assert_eq!(place(ChannelKind::Slack, &lane, Notice::Reminder).placing, Placing::Drop);
        assert_eq!(place(ChannelKind::Slack, &lane, Notice::Acknowledge).placing, Placing::Append);
        assert_eq!(place(ChannelKind::Slack, &lane, RESOLVE).cancelled, [1]);
    }

    #[test]
    fn what_may_have_arrived_once_is_not_forgotten() {
        let attempted = |before: Progress, attempt| before.leased().attempted(attempt);
        assert_eq!(attempted(Progress::NeverSent, Attempt::NotArrived), Progress::NeverSent);
        let unknown = attempted(Progress::NeverSent, Attempt::Unknown);
        assert_eq!(unknown, Progress::Ambiguous);
        assert_eq!(attempted(unknown, Attempt::NotArrived), Progress::Ambiguous);
        assert_eq!(attempted(unknown, Attempt::GivenUp), Progress::Dead { may_have_arrived: true });
        assert_eq!(unknown.leased().leased().attempted(Attempt::NotArrived), Progress::Ambiguous);
        assert_eq!(attempted(unknown, Attempt::Arrived), Progress::Delivered);
    }

    /// A lane whose notices come as the machine makes them, while the network does what it wants.
    struct Network {
        kind: ChannelKind,
        lane: Vec<Entry>,
        coming: Vec<Notice>,
        is_waiting: bool,
        seen: Vec<Notice>,
    }

    impl Network {
        fn new(kind: ChannelKind) -> Self {
            let coming = vec![RESOLVE, Notice::Reminder, Notice::Reminder, Notice::Trigger];
            Self { kind, lane: Vec::new(), coming, is_waiting: false, seen: Vec::new() }
        }

        fn come(&mut self) {
            let Some(notice) = self.coming.last().copied() else { return };
            let placed = place(self.kind, &self.lane, notice);
            for index in placed.cancelled {
                self.lane[index].progress = Progress::Cancelled;
            }
            if placed.placing == Placing::Append {
                self.lane.push(entry(notice, Progress::NeverSent));
            }
            self.is_waiting = placed.placing == Placing::Wait;
            if !self.is_waiting {
                self.coming.pop();
            }
        }

        /// Begins an attempt, or ends the one that is going on.
        fn send(&mut self, arrives: bool, is_told: bool, gives_up: bool) {
            let sending =
                self.lane.iter().position(|entry| matches!(entry.progress, Progress::Sending { .. }));
            if let Some(index) = sending {
                let entry = &mut self.lane[index];
                if arrives {
                    self.seen.push(entry.notice);
                }
                entry.progress = entry.progress.attempted(match (arrives, is_told) {
                    (true, true) => Attempt::Arrived,
                    (false, true) if gives_up => Attempt::GivenUp,
                    (false, true) => Attempt::NotArrived,
                    (_, false) => Attempt::Unknown,
                });
            } else if let Some(index) = head(&self.lane) {
                self.lane[index].progress = self.lane[index].progress.leased();
            }
        }
    }

    proptest! {
        #[test]
        fn a_resolve_follows_what_may_be_its_trigger_and_is_never_forgotten(
            kind in prop_oneof![Just(ChannelKind::Pagerduty), Just(ChannelKind::Slack)],
            chances in proptest::collection::vec(any::<u8>(), 0..60),
        ) {
            let mut network = Network::new(kind);
            for chance in chances {
                if chance & 3 == 0 || network.is_waiting {
                    network.come();
                }
                network.send(chance & 4 != 0, chance & 8 != 0, chance & 48 == 0);
            }
            // From now on everything works.
            for _ in 0..40 {
                network.come();
                network.send(true, true, false);
            }
            let order = |notice: &Notice| match notice {
                Notice::Trigger => 0,
                Notice::Resolve(_) => 2,
                _ => 1,
            };
            prop_assert!(network.seen.iter().map(order).is_sorted(), "{:?}", network.seen);
            prop_assert_eq!(head(&network.lane), None, "{:?}", network.lane);
            let was_told = network.seen.contains(&Notice::Trigger);
            let may_be_dead = network.lane.iter().any(|entry| matches!(entry.progress, Progress::Dead { .. }) && entry.notice == RESOLVE);
            prop_assert!(!was_told || network.seen.contains(&RESOLVE) || may_be_dead, "{:?}", network.lane);
        }
    }
}
