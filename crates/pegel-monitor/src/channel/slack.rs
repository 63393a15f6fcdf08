//! Slack, incoming webhooks.
//!
//! Whatever comes from a probe is text and never markup: the three characters that Slack's markup is made of are
//! escaped, and nobody is called by it.

use pegel_core::monitor::delivery::storm::listed;
use pegel_core::monitor::severity::Severity;
use pegel_core::monitor::verdict::Notice;
use pegel_http::request::Request;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::channel::{Outgoing, Secrets, post};
use crate::error::Error;
use crate::message::cut;
use crate::target::SecretRef;

/// The longest text of a block, in characters.
pub const MAX_BLOCK_CHARS: usize = 3_000;

/// What a channel needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The webhook's address, which is a secret.
    pub webhook_url: SecretRef,
}

impl Settings {
    /// Reads and checks settings.
    ///
    /// # Errors
    /// `invalid`.
    pub fn read(settings: &Json) -> Result<Self, Error> {
        Self::deserialize(settings).map_err(|error| Error::invalid("settings", error))
    }
}

/// Makes one message of notices.
pub(super) fn request(settings: &Json, secrets: &Secrets, outgoing: &[Outgoing]) -> Result<Request, Error> {
    let settings = Settings::read(settings)?;
    post(secrets.get(&settings.webhook_url)?, &body(outgoing))
}

fn body(outgoing: &[Outgoing]) -> Json {
    let (listed, more) = listed(outgoing.len());
    let mut lines: Vec<String> = outgoing.iter().take(listed).map(line).collect();
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    let text = match lines.as_slice() {
        [only] => only.clone(),
        _ => format!("{} changes: {}", outgoing.len(), lines.join("; ")),
    };
    let blocks: Vec<Json> = lines.iter().map(|line| block(line)).chain(detail(outgoing)).collect();
    json!({ "text": cut(&text, MAX_BLOCK_CHARS), "blocks": blocks, "unfurl_links": false })
}

fn line(outgoing: &Outgoing) -> String {
    let message = &outgoing.message;
    let mark = match (outgoing.notice, message.severity) {
        (Notice::Resolve(_), _) => ":large_green_circle:",
        (Notice::Acknowledge, _) => ":eyes:",
        (_, Severity::Critical) => ":red_circle:",
        (_, Severity::High) => ":large_orange_circle:",
        (_, Severity::Medium) => ":large_yellow_circle:",
        (_, Severity::Low) => ":white_circle:",
    };
    format!("{mark} {}", escaped(&message.headline(outgoing.notice)))
}

/// What is said below one notice; a list of many has no room for it.
fn detail(outgoing: &[Outgoing]) -> Option<Json> {
    let [only] = outgoing else { return None };
    let message = &only.message;
    let link = message.link.as_ref().map(|link| format!(" · <{}|open>", escaped(link))).unwrap_or_default();
    let text = format!("{} · since {:.0}{link}", escaped(message.severity.as_str()), message.since);
    Some(
        json!({ "type": "context", "elements": [{ "type": "mrkdwn", "text": cut(&text, MAX_BLOCK_CHARS) }] }),
    )
}

fn block(text: &str) -> Json {
    json!({ "type": "section", "text": { "type": "mrkdwn", "text": cut(text, MAX_BLOCK_CHARS) } })
}

/// Escapes what Slack says is to be escaped, and nothing else.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use pegel_core::monitor::delivery::ChannelKind;
    use uuid::Uuid;

    use super::*;
    use crate::message::tests::message;

    fn outgoing(name: &str) -> Outgoing {
        Outgoing {
            id: Uuid::from_u128(1),
            key: "key".to_owned(),
            notice: Notice::Trigger,
            message: message(name, ChannelKind::Slack, json!({})),
        }
    }

    #[test]
    fn nothing_a_probe_says_is_markup_or_calls_anybody() {
        let body = body(&[outgoing("a <!channel> & <@U1> `x`")]);
        let text = body["text"].as_str().unwrap();
        assert!(text.contains("a &lt;!channel&gt; &amp; &lt;@U1&gt; `x`"), "{text}");
        assert!(!body.to_string().contains("<!"), "{body}");
    }

    #[test]
    fn a_storm_is_one_message_that_lists_twenty_and_counts_the_rest() {
        let all: Vec<Outgoing> = (0..400).map(|number| outgoing(&format!("monitor {number}"))).collect();
        let body = body(&all);
        assert_eq!(body["blocks"].as_array().unwrap().len(), 21);
        assert!(body["blocks"][20].to_string().contains("and 380 more"));
        assert!(body["text"].as_str().unwrap().starts_with("400 changes"));
    }

    #[test]
    fn an_endless_text_is_cut_to_what_slack_takes() {
        let body = body(&[outgoing(&"ä".repeat(10_000))]);
        let block = body["blocks"][0]["text"]["text"].as_str().unwrap();
        assert_eq!(block.chars().count(), MAX_BLOCK_CHARS);
    }
}
