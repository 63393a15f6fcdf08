//! Schedules as a crontab writes them, in a time zone, with Debian's rules for the change of clocks.
//!
//! The pattern is matched on wall time by `croner`; what a wall time means where clocks change is decided
//! here. A job at a fixed time runs once on either day: after the gap if its time is skipped, the first
//! time if its time comes twice. A job whose minute or hour begins with `*` follows the time that really
//! goes by.

use std::fmt;
use std::sync::Arc;

use croner::parser::{CronParser, Seconds, Year};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The longest expression, in bytes.
pub const MAX_EXPRESSION_BYTES: usize = 200;

/// The most pieces of time between two changes of clocks that one search looks through.
const MAX_PIECES: usize = 64;

/// The most wall times one search passes over because they have gone by already.
const MAX_PASSED: usize = 4_096;

/// Why a schedule is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CronError {
    /// It is too long.
    #[error("a cron expression has at most {MAX_EXPRESSION_BYTES} bytes")]
    TooLong,
    /// It has not five fields.
    #[error(
        "a cron expression has five fields: minute, hour, day of month, month, day of week; this has {count}"
    )]
    FieldCount {
        /// How many it has.
        count: usize,
    },
    /// One of its fields says nothing.
    #[error("the {field} of a cron expression cannot be `{text}`")]
    Field {
        /// Which one.
        field: &'static str,
        /// What stands there.
        text: String,
    },
    /// Its fields are fine and say together what no calendar has.
    #[error("day of month and month name a day that does not exist")]
    Never,
    /// There is no such time zone.
    #[error("the time zone `{0}` is not known; use a name such as Europe/Berlin")]
    TimeZone(String),
}

/// A crontab's schedule in a time zone. Its text form is kept as given.
#[derive(Clone)]
pub struct CronSchedule {
    expression: String,
    zone: TimeZone,
    zone_name: String,
    /// Shared, since it is large and is cloned with every rule that holds it.
    pattern: Arc<croner::Cron>,
    follows_real_time: bool,
}

/// How a schedule is written where it is stored and sent.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Written {
    /// Minute, hour, day of month, month, day of week, as in a crontab.
    #[schema(max_length = 200, examples("30 2 * * *"))]
    expression: String,
    /// The time zone's name, such as `Europe/Berlin`.
    #[schema(examples("Europe/Berlin"))]
    time_zone: String,
}

const FIELDS: [&str; 5] = ["minute", "hour", "day of month", "month", "day of week"];

const ALIASES: &[(&str, &str)] = &[
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

impl CronSchedule {
    /// Reads a schedule.
    ///
    /// # Errors
    /// What of it is wrong, with the field's name.
    pub fn parse(expression: &str, time_zone: &str) -> Result<Self, CronError> {
        if expression.len() > MAX_EXPRESSION_BYTES {
            return Err(CronError::TooLong);
        }
        let expression = expression.trim();
        let known = ALIASES.iter().find(|(alias, _)| *alias == expression);
        let written = known.map_or(expression, |(_, meaning)| meaning);
        let fields: Vec<&str> = written.split_ascii_whitespace().collect();
        let Ok(fields): Result<[&str; 5], _> = fields.try_into().map_err(|fields: Vec<_>| fields.len())
        else {
            return Err(CronError::FieldCount { count: written.split_ascii_whitespace().count() });
        };
        let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
        let Ok(pattern) = parser.parse(&fields.join(" ")) else {
            return Err(wrong_field(&parser, fields));
        };
        let zone = zone(time_zone)?;
        let follows_real_time = fields.iter().take(2).any(|field| field.starts_with('*'));
        let schedule = Self {
            expression: expression.to_owned(),
            zone,
            zone_name: time_zone.to_owned(),
            pattern: Arc::new(pattern),
            follows_real_time,
        };
        // From a leap year's begin on, every day that there ever is comes within eight years.
        let begin = jiff::civil::date(2_000, 1, 1).at(0, 0, 0, 0);
        if schedule.pattern.find_next_occurrence(&begin, true).is_err() {
            return Err(CronError::Never);
        }
        Ok(schedule)
    }

    /// Returns the expression as it was given.
    pub fn expression(&self) -> &str {
        &self.expression
    }

    /// Returns the name of the time zone as it was given.
    pub fn time_zone(&self) -> &str {
        &self.zone_name
    }

    /// Returns the first slot after an instant; `None` only at the end of representable time.
    pub fn next_after(&self, at: Timestamp) -> Option<Timestamp> {
        if self.follows_real_time { self.next_real(at) } else { self.next_fixed(at) }
    }

    /// Returns the wall times that match from `from` on, in order. What a wall time means is not decided.
    pub(crate) fn civil_from(&self, from: DateTime) -> impl Iterator<Item = DateTime> + '_ {
        let mut next = self.pattern.find_next_occurrence(&from, true).ok();
        std::iter::from_fn(move || {
            let found = next.take()?;
            next = self.pattern.find_next_occurrence(&found, false).ok();
            Some(found)
        })
    }

    /// Returns the time zone itself.
    pub(crate) fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// Goes through wall time; each wall time is one instant.
    fn next_fixed(&self, at: Timestamp) -> Option<Timestamp> {
        let mut civil = self.zone.to_datetime(at);
        for _ in 0..MAX_PASSED {
            civil = self.pattern.find_next_occurrence(&civil, false).ok()?;
            let instant = first_instant(&self.zone, civil)?;
            if instant > at {
                return Some(instant);
            }
        }
        None
    }

    /// Goes through real time, piece by piece between changes of clocks.
    fn next_real(&self, at: Timestamp) -> Option<Timestamp> {
        let (mut begin, mut is_included) = (at, false);
        for _ in 0..MAX_PIECES {
            let offset = self.zone.to_offset(begin);
            let end = self.zone.following(begin).next().map(|change| change.timestamp());
            let found = self.pattern.find_next_occurrence(&offset.to_datetime(begin), is_included).ok();
            let instant = found.and_then(|civil| offset.to_timestamp(civil).ok());
            match (instant, end) {
                (Some(instant), Some(end)) if instant >= end => (begin, is_included) = (end, true),
                (Some(instant), _) => return Some(instant),
                (None, Some(end)) => (begin, is_included) = (end, true),
                (None, None) => return None,
            }
        }
        None
    }
}

/// Returns a time zone by its name.
///
/// # Errors
/// `CronError::TimeZone`.
pub(crate) fn zone(name: &str) -> Result<TimeZone, CronError> {
    TimeZone::get(name).map_err(|_| CronError::TimeZone(name.to_owned()))
}

/// Returns the first instant that a wall time means; after the gap if clocks skip it.
pub(crate) fn first_instant(zone: &TimeZone, civil: DateTime) -> Option<Timestamp> {
    match zone.to_ambiguous_timestamp(civil).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(civil).ok(),
        AmbiguousOffset::Fold { before, .. } => before.to_timestamp(civil).ok(),
        AmbiguousOffset::Gap { after, .. } => end_of_gap(zone, after, civil),
    }
}

/// Returns the last instant that a wall time means; after the gap if clocks skip it.
pub(crate) fn last_instant(zone: &TimeZone, civil: DateTime) -> Option<Timestamp> {
    match zone.to_ambiguous_timestamp(civil).offset() {
        AmbiguousOffset::Fold { after, .. } => after.to_timestamp(civil).ok(),
        _ => first_instant(zone, civil),
    }
}

/// A skipped wall time, read with the later offset, lies before the change of clocks by less than the gap.
fn end_of_gap(zone: &TimeZone, after: Offset, civil: DateTime) -> Option<Timestamp> {
    let before_change = after.to_timestamp(civil).ok()?;
    Some(zone.following(before_change).next()?.timestamp())
}

/// Finds the field to blame by putting each into an expression that is fine otherwise.
fn wrong_field(parser: &CronParser, fields: [&str; 5]) -> CronError {
    for (index, name) in FIELDS.into_iter().enumerate() {
        let alone = |at: usize, field: &str| if at == index { field.to_owned() } else { "*".to_owned() };
        let pattern: Vec<String> = fields.iter().enumerate().map(|(at, field)| alone(at, field)).collect();
        if parser.parse(&pattern.join(" ")).is_err() {
            let text = fields.get(index).copied().unwrap_or_default().to_owned();
            return CronError::Field { field: name, text };
        }
    }
    CronError::Never
}

impl fmt::Debug for CronSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CronSchedule({} {})", self.expression, self.zone_name)
    }
}

impl PartialEq for CronSchedule {
    fn eq(&self, other: &Self) -> bool {
        (&self.expression, &self.zone_name) == (&other.expression, &other.zone_name)
    }
}

impl Eq for CronSchedule {}

impl Serialize for CronSchedule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written { expression: self.expression.clone(), time_zone: self.zone_name.clone() }
            .serialize(serializer)
    }
}

impl PartialSchema for CronSchedule {
    fn schema() -> RefOr<Schema> {
        Written::schema()
    }
}

impl ToSchema for CronSchedule {}

impl<'de> Deserialize<'de> for CronSchedule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(deserializer)?;
        Self::parse(&written.expression, &written.time_zone).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
