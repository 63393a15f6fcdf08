//! Mail.
//!
//! Each recipient gets a message of its own, so that one who is refused does not keep it from the others. A message
//! keeps its id over all attempts, and a resolve is an answer to its trigger.

use std::time::Duration;

use jiff::Timestamp;
use lettre::message::header::ContentType;
use lettre::message::{Mailbox, MessageBuilder};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor};
use pegel_core::monitor::delivery::ChannelKind;
use pegel_core::monitor::delivery::answer::{Answer, meaning};
use pegel_core::monitor::delivery::lane::Attempt;
use pegel_core::monitor::delivery::storm::listed;
use pegel_core::monitor::verdict::Notice;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::channel::{Attempted, Outgoing, Secrets};
use crate::error::Error;
use crate::message::cut;
use crate::target::SecretRef;

/// How long connecting may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// How long one recipient may take, from connecting to the server's last word.
const RECIPIENT_LIMIT: Duration = Duration::from_secs(10);

/// How long all recipients together may take.
const TOTAL_LIMIT: Duration = Duration::from_secs(60);

/// The most recipients of a channel.
pub const MAX_RECIPIENTS: usize = 50;

/// The longest subject, in characters.
const MAX_SUBJECT_CHARS: usize = 200;

/// How a connection is kept from being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Security {
    /// TLS after STARTTLS, and nothing without it.
    #[default]
    Starttls,
    /// TLS from the first byte.
    Tls,
    /// None; no password is sent.
    None,
}

/// What a channel needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The mail server.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How the connection is kept from being read.
    #[serde(default)]
    pub security: Security,
    /// Who signs in, if anybody does.
    #[serde(default)]
    pub username: Option<String>,
    /// With what.
    #[serde(default)]
    pub password: Option<SecretRef>,
    /// From whom.
    pub from: String,
    /// To whom.
    pub to: Vec<String>,
}

impl Settings {
    /// Reads and checks settings.
    ///
    /// # Errors
    /// `invalid`.
    pub fn read(settings: &Json) -> Result<Self, Error> {
        let read = Self::deserialize(settings).map_err(|error| Error::invalid("settings", error))?;
        if read.host.is_empty() || read.port == 0 {
            return Err(Error::invalid("settings.host", "a mail server has a host and a port"));
        }
        if read.to.is_empty() || read.to.len() > MAX_RECIPIENTS {
            return Err(Error::invalid("settings.to", format!("1 to {MAX_RECIPIENTS} recipients")));
        }
        mailbox("settings.from", &read.from)?;
        read.to.iter().try_for_each(|to| mailbox("settings.to", to).map(drop))?;
        if read.security == Security::None && read.username.is_some() {
            return Err(Error::invalid("settings.security", "nobody signs in without TLS"));
        }
        if read.username.is_some() != read.password.is_some() {
            return Err(Error::invalid("settings.password", "a username and a password belong together"));
        }
        Ok(read)
    }
}

fn mailbox(field: &str, text: &str) -> Result<Mailbox, Error> {
    text.parse().map_err(|error| Error::invalid(field, error))
}

/// Sends notices as one message to each recipient.
pub(super) async fn send(
    settings: &Json,
    secrets: &Secrets,
    outgoing: &[Outgoing],
    now: Timestamp,
) -> Attempted {
    let made = Settings::read(settings).and_then(|settings| {
        let transport = transport(&settings, secrets)?;
        Ok((settings, transport))
    });
    let (settings, transport) = match made {
        Ok(made) => made,
        Err(error) => return Attempted::unusable(secrets.redacted(&error.to_string())),
    };
    let mut results = Vec::new();
    let all = async {
        for to in &settings.to {
            results.push(deliver(&transport, &settings, to, outgoing, now).await);
        }
    };
    let is_late = tokio::time::timeout(TOTAL_LIMIT, all).await.is_err();
    judge(results, is_late, secrets)
}

/// What came of one recipient.
struct Recipient {
    to: String,
    answer: Answer<'static>,
    detail: String,
}

async fn deliver(
    transport: &AsyncSmtpTransport<Tokio1Executor>,
    settings: &Settings,
    to: &str,
    outgoing: &[Outgoing],
    now: Timestamp,
) -> Recipient {
    let result = |answer, detail: String| Recipient { to: to.to_owned(), answer, detail };
    let mail = match mail(settings, to, outgoing, now) {
        Ok(mail) => mail,
        Err(error) => return result(Answer::Smtp { code: 550 }, error.to_string()),
    };
    // The library's own limit ends with the connection's begin.
    let Ok(sent) = tokio::time::timeout(RECIPIENT_LIMIT, transport.send(mail)).await else {
        return result(Answer::Ambiguous, "the mail server is too slow".to_owned());
    };
    match sent {
        Ok(response) => {
            let told = response.message().collect::<Vec<_>>().join(" ");
            result(Answer::Smtp { code: response.code().into() }, told)
        }
        Err(error) => {
            let detail = chain(&error);
            match error.status() {
                Some(code) => result(Answer::Smtp { code: code.into() }, detail),
                None if error.is_client() || error.is_tls() => result(Answer::NotSent, detail),
                None => result(Answer::Ambiguous, detail),
            }
        }
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        source = inner.source();
    }
    text
}

/// Says what the results of all recipients mean for the notice: one who can be tried again decides.
fn judge(results: Vec<Recipient>, is_late: bool, secrets: &Secrets) -> Attempted {
    let mut delivered = 0;
    let mut again: Option<(Answer<'static>, String)> = None;
    let mut refused: Vec<String> = Vec::new();
    for result in results {
        match result.answer {
            Answer::Smtp { code: 200..=299 } => delivered += 1,
            Answer::Smtp { code: 500..=599 } => refused.push(format!("{}: {}", result.to, result.detail)),
            answer => again = again.or(Some((answer, result.detail))),
        }
    }
    if is_late {
        again = again.or(Some((Answer::Ambiguous, "the mail server is too slow".to_owned())));
    }
    let kind = ChannelKind::Smtp;
    if let Some((answer, detail)) = again {
        let attempt =
            if delivered > 0 || answer == Answer::Ambiguous { Attempt::Unknown } else { Attempt::NotArrived };
        return Attempted { meaning: meaning(kind, answer), attempt, detail: secrets.redacted(&detail) };
    }
    let detail = secrets.redacted(&refused.join("; "));
    if delivered > 0 {
        let meaning = meaning(kind, Answer::Smtp { code: 250 });
        return Attempted { meaning, attempt: Attempt::Arrived, detail };
    }
    Attempted { meaning: meaning(kind, Answer::Smtp { code: 550 }), attempt: Attempt::NotArrived, detail }
}

fn transport(settings: &Settings, secrets: &Secrets) -> Result<AsyncSmtpTransport<Tokio1Executor>, Error> {
    let tls =
        || TlsParameters::new(settings.host.clone()).map_err(|error| Error::invalid("settings.host", error));
    let tls = match settings.security {
        Security::Starttls => Tls::Required(tls()?),
        Security::Tls => Tls::Wrapper(tls()?),
        Security::None => Tls::None,
    };
    let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&settings.host)
        .port(settings.port)
        .tls(tls)
        .timeout(Some(CONNECT_LIMIT));
    if let (Some(username), Some(password)) = (&settings.username, &settings.password) {
        builder = builder.credentials(Credentials::new(username.clone(), secrets.get(password)?.to_owned()));
    }
    Ok(builder.build())
}

fn mail(
    settings: &Settings,
    to: &str,
    outgoing: &[Outgoing],
    now: Timestamp,
) -> Result<lettre::Message, Error> {
    let invalid = |error: lettre::error::Error| Error::invalid("message", error);
    let Some(first) = outgoing.first() else { return Err(Error::invalid("message", "nothing to say")) };
    let date = std::time::SystemTime::from(now);
    let from = mailbox("settings.from", &settings.from)?;
    let domain = from.email.domain().to_owned();
    let mut builder: MessageBuilder = lettre::Message::builder()
        .from(from)
        .to(mailbox("settings.to", to)?)
        .date(date)
        .message_id(Some(format!("<{}@{domain}>", first.id.simple())))
        .subject(subject(outgoing, first));
    if let [only] = outgoing {
        let thread = format!("<{}@{domain}>", only.key);
        builder = builder.references(thread.clone());
        if only.notice != Notice::Trigger {
            builder = builder.in_reply_to(thread);
        }
    }
    builder.header(ContentType::TEXT_PLAIN).body(text(outgoing)).map_err(invalid)
}

/// A subject is one line: whatever a name holds.
fn subject(outgoing: &[Outgoing], first: &Outgoing) -> String {
    let text = match outgoing {
        [only] => only.message.headline(only.notice),
        _ => format!("{} changes, among them: {}", outgoing.len(), first.message.headline(first.notice)),
    };
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    cut(&line, MAX_SUBJECT_CHARS)
}

fn text(outgoing: &[Outgoing]) -> String {
    let (shown, more) = listed(outgoing.len());
    let mut text = String::new();
    for one in outgoing.iter().take(shown) {
        let message = &one.message;
        text.push_str(&format!("{}\n", message.headline(one.notice)));
        text.push_str(&format!("severity {}, since {:.0}\n", message.severity, message.since));
        if let Some(link) = &message.link {
            text.push_str(&format!("{link}\n"));
        }
        text.push('\n');
    }
    if more > 0 {
        text.push_str(&format!("and {more} more\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use pegel_core::monitor::verdict::Ending;
    use serde_json::json;
    use uuid::Uuid;

    use super::*;
    use crate::message::tests::message;

    fn settings() -> Json {
        json!({ "host": "mail.example.com", "port": 587, "from": "Pegel <pegel@example.com>",
            "to": ["ann@example.com"] })
    }

    fn outgoing(name: &str, notice: Notice) -> Outgoing {
        Outgoing {
            id: Uuid::from_u128(7),
            key: "pegel.a.b.c".to_owned(),
            notice,
            message: message(name, ChannelKind::Smtp, settings()),
        }
    }

    fn formatted(name: &str, notice: Notice) -> String {
        let settings = Settings::read(&settings()).unwrap();
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        let mail = mail(&settings, "ann@example.com", &[outgoing(name, notice)], now).unwrap();
        String::from_utf8(mail.formatted()).unwrap()
    }

    #[test]
    fn a_name_with_a_line_break_makes_no_header() {
        let text = formatted("a\r\nBcc: bob@example.com", Notice::Trigger);
        let (head, _) = text.split_once("\r\n\r\n").unwrap();
        assert!(!head.lines().any(|line| line.starts_with("Bcc")), "{head}");
        assert!(head.contains("Subject: a  Bcc: bob@example.com"), "{head}");
    }

    #[test]
    fn a_message_keeps_its_id_and_a_resolve_answers_its_trigger() {
        let resolve = formatted("ä", Notice::Resolve(Ending::Recovered));
        assert!(resolve.contains("Message-ID: <00000000000000000000000000000007@example.com>"), "{resolve}");
        assert!(resolve.contains("In-Reply-To: <pegel.a.b.c@example.com>"), "{resolve}");
        assert!(resolve.contains("Subject: =?utf-8?b?"), "{resolve}");
        assert!(!formatted("a", Notice::Trigger).contains("In-Reply-To"));
    }

    #[test]
    fn a_password_never_goes_over_a_connection_that_can_be_read() {
        let mut settings = settings();
        settings["security"] = json!("none");
        settings["username"] = json!("pegel");
        settings["password"] = json!({ "secret": "password-1" });
        assert!(Settings::read(&settings).unwrap_err().to_string().contains("TLS"));
    }

    #[test]
    fn one_who_is_refused_does_not_keep_it_from_the_others() {
        let result = |code| Recipient {
            to: "a".to_owned(),
            answer: Answer::Smtp { code },
            detail: "no such user".to_owned(),
        };
        let judged = |codes: &[u16]| {
            judge(codes.iter().map(|code| result(*code)).collect(), false, &Secrets::default()).attempt
        };
        assert_eq!(judged(&[250, 550]), Attempt::Arrived);
        assert_eq!(judged(&[550]), Attempt::NotArrived);
        assert_eq!(judged(&[250, 451]), Attempt::Unknown);
        assert_eq!(judged(&[451]), Attempt::NotArrived);
    }
}
