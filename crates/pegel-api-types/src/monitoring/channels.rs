//! Channels: over what people are told.

use jiff::Timestamp;
use pegel_core::monitor::delivery::ChannelKind;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::monitoring::{SecretValues, expose};
use crate::problem::{FieldProblem, Problems};

/// The longest name of a channel, in characters.
pub const MAX_CHANNEL_NAME_CHARS: usize = 256;

/// What people write about a channel.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChannelForm {
    /// The name shown, 1 to 256 characters; no two channels have the same.
    #[schema(min_length = 1, max_length = 256)]
    pub name: String,
    /// Where to; its fields follow from the kind. Fields that are secrets are left out here.
    #[schema(value_type = Object)]
    pub settings: Json,
    /// Values of the fields that are secrets: `routing_key` of pagerduty, `webhook_url` of slack, `signing_secret` of
    /// webhook, `password` of smtp. One that is not given stays as it is.
    #[serde(default, serialize_with = "expose")]
    #[schema(value_type = std::collections::HashMap<String, String>)]
    pub secrets: SecretValues,
    /// Whether it is in use.
    pub is_enabled: bool,
}

impl ChannelForm {
    /// Says what is wrong with the name and the shape of the settings.
    ///
    /// # Errors
    /// Every field that breaks its rule.
    pub fn validate(&self) -> Result<(), Vec<FieldProblem>> {
        let mut problems = Problems::default();
        let chars = self.name.chars().count();
        let is_name = !self.name.trim().is_empty() && chars <= MAX_CHANNEL_NAME_CHARS;
        problems.check(is_name, "/name", "length", "a channel's name has 1 to 256 characters");
        problems.check(self.settings.is_object(), "/settings", "type", "settings are an object");
        problems.finish()
    }
}

/// Asks for a channel.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateChannel {
    /// What it speaks; never changes.
    pub kind: ChannelKind,
    /// All else.
    pub channel: ChannelForm,
}

/// Asks to change a channel, all of it at once but the secrets, which stay where they are not named.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateChannel {
    /// The version that was seen; another one is a conflict.
    pub version: i64,
    /// What it is to be.
    pub channel: ChannelForm,
}

/// A channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChannelView {
    /// Its id.
    pub id: Uuid,
    /// What it speaks.
    pub kind: ChannelKind,
    /// The name shown.
    pub name: String,
    /// Where to, without the fields that are secrets.
    #[schema(value_type = Object)]
    pub settings: Json,
    /// The fields that are secrets and have a value.
    pub secret_fields: Vec<String>,
    /// Whether it is in use.
    pub is_enabled: bool,
    /// Since when nothing gets through.
    pub failing_since: Option<Timestamp>,
    /// Since when the target refuses for good, and why.
    pub broken: Option<BrokenChannel>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Grows with each change.
    pub version: i64,
}

/// Why a channel is not used until somebody mends it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BrokenChannel {
    /// Since when.
    pub since: Timestamp,
    /// What the target said, without secrets.
    pub reason: String,
}

/// What became of a test message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChannelTrial {
    /// Whether the target took it.
    pub is_delivered: bool,
    /// What each message of the test led to, in order: what the target said, without secrets.
    pub details: Vec<String>,
}
