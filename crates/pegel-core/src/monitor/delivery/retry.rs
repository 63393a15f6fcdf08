//! When a notice is tried again, and when it is given up.

use jiff::Timestamp;

use crate::monitor::delivery::answer::Meaning;
use crate::monitor::span::{elapsed_ms, later};

/// The deadline of one attempt.
pub const ATTEMPT_MS: u64 = 10_000;

/// The deadline of one attempt's connection.
pub const CONNECT_MS: u64 = 5_000;

/// For how long a notice is tried: three days.
pub const TOTAL_MS: u64 = 3 * 24 * 3_600_000;

/// For how long a notice is tried that the target refuses: a day.
pub const SLOW_TOTAL_MS: u64 = 24 * 3_600_000;

/// The first wait.
pub const FIRST_MS: u64 = 1_000;

/// The longest wait.
pub const LONGEST_MS: u64 = 300_000;

/// The wait of what the target refuses.
pub const SLOW_MS: u64 = 900_000;

/// For how long all channels of a route must fail until the others are told of that.
pub const ROUTE_FAILING_MS: u64 = 300_000;

/// What to do with a notice after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Nothing: it has arrived.
    Delivered,
    /// Try again then.
    Wait {
        /// When.
        next_at: Timestamp,
    },
    /// Give it up.
    Dead {
        /// Whether the channel is broken, so that another route is to be told.
        is_broken: bool,
    },
}

/// Returns what to do after attempt number `attempt`, from 1, of a notice that was queued at `queued_at`.
///
/// `chance` is a random number; waits are spread over their whole length by it, so that many notices
/// that failed together do not come again together.
pub fn next(meaning: Meaning, queued_at: Timestamp, now: Timestamp, attempt: u32, chance: u64) -> Next {
    let (least_ms, spread_ms, total_ms) = match meaning {
        Meaning::Delivered => return Next::Delivered,
        Meaning::Broken => return Next::Dead { is_broken: true },
        Meaning::RecipientRefused => return Next::Dead { is_broken: false },
        Meaning::Retry { not_before_ms } => (not_before_ms, backoff_ms(attempt), TOTAL_MS),
        Meaning::RetrySlowly => (SLOW_MS / 2, SLOW_MS / 2, SLOW_TOTAL_MS),
    };
    // Full jitter, but not at once: what has just failed fails again.
    let jitter_ms = chance.checked_rem(spread_ms).map_or(0, |part| part.saturating_add(1));
    let next_at = later(now, least_ms.saturating_add(jitter_ms));
    if elapsed_ms(queued_at, next_at) > total_ms {
        Next::Dead { is_broken: meaning == Meaning::RetrySlowly }
    } else {
        Next::Wait { next_at }
    }
}

/// Returns the longest wait after attempt number `attempt`, from 1.
pub fn backoff_ms(attempt: u32) -> u64 {
    let doublings = attempt.saturating_sub(1).min(32);
    FIRST_MS.saturating_mul(1 << doublings).min(LONGEST_MS)
}

/// Tells whether every channel of a route has been failing for too long, by when each began to fail; `None`
/// for one that works. A route without channels cannot fail.
pub fn is_route_failing(failing_since: &[Option<Timestamp>], now: Timestamp) -> bool {
    let is_failing =
        |since: &Option<Timestamp>| since.is_some_and(|since| elapsed_ms(since, now) > ROUTE_FAILING_MS);
    !failing_since.is_empty() && failing_since.iter().all(is_failing)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::monitor::span::earlier;

    const RETRY: Meaning = Meaning::Retry { not_before_ms: 0 };

    fn now() -> Timestamp {
        "2026-03-01T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn waits_double_up_to_five_minutes() {
        let waits: Vec<u64> = (1..=10).map(|attempt| backoff_ms(attempt) / 1_000).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]);
        assert_eq!(backoff_ms(u32::MAX), LONGEST_MS);
    }

    #[test]
    fn a_notice_is_given_up_after_three_days_and_a_refused_one_after_one() {
        let after = |meaning, queued_ms_ago| next(meaning, earlier(now(), queued_ms_ago), now(), 9, 0);
        assert_eq!(after(RETRY, TOTAL_MS - 1), Next::Wait { next_at: later(now(), 1) });
        assert_eq!(after(RETRY, TOTAL_MS), Next::Dead { is_broken: false });
        assert_eq!(after(Meaning::RetrySlowly, SLOW_TOTAL_MS), Next::Dead { is_broken: true });
        assert_eq!(after(Meaning::Broken, 0), Next::Dead { is_broken: true });
        assert_eq!(after(Meaning::RecipientRefused, 0), Next::Dead { is_broken: false });
        assert_eq!(after(Meaning::Delivered, u64::MAX), Next::Delivered);
    }

    #[test]
    fn a_route_fails_when_all_of_its_channels_have_failed_for_five_minutes() {
        let long_ago = Some(earlier(now(), 300_001));
        assert!(is_route_failing(&[long_ago, long_ago], now()));
        assert!(!is_route_failing(&[long_ago, Some(earlier(now(), 300_000))], now()));
        assert!(!is_route_failing(&[long_ago, None], now()));
        assert!(!is_route_failing(&[], now()));
    }

    proptest! {
        #[test]
        fn a_wait_is_never_shorter_than_asked_for_and_never_much_longer(
            attempt: u32, chance: u64, asked in 0u64..3_600_000,
        ) {
            let meaning = Meaning::Retry { not_before_ms: asked };
            let Next::Wait { next_at } = next(meaning, now(), now(), attempt, chance) else {
                return Err(TestCaseError::fail("given up"));
            };
            let waited = elapsed_ms(now(), next_at);
            prop_assert!(waited > asked && waited <= asked + backoff_ms(attempt));
        }
    }
}
