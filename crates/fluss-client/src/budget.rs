//! The share of a cluster's time that background reads may take.
//!
//! All who ask one cluster in the background should hold the same budget: the bound is on what the cluster gets.
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
#[derive(Debug, Default)]
pub struct RequestBudget {
    /// The moment at which the bucket will be full again.
    full_at: Mutex<Option<Instant>>,
}

impl RequestBudget {
    /// Waits for the shares of `count` requests that follow one another at once, at most [`BURST`], and returns the
    /// time waited.
    ///
    /// They are taken together: whoever gathered them one by one among others would use them all at the end.
    pub(crate) async fn take(&self, count: u32) -> Duration {
        let count = count.min(BURST);
        let started = clock::now();
        let mut full_at = self.full_at.lock().await;
        let full = full_at.unwrap_or(started);
        let allowed = full.checked_sub(INTERVAL * (BURST - count)).unwrap_or(started);
        sleep_until(allowed).await;
        let now = clock::now();
        *full_at = Some(full.max(now) + INTERVAL * count);
        now - started
    }

    /// Returns whether nothing was taken of late, so that a new budget in its place would make no difference.
    pub fn is_full(&self) -> bool {
        // Whoever holds it is about to take a share.
        self.full_at.try_lock().is_ok_and(|full_at| full_at.is_none_or(|at| at <= clock::now()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn no_second_starts_more_than_its_share() {
        let budget = RequestBudget::default();
        let mut starts = Vec::new();
        for _ in 0..100 {
            budget.take(1).await;
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
    async fn who_takes_several_gets_them_together_and_within_the_share() {
        let budget = Arc::<RequestBudget>::default();
        let (sender, mut starts) = tokio::sync::mpsc::unbounded_channel();
        for index in 0..30 {
            let (budget, sender) = (Arc::clone(&budget), sender.clone());
            tokio::spawn(async move {
                budget.take(index % 3 + 1).await;
                for _ in 0..=index % 3 {
                    sender.send(clock::now()).unwrap();
                }
            });
        }
        drop(sender);
        let mut seen = Vec::new();
        while let Some(start) = starts.recv().await {
            seen.push(start);
        }
        for (index, start) in seen.iter().enumerate() {
            let within =
                seen[index..].iter().filter(|other| **other - *start < Duration::from_secs(1)).count();
            assert!(within <= 17, "{within} from number {index}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_full_until_used_and_again_after_a_while() {
        let budget = RequestBudget::default();
        assert!(budget.is_full());
        budget.take(1).await;
        assert!(!budget.is_full());
        tokio::time::sleep(INTERVAL).await;
        assert!(budget.is_full());
    }

    #[tokio::test(start_paused = true)]
    async fn who_gives_up_takes_no_share() {
        let budget = RequestBudget::default();
        for _ in 0..3 {
            budget.take(1).await;
        }
        for _ in 0..1_000 {
            let given_up = tokio::time::timeout(Duration::from_millis(1), budget.take(1)).await;
            drop(given_up);
        }
        assert!(budget.take(1).await < Duration::from_millis(200));
    }
}
