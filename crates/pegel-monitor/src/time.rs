//! Time as an argument: the wall clock, the clock that nobody sets, and waiting.
//!
//! Deadlines of network operations are real time and not here.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use pegel_core::clock::{Clock, ManualClock};
use pegel_core::monitor::blackout::Mark;
use pegel_core::monitor::span::elapsed_ms;
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::watch;

/// A future on the heap.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The longest single wait of [`SystemTime`]; the wall clock may be set meanwhile.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Tells what time it is and waits.
pub trait Time: Clock {
    /// Returns milliseconds since the machine started, also while it was suspended.
    fn boot_ms(&self) -> u64;

    /// Waits until an instant, or for a shorter time: whoever waits looks again.
    fn sleep_until(&self, at: Timestamp) -> BoxFuture<'_, ()>;

    /// Returns what both clocks say.
    fn mark(&self) -> Mark {
        Mark { wall: self.now(), boot_ms: self.boot_ms() }
    }
}

/// The machine's time.
#[derive(Clone)]
pub struct SystemTime {
    wall: Arc<dyn Clock>,
}

impl std::fmt::Debug for SystemTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SystemTime")
    }
}

impl SystemTime {
    /// Takes the wall time from a clock, which the store tells time by, too.
    pub fn new(wall: Arc<dyn Clock>) -> Self {
        Self { wall }
    }
}

impl Clock for SystemTime {
    fn now(&self) -> Timestamp {
        self.wall.now()
    }
}

impl Time for SystemTime {
    fn boot_ms(&self) -> u64 {
        let since = clock_gettime(ClockId::Boottime);
        let ms = since.tv_sec.saturating_mul(1_000).saturating_add(since.tv_nsec / 1_000_000);
        u64::try_from(ms).unwrap_or(0)
    }

    fn sleep_until(&self, at: Timestamp) -> BoxFuture<'_, ()> {
        let wait = Duration::from_millis(elapsed_ms(self.wall.now(), at)).min(LONGEST_WAIT);
        Box::pin(tokio::time::sleep(wait))
    }
}

/// Time that stands still until it is moved.
#[derive(Debug)]
pub struct ManualTime {
    wall: Arc<ManualClock>,
    boot_ms: AtomicU64,
    moved: watch::Sender<u64>,
}

impl ManualTime {
    /// Moves a clock, which the store may tell time by, too.
    pub fn new(wall: Arc<ManualClock>) -> Self {
        Self { wall, boot_ms: AtomicU64::new(1_000_000), moved: watch::Sender::new(0) }
    }

    /// Lets time go by: on both clocks.
    pub fn advance(&self, by: Duration) {
        let by_ms = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        self.boot_ms.fetch_add(by_ms, Ordering::SeqCst);
        self.wall.advance(by);
        self.moved.send_modify(|count| *count += 1);
    }

    /// Sets the wall clock, as a person or a time server does.
    pub fn set_wall(&self, to: Timestamp) {
        self.wall.set(to);
        self.moved.send_modify(|count| *count += 1);
    }
}

impl Clock for ManualTime {
    fn now(&self) -> Timestamp {
        self.wall.now()
    }
}

impl Time for ManualTime {
    fn boot_ms(&self) -> u64 {
        self.boot_ms.load(Ordering::SeqCst)
    }

    fn sleep_until(&self, at: Timestamp) -> BoxFuture<'_, ()> {
        let mut moved = self.moved.subscribe();
        Box::pin(async move { while self.wall.now() < at && moved.changed().await.is_ok() {} })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_sleeps_wakes_when_time_is_moved_past_the_instant() {
        let wall = Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH));
        let time = ManualTime::new(wall);
        let at = Timestamp::from_second(10).unwrap();
        let sleep = time.sleep_until(at);
        time.advance(Duration::from_secs(9));
        tokio::select! {
            biased;
            () = time.sleep_until(at) => panic!("too early"),
            () = std::future::ready(()) => {}
        }
        time.advance(Duration::from_secs(1));
        sleep.await;
        assert_eq!(time.boot_ms(), 1_010_000);
    }

    #[test]
    fn the_machine_has_a_clock_that_nobody_sets() {
        let time = SystemTime::new(Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH)));
        assert!(time.boot_ms() > 0);
    }
}
