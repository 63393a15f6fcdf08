//! Registered clusters: how they are registered, changed, shown and tested.

pub mod connection;
pub mod state;

use jiff::Timestamp;
use pegel_core::error_code::ErrorCode;
use pegel_core::ids::{ClusterSlug, Environment};
use pegel_core::printable::is_printable;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::clusters::connection::{ConnectionForm, ConnectionView};
use crate::clusters::state::ClusterStateView;
use crate::operations::connection_test::ConnectionTestAnswer;
use crate::problem::{FieldProblem, Problems};

/// The longest name of a cluster, in characters.
pub const MAX_CLUSTER_NAME_CHARS: usize = 256;

/// Asks to register a cluster. The connection is tested first.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RegisterCluster {
    /// Its name in paths, which never changes: 1 to 63 of `a-z`, `0-9` and `-`, the first a letter.
    pub slug: ClusterSlug,
    /// The name shown, 1 to 256 characters.
    pub name: String,
    /// What it is for.
    pub environment: Environment,
    /// Whether Pegel refuses every change to it, whoever asks. Default false.
    #[serde(default)]
    pub read_only: bool,
    /// How it is reached.
    pub connection: ConnectionForm,
    /// Whether to save it although the connection test fails. Default false.
    #[serde(default)]
    pub save_despite_failure: bool,
}

/// Asks to change a cluster, all of it at once but the secrets, which stay where they are not named.
/// A changed connection is tested first.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateCluster {
    /// The version that was seen; another one is a conflict.
    pub version: i64,
    /// The name shown, 1 to 256 characters.
    pub name: String,
    /// What it is for.
    pub environment: Environment,
    /// Whether Pegel refuses every change to it, whoever asks.
    pub read_only: bool,
    /// How it is reached.
    pub connection: ConnectionForm,
    /// Whether to save it although the connection test fails. Default false.
    #[serde(default)]
    pub save_despite_failure: bool,
}

/// Asks to test a connection that is not saved. For a registered cluster, secrets that are not named are
/// the stored ones.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TestConnection {
    /// What to test.
    pub connection: ConnectionForm,
}

/// A registered cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClusterView {
    /// Its name in paths.
    pub slug: ClusterSlug,
    /// The name shown.
    pub name: String,
    /// What it is for.
    pub environment: Environment,
    /// Whether Pegel refuses every change to it.
    pub read_only: bool,
    /// How it is reached. Absent for those who see some of its tables only, and where the stored settings
    /// cannot be read.
    pub connection: Option<ConnectionView>,
    /// Whether it is up, as far as was seen. Absent for those who may not see servers.
    pub state: Option<ClusterStateView>,
    /// Why nothing can be asked of it; absent where something can.
    pub unusable: Option<Unusable>,
    /// When registered.
    pub created_at: Timestamp,
    /// When last changed.
    pub updated_at: Timestamp,
    /// Grows with each change, also of a secret.
    pub version: i64,
}

/// A cluster that was saved, and how the test of its connection went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SavedCluster {
    /// The cluster as it is now.
    pub cluster: ClusterView,
    /// The connection test; absent where the connection did not change.
    pub connection_test: Option<ConnectionTestAnswer>,
}

/// Why the stored settings of a cluster cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Unusable {
    /// The stable code.
    pub code: ErrorCode,
    /// What is wrong, for people.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

const NAME_RULE: &str = "a cluster's name has 1 to 256 printable characters";

impl RegisterCluster {
    /// Says what is wrong with the name and the lengths of the connection's texts.
    ///
    /// # Errors
    /// Every field that breaks its rule.
    pub fn validate(&self) -> Result<(), Vec<FieldProblem>> {
        validate(&self.name, &self.connection)
    }
}

impl UpdateCluster {
    /// Says what is wrong with the name and the lengths of the connection's texts.
    ///
    /// # Errors
    /// Every field that breaks its rule.
    pub fn validate(&self) -> Result<(), Vec<FieldProblem>> {
        validate(&self.name, &self.connection)
    }
}

impl TestConnection {
    /// Says what is wrong with the lengths of the connection's texts.
    ///
    /// # Errors
    /// Every field that breaks its rule.
    pub fn validate(&self) -> Result<(), Vec<FieldProblem>> {
        let mut problems = Problems::default();
        self.connection.check_lengths(&mut problems);
        problems.finish()
    }
}

fn validate(name: &str, connection: &ConnectionForm) -> Result<(), Vec<FieldProblem>> {
    let mut problems = Problems::default();
    let is_name = !name.trim().is_empty()
        && name.chars().count() <= MAX_CLUSTER_NAME_CHARS
        && name.chars().all(is_printable);
    problems.check(is_name, "/name", "length", NAME_RULE);
    connection.check_lengths(&mut problems);
    problems.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn register(json: &str) -> Result<RegisterCluster, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn slug_name_and_environment_are_required_and_unknown_fields_refused() {
        let good = r#"{"slug":"eu","name":"EU","environment":"test","connection":{}}"#;
        let request = register(good).unwrap();
        assert!(!request.read_only && !request.save_despite_failure);
        assert_eq!(request.validate(), Ok(()));
        let error = register(r#"{"slug":"eu","name":"EU","connection":{}}"#).unwrap_err();
        assert!(error.contains("environment"), "{error}");
        let error =
            register(r#"{"slug":"../eu","name":"EU","environment":"test","connection":{}}"#).unwrap_err();
        assert!(error.contains("begins with a letter"), "{error}");
        let extra = r#"{"slug":"eu","name":"EU","environment":"test","connection":{},"owner":"x"}"#;
        assert!(register(extra).unwrap_err().contains("owner"));
        let extra = r#"{"slug":"eu","name":"EU","environment":"test","connection":{"sasl.jaas.config":"x"}}"#;
        assert!(register(extra).unwrap_err().contains("sasl.jaas.config"));
    }

    #[test]
    fn a_name_is_neither_blank_nor_endless() {
        for name in ["", "  ", &"x".repeat(257), "a\nb", "eu\u{202e}dorp"] {
            let mut request =
                register(r#"{"slug":"eu","name":"EU","environment":"test","connection":{}}"#).unwrap();
            request.name = name.to_owned();
            let pointers: Vec<_> =
                request.validate().unwrap_err().into_iter().map(|problem| problem.pointer).collect();
            assert_eq!(pointers, ["/name"], "{name:?}");
        }
    }
}
