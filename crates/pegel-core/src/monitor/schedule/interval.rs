//! Every so often, each at a phase of its own.
//!
//! The phase follows from an id, so that ten thousand monitors of one interval spread over it evenly and
//! keep their places over restarts. What is late is skipped and never queued.

use jiff::Timestamp;
use uuid::Uuid;

use crate::monitor::span::elapsed_ms;

/// A run at fixed distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    every_ms: u64,
    phase_ms: u64,
}

/// A run that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// The slot it belongs to: the newest one that is not in the future.
    pub slot_at: Timestamp,
    /// How late it is.
    pub late_ms: u64,
    /// How many slots before it were missed and are not made up for.
    pub skipped_count: u64,
}

impl Interval {
    /// Makes an interval with the phase of `id`; 0 counts as one millisecond.
    pub fn new(every_ms: u64, id: Uuid) -> Self {
        let every_ms = every_ms.max(1);
        Self { every_ms, phase_ms: hash(id) % every_ms }
    }

    /// Returns how far its slots lie behind whole multiples of the interval since the epoch.
    pub const fn phase_ms(self) -> u64 {
        self.phase_ms
    }

    /// Returns the first slot after an instant.
    pub fn next_after(self, at: Timestamp) -> Timestamp {
        let next = i128::from(self.slot_number(at)) + 1;
        let ms = next * i128::from(self.every_ms) + i128::from(self.phase_ms);
        i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok()).unwrap_or(Timestamp::MAX)
    }

    /// Returns what is due at `now` if the last run was of the slot `last`; `None` if nothing yet.
    ///
    /// A run that has not ended yet is the caller's to know: it asks again when that has ended.
    pub fn due(self, last: Timestamp, now: Timestamp) -> Option<Due> {
        let first = self.next_after(last);
        if now < first {
            return None;
        }
        let skipped = self.slot_number(now).saturating_sub(self.slot_number(first));
        let skipped_count = u64::try_from(skipped).unwrap_or(0);
        let slot_ms = first
            .as_millisecond()
            .saturating_add(i64::try_from(skipped_count.saturating_mul(self.every_ms)).unwrap_or(i64::MAX));
        let slot_at = Timestamp::from_millisecond(slot_ms).unwrap_or(now);
        Some(Due { slot_at, late_ms: elapsed_ms(slot_at, now), skipped_count })
    }

    fn slot_number(self, at: Timestamp) -> i64 {
        let since = i128::from(at.as_millisecond()) - i128::from(self.phase_ms);
        i64::try_from(since.div_euclid(i128::from(self.every_ms))).unwrap_or(i64::MAX)
    }
}

/// Spreads ids evenly, also those that were made one after the other (FNV-1a, then the finish of `MurmurHash3`).
fn hash(id: Uuid) -> u64 {
    let fnv = id.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mixed = (fnv ^ (fnv >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ (mixed >> 33)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millisecond(ms).unwrap()
    }

    #[test]
    fn the_phase_of_an_id_never_changes() {
        let phases = [0, 1, 2, u128::MAX].map(|id| Interval::new(60_000, Uuid::from_u128(id)).phase_ms());
        assert_eq!(
            phases,
            [46_410, 8_168, 27_692, 56_943],
            "another phase would move every monitor at an update"
        );
    }

    #[test]
    fn ten_thousand_monitors_of_thirty_seconds_are_no_herd() {
        let mut per_second = [0; 30];
        for id in 0..10_000_u128 {
            // As version 7 ids of one minute: the same beginning, a counter at the end.
            let id = Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 + id);
            per_second[usize::try_from(Interval::new(30_000, id).phase_ms() / 1_000).unwrap()] += 1;
        }
        let (least, most) = (per_second.iter().min().unwrap(), per_second.iter().max().unwrap());
        assert!(*least > 250 && *most < 420, "333 a second are even: {least} to {most}");
    }

    #[test]
    fn what_is_late_is_skipped_and_not_queued() {
        let interval = Interval { every_ms: 1_000, phase_ms: 300 };
        assert_eq!(interval.next_after(at(299)), at(300));
        assert_eq!(interval.next_after(at(300)), at(1_300));
        assert_eq!(interval.next_after(at(-1)), at(300));
        assert_eq!(interval.due(at(300), at(1_299)), None);
        assert_eq!(
            interval.due(at(300), at(1_300)),
            Some(Due { slot_at: at(1_300), late_ms: 0, skipped_count: 0 })
        );
        assert_eq!(
            interval.due(at(300), at(5_350)),
            Some(Due { slot_at: at(5_300), late_ms: 50, skipped_count: 4 })
        );
    }

    proptest! {
        #[test]
        fn the_next_slot_is_after_and_at_most_an_interval_away(every in 1u64..10_000_000, id: u128, ms in -1_000_000_000_000_i64..4_000_000_000_000) {
            let interval = Interval::new(every, Uuid::from_u128(id));
            let next = interval.next_after(at(ms));
            prop_assert!(next > at(ms) && elapsed_ms(at(ms), next) <= every);
            let due = interval.due(at(ms), next).unwrap();
            prop_assert_eq!((due.slot_at, due.late_ms, due.skipped_count), (next, 0, 0));
        }

        #[test]
        fn no_instant_makes_it_panic(every: u64, id: u128, seconds in -377_705_023_201_i64..=253_402_207_200) {
            let interval = Interval::new(every, Uuid::from_u128(id));
            let at = Timestamp::from_second(seconds).unwrap();
            interval.next_after(at);
            interval.due(at, Timestamp::MAX);
        }
    }
}
