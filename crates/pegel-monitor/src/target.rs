//! What a monitor looks at, as it is kept in its settings. It holds no secrets, only names of some.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use pegel_core::monitor::kind::MonitorKind;
use pegel_http::egress::PrivateAddresses;
use pegel_http::expect::{Expect, TextCheck};
use pegel_http::json::JsonCheck;
use pegel_http::request::{Addresses, DEFAULT_READ_BYTES, Header, Redirects, Request};
use pegel_http::status::Statuses;
use pegel_http::tcp::{TcpProbe, TcpTls};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::error::Error;

/// The deadline of a probe unless its target says another.
pub const DEFAULT_TIMEOUT_MS: u64 = 10_000;

/// The longest deadline of a probe.
pub const MAX_TIMEOUT_MS: u64 = 120_000;

/// Which of a name's addresses a probe asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AddressPolicy {
    /// The one that answers first.
    #[default]
    Any,
    /// IPv4 ones only.
    V4,
    /// IPv6 ones only.
    V6,
    /// All of them, and all must be well.
    Each,
}

impl AddressPolicy {
    const fn addresses(self) -> Addresses {
        match self {
            Self::Any | Self::Each => Addresses::Any,
            Self::V4 => Addresses::V4,
            Self::V6 => Addresses::V6,
        }
    }
}

/// The name under which a secret is kept for its owner.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretRef {
    /// The field of the store's secrets.
    pub secret: String,
}

/// The value of a header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum HeaderValue {
    /// As it is.
    Plain(String),
    /// Kept apart.
    Secret(SecretRef),
}

/// A header of a probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeaderSetting {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: HeaderValue,
}

const fn default_timeout_ms() -> u64 {
    DEFAULT_TIMEOUT_MS
}

const fn default_read_bytes() -> u64 {
    DEFAULT_READ_BYTES
}

const fn saved_host() -> PrivateAddresses {
    PrivateAddresses::SavedHost
}

fn get() -> String {
    "GET".to_owned()
}

/// An HTTP target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpTarget {
    /// What is asked.
    pub url: String,
    /// How.
    #[serde(default = "get")]
    pub method: String,
    /// Headers beside those that Pegel sets.
    #[serde(default)]
    pub headers: Vec<HeaderSetting>,
    /// The body of the request.
    #[serde(default)]
    pub body: String,
    /// Which statuses are well.
    #[serde(default)]
    pub expected_statuses: Statuses,
    /// Texts in the body of the answer.
    #[serde(default)]
    pub texts: Vec<TextCheck>,
    /// Values in the body of the answer.
    #[serde(default)]
    pub json: Vec<JsonCheck>,
    /// The deadline over everything.
    #[serde(default = "default_timeout_ms")]
    pub timeout_ms: u64,
    /// Which addresses are asked.
    #[serde(default)]
    pub addresses: AddressPolicy,
    /// Whether private addresses may be.
    #[serde(default = "saved_host")]
    pub private_addresses: PrivateAddresses,
    /// What to do with redirects.
    #[serde(default)]
    pub redirects: Redirects,
    /// Whether any certificate is accepted.
    #[serde(default)]
    pub is_insecure: bool,
    /// How much of the body is read, decoded.
    #[serde(default = "default_read_bytes")]
    pub max_body_bytes: u64,
}

/// A TCP port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpTarget {
    /// The host.
    pub host: String,
    /// The port.
    pub port: u16,
    /// What is sent.
    #[serde(default)]
    pub send: String,
    /// What has to stand in the reply; nothing is waited for if it is empty, and then only the connection is
    /// reported.
    #[serde(default)]
    pub expect: String,
    /// Whether TLS is spoken.
    #[serde(default)]
    pub tls: Option<TcpTls>,
    /// The deadline over everything.
    #[serde(default = "default_timeout_ms")]
    pub timeout_ms: u64,
    /// Which addresses are asked; `each` is not for TCP.
    #[serde(default)]
    pub addresses: AddressPolicy,
}

/// A Fluss server, or the coordinator of a cluster. How to connect is the registered cluster's.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlussTarget {
    /// One server as `host:port`; `None` for the bootstrap servers of the cluster.
    #[serde(default)]
    pub address: Option<String>,
    /// The deadline over everything.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
}

/// What a monitor looks at.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// An HTTP target.
    Http(Box<HttpTarget>),
    /// A TCP port.
    Tcp(TcpTarget),
    /// Nothing: it reports itself.
    Heartbeat,
    /// A Fluss server.
    Fluss(FlussTarget),
    /// The coordinator of a cluster.
    Coordinator(FlussTarget),
    /// Something that is judged elsewhere and comes as samples from there.
    Elsewhere,
}

impl Target {
    /// Reads what is kept in a monitor's settings, and checks it.
    ///
    /// # Errors
    /// `invalid`, naming the field.
    pub fn read(kind: MonitorKind, settings: &Json) -> Result<Self, Error> {
        match kind {
            MonitorKind::Http => {
                let target: HttpTarget = parse(settings)?;
                let (request, expect) = target.request(&[])?;
                expect.check(&request.method).map_err(|error| Error::invalid("target", error))?;
                Ok(Self::Http(Box::new(target)))
            }
            MonitorKind::Tcp => {
                let target: TcpTarget = parse(settings)?;
                if target.addresses == AddressPolicy::Each {
                    return Err(Error::invalid("target.addresses", "tcp targets take any, v4 or v6"));
                }
                target.probe()?.check().map_err(|error| Error::invalid("target", error))?;
                Ok(Self::Tcp(target))
            }
            MonitorKind::Heartbeat => Ok(Self::Heartbeat),
            MonitorKind::FlussProbe => Ok(Self::Fluss(fluss(settings)?)),
            MonitorKind::Coordinator => Ok(Self::Coordinator(fluss(settings)?)),
            _ => Ok(Self::Elsewhere),
        }
    }

    /// Tells whether the engine probes it on schedule.
    pub const fn is_probed(&self) -> bool {
        matches!(self, Self::Http(_) | Self::Tcp(_) | Self::Fluss(_) | Self::Coordinator(_))
    }
}

impl HttpTarget {
    /// Returns the request and what is expected of its answer. `secrets` are the values of secret headers by
    /// their field; one that is missing is left empty, which is for checks only.
    pub(crate) fn request(&self, secrets: &[(String, String)]) -> Result<(Request, Expect), Error> {
        let deadline = deadline(self.timeout_ms)?;
        let wrong = |field: &str, error: pegel_http::Error| Error::invalid(format!("target.{field}"), error);
        let mut request = Request::get(&self.url, deadline).map_err(|error| wrong("url", error))?;
        request.method = Method::from_bytes(self.method.as_bytes())
            .map_err(|_| Error::invalid("target.method", "not a method"))?;
        for header in &self.headers {
            let value = match &header.value {
                HeaderValue::Plain(value) => value.as_str(),
                HeaderValue::Secret(name) => {
                    secrets.iter().find(|(field, _)| *field == name.secret).map_or("", |(_, value)| value)
                }
            };
            let header = Header::new(&header.name, value).map_err(|error| wrong("headers", error))?;
            request.headers.push(header);
        }
        request.body = Bytes::from(self.body.clone().into_bytes());
        request.addresses = self.addresses.addresses();
        request.private_addresses = self.private_addresses;
        request.redirects = self.redirects;
        request.is_insecure = self.is_insecure;
        request.read_bytes = self.max_body_bytes;
        request.kept_bytes = KEPT_BYTES;
        request.check().map_err(|error| Error::invalid("target", error))?;
        let expect = Expect {
            statuses: self.expected_statuses.clone(),
            texts: self.texts.clone(),
            json: self.json.clone(),
        };
        Ok((request, expect))
    }

    /// Returns the fields of the secrets its headers name.
    pub(crate) fn secret_fields(&self) -> Vec<String> {
        let secret = |header: &HeaderSetting| match &header.value {
            HeaderValue::Secret(name) => Some(name.secret.clone()),
            HeaderValue::Plain(_) => None,
        };
        self.headers.iter().filter_map(secret).collect()
    }
}

/// How much of an answer's body is kept to be shown.
const KEPT_BYTES: usize = 1_024;

impl TcpTarget {
    pub(crate) fn probe(&self) -> Result<TcpProbe, Error> {
        Ok(TcpProbe {
            host: self.host.clone(),
            port: self.port,
            deadline: deadline(self.timeout_ms)?,
            addresses: self.addresses.addresses(),
            is_private_allowed: true,
            tls: self.tls,
            sent: self.send.clone().into_bytes(),
            expected: self.expect.clone().into_bytes(),
        })
    }
}

impl FlussTarget {
    /// Returns the deadline over everything.
    ///
    /// # Errors
    /// `invalid`.
    pub fn deadline(&self) -> Result<Duration, Error> {
        deadline(self.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS))
    }
}

fn fluss(settings: &Json) -> Result<FlussTarget, Error> {
    let target: FlussTarget = parse(settings)?;
    target.deadline()?;
    Ok(target)
}

fn parse<T: serde::de::DeserializeOwned>(settings: &Json) -> Result<T, Error> {
    T::deserialize(settings).map_err(|error| Error::invalid("target", error))
}

fn deadline(timeout_ms: u64) -> Result<Duration, Error> {
    if (1..=MAX_TIMEOUT_MS).contains(&timeout_ms) {
        Ok(Duration::from_millis(timeout_ms))
    } else {
        Err(Error::invalid("target.timeout_ms", format!("1 to {MAX_TIMEOUT_MS}")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(kind: MonitorKind, settings: &Json) -> String {
        Target::read(kind, settings).unwrap_err().to_string()
    }

    #[test]
    fn an_http_target_needs_no_more_than_a_url() {
        let target = Target::read(MonitorKind::Http, &json!({ "url": "http://[::1]:9333/api/v1/status" }));
        let Ok(Target::Http(target)) = target else { panic!("{target:?}") };
        assert_eq!((target.timeout_ms, target.expected_statuses.to_string().as_str()), (10_000, "200-299"));
    }

    #[test]
    fn what_makes_no_sense_is_refused_when_saved_and_named() {
        let http = |extra: &Json| {
            let mut settings = json!({ "url": "http://a/" });
            settings.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            refused(MonitorKind::Http, &settings)
        };
        assert!(http(&json!({ "timeout_ms": 0 })).starts_with("target.timeout_ms"));
        assert!(http(&json!({ "url": "ftp://a/" })).starts_with("target.url"));
        assert!(
            http(&json!({ "headers": [{ "name": "a", "value": "b\r\nc" }] })).starts_with("target.headers")
        );
        assert!(http(&json!({ "texts": [{ "text": "", "how": "contains" }] })).starts_with("target"));
        assert!(
            http(&json!({ "method": "HEAD", "texts": [{ "text": "a", "how": "contains" }] }))
                .contains("HEAD")
        );
        assert!(http(&json!({ "mehtod": "GET" })).contains("mehtod"));
        assert!(refused(MonitorKind::Tcp, &json!({ "host": "", "port": 1 })).contains("host"));
        let each = json!({ "host": "a", "port": 1, "addresses": "each" });
        assert!(refused(MonitorKind::Tcp, &each).starts_with("target.addresses"));
    }

    #[test]
    fn a_secret_header_takes_its_value_from_elsewhere_and_does_not_show() {
        let settings = json!({
            "url": "http://a/",
            "headers": [{ "name": "authorization", "value": { "secret": "header-1" } }],
        });
        let Ok(Target::Http(target)) = Target::read(MonitorKind::Http, &settings) else { panic!() };
        assert_eq!(target.secret_fields(), ["header-1"]);
        let secrets = [("header-1".to_owned(), "Bearer x".to_owned())];
        let (request, _) = target.request(&secrets).unwrap();
        assert_eq!(request.headers[0].value, "Bearer x");
        assert!(!format!("{request:?}").contains("Bearer"));
    }
}
