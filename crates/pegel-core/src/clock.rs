//! Wall time as an argument.
//!
//! Nothing in Pegel's libraries reads the system's clock: they take a [`Clock`],
//! so that a test can stop time and move it. The clock that reads the system's
//! is the binary's.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::Timestamp;

/// Tells what time it is.
pub trait Clock: Send + Sync {
    /// Returns the present time.
    fn now(&self) -> Timestamp;
}

/// Returns the last moment there is; milliseconds after the last whole second do not convert back.
fn latest_ms() -> i64 {
    Timestamp::MAX.as_second().saturating_mul(1_000)
}

/// A clock that stands still until it is moved, to the millisecond.
#[derive(Debug)]
pub struct ManualClock {
    now_ms: AtomicI64,
}

impl ManualClock {
    /// Makes a clock that stands at `now`, cut to the millisecond.
    pub fn new(now: Timestamp) -> Self {
        Self { now_ms: AtomicI64::new(now.as_millisecond().min(latest_ms())) }
    }

    /// Puts the clock to a time, also an earlier one, as a system's clock may be.
    pub fn set(&self, now: Timestamp) {
        self.now_ms.store(now.as_millisecond().min(latest_ms()), Ordering::SeqCst);
    }

    /// Moves the clock on. It stops at the end of representable time.
    pub fn advance(&self, by: Duration) {
        let by_ms = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        let moved = |now: i64| Some(now.saturating_add(by_ms).min(latest_ms()));
        // The closure always gives a value, so the update cannot fail.
        let _ = self.now_ms.fetch_update(Ordering::SeqCst, Ordering::SeqCst, moved);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.now_ms.load(Ordering::SeqCst))
            .expect("only milliseconds of a Timestamp are stored, and advancing stops at the last one")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_only_when_it_is_moved() {
        let clock = ManualClock::new("2026-03-01T12:00:00.123456Z".parse().unwrap());
        assert_eq!(clock.now().to_string(), "2026-03-01T12:00:00.123Z");
        assert_eq!(clock.now(), clock.now());
        clock.advance(Duration::from_millis(1_877));
        assert_eq!(clock.now().to_string(), "2026-03-01T12:00:02Z");
        clock.set("2026-02-01T00:00:00Z".parse().unwrap());
        assert_eq!(clock.now().to_string(), "2026-02-01T00:00:00Z");
    }

    #[test]
    fn time_does_not_run_over_its_end() {
        let clock = ManualClock::new(Timestamp::MAX);
        clock.advance(Duration::MAX);
        assert_eq!(clock.now().as_second(), Timestamp::MAX.as_second());
        clock.set(Timestamp::MIN);
        assert_eq!(clock.now(), Timestamp::MIN);
    }
}
