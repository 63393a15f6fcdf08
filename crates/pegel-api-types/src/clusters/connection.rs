//! How a cluster is reached: the form that is sent, and the view that is shown.
//!
//! The form has exactly the connection fields of the manual and one of Pegel's own. Secrets go in and never
//! come out: the view only tells whether one is set.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use utoipa::ToSchema;

use crate::problem::Problems;

/// The longest list of bootstrap addresses, in bytes.
pub const MAX_ENDPOINT_BYTES: usize = 10 * 1024;

/// The longest PEM text of certificate authorities, in bytes.
pub const MAX_CA_BYTES: usize = 32 * 1024;

/// The longest PEM text of a client certificate or its key, in bytes.
pub const MAX_PEM_BYTES: usize = 8 * 1024;

/// The longest name of a user or a server, or password, in bytes.
pub const MAX_TEXT_BYTES: usize = 4 * 1024;

/// The most hosts that may be allowed.
pub const MAX_ALLOWED_HOSTS: usize = 200;

/// The longest name of a host, in bytes.
pub const MAX_HOST_BYTES: usize = 253;

/// What is to become of a secret: absent keeps it, `null` or an empty text removes it, a text replaces it.
///
/// It is written as a text only on its way to a server; no answer has one.
#[derive(Clone, Default)]
pub enum SecretChange {
    /// It stays as it is.
    #[default]
    Keep,
    /// There is to be none.
    Remove,
    /// It is to be this.
    Replace(SecretString),
}

/// How a cluster is to be reached. What is absent or `null` has its default, but for the secrets.
#[derive(Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ConnectionForm {
    /// Comma list of `host:port` bootstrap addresses; default `localhost:9123`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// `PLAINTEXT` (default), `TLS`, `SASL_PLAINTEXT` or `SASL_TLS`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_protocol: Option<String>,
    /// SASL mechanism; `PLAIN` is the only one and the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sasl_mechanism: Option<String>,
    /// User name for SASL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sasl_username: Option<String>,
    /// Password for SASL; write-only.
    #[serde(skip_serializing_if = "SecretChange::is_keep")]
    #[schema(value_type = Option<String>, write_only)]
    pub sasl_password: SecretChange,
    /// PEM text of the certificate authorities to trust; default: the system's roots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_ca_cert: Option<String>,
    /// PEM text of the client certificate chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_client_cert: Option<String>,
    /// PEM text of the client certificate's private key; write-only.
    #[serde(skip_serializing_if = "SecretChange::is_keep")]
    #[schema(value_type = Option<String>, write_only)]
    pub tls_client_key: SecretChange,
    /// Name to expect in every server's certificate instead of the dialled host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_server_name: Option<String>,
    /// Turns certificate verification off; for isolated testing only. Default false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_skip_verify: Option<bool>,
    /// Limit of one dial (resolve, TCP and TLS) in seconds, 1 to 300; default 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 300)]
    pub dial_timeout_seconds: Option<u64>,
    /// Limit of one read in seconds, its repetitions included, 1 to 300; default 15.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 300)]
    pub request_timeout_seconds: Option<u64>,
    /// Attempts of a safe read, 1 to 3; default 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 3)]
    pub read_max_attempts: Option<u32>,
    /// Hosts that cluster metadata may send Pegel to, at most 200; absent allows all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advertised_host_allow_list: Option<Vec<String>>,
}

/// How a cluster is reached, defaults filled in. Tells which secrets are set, never what they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConnectionView {
    /// Comma list of `host:port` bootstrap addresses.
    pub endpoint: String,
    /// `PLAINTEXT`, `TLS`, `SASL_PLAINTEXT` or `SASL_TLS`.
    pub security_protocol: String,
    /// SASL mechanism; absent without SASL.
    pub sasl_mechanism: Option<String>,
    /// User name for SASL.
    pub sasl_username: Option<String>,
    /// Whether there is a password.
    pub has_sasl_password: bool,
    /// PEM text of the certificate authorities that are trusted; absent for the system's roots.
    pub tls_ca_cert: Option<String>,
    /// PEM text of the client certificate chain.
    pub tls_client_cert: Option<String>,
    /// Whether there is a private key.
    pub has_tls_client_key: bool,
    /// Name to expect in every server's certificate; absent for the dialled host.
    pub tls_server_name: Option<String>,
    /// Whether certificates are not verified.
    pub tls_skip_verify: bool,
    /// Limit of one dial, in seconds.
    pub dial_timeout_seconds: u64,
    /// Limit of one read, its repetitions included, in seconds.
    pub request_timeout_seconds: u64,
    /// Attempts of a safe read.
    pub read_max_attempts: u32,
    /// Hosts that cluster metadata may send Pegel to; absent for all.
    pub advertised_host_allow_list: Option<Vec<String>>,
}

impl SecretChange {
    /// Makes a secret be this text.
    pub fn replace(text: impl Into<String>) -> Self {
        Self::Replace(SecretString::from(text.into()))
    }

    /// Returns whether the secret stays as it is.
    pub const fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Keep | Self::Remove => 0,
            Self::Replace(secret) => secret.expose_secret().len(),
        }
    }
}

impl fmt::Debug for SecretChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keep => "Keep",
            Self::Remove => "Remove",
            Self::Replace(_) => "Replace([REDACTED])",
        })
    }
}

impl Serialize for SecretChange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Keep | Self::Remove => serializer.serialize_none(),
            Self::Replace(secret) => serializer.serialize_some(secret.expose_secret()),
        }
    }
}

impl<'de> Deserialize<'de> for SecretChange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SecretVisitor)
    }
}

/// Reads a secret. What is neither text nor null may still be a secret, so no message quotes it.
struct SecretVisitor;

const SECRET_RULE: &str = "a secret is a text or null";

impl Visitor<'_> for SecretVisitor {
    type Value = SecretChange;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SECRET_RULE)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<SecretChange, E> {
        Ok(if text.is_empty() { SecretChange::Remove } else { SecretChange::replace(text) })
    }

    fn visit_unit<E: de::Error>(self) -> Result<SecretChange, E> {
        Ok(SecretChange::Remove)
    }

    fn visit_none<E: de::Error>(self) -> Result<SecretChange, E> {
        Ok(SecretChange::Remove)
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<SecretChange, E> {
        Err(E::custom(SECRET_RULE))
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<SecretChange, E> {
        Err(E::custom(SECRET_RULE))
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<SecretChange, E> {
        Err(E::custom(SECRET_RULE))
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<SecretChange, E> {
        Err(E::custom(SECRET_RULE))
    }
}

impl fmt::Debug for ConnectionForm {
    /// Shows no certificate either: people put the key into the same text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionForm")
            .field("endpoint", &self.endpoint)
            .field("security_protocol", &self.security_protocol)
            .field("sasl_username", &self.sasl_username)
            .field("sasl_password", &self.sasl_password)
            .field("tls_client_key", &self.tls_client_key)
            .finish_non_exhaustive()
    }
}

impl ConnectionForm {
    /// Returns the same form without a word about secrets, as it may be stored.
    #[must_use]
    pub fn without_secrets(&self) -> Self {
        Self { sasl_password: SecretChange::Keep, tls_client_key: SecretChange::Keep, ..self.clone() }
    }

    /// Notes what is too long to be stored or sent. What the texts say is judged where they are used.
    pub(crate) fn check_lengths(&self, problems: &mut Problems) {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        for (pointer, bytes, most) in [
            ("/connection/endpoint", text(&self.endpoint), MAX_ENDPOINT_BYTES),
            ("/connection/security_protocol", text(&self.security_protocol), MAX_HOST_BYTES),
            ("/connection/sasl_mechanism", text(&self.sasl_mechanism), MAX_HOST_BYTES),
            ("/connection/sasl_username", text(&self.sasl_username), MAX_TEXT_BYTES),
            ("/connection/sasl_password", self.sasl_password.bytes(), MAX_TEXT_BYTES),
            ("/connection/tls_ca_cert", text(&self.tls_ca_cert), MAX_CA_BYTES),
            ("/connection/tls_client_cert", text(&self.tls_client_cert), MAX_PEM_BYTES),
            ("/connection/tls_client_key", self.tls_client_key.bytes(), MAX_PEM_BYTES),
            ("/connection/tls_server_name", text(&self.tls_server_name), MAX_HOST_BYTES),
        ] {
            problems.check(bytes <= most, pointer, "length", &format!("longer than {most} bytes"));
        }
        let hosts = self.advertised_host_allow_list.as_deref().unwrap_or_default();
        let are_short =
            hosts.len() <= MAX_ALLOWED_HOSTS && hosts.iter().all(|host| host.len() <= MAX_HOST_BYTES);
        let rule = "at most 200 hosts of at most 253 bytes";
        problems.check(are_short, "/connection/advertised_host_allow_list", "length", rule);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(json: &str) -> ConnectionForm {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_secret_is_kept_removed_or_replaced() {
        let change = |json: &str| format!("{:?}", form(json).sasl_password);
        assert_eq!(change("{}"), "Keep");
        assert_eq!(change(r#"{"sasl_password":null}"#), "Remove");
        assert_eq!(change(r#"{"sasl_password":""}"#), "Remove");
        assert_eq!(change(r#"{"sasl_password":"hunter2"}"#), "Replace([REDACTED])");
        for json in ["{}", r#"{"tls_client_key":null}"#, r#"{"endpoint":"a:1","sasl_password":"hunter2"}"#] {
            assert_eq!(serde_json::to_string(&form(json)).unwrap(), json);
        }
    }

    #[test]
    fn no_message_quotes_what_may_be_a_secret() {
        for json in ["1234.5", "1234567", "-1234567", "true", "[1234567]", r#"{"a":1234567}"#] {
            let json = format!(r#"{{"sasl_password":{json}}}"#);
            let error = serde_json::from_str::<ConnectionForm>(&json).unwrap_err().to_string();
            assert!(!error.contains("1234") && error.contains("text or null"), "{error}");
        }
    }

    #[test]
    fn nothing_secret_is_printed_or_stored() {
        let form = form(
            r#"{"sasl_username":"ann","sasl_password":"hunter2","tls_client_key":"KEYTEXT",
                "tls_client_cert":"a certificate with KEYTEXT"}"#,
        );
        let shown = format!("{form:?}");
        assert!(shown.contains("ann") && !shown.contains("hunter2") && !shown.contains("KEYTEXT"), "{shown}");
        let stored = serde_json::to_string(&form.without_secrets()).unwrap();
        assert!(!stored.contains("hunter2") && !stored.contains("sasl_password"), "{stored}");
        assert!(!stored.contains("tls_client_key"), "{stored}");
    }

    #[test]
    fn every_text_has_a_bound() {
        let mut long = ConnectionForm {
            endpoint: Some("a".repeat(MAX_ENDPOINT_BYTES + 1)),
            sasl_password: SecretChange::replace("a".repeat(MAX_TEXT_BYTES + 1)),
            tls_client_key: SecretChange::replace("a".repeat(MAX_PEM_BYTES + 1)),
            advertised_host_allow_list: Some(vec!["a".to_owned(); MAX_ALLOWED_HOSTS + 1]),
            ..ConnectionForm::default()
        };
        let text = |bytes: usize| Some("a".repeat(bytes + 1));
        long.security_protocol = text(MAX_HOST_BYTES);
        long.sasl_mechanism = text(MAX_HOST_BYTES);
        long.sasl_username = text(MAX_TEXT_BYTES);
        long.tls_ca_cert = text(MAX_CA_BYTES);
        long.tls_client_cert = text(MAX_PEM_BYTES);
        long.tls_server_name = text(MAX_HOST_BYTES);
        let mut problems = Problems::default();
        long.check_lengths(&mut problems);
        assert_eq!(problems.finish().unwrap_err().len(), 10);
    }
}
