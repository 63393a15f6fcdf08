//! How much of a time was good, by time and not by samples.
//!
//! A sample says something until the next one, and at most for as long as it holds. What no sample covers
//! and what lies in a blackout is unknown; it counts neither as good nor as bad. Failures that never made
//! the monitor fire are no downtime, and those that did count from the first of them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::monitor::span::{Span, later};

/// For how many intervals a sample holds if no other comes.
pub const HOLD_INTERVALS: u64 = 2;

/// What is known about a monitor in a time. Lists need not be sorted and may overlap.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// The time that is asked for.
    pub range: Span,
    /// When samples were taken that said something, oldest first; also the last one before the range.
    pub samples: &'a [Timestamp],
    /// For how long one holds.
    pub hold_ms: u64,
    /// When it was down: from the first bad sample of each firing for bad samples to its end.
    pub down: &'a [Span],
    /// When it was worked on.
    pub maintenance: &'a [Span],
    /// When we ourselves were not there.
    pub blackouts: &'a [Span],
}

/// Where a time went. The parts add up to the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Uptime {
    /// Good.
    pub ok_ms: u64,
    /// Bad.
    pub bad_ms: u64,
    /// Nobody knows.
    pub unknown_ms: u64,
    /// Worked on; whatever was seen meanwhile.
    pub maintenance_ms: u64,
}

impl Uptime {
    /// Returns the good part of what is known, in thousandths of a percent; `None` if nothing is known.
    ///
    /// Rounded to the nearest, but all is only said of all, and nothing of nothing.
    pub fn millipercent(self) -> Option<u32> {
        let known = u128::from(self.ok_ms) + u128::from(self.bad_ms);
        let rounded = (u128::from(self.ok_ms) * 200_000 + known).checked_div(known * 2)?;
        let rounded = u32::try_from(rounded).unwrap_or(100_000);
        Some(match (self.ok_ms, self.bad_ms) {
            (_, 0) => 100_000,
            (0, _) => 0,
            _ => rounded.clamp(1, 99_999),
        })
    }

    /// Returns [`Uptime::millipercent`] as people write it, such as `99.977`.
    pub fn percent(self) -> Option<String> {
        self.millipercent().map(|all| format!("{}.{:03}", all / 1_000, all % 1_000))
    }
}

/// Says where a time went. Maintenance goes before a blackout, and that before everything else.
pub fn account(known: &Known<'_>) -> Uptime {
    let covered = covered(known);
    let layers =
        [known.maintenance, known.blackouts, &covered, known.down].map(|spans| merged(spans, known.range));
    let mut bounds: Vec<Timestamp> = layers.iter().flatten().flat_map(|span| [span.from, span.to]).collect();
    bounds.extend([known.range.from, known.range.to]);
    bounds.sort_unstable();
    bounds.dedup();
    let mut cursors = layers.each_ref().map(|spans| Cursor { spans });
    let mut uptime = Uptime::default();
    for (from, to) in bounds.iter().zip(bounds.iter().skip(1)) {
        let [is_maintenance, is_blackout, is_covered, is_down] =
            cursors.each_mut().map(|cursor| cursor.contains(*from));
        let part = match () {
            () if is_maintenance => &mut uptime.maintenance_ms,
            () if is_blackout || !is_covered => &mut uptime.unknown_ms,
            () if is_down => &mut uptime.bad_ms,
            () => &mut uptime.ok_ms,
        };
        *part += Span::new(*from, *to).length_ms();
    }
    uptime
}

/// The stretches over which some sample holds.
fn covered(known: &Known<'_>) -> Vec<Span> {
    let nexts = known.samples.iter().skip(1).map(Some).chain([None]);
    let until = |at: Timestamp, next: Option<&Timestamp>| {
        let held = later(at, known.hold_ms);
        next.map_or(held, |next| held.min(*next))
    };
    known.samples.iter().zip(nexts).map(|(at, next)| Span::new(*at, until(*at, next))).collect()
}

/// Stretches within a range, sorted, without overlaps, and joined where they touch.
fn merged(spans: &[Span], range: Span) -> Vec<Span> {
    let mut within: Vec<Span> =
        spans.iter().map(|span| span.intersection(range)).filter(|span| span.from < span.to).collect();
    within.sort_unstable_by_key(|span| span.from);
    let mut merged: Vec<Span> = Vec::new();
    for span in within {
        match merged.last_mut() {
            Some(last) if span.from <= last.to => last.to = last.to.max(span.to),
            _ => merged.push(span),
        }
    }
    merged
}

/// Walks through merged stretches as time goes on.
struct Cursor<'a> {
    spans: &'a [Span],
}

impl Cursor<'_> {
    fn contains(&mut self, at: Timestamp) -> bool {
        while let [first, rest @ ..] = self.spans
            && first.to <= at
        {
            self.spans = rest;
        }
        self.spans.first().is_some_and(|span| span.contains(at))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    fn span(from: i64, to: i64) -> Span {
        Span::new(at(from), at(to))
    }

    fn every(seconds: usize, from: i64, to: i64) -> Vec<Timestamp> {
        (from..to).step_by(seconds).map(at).collect()
    }

    fn known(range: Span, samples: &[Timestamp]) -> Known<'_> {
        Known { range, samples, hold_ms: 120_000, down: &[], maintenance: &[], blackouts: &[] }
    }

    #[test]
    fn twenty_bad_seconds_of_a_day_are_so_many_and_not_a_sample_a51() {
        let samples = every(60, 0, 86_400);
        let uptime = account(&Known { down: &[span(30_000, 30_020)], ..known(span(0, 86_400), &samples) });
        assert_eq!((uptime.bad_ms, uptime.unknown_ms), (20_000, 0));
        assert_eq!(uptime.percent().unwrap(), "99.977");
    }

    #[test]
    fn the_time_in_which_we_were_stopped_is_unknown_a23() {
        let mut samples = every(60, 0, 600);
        samples.extend(every(60, 1_200, 1_800));
        let range = span(0, 1_800);
        let uptime = account(&Known { blackouts: &[span(600, 1_200)], ..known(range, &samples) });
        assert_eq!((uptime.ok_ms, uptime.unknown_ms), (1_200_000, 600_000));
        assert_eq!(uptime.percent().unwrap(), "100.000");
        let unaware = account(&known(range, &samples));
        assert_eq!(unaware.unknown_ms, 600_000 - 60_000, "a sample holds for two intervals at most");
    }

    #[test]
    fn nothing_known_has_no_uptime() {
        let uptime = account(&known(span(0, 100), &[]));
        assert_eq!(uptime, Uptime { unknown_ms: 100_000, ..Uptime::default() });
        assert_eq!((uptime.percent(), Uptime::default().percent()), (None, None));
    }

    #[test]
    fn maintenance_counts_as_neither_and_is_told_apart() {
        let samples = every(60, 0, 3_600);
        let uptime = account(&Known {
            down: &[span(0, 1_800)],
            maintenance: &[span(600, 1_200), span(1_000, 2_400)],
            blackouts: &[span(2_300, 2_500)],
            ..known(span(0, 3_600), &samples)
        });
        let expected =
            Uptime { ok_ms: 1_100_000, bad_ms: 600_000, unknown_ms: 100_000, maintenance_ms: 1_800_000 };
        assert_eq!(uptime, expected);
    }

    #[test]
    fn all_is_only_said_of_all_and_nothing_of_nothing() {
        let of = |ok_ms, bad_ms| Uptime { ok_ms, bad_ms, ..Uptime::default() }.percent().unwrap();
        assert_eq!(of(u64::MAX, 1), "99.999");
        assert_eq!(of(1, u64::MAX), "0.001");
        assert_eq!((of(5, 0), of(0, 5)), ("100.000".to_owned(), "0.000".to_owned()));
        assert_eq!(of(2, 1), "66.667");
    }

    fn spans() -> impl Strategy<Value = Vec<Span>> {
        let one = (0i64..300, 0i64..60).prop_map(|(from, length)| span(from, from + length));
        proptest::collection::vec(one, 0..5)
    }

    proptest! {
        #[test]
        fn it_is_what_looking_at_each_second_gives(
            mut samples in proptest::collection::vec(0i64..300, 0..20),
            down in spans(),
            maintenance in spans(),
            blackouts in spans(),
            hold in 1i64..60,
        ) {
            samples.sort_unstable();
            let times: Vec<Timestamp> = samples.iter().copied().map(at).collect();
            let uptime = account(&Known {
                range: span(50, 250),
                samples: &times,
                hold_ms: u64::try_from(hold * 1_000).unwrap(),
                down: &down,
                maintenance: &maintenance,
                blackouts: &blackouts,
            });
            let mut expected = Uptime::default();
            for second in 50..250 {
                let within = |spans: &[Span]| spans.iter().any(|span| span.contains(at(second)));
                let is_covered = samples.iter().any(|sample| (*sample..sample + hold).contains(&second));
                if within(&maintenance) {
                    expected.maintenance_ms += 1_000;
                } else if within(&blackouts) || !is_covered {
                    expected.unknown_ms += 1_000;
                } else if within(&down) {
                    expected.bad_ms += 1_000;
                } else {
                    expected.ok_ms += 1_000;
                }
            }
            prop_assert_eq!(uptime, expected);
        }
    }
}
