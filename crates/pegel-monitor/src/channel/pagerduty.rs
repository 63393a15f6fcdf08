//! PagerDuty, Events API v2.

use pegel_core::monitor::verdict::Notice;
use pegel_http::request::Request;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::channel::{Outgoing, Secrets, post};
use crate::error::Error;
use crate::message::cut;
use crate::target::SecretRef;

/// Where events go unless the settings say otherwise.
pub const ENDPOINT: &str = "https://events.pagerduty.com/v2/enqueue";

/// The longest summary, in characters.
pub const MAX_SUMMARY_CHARS: usize = 1_024;

/// What a channel needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The integration's key of 32 characters.
    pub routing_key: SecretRef,
    /// Where events go.
    #[serde(default = "endpoint")]
    pub url: String,
}

fn endpoint() -> String {
    ENDPOINT.to_owned()
}

impl Settings {
    /// Reads and checks settings.
    ///
    /// # Errors
    /// `invalid`.
    pub fn read(settings: &Json) -> Result<Self, Error> {
        let read = Self::deserialize(settings).map_err(|error| Error::invalid("settings", error))?;
        post(&read.url, &Json::Null)?;
        Ok(read)
    }
}

/// Makes the event of a notice. Reminders are triggers under the same key, which PagerDuty adds to the open alert.
pub(super) fn request(settings: &Json, secrets: &Secrets, outgoing: &Outgoing) -> Result<Request, Error> {
    let settings = Settings::read(settings)?;
    let routing_key = secrets.get(&settings.routing_key)?;
    let message = &outgoing.message;
    let action = match outgoing.notice {
        Notice::Trigger | Notice::Reminder | Notice::Flapping => "trigger",
        Notice::Acknowledge => "acknowledge",
        Notice::Resolve(_) => "resolve",
    };
    let mut event = json!({ "routing_key": routing_key, "event_action": action, "dedup_key": outgoing.key });
    if action == "trigger"
        && let Some(fields) = event.as_object_mut()
    {
        let source = message.cluster.as_deref().unwrap_or(&message.name);
        let payload = json!({
            "summary": cut(&message.headline(outgoing.notice), MAX_SUMMARY_CHARS),
            "source": source,
            "severity": message.severity.pagerduty(),
            "timestamp": message.since,
            "component": message.name,
            "group": message.cluster,
            "class": message.kind,
            "custom_details": {
                "monitor_id": message.monitor_id,
                "cause": message.cause,
                "labels": message.labels,
                "summary": message.summary,
            },
        });
        fields.insert("payload".to_owned(), payload);
        fields.insert("client".to_owned(), "Pegel".into());
        if let Some(link) = &message.link {
            fields.insert("client_url".to_owned(), link.as_str().into());
        }
    }
    post(&settings.url, &event)
}
