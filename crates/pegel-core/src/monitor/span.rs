//! Stretches of time, and arithmetic on instants that neither panics nor wraps.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// A stretch of time: its begin belongs to it, its end does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Span {
    /// The first instant.
    pub from: Timestamp,
    /// The instant after the last; the same as `from` or an earlier one if the stretch is empty.
    pub to: Timestamp,
}

impl Span {
    /// Makes a stretch.
    pub const fn new(from: Timestamp, to: Timestamp) -> Self {
        Self { from, to }
    }

    /// Tells whether an instant lies in it.
    pub fn contains(self, at: Timestamp) -> bool {
        self.from <= at && at < self.to
    }

    /// Returns its length in milliseconds, 0 if it is empty.
    pub fn length_ms(self) -> u64 {
        elapsed_ms(self.from, self.to)
    }

    /// Returns what two stretches have in common; empty if nothing.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self { from: self.from.max(other.from), to: self.to.min(other.to) }
    }
}

/// Returns the last instant there is: the last whole second, since milliseconds after it do not read back.
pub fn end_of_time() -> Timestamp {
    Timestamp::from_second(Timestamp::MAX.as_second()).unwrap_or(Timestamp::MAX)
}

/// Returns the instant `ms` milliseconds after `at`, at most the last there is.
pub fn later(at: Timestamp, ms: u64) -> Timestamp {
    at.saturating_add(milliseconds(ms)).unwrap_or(Timestamp::MAX).min(end_of_time())
}

/// Returns the instant `ms` milliseconds before `at`, at least the first there is.
pub fn earlier(at: Timestamp, ms: u64) -> Timestamp {
    at.saturating_sub(milliseconds(ms)).unwrap_or(Timestamp::MIN)
}

/// Returns the instant moved by `ms`, which may be negative.
pub fn moved(at: Timestamp, ms: i64) -> Timestamp {
    if ms < 0 { earlier(at, ms.unsigned_abs()) } else { later(at, ms.unsigned_abs()) }
}

/// Returns the whole milliseconds from one instant to a later one, 0 if it is not later.
pub fn elapsed_ms(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.as_millisecond().saturating_sub(from.as_millisecond())).unwrap_or(0)
}

fn milliseconds(ms: u64) -> SignedDuration {
    SignedDuration::from_millis(i64::try_from(ms).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millisecond(ms).unwrap()
    }

    #[test]
    fn the_end_does_not_belong_to_a_stretch() {
        let span = Span::new(at(10), at(20));
        assert_eq!([9, 10, 19, 20].map(|ms| span.contains(at(ms))), [false, true, true, false]);
        assert_eq!(span.length_ms(), 10);
        assert_eq!(Span::new(at(20), at(10)).length_ms(), 0);
    }

    #[test]
    fn stretches_that_only_touch_have_nothing_in_common() {
        let common =
            |from, to| Span::new(at(10), at(20)).intersection(Span::new(at(from), at(to))).length_ms();
        assert_eq!(
            [common(0, 10), common(0, 11), common(12, 15), common(19, 40), common(20, 40)],
            [0, 1, 3, 1, 0]
        );
    }

    #[test]
    fn instants_stop_at_the_ends_of_time() {
        let end = later(at(0), u64::MAX);
        assert_eq!(end, end_of_time());
        assert_eq!(Timestamp::from_millisecond(end.as_millisecond()).unwrap(), end, "it can be stored");
        assert_eq!(earlier(at(0), u64::MAX), Timestamp::MIN);
        assert_eq!((moved(at(5), -3), moved(at(5), 3)), (at(2), at(8)));
        assert_eq!(elapsed_ms(Timestamp::MAX, Timestamp::MIN), 0);
    }
}
