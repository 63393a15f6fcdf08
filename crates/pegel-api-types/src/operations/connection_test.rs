//! The connection test. Not an operation of the manual's table: it is asked of a registered cluster or of
//! settings that are not saved yet.

use std::borrow::Cow;

use pegel_core::envelope::Envelope;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a test answers.
pub type ConnectionTestAnswer = Envelope<ConnectionTest>;

/// The outcome of the test; each step is a piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConnectionTest {
    /// What it came to.
    pub verdict: Verdict,
    /// Release line of the servers, guessed from what the coordinator offers.
    #[schema(value_type = Option<String>)]
    pub server_line: Option<Cow<'static, str>>,
    /// Security protocol that was used.
    #[schema(value_type = String)]
    pub security_protocol: Cow<'static, str>,
    /// Tablet servers that answered.
    pub tablet_servers_alive_count: usize,
    /// Tablet servers that are registered, absent when the coordinator could not be asked.
    pub tablet_servers_registered_count: Option<usize>,
    /// Steps that worked.
    pub ok_count: usize,
    /// Steps that failed.
    pub failed_count: usize,
    /// Steps that were not tried.
    pub skipped_count: usize,
}

/// What a connection test came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Everything that was tried works.
    Passed,
    /// The cluster can be used, but an address or a tablet server does not answer.
    Degraded,
    /// The cluster cannot be used through these settings.
    Failed,
}

impl Verdict {
    /// Returns the verdict as it is written in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Degraded => "degraded",
            Self::Failed => "failed",
        }
    }
}
