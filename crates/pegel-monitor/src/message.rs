//! Everything a channel's message is made of, as it is kept in the outbox.
//!
//! It is a copy: no later edit of the monitor or the channel changes what is being said, or to whom. Of secrets
//! it holds only the names.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pegel_core::monitor::delivery::ChannelKind;
use pegel_core::monitor::severity::Severity;
use pegel_core::monitor::span::elapsed_ms;
use pegel_core::monitor::verdict::{Ending, Notice};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use uuid::Uuid;

/// The longest summary, in characters.
pub const MAX_SUMMARY_CHARS: usize = 500;

/// A channel as it was when the first notice of a firing was queued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChannelCopy {
    /// What it speaks.
    pub kind: ChannelKind,
    /// Its name.
    pub name: String,
    /// Its settings, without secrets.
    pub settings: Json,
}

/// What is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// The monitor; nil for what Pegel says about itself.
    pub monitor_id: Uuid,
    /// Its name.
    pub name: String,
    /// Its kind, or the kind of Pegel's own alert.
    pub kind: String,
    /// Its cluster.
    pub cluster: Option<String>,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// How bad it is.
    pub severity: Severity,
    /// Why it fires, such as `bad`.
    pub cause: String,
    /// Since when.
    pub since: Timestamp,
    /// What was seen, in one line.
    pub summary: String,
    /// Where to read more.
    pub link: Option<String>,
    /// Since when it is over.
    pub ended_at: Option<Timestamp>,
    /// Why it is over.
    pub ending: Option<Ending>,
    /// Who has taken it on.
    pub acknowledged_by: Option<String>,
    /// Over which channel.
    pub channel: ChannelCopy,
}

impl Message {
    /// Returns what the notice says, in one line without markup.
    pub fn headline(&self, notice: Notice) -> String {
        let name = &self.name;
        let place = self.cluster.as_ref().map(|cluster| format!(" ({cluster})")).unwrap_or_default();
        match notice {
            Notice::Trigger => format!("{name}{place} is down: {}", self.summary),
            Notice::Reminder => format!("{name}{place} is still down: {}", self.summary),
            Notice::Flapping => format!("{name}{place} goes up and down; quiet until it is calm"),
            Notice::Acknowledge => {
                let who = self.acknowledged_by.as_deref().unwrap_or("somebody");
                format!("{name}{place}: {who} has taken it on")
            }
            Notice::Resolve(Ending::Recovered | Ending::DataBack) => {
                format!("{name}{place} is up again; it was down for {}", self.lasted())
            }
            Notice::Resolve(Ending::Paused) => format!("{name}{place} was paused while it was down"),
            Notice::Resolve(Ending::Deleted) => format!("{name}{place} was deleted while it was down"),
        }
    }

    /// Returns how long it lasted, as people say it.
    pub fn lasted(&self) -> String {
        let Some(ended_at) = self.ended_at else { return "an unknown time".to_owned() };
        let seconds = elapsed_ms(self.since, ended_at) / 1_000;
        match seconds {
            0..=119 => format!("{seconds} s"),
            120..=7_199 => format!("{} min", seconds / 60),
            7_200..=172_799 => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
            _ => format!("{} days", seconds / 86_400),
        }
    }
}

/// Cuts a text at a character, with a sign that it was cut.
pub fn cut(text: &str, max_chars: usize) -> String {
    if text.chars().count() <= max_chars {
        return text.to_owned();
    }
    text.chars().take(max_chars.saturating_sub(1)).chain(['…']).collect()
}

/// Returns the name of a notice as machines read it.
pub const fn notice_name(notice: Notice) -> &'static str {
    match notice {
        Notice::Trigger => "trigger",
        Notice::Flapping => "flapping",
        Notice::Reminder => "reminder",
        Notice::Acknowledge => "acknowledge",
        Notice::Resolve(_) => "resolve",
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;

    pub(crate) fn message(name: &str, kind: ChannelKind, settings: Json) -> Message {
        Message {
            monitor_id: Uuid::from_u128(1),
            name: name.to_owned(),
            kind: "http".to_owned(),
            cluster: Some("orders-eu".to_owned()),
            labels: BTreeMap::new(),
            severity: Severity::Critical,
            cause: "bad".to_owned(),
            since: "2026-03-01T12:00:00Z".parse().unwrap(),
            summary: "status 503 is not expected".to_owned(),
            link: None,
            ended_at: None,
            ending: None,
            acknowledged_by: None,
            channel: ChannelCopy { kind, name: "on call".to_owned(), settings },
        }
    }

    #[test]
    fn a_resolve_says_how_long_it_was_down() {
        let mut message = message("a", ChannelKind::Slack, json!({}));
        let lasted = |message: &mut Message, seconds: i64| {
            message.ended_at = Some(message.since + jiff::SignedDuration::from_secs(seconds));
            message.lasted()
        };
        assert_eq!(lasted(&mut message, 119), "119 s");
        assert_eq!(lasted(&mut message, 240), "4 min");
        assert_eq!(lasted(&mut message, 7_260), "2 h 1 min");
        assert_eq!(lasted(&mut message, 172_800), "2 days");
        message.ended_at = Some(message.since + jiff::SignedDuration::from_secs(240));
        let told = message.headline(Notice::Resolve(Ending::Recovered));
        assert_eq!(told, "a (orders-eu) is up again; it was down for 4 min");
    }

    #[test]
    fn a_text_is_cut_at_a_character() {
        assert_eq!((cut("äöü", 3).as_str(), cut("äöüß", 3).as_str()), ("äöü", "äö…"));
    }
}
