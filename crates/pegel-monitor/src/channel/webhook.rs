//! Webhooks, signed as Standard Webhooks says.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use pegel_http::egress::PrivateAddresses;
use pegel_http::request::Request;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::channel::{Outgoing, Secrets, header, post};
use crate::error::Error;
use crate::message::notice_name;
use crate::target::SecretRef;

/// The most secrets of one channel: the one in use, and those that are being replaced.
pub const MAX_SECRETS: usize = 4;

/// What a channel needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Where to.
    pub url: String,
    /// What it is signed with: `whsec_` and base64 each; the receiver accepts any of the signatures.
    pub signing_secrets: Vec<SecretRef>,
    /// Whether private addresses may be.
    #[serde(default)]
    pub private_addresses: PrivateAddresses,
}

impl Settings {
    /// Reads and checks settings.
    ///
    /// # Errors
    /// `invalid`.
    pub fn read(settings: &Json) -> Result<Self, Error> {
        let read = Self::deserialize(settings).map_err(|error| Error::invalid("settings", error))?;
        post(&read.url, &Json::Null)?;
        if read.signing_secrets.is_empty() || read.signing_secrets.len() > MAX_SECRETS {
            return Err(Error::invalid("settings.signing_secrets", format!("1 to {MAX_SECRETS}")));
        }
        Ok(read)
    }
}

/// Makes the request of a notice, signed for this attempt.
pub(super) fn request(
    settings: &Json,
    secrets: &Secrets,
    outgoing: &Outgoing,
    now: Timestamp,
) -> Result<Request, Error> {
    let settings = Settings::read(settings)?;
    let mut request = post(&settings.url, &body(outgoing))?;
    let (id, seconds) = (format!("msg_{}", outgoing.id.simple()), now.as_second());
    let mut signatures = Vec::new();
    for name in &settings.signing_secrets {
        signatures.push(sign(secrets.get(name)?, &id, seconds, &request.body)?);
    }
    request.headers.push(header("webhook-id", &id)?);
    request.headers.push(header("webhook-timestamp", &seconds.to_string())?);
    request.headers.push(header("webhook-signature", &signatures.join(" "))?);
    request.private_addresses = settings.private_addresses;
    Ok(request)
}

fn body(outgoing: &Outgoing) -> Json {
    let message = &outgoing.message;
    json!({
        "type": format!("incident.{}", notice_name(outgoing.notice)),
        "timestamp": message.ended_at.unwrap_or(message.since),
        "data": {
            "key": outgoing.key,
            "text": message.headline(outgoing.notice),
            "monitor": { "id": message.monitor_id, "name": message.name, "kind": message.kind,
                "labels": message.labels },
            "cluster": message.cluster,
            "severity": message.severity,
            "cause": message.cause,
            "summary": message.summary,
            "since": message.since,
            "ended_at": message.ended_at,
            "ending": message.ending,
            "acknowledged_by": message.acknowledged_by,
            "link": message.link,
        },
    })
}

/// Returns one signature, as it stands in the header.
fn sign(secret: &str, id: &str, seconds: i64, body: &[u8]) -> Result<String, Error> {
    let key = secret.strip_prefix("whsec_").unwrap_or(secret);
    let key = STANDARD
        .decode(key.trim())
        .map_err(|_| Error::invalid("settings.signing_secrets", "a secret is whsec_ and base64"))?;
    let mut signed = format!("{id}.{seconds}.").into_bytes();
    signed.extend_from_slice(body);
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), &signed);
    Ok(format!("v1,{}", STANDARD.encode(tag.as_ref())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_signed_as_the_specification_shows() {
        // The example of the Standard Webhooks specification and its reference libraries.
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let body = br#"{"test": 2432232314}"#;
        let signature = sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body).unwrap();
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_webhook_without_a_secret_is_refused() {
        let settings = json!({ "url": "https://a/", "signing_secrets": [] });
        assert!(Settings::read(&settings).is_err());
    }
}
