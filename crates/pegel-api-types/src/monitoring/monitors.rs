//! Monitors: what they look at, by which rule, and how that stands.

use jiff::Timestamp;
use pegel_core::ids::ClusterSlug;
use pegel_core::monitor::kind::MonitorKind;
use pegel_core::monitor::labels::{Labels, check_labels};
use pegel_core::monitor::severity::Severity;
use pegel_core::monitor::verdict::Status;
use pegel_core::monitor::{heartbeat, verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::monitoring::{SecretValues, expose};
use crate::people::ShownOnce;
use crate::problem::{FieldProblem, Problems};

/// The longest name of a monitor, in characters.
pub const MAX_MONITOR_NAME_CHARS: usize = 256;

/// What people write about a monitor.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MonitorForm {
    /// The name shown, 1 to 256 characters.
    #[schema(min_length = 1, max_length = 256)]
    pub name: String,
    /// What it looks at; its fields follow from the kind. `{}` for a heartbeat.
    #[schema(value_type = Object)]
    pub target: Json,
    /// How samples are judged. For a heartbeat only `severity` and `remind_every_ms` count: the rest follows from
    /// its own rule.
    pub rule: verdict::Rule,
    /// What a heartbeat promises; for no other kind.
    #[serde(default)]
    pub heartbeat_rule: Option<heartbeat::Rule>,
    /// Labels, by which routes and silences pick it. `kind` and `cluster` are there without being written.
    #[serde(default)]
    #[schema(value_type = std::collections::HashMap<String, String>)]
    pub labels: Labels,
    /// Values of the secrets that the target names as `{"secret": "<name>"}`. One that is not given stays as it is.
    #[serde(default, serialize_with = "expose")]
    #[schema(value_type = std::collections::HashMap<String, String>)]
    pub secrets: SecretValues,
}

impl MonitorForm {
    /// Says what is wrong with the name, the rules and the labels. The target is for whoever probes it.
    ///
    /// # Errors
    /// Every field that breaks its rule.
    pub fn validate(&self, kind: MonitorKind) -> Result<(), Vec<FieldProblem>> {
        let mut problems = Problems::default();
        let chars = self.name.chars().count();
        let is_name = !self.name.trim().is_empty() && chars <= MAX_MONITOR_NAME_CHARS;
        problems.check(is_name, "/name", "length", "a monitor's name has 1 to 256 characters");
        if let Err(error) = self.rule.check() {
            problems.check(false, "/rule", "range", &error.to_string());
        }
        let is_heartbeat = kind == MonitorKind::Heartbeat;
        match &self.heartbeat_rule {
            Some(rule) if is_heartbeat => {
                if let Err(error) = rule.check() {
                    problems.check(false, "/heartbeat_rule", "range", &error.to_string());
                }
            }
            Some(_) => {
                problems.check(false, "/heartbeat_rule", "value", "only a heartbeat has a rule of its own");
            }
            None => problems.check(!is_heartbeat, "/heartbeat_rule", "missing", "a heartbeat needs its rule"),
        }
        if let Err(error) = check_labels(&self.labels) {
            problems.check(false, "/labels", "value", &error.to_string());
        }
        problems.finish()
    }
}

/// Asks for a monitor.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateMonitor {
    /// What it looks at; never changes.
    pub kind: MonitorKind,
    /// The cluster that it looks at, if it looks at one; never changes.
    #[serde(default)]
    pub cluster: Option<ClusterSlug>,
    /// All else.
    pub monitor: MonitorForm,
}

/// Asks to change a monitor, all of it at once but the secrets, which stay where they are not named.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateMonitor {
    /// The version that was seen; another one is a conflict.
    pub version: i64,
    /// What it is to be.
    pub monitor: MonitorForm,
}

/// How a monitor stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MonitorStateView {
    /// What to call it. Unknown is never up and never down.
    pub status: Status,
    /// When it was last known to be anything.
    pub known_at: Option<Timestamp>,
    /// Since when it fires.
    pub firing_since: Option<Timestamp>,
    /// What fires.
    pub incident_id: Option<Uuid>,
    /// How bad that is.
    pub firing_severity: Option<Severity>,
    /// Whether somebody has taken it on.
    pub is_acknowledged: bool,
    /// Whether it changes so often that people are no longer told of each change.
    pub is_flapping: bool,
    /// When a heartbeat is expected.
    pub expected_at: Option<Timestamp>,
    /// When it is missed.
    pub deadline_at: Option<Timestamp>,
    /// Whether it should have come already.
    pub is_late: bool,
    /// Runs of a heartbeat's job that have begun and not ended.
    pub open_run_count: usize,
}

/// A monitor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MonitorView {
    /// Its id.
    pub id: Uuid,
    /// What it looks at.
    pub kind: MonitorKind,
    /// The cluster that it looks at, if it looks at one.
    pub cluster: Option<ClusterSlug>,
    /// The name shown.
    pub name: String,
    /// What it looks at. Secrets are names, never values.
    #[schema(value_type = Object)]
    pub target: Json,
    /// How samples are judged.
    pub rule: verdict::Rule,
    /// What a heartbeat promises.
    pub heartbeat_rule: Option<heartbeat::Rule>,
    /// Labels, by which routes and silences pick it.
    #[schema(value_type = std::collections::HashMap<String, String>)]
    pub labels: Labels,
    /// How it stands.
    pub state: MonitorStateView,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Grows with each change.
    pub version: i64,
}

/// A key under which a heartbeat is pinged. It is shown this once.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct HeartbeatKey {
    /// The key.
    pub key: ShownOnce,
    /// The path that it makes, below the base path.
    pub path: ShownOnce,
}

/// What a look at a target showed, of which nothing is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MonitorTrial {
    /// What it says.
    pub outcome: verdict::Outcome,
    /// How long it took, in microseconds.
    pub duration_us: Option<u64>,
    /// What was seen, in one line.
    pub summary: String,
    /// What was seen: phases, addresses, certificates, hops, statuses.
    #[schema(value_type = Object)]
    pub evidence: Json,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form() -> MonitorForm {
        MonitorForm {
            name: "coordinator".into(),
            target: json!({ "url": "http://coordinator:9333/" }),
            rule: verdict::Rule {
                fails_to_fire: 1,
                oks_to_resolve: 1,
                interval_ms: 30_000,
                stale_after_ms: 120_000,
                severity: Severity::High,
                no_data_severity: None,
                remind_every_ms: None,
            },
            heartbeat_rule: None,
            labels: Labels::new(),
            secrets: SecretValues::new(),
        }
    }

    #[test]
    fn a_heartbeat_and_nothing_else_has_a_rule_of_its_own() {
        assert!(form().validate(MonitorKind::Http).is_ok());
        let pointer = form().validate(MonitorKind::Heartbeat).unwrap_err()[0].pointer.clone();
        assert_eq!(pointer, "/heartbeat_rule");
    }

    #[test]
    fn every_field_that_breaks_its_rule_is_named() {
        let mut wrong = form();
        wrong.name = " ".into();
        wrong.rule.fails_to_fire = 0;
        wrong.labels = Labels::from([("Bad".to_owned(), String::new())]);
        let problems = wrong.validate(MonitorKind::Http).unwrap_err();
        let pointers: Vec<_> = problems.iter().map(|problem| problem.pointer.as_ref()).collect();
        assert_eq!(pointers, ["/name", "/rule", "/labels"]);
    }

    #[test]
    fn secrets_do_not_print() {
        let mut form = form();
        form.secrets.insert("authorization".into(), "hunter2".into());
        assert!(!format!("{form:?}").contains("hunter2"));
        assert!(serde_json::to_string(&form).unwrap().contains("hunter2"), "a client has to send them");
    }
}
