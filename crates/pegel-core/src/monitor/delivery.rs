//! What the outbox does next with a notice: what an answer means ([`answer`]), when to try again
//! ([`retry`]), what may go out and what has become pointless ([`lane`]), and what is merged in a storm
//! ([`storm`]).
//!
//! The rows, the leases and the sending are elsewhere. A notice has one key over all its attempts.

pub mod answer;
pub mod lane;
pub mod retry;
pub mod storm;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::monitor::verdict::FiringId;

/// What a channel speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChannelKind {
    /// PagerDuty Events v2.
    Pagerduty,
    /// A Slack webhook.
    Slack,
    /// Mail.
    Smtp,
    /// A Teams webhook.
    Teams,
    /// Opsgenie alerts.
    Opsgenie,
    /// A webhook as Standard Webhooks says.
    Webhook,
    /// Alertmanager v2.
    Alertmanager,
}

/// Says that a text is no kind of channel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a channel is pagerduty, slack, smtp, teams, opsgenie, webhook or alertmanager")]
pub struct UnknownChannelKind;

impl ChannelKind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Pagerduty,
        Self::Slack,
        Self::Smtp,
        Self::Teams,
        Self::Opsgenie,
        Self::Webhook,
        Self::Alertmanager,
    ];

    /// Returns the kind as it is written everywhere.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pagerduty => "pagerduty",
            Self::Slack => "slack",
            Self::Smtp => "smtp",
            Self::Teams => "teams",
            Self::Opsgenie => "opsgenie",
            Self::Webhook => "webhook",
            Self::Alertmanager => "alertmanager",
        }
    }

    /// Tells whether people read it line by line, so that one line can say what two would, and many
    /// firings can be one message. The others keep track of each firing themselves.
    pub const fn is_read_by_people(self) -> bool {
        matches!(self, Self::Slack | Self::Smtp | Self::Teams)
    }
}

impl fmt::Display for ChannelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ChannelKind {
    type Err = UnknownChannelKind;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|known| known.as_str() == text).ok_or(UnknownChannelKind)
    }
}

/// Returns the key under which everything about a firing is sent over a channel, by whatever instance.
///
/// 104 characters of `a-z`, `0-9` and `.`; every target's limit is longer. It tells who made it, so that no
/// hash is needed to keep installations apart.
pub fn key(installation_id: Uuid, firing_id: FiringId, channel_id: Uuid) -> String {
    let [installation, firing, channel] = [installation_id, firing_id.0, channel_id].map(Uuid::simple);
    format!("pegel.{installation}.{firing}.{channel}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_round_trip_as_text() {
        for kind in ChannelKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
        assert_eq!("pager".parse::<ChannelKind>(), Err(UnknownChannelKind));
    }

    #[test]
    fn the_key_differs_by_installation_firing_and_channel_and_never_by_attempt() {
        let id = Uuid::from_u128;
        let base = key(id(1), FiringId(id(2)), id(3));
        assert_eq!(base, key(id(1), FiringId(id(2)), id(3)));
        assert_eq!(base.len(), 104);
        for other in [
            key(id(9), FiringId(id(2)), id(3)),
            key(id(1), FiringId(id(9)), id(3)),
            key(id(1), FiringId(id(2)), id(9)),
        ] {
            assert_ne!(base, other);
        }
    }
}
