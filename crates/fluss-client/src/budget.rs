//! The share of a cluster's time that background reads may take.
//!
//! A token bucket: a short burst is free, then requests are spaced out.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::clock;

/// Spaces requests so that no more than a fixed number goes out each second.
pub(crate) struct RequestBudget {
    interval: Duration,
    burst: Duration,
    /// The moment at which the bucket would be full again.
    full_at: Mutex<Option<Instant>>,
}

impl RequestBudget {
    /// Makes a budget of `per_second` requests, which is also the size of the burst.
    pub(crate) fn new(per_second: u32) -> Self {
        let interval = Duration::from_secs(1) / per_second.max(1);
        Self { interval, burst: interval * per_second.max(1), full_at: Mutex::new(None) }
    }

    /// Takes one request's share, waiting for it if need be, and returns the time waited.
    ///
    /// A dropped future has taken its share all the same, which errs on the careful side.
    pub(crate) async fn take(&self) -> Duration {
        let wait = self.reserve(clock::now());
        if !wait.is_zero() {
            sleep(wait).await;
        }
        wait
    }

    fn reserve(&self, now: Instant) -> Duration {
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        let next = full_at.map_or(now, |at| at.max(now)) + self.interval;
        *full_at = Some(next);
        next.saturating_duration_since(now).saturating_sub(self.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn burst_is_free_and_the_rest_is_spaced() {
        let budget = RequestBudget::new(20);
        let start = clock::now();
        for _ in 0..20 {
            assert_eq!(budget.reserve(start), Duration::ZERO);
        }
        assert_eq!(budget.reserve(start), Duration::from_millis(50));
        assert_eq!(budget.reserve(start), Duration::from_millis(100));
        let later = start + Duration::from_secs(10);
        assert_eq!(budget.reserve(later), Duration::ZERO);
    }
}
