//! What fired, since when, and what was done about it.

use jiff::Timestamp;
use pegel_core::monitor::labels::Labels;
use pegel_core::monitor::severity::Severity;
use pegel_core::monitor::verdict::{Cause, Ending};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::problem::{FieldProblem, Problems};

/// The longest comment on an incident, in characters.
pub const MAX_COMMENT_CHARS: usize = 4_096;

/// One firing of one monitor, from its trigger to its resolve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct IncidentView {
    /// Its id, which is a part of every key it is told under.
    pub id: Uuid,
    /// The monitor, which may be gone by now.
    pub monitor_id: Uuid,
    /// The monitor's name at that time.
    pub monitor_name: String,
    /// The cluster that the monitor looks at, if it looks at one.
    pub cluster: Option<String>,
    /// The monitor's labels at that time.
    #[schema(value_type = std::collections::HashMap<String, String>)]
    pub labels: Labels,
    /// Why it fired.
    pub cause: Cause,
    /// How bad it is.
    pub severity: Severity,
    /// Since when it is so: the first bad sample of the streak, or the last known sample.
    pub since: Timestamp,
    /// When that was certain.
    pub fired_at: Timestamp,
    /// When people were told; absent as long as that is withheld.
    pub announced_at: Option<Timestamp>,
    /// When somebody took it on.
    pub acknowledged_at: Option<Timestamp>,
    /// Since when it is well again.
    pub ended_at: Option<Timestamp>,
    /// When that was certain; absent while it is open.
    pub closed_at: Option<Timestamp>,
    /// Why it ended.
    pub ending: Option<Ending>,
    /// Grows with each change.
    pub version: i64,
}

/// One thing that happened in an incident.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct IncidentEventView {
    /// Its id; later events have higher ones.
    pub id: Uuid,
    /// When.
    pub happened_at: Timestamp,
    /// What, as a stable word such as `comment`, `acknowledged` or `delivery`.
    pub kind: String,
    /// Who did it; empty for Pegel itself.
    pub actor: String,
    /// What else there is to say; its shape follows from the kind.
    #[schema(value_type = Object)]
    pub detail: Json,
}

/// Asks to write something down in an incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CommentIncident {
    /// What, 1 to 4,096 characters.
    #[schema(min_length = 1, max_length = 4096)]
    pub text: String,
}

impl CommentIncident {
    /// Says what is wrong with the text.
    ///
    /// # Errors
    /// It is empty or too long.
    pub fn validate(&self) -> Result<(), Vec<FieldProblem>> {
        let mut problems = Problems::default();
        let is_said = !self.text.trim().is_empty() && self.text.chars().count() <= MAX_COMMENT_CHARS;
        problems.check(is_said, "/text", "length", "a comment has 1 to 4,096 characters");
        problems.finish()
    }
}

/// Asks for a page of incidents, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct IncidentQuery {
    /// Only those that are still open. Default false.
    #[serde(default)]
    pub only_open: bool,
    /// Only those of this cluster.
    #[serde(default)]
    pub cluster: Option<String>,
    /// `next_cursor` of the page before.
    #[serde(default)]
    pub cursor: Option<String>,
    /// How many items, 1 to 1,000; 100 if absent.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 1000)]
    pub limit: Option<u32>,
}
