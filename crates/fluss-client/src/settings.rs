//! Connection settings: what an operator may set, with defaults and ranges.
//!
//! [`ConnectionOptions`] is the open form, as it stands in a configuration file
//! or on a command line; [`ConnectionSettings`] is the checked form that the
//! client takes. The set of options is closed: an unknown key is an error, and
//! so is an option that would have no effect.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use crate::bootstrap::{BootstrapList, HostPort};
use crate::error::Error;

/// Address used when `endpoint` is not given.
pub const DEFAULT_ENDPOINT: &str = "localhost:9123";
/// Default of `dial_timeout_seconds`; the range is 1 to 300.
pub const DEFAULT_DIAL_TIMEOUT_SECONDS: u64 = 10;
/// Default of `request_timeout_seconds`; the range is 1 to 300.
pub const DEFAULT_REQUEST_TIMEOUT_SECONDS: u64 = 15;
/// Default of `read_max_attempts`; the range is 1 to 3.
pub const DEFAULT_READ_MAX_ATTEMPTS: u32 = 2;

const TIMEOUT_SECONDS: std::ops::RangeInclusive<u64> = 1..=300;
const ATTEMPTS: std::ops::RangeInclusive<u32> = 1..=3;
const MAX_CREDENTIAL_BYTES: usize = 4096;

/// Connection options as written by an operator.
///
/// Every field is optional; [`ConnectionSettings::try_from`] fills defaults and checks.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConnectionOptions {
    /// Comma list of `host:port` bootstrap addresses; default `localhost:9123`.
    pub endpoint: Option<String>,
    /// `PLAINTEXT` (default), `TLS`, `SASL_PLAINTEXT` or `SASL_TLS`.
    pub security_protocol: Option<String>,
    /// SASL mechanism; `PLAIN` is the only one and the default.
    pub sasl_mechanism: Option<String>,
    /// User name for SASL.
    pub sasl_username: Option<String>,
    /// Password for SASL.
    pub sasl_password: Option<SecretString>,
    /// PEM text of the certificate authorities to trust; default: the system's roots.
    pub tls_ca_cert: Option<String>,
    /// PEM text of the client certificate chain.
    pub tls_client_cert: Option<String>,
    /// PEM text of the client certificate's private key.
    pub tls_client_key: Option<SecretString>,
    /// Name to expect in every server's certificate instead of the dialled host.
    pub tls_server_name: Option<String>,
    /// Turns certificate verification off; for isolated testing only. Default false.
    pub tls_skip_verify: Option<bool>,
    /// Limit of one dial (resolve, TCP and TLS) in seconds, 1 to 300; default 10.
    pub dial_timeout_seconds: Option<u64>,
    /// Limit of one read in seconds, its repetitions included, 1 to 300; default 15.
    pub request_timeout_seconds: Option<u64>,
    /// Attempts of a safe read, 1 to 3; default 2.
    pub read_max_attempts: Option<u32>,
    /// Hosts that cluster metadata may send this client to; absent allows all.
    pub advertised_host_allow_list: Option<Vec<String>>,
}

impl fmt::Debug for ConnectionOptions {
    /// Shows no certificate either: people put the key into the same text.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ConnectionOptions")
            .field("endpoint", &self.endpoint)
            .field("security_protocol", &self.security_protocol)
            .field("sasl_username", &self.sasl_username)
            .finish_non_exhaustive()
    }
}

/// How bytes travel: in the clear or in TLS, with or without SASL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecurityProtocol {
    /// No encryption, no authentication.
    Plaintext,
    /// TLS from the first byte, no authentication.
    Tls,
    /// SASL over an unencrypted connection: the password travels in the clear.
    SaslPlaintext,
    /// SASL inside TLS.
    SaslTls,
}

impl SecurityProtocol {
    /// Returns the name used in configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plaintext => "PLAINTEXT",
            Self::Tls => "TLS",
            Self::SaslPlaintext => "SASL_PLAINTEXT",
            Self::SaslTls => "SASL_TLS",
        }
    }

    /// Returns whether connections are wrapped in TLS.
    pub fn uses_tls(self) -> bool {
        matches!(self, Self::Tls | Self::SaslTls)
    }

    /// Returns whether connections authenticate with SASL.
    pub fn uses_sasl(self) -> bool {
        matches!(self, Self::SaslPlaintext | Self::SaslTls)
    }

    fn parse(text: &str) -> Result<Self, Error> {
        [Self::Plaintext, Self::Tls, Self::SaslPlaintext, Self::SaslTls]
            .into_iter()
            .find(|protocol| protocol.name() == text)
            .ok_or_else(|| {
                invalid(
                    "security_protocol",
                    format!("`{text}` is none of PLAINTEXT, TLS, SASL_PLAINTEXT, SASL_TLS"),
                )
            })
    }
}

/// Credentials for SASL/PLAIN.
#[derive(Clone)]
pub struct SaslCredentials {
    pub(crate) username: String,
    pub(crate) password: SecretString,
}

impl fmt::Debug for SaslCredentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SaslCredentials").field("username", &self.username).finish_non_exhaustive()
    }
}

impl SaslCredentials {
    /// Returns the user name.
    pub fn username(&self) -> &str {
        &self.username
    }
}

/// What TLS needs beside the server's address.
#[derive(Clone, Default)]
pub struct TlsSettings {
    pub(crate) ca_cert: Option<String>,
    pub(crate) client_identity: Option<ClientIdentity>,
    pub(crate) server_name: Option<String>,
    pub(crate) skip_verify: bool,
}

impl fmt::Debug for TlsSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TlsSettings")
            .field("ca_cert", &self.ca_cert.is_some())
            .field("client_identity", &self.client_identity.is_some())
            .field("server_name", &self.server_name)
            .field("skip_verify", &self.skip_verify)
            .finish()
    }
}

#[derive(Clone)]
pub(crate) struct ClientIdentity {
    pub(crate) certificate: String,
    pub(crate) key: SecretString,
}

/// Decides whether an address is dialled that a host has, be it listed or advertised by the cluster.
///
/// `Err` says in a few words what keeps it from being dialled, as in "link-local".
pub type AddressRule = fn(SocketAddr) -> Result<(), &'static str>;

/// Checked connection settings.
#[derive(Debug, Clone)]
pub struct ConnectionSettings {
    pub(crate) bootstrap: BootstrapList,
    pub(crate) security_protocol: SecurityProtocol,
    pub(crate) sasl: Option<SaslCredentials>,
    pub(crate) tls: TlsSettings,
    pub(crate) dial_timeout: Duration,
    pub(crate) request_timeout: Duration,
    pub(crate) read_max_attempts: u32,
    pub(crate) advertised_hosts: Option<Vec<String>>,
    pub(crate) max_frame_bytes: usize,
    pub(crate) address_rule: AddressRule,
}

impl ConnectionSettings {
    /// Has every address judged by `rule` before it is dialled; without one all are.
    ///
    /// It judges what names resolve to, and of what they resolve to only what it lets pass is dialled.
    #[must_use]
    pub fn with_address_rule(self, rule: AddressRule) -> Self {
        Self { address_rule: rule, ..self }
    }

    /// Returns the bootstrap addresses.
    pub fn bootstrap(&self) -> &BootstrapList {
        &self.bootstrap
    }

    /// Returns the security protocol.
    pub fn security_protocol(&self) -> SecurityProtocol {
        self.security_protocol
    }

    /// Returns the SASL credentials, present exactly when the protocol uses SASL.
    pub fn sasl(&self) -> Option<&SaslCredentials> {
        self.sasl.as_ref()
    }

    /// Returns whether certificates are not verified.
    pub fn skips_verification(&self) -> bool {
        self.security_protocol.uses_tls() && self.tls.skip_verify
    }

    /// Returns the limit of one dial: resolve, TCP and TLS together.
    pub fn dial_timeout(&self) -> Duration {
        self.dial_timeout
    }

    /// Returns the limit of one read, its repetitions included.
    pub fn request_timeout(&self) -> Duration {
        self.request_timeout
    }

    /// Returns how often a safe read is tried, 1 to 3.
    pub fn read_max_attempts(&self) -> u32 {
        self.read_max_attempts
    }

    pub(crate) fn allows_advertised_host(&self, host: &str) -> bool {
        self.advertised_hosts
            .as_ref()
            .is_none_or(|hosts| hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(host)))
    }
}

impl TryFrom<ConnectionOptions> for ConnectionSettings {
    type Error = Error;

    /// Checks options and fills defaults.
    ///
    /// # Errors
    /// `invalid_setting` naming the first option that is malformed, out of
    /// range, missing, or without effect under the chosen `security_protocol`.
    fn try_from(options: ConnectionOptions) -> Result<Self, Error> {
        let bootstrap = options.endpoint.as_deref().unwrap_or(DEFAULT_ENDPOINT).parse()?;
        let security_protocol =
            SecurityProtocol::parse(options.security_protocol.as_deref().unwrap_or("PLAINTEXT"))?;
        let dial_timeout = seconds(
            "dial_timeout_seconds",
            options.dial_timeout_seconds.unwrap_or(DEFAULT_DIAL_TIMEOUT_SECONDS),
        )?;
        let request_timeout = seconds(
            "request_timeout_seconds",
            options.request_timeout_seconds.unwrap_or(DEFAULT_REQUEST_TIMEOUT_SECONDS),
        )?;
        let read_max_attempts = options.read_max_attempts.unwrap_or(DEFAULT_READ_MAX_ATTEMPTS);
        if !ATTEMPTS.contains(&read_max_attempts) {
            return Err(invalid("read_max_attempts", format!("{read_max_attempts} is not within 1 to 3")));
        }
        for host in options.advertised_host_allow_list.iter().flatten() {
            HostPort::new(host, 1).map_err(|_| {
                invalid(
                    "advertised_host_allow_list",
                    format!("`{host}` is not a host name or IP address; ports are not part of it"),
                )
            })?;
        }
        Ok(Self {
            bootstrap,
            security_protocol,
            sasl: sasl(&options, security_protocol)?,
            tls: tls(&options, security_protocol)?,
            dial_timeout,
            request_timeout,
            read_max_attempts,
            advertised_hosts: options.advertised_host_allow_list,
            max_frame_bytes: fluss_codec::frame::DEFAULT_MAX_FRAME_BYTES,
            address_rule: |_| Ok(()),
        })
    }
}

fn sasl(options: &ConnectionOptions, protocol: SecurityProtocol) -> Result<Option<SaslCredentials>, Error> {
    if !protocol.uses_sasl() {
        let given = [
            ("sasl_mechanism", options.sasl_mechanism.is_some()),
            ("sasl_username", options.sasl_username.is_some()),
            ("sasl_password", options.sasl_password.is_some()),
        ];
        return match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((field, _)) => Err(without_effect(field, protocol, "SASL_PLAINTEXT or SASL_TLS")),
            None => Ok(None),
        };
    }
    if let Some(mechanism) = options.sasl_mechanism.as_deref()
        && mechanism != "PLAIN"
    {
        return Err(invalid("sasl_mechanism", format!("`{mechanism}` is not supported; Fluss takes PLAIN")));
    }
    let username = options.sasl_username.clone().unwrap_or_default();
    check_credential("sasl_username", &username, protocol)?;
    let password = options.sasl_password.clone().unwrap_or_default();
    check_credential("sasl_password", password.expose_secret(), protocol)?;
    Ok(Some(SaslCredentials { username, password }))
}

fn check_credential(field: &'static str, value: &str, protocol: SecurityProtocol) -> Result<(), Error> {
    if value.is_empty() {
        return Err(invalid(field, format!("missing; security_protocol {} needs it", protocol.name())));
    }
    if value.len() > MAX_CREDENTIAL_BYTES {
        return Err(invalid(field, format!("longer than {MAX_CREDENTIAL_BYTES} bytes")));
    }
    if value.contains('\0') {
        return Err(invalid(field, "holds a NUL character, which SASL/PLAIN cannot carry".to_owned()));
    }
    Ok(())
}

fn tls(options: &ConnectionOptions, protocol: SecurityProtocol) -> Result<TlsSettings, Error> {
    if !protocol.uses_tls() {
        let given = [
            ("tls_ca_cert", options.tls_ca_cert.is_some()),
            ("tls_client_cert", options.tls_client_cert.is_some()),
            ("tls_client_key", options.tls_client_key.is_some()),
            ("tls_server_name", options.tls_server_name.is_some()),
            ("tls_skip_verify", options.tls_skip_verify == Some(true)),
        ];
        return match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((field, _)) => Err(without_effect(field, protocol, "TLS or SASL_TLS")),
            None => Ok(TlsSettings::default()),
        };
    }
    let skip_verify = options.tls_skip_verify.unwrap_or(false);
    if skip_verify && options.tls_ca_cert.is_some() {
        let reason = "has no effect with tls_skip_verify, which accepts any certificate".to_owned();
        return Err(invalid("tls_ca_cert", reason));
    }
    let client_identity = match (&options.tls_client_cert, &options.tls_client_key) {
        (Some(certificate), Some(key)) => {
            Some(ClientIdentity { certificate: certificate.clone(), key: key.clone() })
        }
        (None, None) => None,
        (Some(_), None) => {
            return Err(invalid("tls_client_key", "missing; tls_client_cert needs its key".to_owned()));
        }
        (None, Some(_)) => {
            return Err(invalid(
                "tls_client_cert",
                "missing; tls_client_key needs its certificate".to_owned(),
            ));
        }
    };
    Ok(TlsSettings {
        ca_cert: options.tls_ca_cert.clone(),
        client_identity,
        server_name: options.tls_server_name.clone(),
        skip_verify,
    })
}

fn seconds(field: &'static str, value: u64) -> Result<Duration, Error> {
    if TIMEOUT_SECONDS.contains(&value) {
        Ok(Duration::from_secs(value))
    } else {
        Err(invalid(field, format!("{value} is not within 1 to 300")))
    }
}

fn without_effect(field: &'static str, protocol: SecurityProtocol, needed: &str) -> Error {
    invalid(field, format!("has no effect with security_protocol {}; choose {needed}", protocol.name()))
}

fn invalid(field: &'static str, reason: String) -> Error {
    Error::InvalidSetting { field, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(json: &str) -> ConnectionOptions {
        serde_json::from_str(json).unwrap()
    }

    fn refuse(json: &str, field: &str, part: &str) {
        let error = ConnectionSettings::try_from(options(json)).unwrap_err();
        let Error::InvalidSetting { field: named, ref reason } = error else { panic!("{error}") };
        assert_eq!(named, field, "{json}");
        assert!(reason.contains(part), "{json}: {reason}");
    }

    #[test]
    fn defaults_are_those_of_the_manual() {
        let settings = ConnectionSettings::try_from(ConnectionOptions::default()).unwrap();
        assert_eq!(settings.bootstrap.to_string(), "localhost:9123");
        assert_eq!(settings.security_protocol, SecurityProtocol::Plaintext);
        assert_eq!(settings.dial_timeout, Duration::from_secs(10));
        assert_eq!(settings.request_timeout, Duration::from_secs(15));
        assert_eq!(settings.read_max_attempts, 2);
        assert!(settings.sasl.is_none() && !settings.skips_verification());
    }

    #[test]
    fn limits_hold_at_both_ends() {
        for value in [1, 300] {
            let json = format!(r#"{{"dial_timeout_seconds":{value},"request_timeout_seconds":{value}}}"#);
            assert!(ConnectionSettings::try_from(options(&json)).is_ok());
        }
        for value in [0, 301] {
            refuse(&format!(r#"{{"dial_timeout_seconds":{value}}}"#), "dial_timeout_seconds", "1 to 300");
            refuse(
                &format!(r#"{{"request_timeout_seconds":{value}}}"#),
                "request_timeout_seconds",
                "1 to 300",
            );
        }
        refuse(r#"{"read_max_attempts":0}"#, "read_max_attempts", "1 to 3");
        refuse(r#"{"read_max_attempts":4}"#, "read_max_attempts", "1 to 3");
    }

    #[test]
    fn unknown_option_is_an_error() {
        let error = serde_json::from_str::<ConnectionOptions>(r#"{"sasl.jaas.config":"x"}"#).unwrap_err();
        assert!(error.to_string().contains("unknown field"), "{error}");
    }

    #[test]
    fn options_without_effect_are_refused() {
        refuse(r#"{"sasl_username":"a"}"#, "sasl_username", "no effect");
        refuse(r#"{"security_protocol":"TLS","sasl_password":"a"}"#, "sasl_password", "no effect");
        refuse(r#"{"tls_skip_verify":true}"#, "tls_skip_verify", "no effect");
        refuse(r#"{"tls_ca_cert":"x"}"#, "tls_ca_cert", "no effect");
        refuse(
            r#"{"security_protocol":"TLS","tls_ca_cert":"x","tls_skip_verify":true}"#,
            "tls_ca_cert",
            "no effect",
        );
    }

    #[test]
    fn allow_list_holds_hosts_alone() {
        refuse(r#"{"advertised_host_allow_list":["a:9123"]}"#, "advertised_host_allow_list", "ports");
        assert!(
            ConnectionSettings::try_from(options(r#"{"advertised_host_allow_list":["a","::1"]}"#)).is_ok()
        );
    }

    #[test]
    fn incomplete_credentials_are_refused() {
        refuse(r#"{"security_protocol":"SASL_TLS"}"#, "sasl_username", "missing");
        refuse(r#"{"security_protocol":"SASL_TLS","sasl_username":"a"}"#, "sasl_password", "missing");
        refuse(
            r#"{"security_protocol":"SASL_TLS","sasl_username":"a\u0000b","sasl_password":"p"}"#,
            "sasl_username",
            "NUL",
        );
        refuse(
            r#"{"security_protocol":"SASL_TLS","sasl_username":"a","sasl_password":"p","sasl_mechanism":"plain"}"#,
            "sasl_mechanism",
            "PLAIN",
        );
        refuse(r#"{"security_protocol":"TLS","tls_client_cert":"x"}"#, "tls_client_key", "missing");
        refuse(r#"{"security_protocol":"TLS","tls_client_key":"x"}"#, "tls_client_cert", "missing");
        refuse(r#"{"security_protocol":"ssl"}"#, "security_protocol", "none of");
    }

    #[test]
    fn debug_output_holds_no_secret() {
        let settings = ConnectionSettings::try_from(options(
            r#"{"security_protocol":"SASL_TLS","sasl_username":"alice","sasl_password":"hunter2",
                "tls_client_cert":"CERT","tls_client_key":"KEYTEXT"}"#,
        ))
        .unwrap();
        let shown = format!("{settings:?}");
        assert!(shown.contains("alice"));
        assert!(!shown.contains("hunter2") && !shown.contains("KEYTEXT"), "{shown}");
    }
}
