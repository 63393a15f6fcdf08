//! The share of a cluster's time that background reads may take.
//!
//! A token bucket in which callers queue up fairly: a short burst is free, then
//! requests are spaced out. In no second do more of them start than [`PER_SECOND`];
//! with the few that find the cluster that stays within 20 requests a second.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

use crate::clock;

/// Most background requests that may start within any one second.
pub const PER_SECOND: u32 = 17;
/// How many of them may start at once.
const BURST: u32 = 3;
/// Space between two requests once the burst is used up: the rest of a second's share.
const INTERVAL: Duration = Duration::from_millis(1_000 / (PER_SECOND - BURST) as u64 + 1);

/// Spaces requests. Who gives up waiting leaves the queue and takes no share.
#[derive(Default)]
pub(crate) struct RequestBudget {
    /// The moment at which the bucket will be full again.
    full_at: Mutex<Option<Instant>>,
}

impl RequestBudget {
    /// Waits for one request's share and returns the time waited.
    pub(crate) async fn take(&self) -> Duration {
        let started = clock::now();
        let mut full_at = self.full_at.lock().await;
        let full = full_at.unwrap_or(started);
        let allowed = full.checked_sub(INTERVAL * (BURST - 1)).unwrap_or(started);
        sleep_until(allowed).await;
        let now = clock::now();
        *full_at = Some(full.max(now) + INTERVAL);
        now - started
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn no_second_starts_more_than_its_share() {
        let budget = RequestBudget::default();
        let mut starts = Vec::new();
        for _ in 0..100 {
            budget.take().await;
            starts.push(clock::now());
        }
        assert_eq!(starts[2], starts[0], "the burst is free");
        for (index, start) in starts.iter().enumerate() {
            let within =
                starts[index..].iter().filter(|other| **other - *start < Duration::from_secs(1)).count();
            assert!(within <= 17, "{within} from number {index}");
        }
        assert!(*starts.last().unwrap() - starts[0] < Duration::from_secs(8));
    }

    #[tokio::test(start_paused = true)]
    async fn who_gives_up_takes_no_share() {
        let budget = RequestBudget::default();
        for _ in 0..3 {
            budget.take().await;
        }
        for _ in 0..1_000 {
            let given_up = tokio::time::timeout(Duration::from_millis(1), budget.take()).await;
            drop(given_up);
        }
        assert!(budget.take().await < Duration::from_millis(200));
    }
}
