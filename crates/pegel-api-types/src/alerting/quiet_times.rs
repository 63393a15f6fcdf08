//! When people are not told: silences, which somebody decides, and maintenance windows, which are planned.

use jiff::Timestamp;
use pegel_core::monitor::labels::Matcher;
use pegel_core::monitor::quiet::{Maintenance, QuietError, Recurrence, Silence};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::asked_time;
use crate::problem::{FieldProblem, Problems};

/// The longest comment, in characters.
pub const MAX_COMMENT_CHARS: usize = 1_024;

/// Asks for a silence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SilenceForm {
    /// Of what; all must match, and there is at least one.
    #[schema(min_items = 1, max_items = 32)]
    pub matchers: Vec<Matcher>,
    /// From when; now if absent.
    #[serde(default, deserialize_with = "asked_time::optional")]
    pub starts_at: Option<Timestamp>,
    /// Until when; not included.
    #[serde(deserialize_with = "asked_time::required")]
    pub ends_at: Timestamp,
    /// Why, 1 to 1,024 characters: others have to know.
    #[schema(min_length = 1, max_length = 1024)]
    pub comment: String,
}

impl SilenceForm {
    /// Makes the silence, beginning now if no begin is given.
    ///
    /// # Errors
    /// Every field that breaks its rule.
    pub fn silence(&self, now: Timestamp) -> Result<Silence, Vec<FieldProblem>> {
        let starts_at = self.starts_at.unwrap_or(now);
        let silence = Silence { matchers: self.matchers.clone(), starts_at, ends_at: self.ends_at };
        let mut problems = Problems::default();
        check_comment(&mut problems, &self.comment);
        problems.check(
            self.ends_at > now,
            "/ends_at",
            "range",
            "it would be over before anybody could see it",
        );
        if let Err(error) = silence.check() {
            let pointer = if error == QuietError::EndsBeforeItBegins { "/ends_at" } else { "/matchers" };
            problems.check(false, pointer, "value", &error.to_string());
        }
        problems.finish().map(|()| silence)
    }
}

/// Asks to change a silence, all of it at once. One that has begun is ended by giving it an end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateSilence {
    /// The version that was seen; another one is a conflict.
    pub version: i64,
    /// What it is to be.
    pub silence: SilenceForm,
}

/// A silence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SilenceView {
    /// Its id.
    pub id: Uuid,
    /// Of what; all must match.
    pub matchers: Vec<Matcher>,
    /// From when.
    pub starts_at: Timestamp,
    /// Until when; not included.
    pub ends_at: Timestamp,
    /// Why.
    pub comment: String,
    /// Who made it.
    pub created_by: String,
    /// Whether it keeps people from being told at this moment.
    pub is_active: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Grows with each change.
    pub version: i64,
}

/// Asks for a maintenance window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MaintenanceForm {
    /// Of what; all must match, and there is at least one.
    #[schema(min_items = 1, max_items = 32)]
    pub matchers: Vec<Matcher>,
    /// When.
    pub recurrence: Recurrence,
    /// What is done, 1 to 1,024 characters.
    #[schema(min_length = 1, max_length = 1024)]
    pub comment: String,
}

impl MaintenanceForm {
    /// Makes the window.
    ///
    /// # Errors
    /// Every field that breaks its rule.
    pub fn maintenance(&self) -> Result<Maintenance, Vec<FieldProblem>> {
        let window = Maintenance { matchers: self.matchers.clone(), recurrence: self.recurrence.clone() };
        let mut problems = Problems::default();
        check_comment(&mut problems, &self.comment);
        if let Err(error) = window.check() {
            let pointer = match error {
                QuietError::MatchesEverything | QuietError::Label(_) => "/matchers",
                _ => "/recurrence",
            };
            problems.check(false, pointer, "value", &error.to_string());
        }
        problems.finish().map(|()| window)
    }
}

/// Asks to change a maintenance window, all of it at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateMaintenance {
    /// The version that was seen; another one is a conflict.
    pub version: i64,
    /// What it is to be.
    pub window: MaintenanceForm,
}

/// A maintenance window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MaintenanceView {
    /// Its id.
    pub id: Uuid,
    /// Of what; all must match.
    pub matchers: Vec<Matcher>,
    /// When.
    pub recurrence: Recurrence,
    /// What is done.
    pub comment: String,
    /// Who planned it.
    pub created_by: String,
    /// Until when it goes on, if it does at this moment.
    pub active_until: Option<Timestamp>,
    /// When it begins the next time; absent when it is over for good.
    pub next_starts_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Grows with each change.
    pub version: i64,
}

fn check_comment(problems: &mut Problems, comment: &str) {
    let is_said = !comment.trim().is_empty() && comment.chars().count() <= MAX_COMMENT_CHARS;
    problems.check(is_said, "/comment", "length", "a comment has 1 to 1,024 characters");
}

#[cfg(test)]
mod tests {
    use pegel_core::monitor::labels::Operator;
    use pegel_core::monitor::schedule::CronSchedule;

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn matchers() -> Vec<Matcher> {
        vec![Matcher { label: "cluster".into(), operator: Operator::In, values: vec!["eu".into()] }]
    }

    #[test]
    fn a_silence_begins_now_and_ends_later() {
        let now = at("2026-01-01T00:00:00Z");
        let form = SilenceForm {
            matchers: matchers(),
            starts_at: None,
            ends_at: at("2026-01-01T01:00:00Z"),
            comment: "disk is being changed".into(),
        };
        assert_eq!(form.silence(now).unwrap().starts_at, now);
        for (form, pointer) in [
            (SilenceForm { ends_at: now, ..form.clone() }, "/ends_at"),
            (SilenceForm { matchers: Vec::new(), ..form.clone() }, "/matchers"),
            (SilenceForm { comment: " ".into(), ..form.clone() }, "/comment"),
            (SilenceForm { starts_at: Some(at("2026-01-02T00:00:00Z")), ..form.clone() }, "/ends_at"),
        ] {
            assert_eq!(form.silence(now).unwrap_err()[0].pointer, pointer, "{form:?}");
        }
    }

    #[test]
    fn a_window_that_would_never_end_or_overlap_itself_is_refused() {
        let window = |cron: &str, duration_minutes| MaintenanceForm {
            matchers: matchers(),
            recurrence: Recurrence::Recurring {
                begins: CronSchedule::parse(cron, "Europe/Berlin").unwrap(),
                duration_minutes,
            },
            comment: "weekly restart".into(),
        };
        assert!(window("0 2 * * 1", 120).maintenance().is_ok());
        for bad in [window("* * * * *", 1), window("0 2 * * *", 1_500), window("0 2 * * 1", 0)] {
            assert_eq!(bad.maintenance().unwrap_err()[0].pointer, "/recurrence", "{bad:?}");
        }
    }
}
