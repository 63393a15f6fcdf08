//! `[log]`: how the server logs, on stderr.

use tracing_subscriber::EnvFilter;

use crate::settings::problem::Problems;
use crate::settings::section::section;

/// What is logged unless something else is asked for.
pub(crate) const DEFAULT_FILTER: &str = "info";

section! {
    /// How the server logs.
    LogSection as "log" {
        format: String = PEGEL_LOG_FORMAT,
        filter: String = PEGEL_LOG_FILTER,
    }
}

/// The form of a line of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// Checked settings of `[log]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Log {
    pub(crate) format: LogFormat,
    /// A `tracing` filter.
    pub(crate) filter: String,
}

impl LogSection {
    /// Checks everything and fills in defaults.
    pub(super) fn validate(self, problems: &mut Problems) -> Log {
        let format = match self.format.as_deref().unwrap_or("text") {
            "text" => LogFormat::Text,
            "json" => LogFormat::Json,
            _ => {
                problems.add((Self::TABLE, "format"), "write text or json");
                LogFormat::Text
            }
        };
        let filter = self.filter.unwrap_or_else(|| DEFAULT_FILTER.to_owned());
        if let Err(error) = EnvFilter::try_new(&filter) {
            problems.add((Self::TABLE, "filter"), format!("is no filter: {error}"));
        }
        Log { format, filter }
    }
}
