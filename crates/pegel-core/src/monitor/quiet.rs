//! When people are not told: silences, and maintenance at times of the wall clock.
//!
//! What is withheld is decided here; that the verdict goes on, and what is made up for afterwards, is
//! [`crate::monitor::verdict`]'s.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::monitor::labels::{LabelError, Labels, Matcher, check_matchers, first_mismatch};
use crate::monitor::schedule::CronSchedule;
use crate::monitor::schedule::cron::{first_instant, last_instant};
use crate::monitor::span::Span;

/// The longest recurring maintenance, in minutes: 31 days.
pub const MAX_DURATION_MINUTES: u32 = 31 * 24 * 60;

/// The shortest time between the begins of two recurring maintenances, in minutes.
pub const MIN_DISTANCE_MINUTES: i64 = 60;

/// How many begins are looked at when a recurring maintenance is saved.
const CHECKED_BEGINS: usize = 400;

/// The most begins one question looks at; more than a month of the shortest distance.
const MAX_BEGINS: usize = 2_048;

/// Why a silence or a maintenance is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuietError {
    /// It ends before it begins, or at once.
    #[error("it ends before it begins")]
    EndsBeforeItBegins,
    /// It picks everything, which is more often a mistake than meant.
    #[error("it needs a matcher; one that matches everything must say so")]
    MatchesEverything,
    /// It is too long.
    #[error("a recurring maintenance takes 1 minute to 31 days")]
    Duration,
    /// It begins again before it has ended.
    #[error("it begins again before it has ended")]
    OverlapsItself,
    /// It begins too often.
    #[error("a recurring maintenance begins at most once in {MIN_DISTANCE_MINUTES} minutes")]
    TooOften,
    /// A matcher is not as matchers are.
    #[error(transparent)]
    Label(#[from] LabelError),
}

/// Somebody's decision not to be told for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Silence {
    /// Of what; all must match.
    pub matchers: Vec<Matcher>,
    /// From when.
    pub starts_at: Timestamp,
    /// Until when; not included.
    pub ends_at: Timestamp,
}

impl Silence {
    /// Checks what somebody wrote.
    ///
    /// # Errors
    /// It ends before it begins, or matches everything.
    pub fn check(&self) -> Result<(), QuietError> {
        check_picked(&self.matchers)?;
        if self.ends_at <= self.starts_at {
            return Err(QuietError::EndsBeforeItBegins);
        }
        Ok(())
    }

    /// Tells whether it keeps a monitor with these labels quiet at an instant.
    pub fn silences(&self, labels: &Labels, at: Timestamp) -> bool {
        Span::new(self.starts_at, self.ends_at).contains(at)
            && first_mismatch(&self.matchers, labels).is_none()
    }
}

/// When a maintenance is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Recurrence {
    /// Once.
    Once {
        /// From when.
        starts_at: Timestamp,
        /// Until when; not included.
        ends_at: Timestamp,
    },
    /// Again and again, at times of the wall clock: 02:00 for two hours ends at 04:00, also on days on
    /// which the clock is changed.
    Recurring {
        /// When it begins.
        begins: CronSchedule,
        /// How long it takes on the wall clock.
        duration_minutes: u32,
    },
}

/// A time in which something is worked on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Maintenance {
    /// Of what; all must match.
    pub matchers: Vec<Matcher>,
    /// When.
    pub recurrence: Recurrence,
}

impl Maintenance {
    /// Checks what somebody wrote.
    ///
    /// # Errors
    /// It ends before it begins, begins again before its end or too often, or matches everything.
    pub fn check(&self) -> Result<(), QuietError> {
        check_picked(&self.matchers)?;
        match &self.recurrence {
            Recurrence::Once { starts_at, ends_at } if ends_at <= starts_at => {
                Err(QuietError::EndsBeforeItBegins)
            }
            Recurrence::Once { .. } => Ok(()),
            Recurrence::Recurring { begins, duration_minutes } => check_recurring(begins, *duration_minutes),
        }
    }

    /// Tells whether it concerns a monitor with these labels at an instant.
    pub fn covers(&self, labels: &Labels, at: Timestamp) -> bool {
        first_mismatch(&self.matchers, labels).is_none() && self.active_at(at).is_some()
    }

    /// Returns the stretch an instant lies in, if it lies in one.
    pub fn active_at(&self, at: Timestamp) -> Option<Span> {
        self.spans_around(at).find(|span| span.contains(at))
    }

    /// Returns the first stretch that begins after an instant, if there is one.
    pub fn next_after(&self, at: Timestamp) -> Option<Span> {
        self.spans_around(at).find(|span| span.from > at)
    }

    /// Returns its stretches within a time, cut at its ends, oldest first, at most `limit`.
    pub fn spans_in(&self, range: Span, limit: usize) -> Vec<Span> {
        let begun = self.spans_around(range.from).take_while(|span| span.from < range.to);
        begun.map(|span| span.intersection(range)).filter(|span| span.length_ms() > 0).take(limit).collect()
    }

    /// Stretches in order, from the last that may still be going on at an instant.
    fn spans_around(&self, at: Timestamp) -> Box<dyn Iterator<Item = Span> + '_> {
        match &self.recurrence {
            Recurrence::Once { starts_at, ends_at } => {
                Box::new(std::iter::once(Span::new(*starts_at, *ends_at)).filter(move |span| span.to > at))
            }
            Recurrence::Recurring { begins, duration_minutes } => {
                let duration = SignedDuration::from_mins(i64::from(*duration_minutes));
                // A day more than its duration: clocks have never been changed by more.
                let back = SignedDuration::from_mins(i64::from(*duration_minutes) + 24 * 60);
                let from = begins.zone().to_datetime(at).saturating_sub(back);
                let spans = begins.civil_from(from).filter_map(move |begin| {
                    let end = begin.checked_add(duration).ok()?;
                    let zone = begins.zone();
                    let span = Span::new(first_instant(zone, begin)?, last_instant(zone, end)?);
                    (span.length_ms() > 0 && span.to > at).then_some(span)
                });
                Box::new(spans.take(MAX_BEGINS))
            }
        }
    }
}

fn check_picked(matchers: &[Matcher]) -> Result<(), QuietError> {
    check_matchers(matchers)?;
    if matchers.is_empty() { Err(QuietError::MatchesEverything) } else { Ok(()) }
}

fn check_recurring(begins: &CronSchedule, duration_minutes: u32) -> Result<(), QuietError> {
    if duration_minutes == 0 || duration_minutes > MAX_DURATION_MINUTES {
        return Err(QuietError::Duration);
    }
    // From a leap year on, so that the shortest distance of months and weekdays is among the first.
    let mut begins = begins.civil_from(jiff::civil::date(2_000, 1, 1).at(0, 0, 0, 0)).take(CHECKED_BEGINS);
    let Some(mut last) = begins.next() else { return Err(QuietError::Duration) };
    for begin in begins {
        let distance = last.duration_until(begin).as_mins();
        if distance < MIN_DISTANCE_MINUTES {
            return Err(QuietError::TooOften);
        }
        if distance < i64::from(duration_minutes) {
            return Err(QuietError::OverlapsItself);
        }
        last = begin;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::labels::Operator;

    fn matchers() -> Vec<Matcher> {
        vec![Matcher { label: "cluster".to_owned(), operator: Operator::In, values: vec!["eu".to_owned()] }]
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn recurring(expression: &str, zone: &str, duration_minutes: u32) -> Maintenance {
        let begins = CronSchedule::parse(expression, zone).unwrap();
        Maintenance { matchers: matchers(), recurrence: Recurrence::Recurring { begins, duration_minutes } }
    }

    fn spans(maintenance: &Maintenance, from: &str, count: usize) -> Vec<String> {
        let mut found = Vec::new();
        let mut after = at(from);
        for _ in 0..count {
            let span = maintenance.next_after(after).unwrap();
            assert_eq!(maintenance.active_at(span.from), Some(span));
            found.push(format!("{} {}", span.from, span.to));
            after = span.from;
        }
        found
    }

    #[test]
    fn two_to_four_in_berlin_is_that_on_both_days_of_the_change_a53() {
        let nightly = recurring("0 2 * * 0", "Europe/Berlin", 120);
        assert_eq!(nightly.check(), Ok(()));
        assert_eq!(
            spans(&nightly, "2026-03-21T00:00:00Z", 3),
            [
                "2026-03-22T01:00:00Z 2026-03-22T03:00:00Z",
                // 02:00 is skipped; 03:00 to 04:00 is left.
                "2026-03-29T01:00:00Z 2026-03-29T02:00:00Z",
                "2026-04-05T00:00:00Z 2026-04-05T02:00:00Z"
            ]
        );
        assert_eq!(
            spans(&nightly, "2026-10-24T00:00:00Z", 2),
            // 02:00 to 03:00 comes twice.
            ["2026-10-25T00:00:00Z 2026-10-25T03:00:00Z", "2026-11-01T01:00:00Z 2026-11-01T03:00:00Z"]
        );
    }

    #[test]
    fn three_hours_from_eleven_in_the_evening_go_over_midnight_a53() {
        let nightly = recurring("0 23 * * 6", "Europe/Berlin", 180);
        let active = |text: &str| nightly.active_at(at(text)).is_some();
        assert!(!active("2026-01-03T21:59:59Z") && active("2026-01-03T22:00:00Z"));
        assert!(active("2026-01-04T00:59:59.999Z") && !active("2026-01-04T01:00:00Z"));
        assert!(!active("2026-01-04T22:30:00Z"), "only on Saturdays");
    }

    #[test]
    fn a_whole_day_is_as_long_as_that_day_a53() {
        let sundays = recurring("0 0 * * 0", "Europe/Berlin", 24 * 60);
        assert_eq!(sundays.check(), Ok(()));
        assert_eq!(
            spans(&sundays, "2026-03-28T00:00:00Z", 1),
            ["2026-03-28T23:00:00Z 2026-03-29T22:00:00Z"],
            "23 hours on the day the clock goes forward"
        );
        let always = recurring("0 0 * * *", "UTC", 24 * 60);
        assert_eq!(always.check(), Ok(()));
        assert!(always.active_at(at("2026-01-01T00:00:00Z")).is_some());
    }

    #[test]
    fn what_never_ends_or_never_begins_is_refused_when_saved_a55() {
        let check = |expression, minutes| recurring(expression, "UTC", minutes).check();
        assert_eq!(check("* * * * *", 1), Err(QuietError::TooOften));
        assert_eq!(check("*/30 * * * *", 10), Err(QuietError::TooOften));
        assert_eq!(check("0 * * * *", 61), Err(QuietError::OverlapsItself));
        assert_eq!(check("0 2 * * *", 0), Err(QuietError::Duration));
        assert_eq!(check("0 2 1 1 *", MAX_DURATION_MINUTES + 1), Err(QuietError::Duration));
        assert_eq!(check("0 2 1 * *", 28 * 24 * 60), Ok(()));
        assert_eq!(check("0 2 1 * *", 28 * 24 * 60 + 1), Err(QuietError::OverlapsItself), "in a February");
        let (starts_at, ends_at) = (at("2026-01-02T00:00:00Z"), at("2026-01-01T00:00:00Z"));
        let once = Maintenance { matchers: matchers(), recurrence: Recurrence::Once { starts_at, ends_at } };
        assert_eq!(once.check(), Err(QuietError::EndsBeforeItBegins));
        let silence = Silence { matchers: matchers(), starts_at, ends_at: starts_at };
        assert_eq!(silence.check(), Err(QuietError::EndsBeforeItBegins));
        let all = Silence { matchers: Vec::new(), starts_at: ends_at, ends_at: starts_at };
        assert_eq!(all.check(), Err(QuietError::MatchesEverything));
    }

    #[test]
    fn a_silence_holds_for_its_labels_and_its_time_only() {
        let silence = Silence {
            matchers: matchers(),
            starts_at: at("2026-01-01T00:00:00Z"),
            ends_at: at("2026-01-01T01:00:00Z"),
        };
        let eu = Labels::from([("cluster".to_owned(), "eu".to_owned())]);
        assert!(silence.silences(&eu, at("2026-01-01T00:00:00Z")));
        assert!(!silence.silences(&eu, at("2026-01-01T01:00:00Z")));
        assert!(!silence.silences(&Labels::new(), at("2026-01-01T00:30:00Z")));
    }

    #[test]
    fn a_maintenance_is_told_as_stretches_within_a_time() {
        let nightly = recurring("0 2 * * *", "UTC", 120);
        let range = Span::new(at("2026-01-01T03:00:00Z"), at("2026-01-03T02:30:00Z"));
        let found = nightly.spans_in(range, 10);
        let hours: Vec<u64> = found.iter().map(|span| span.length_ms() / 60_000).collect();
        assert_eq!(hours, [60, 120, 30]);
        assert_eq!(nightly.spans_in(range, 2).len(), 2);
        let eu = Labels::from([("cluster".to_owned(), "eu".to_owned())]);
        assert!(nightly.covers(&eu, at("2026-01-01T03:00:00Z")));
        assert!(!nightly.covers(&Labels::new(), at("2026-01-01T03:00:00Z")));
    }
}
