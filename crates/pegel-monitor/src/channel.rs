//! Channels: how each kind says what is to be told, and what its settings are.
//!
//! All HTTP goes through `pegel-http` and its rules for addresses. Secrets are read when something is sent; what
//! a target said is kept without them.

pub mod pagerduty;
pub mod secret;
pub mod slack;
pub mod smtp;
pub mod webhook;

use std::time::Duration;

use http::header::{DATE, RETRY_AFTER};
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use pegel_core::monitor::delivery::answer::{Answer, Meaning, meaning};
use pegel_core::monitor::delivery::lane::Attempt;
use pegel_core::monitor::delivery::retry::{ATTEMPT_MS, CONNECT_MS};
use pegel_core::monitor::delivery::{ChannelKind, answer};
use pegel_core::monitor::span::elapsed_ms;
use pegel_core::monitor::verdict::Notice;
use pegel_http::Outbound;
use pegel_http::expect::Expect;
use pegel_http::report::{Report, Sent};
use pegel_http::request::{Header, Redirects, Request};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value as Json;
use uuid::Uuid;

use crate::error::Error;
use crate::message::{Message, cut};

/// The longest detail of an attempt that is kept, in characters.
const MAX_DETAIL_CHARS: usize = 500;

/// One notice to be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// Its id, the same over all attempts.
    pub id: Uuid,
    /// The key of its firing and channel.
    pub key: String,
    /// What it says.
    pub notice: Notice,
    /// What the message is made of.
    pub message: Message,
}

/// What became of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempted {
    /// What it means.
    pub meaning: Meaning,
    /// Whether it has arrived.
    pub attempt: Attempt,
    /// What the target said, without secrets.
    pub detail: String,
}

impl Attempted {
    pub(crate) fn not_sent(detail: impl Into<String>) -> Self {
        let meaning = Meaning::Retry { not_before_ms: 0 };
        Self { meaning, attempt: Attempt::NotArrived, detail: detail.into() }
    }

    /// Says that nothing can ever be sent like that.
    pub(crate) fn unusable(detail: impl Into<String>) -> Self {
        Self { meaning: Meaning::Broken, attempt: Attempt::NotArrived, detail: detail.into() }
    }
}

/// The values of a channel's secrets, by their field.
#[derive(Debug, Clone, Default)]
pub struct Secrets(Vec<(String, SecretString)>);

impl Secrets {
    /// Takes values.
    pub fn new(values: Vec<(String, SecretString)>) -> Self {
        Self(values)
    }

    /// Returns the value of one.
    ///
    /// # Errors
    /// `invalid` if it is not kept.
    pub fn get(&self, name: &crate::target::SecretRef) -> Result<&str, Error> {
        let known = self.0.iter().find(|(field, _)| *field == name.secret);
        known
            .map(|(_, value)| value.expose_secret())
            .ok_or_else(|| Error::invalid(&name.secret, "this secret is not kept"))
    }

    /// Returns a text without any of them.
    fn redacted(&self, text: &str) -> String {
        let shown = self.0.iter().filter(|(_, value)| value.expose_secret().len() >= 4);
        shown.fold(text.to_owned(), |text, (_, value)| text.replace(value.expose_secret(), "[redacted]"))
    }
}

/// Checks the settings of a channel when they are saved.
///
/// # Errors
/// `invalid`, naming the field.
pub fn check(kind: ChannelKind, settings: &Json) -> Result<(), Error> {
    match kind {
        ChannelKind::Pagerduty => pagerduty::Settings::read(settings).map(drop),
        ChannelKind::Slack => slack::Settings::read(settings).map(drop),
        ChannelKind::Webhook => webhook::Settings::read(settings).map(drop),
        ChannelKind::Smtp => smtp::Settings::read(settings).map(drop),
        ChannelKind::Teams | ChannelKind::Opsgenie | ChannelKind::Alertmanager => {
            Err(Error::invalid("kind", "channels of this kind cannot be made yet"))
        }
    }
}

/// Sends notices over a channel as one message: one of them, unless people read it. Takes at most the deadline of
/// an attempt.
pub(crate) async fn send(
    outbound: &Outbound,
    secrets: &Secrets,
    outgoing: &[Outgoing],
    now: Timestamp,
) -> Attempted {
    let Some(first) = outgoing.first() else { return Attempted::not_sent("nothing is to be sent") };
    let settings = &first.message.channel.settings;
    let kind = first.message.channel.kind;
    let request = match kind {
        ChannelKind::Pagerduty => pagerduty::request(settings, secrets, first),
        ChannelKind::Slack => slack::request(settings, secrets, outgoing),
        ChannelKind::Webhook => webhook::request(settings, secrets, first, now),
        ChannelKind::Smtp => return Box::pin(smtp::send(settings, secrets, outgoing, now)).await,
        ChannelKind::Teams | ChannelKind::Opsgenie | ChannelKind::Alertmanager => {
            Err(Error::invalid("kind", "channels of this kind cannot be used yet"))
        }
    };
    let request = match request {
        Ok(request) => request,
        Err(error) => return Attempted::unusable(secrets.redacted(&error.to_string())),
    };
    let report = outbound.send(&request, &Expect::anything()).await;
    read(kind, &report, secrets, now)
}

/// Makes a request of a channel: JSON, no redirects, the deadlines of an attempt.
fn post(url: &str, body: &Json) -> Result<Request, Error> {
    let mut request =
        Request::get(url, Duration::from_millis(ATTEMPT_MS)).map_err(|error| Error::invalid("url", error))?;
    request.method = http::Method::POST;
    request.connect_deadline = Some(Duration::from_millis(CONNECT_MS));
    request.redirects = Redirects::Keep;
    request.kept_bytes = 4 * 1024;
    request.read_bytes = 64 * 1024;
    request.headers.push(header("content-type", "application/json")?);
    request.body = serde_json::to_vec(body).map_err(|error| Error::invalid("message", error))?.into();
    Ok(request)
}

fn header(name: &str, value: &str) -> Result<Header, Error> {
    Header::new(name, value).map_err(|error| Error::invalid("headers", error))
}

fn read(kind: ChannelKind, report: &Report, secrets: &Secrets, now: Timestamp) -> Attempted {
    let Some(answer) = &report.answer else {
        let failure = report.failure.as_ref();
        let sent = failure.map_or(Sent::Nothing, |failure| failure.sent);
        let detail = failure.map_or_else(String::new, |failure| failure.error.to_string());
        let (given, attempt) = match sent {
            Sent::Nothing => (Answer::NotSent, Attempt::NotArrived),
            Sent::Maybe => (Answer::Ambiguous, Attempt::Unknown),
        };
        return Attempted { meaning: meaning(kind, given), attempt, detail: secrets.redacted(&detail) };
    };
    let body = String::from_utf8_lossy(&answer.body);
    let retry_after_ms = retry_after(answer, now);
    let status = answer.status;
    let meaning = meaning(kind, Answer::Http { status, body: &body, retry_after_ms });
    let attempt = match (meaning, status) {
        (Meaning::Delivered, _) => Attempt::Arrived,
        // Whoever stands before the target may have passed it on.
        (_, 500..=599) => Attempt::Unknown,
        _ => Attempt::NotArrived,
    };
    let detail = secrets.redacted(&format!("status {status}: {}", cut(body.trim(), MAX_DETAIL_CHARS)));
    Attempted { meaning, attempt, detail }
}

/// Returns how long a target asks to be left alone: in seconds, or until a date by its own clock.
fn retry_after(answer: &pegel_http::report::Answer, now: Timestamp) -> Option<u64> {
    let text = answer.headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(seconds.saturating_mul(1_000).min(answer::MAX_RETRY_AFTER_MS));
    }
    let date = |text: &str| Some(rfc2822::DateTimeParser::new().parse_zoned(text).ok()?.timestamp());
    let theirs = answer.headers.get(DATE).and_then(|value| date(value.to_str().ok()?));
    Some(elapsed_ms(theirs.unwrap_or(now), date(text)?).min(answer::MAX_RETRY_AFTER_MS))
}
