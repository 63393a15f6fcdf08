//! How bad a firing monitor is.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How bad it is when a monitor fires. The order is that of weight: `Low` is the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Low,
    /// To be looked at in working hours.
    Medium,
    /// To be looked at soon.
    High,
    /// To be looked at now, at any hour.
    Critical,
}

/// Says that a text is no severity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a severity is critical, high, medium or low")]
pub struct UnknownSeverity;

impl Severity {
    /// All severities, the least first.
    pub const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Critical];

    /// Returns the severity as it is written everywhere.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// Returns the word PagerDuty has for it.
    pub const fn pagerduty(self) -> &'static str {
        match self {
            Self::Low => "info",
            Self::Medium => "warning",
            Self::High => "error",
            Self::Critical => "critical",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Severity {
    type Err = UnknownSeverity;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|known| known.as_str() == text).ok_or(UnknownSeverity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn severities_are_ordered_by_weight_and_round_trip_as_text() {
        assert!(Severity::ALL.is_sorted());
        for severity in Severity::ALL {
            assert_eq!(severity.as_str().parse(), Ok(severity));
            assert_eq!(serde_json::to_value(severity).unwrap(), severity.as_str());
        }
        assert_eq!("fatal".parse::<Severity>(), Err(UnknownSeverity));
    }

    #[test]
    fn pagerduty_has_its_own_words_for_severities() {
        assert_eq!(Severity::ALL.map(Severity::pagerduty), ["info", "warning", "error", "critical"]);
    }
}
