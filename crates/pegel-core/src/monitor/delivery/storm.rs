//! Many firings at once are one message, where people read it.
//!
//! The first leaves at once. What follows over the same channel for the same cluster within half a minute of
//! it is kept until that is over, and then goes out together.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::monitor::delivery::ChannelKind;
use crate::monitor::span::{elapsed_ms, later};

/// For how long firings are merged after the first.
pub const WINDOW_MS: u64 = 30_000;

/// The most firings that one message lists.
pub const MAX_LISTED: usize = 20;

/// What a channel has sent of late for one cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Window {
    /// When the first message of the present window went out.
    pub opened_at: Option<Timestamp>,
}

/// When a notice leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// Not before then.
    pub at: Timestamp,
    /// Whether everything that waits for the same channel and cluster goes with it in one message.
    pub is_merged: bool,
    /// The window from now on.
    pub window: Window,
}

/// Returns when a notice leaves that comes at `now`.
pub fn release(kind: ChannelKind, window: Window, now: Timestamp) -> Release {
    if !kind.is_read_by_people() {
        return Release { at: now, is_merged: false, window };
    }
    match window.opened_at {
        // A clock that was set back makes the window no longer.
        Some(opened_at) if opened_at <= now && elapsed_ms(opened_at, now) < WINDOW_MS => {
            Release { at: later(opened_at, WINDOW_MS), is_merged: true, window }
        }
        _ => Release { at: now, is_merged: false, window: Window { opened_at: Some(now) } },
    }
}

/// Returns how many of so many firings a message lists, and how many it only counts.
pub fn listed(count: usize) -> (usize, usize) {
    let listed = count.min(MAX_LISTED);
    (listed, count - listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millisecond(ms).unwrap()
    }

    #[test]
    fn the_first_leaves_at_once_and_the_rest_together() {
        let first = release(ChannelKind::Slack, Window::default(), at(1_000));
        assert_eq!((first.at, first.is_merged), (at(1_000), false));
        for ms in [1_000, 1_001, 30_999] {
            let next = release(ChannelKind::Slack, first.window, at(ms));
            assert_eq!((next.at, next.is_merged), (at(31_000), true));
        }
        let later = release(ChannelKind::Slack, first.window, at(31_000));
        assert_eq!((later.at, later.is_merged), (at(31_000), false));
    }

    #[test]
    fn a_pager_gets_each_firing_at_once() {
        let opened = Window { opened_at: Some(at(1_000)) };
        for kind in
            [ChannelKind::Pagerduty, ChannelKind::Opsgenie, ChannelKind::Webhook, ChannelKind::Alertmanager]
        {
            assert_eq!(release(kind, opened, at(1_001)).at, at(1_001));
        }
    }

    #[test]
    fn a_clock_that_was_set_back_keeps_nothing_for_long() {
        let window = Window { opened_at: Some(at(10_000_000)) };
        assert_eq!(release(ChannelKind::Slack, window, at(1_000)).at, at(1_000));
    }

    #[test]
    fn four_hundred_firings_are_twenty_and_a_number() {
        assert_eq!((listed(20), listed(400)), ((20, 0), (20, 380)));
    }
}
