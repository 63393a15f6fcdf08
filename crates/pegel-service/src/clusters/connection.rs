//! From a form to client settings: every problem at once, each with its place.
//!
//! The rules are the client's own; only what a server must ask beyond them is added here. Nothing here dials.

use fluss_client::client::FlussClient;
use fluss_client::error::Error as ClientError;
use fluss_client::settings::{
    ConnectionOptions, ConnectionSettings, DEFAULT_DIAL_TIMEOUT_SECONDS, DEFAULT_ENDPOINT,
    DEFAULT_READ_MAX_ATTEMPTS, DEFAULT_REQUEST_TIMEOUT_SECONDS,
};
use pegel_api_types::clusters::connection::{ConnectionForm, SecretChange};
use pegel_api_types::problem::FieldProblem;
use secrecy::SecretString;

use crate::clusters::egress;
use crate::clusters::stored::{Secrets, logged_client, with_secrets};

/// The protocol that is meant where none is named.
pub(crate) const DEFAULT_PROTOCOL: &str = "PLAINTEXT";

/// The SASL mechanism that is meant where none is named.
pub(crate) const DEFAULT_MECHANISM: &str = "PLAIN";

/// The most problems of one form; there are fewer fields.
const MAX_PROBLEMS: usize = 32;

/// Stands in for a secret or name that was found missing, while the other fields are looked at.
const PLACEHOLDER: &str = "missing";

/// Returns the form with empty texts left out, as a web form sends them for what is not set.
pub(crate) fn normalized(form: &ConnectionForm) -> ConnectionForm {
    let text = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    ConnectionForm {
        sasl_mechanism: text(&form.sasl_mechanism),
        sasl_username: text(&form.sasl_username),
        tls_ca_cert: text(&form.tls_ca_cert),
        tls_client_cert: text(&form.tls_client_cert),
        tls_server_name: text(&form.tls_server_name),
        ..form.clone()
    }
}

/// Returns the form with its defaults written out, as it is stored: what a cluster was registered with does
/// not change with a later version's defaults, and what is shown and sent back unchanged is no change.
pub(crate) fn filled(form: &ConnectionForm) -> ConnectionForm {
    let protocol = form.security_protocol.clone().unwrap_or_else(|| DEFAULT_PROTOCOL.to_owned());
    let mechanism = || protocol.starts_with("SASL").then(|| DEFAULT_MECHANISM.to_owned());
    ConnectionForm {
        endpoint: form.endpoint.clone().or_else(|| Some(DEFAULT_ENDPOINT.to_owned())),
        sasl_mechanism: form.sasl_mechanism.clone().or_else(mechanism),
        tls_skip_verify: form.tls_skip_verify.or(Some(false)),
        dial_timeout_seconds: form.dial_timeout_seconds.or(Some(DEFAULT_DIAL_TIMEOUT_SECONDS)),
        request_timeout_seconds: form.request_timeout_seconds.or(Some(DEFAULT_REQUEST_TIMEOUT_SECONDS)),
        read_max_attempts: form.read_max_attempts.or(Some(DEFAULT_READ_MAX_ATTEMPTS)),
        security_protocol: Some(protocol),
        ..form.clone()
    }
}

/// Returns the secrets as they will be: given, or the stored ones where they are kept.
pub(crate) fn effective_secrets(form: &ConnectionForm, stored: &Secrets) -> Secrets {
    let one = |change: &SecretChange, stored: &Option<SecretString>| match change {
        SecretChange::Keep => stored.clone(),
        SecretChange::Remove => None,
        SecretChange::Replace(secret) => Some(secret.clone()),
    };
    Secrets {
        sasl_password: one(&form.sasl_password, &stored.sasl_password),
        tls_client_key: one(&form.tls_client_key, &stored.tls_client_key),
    }
}

/// Returns the form as the client takes it, without secrets.
pub(crate) fn options_of(form: &ConnectionForm) -> ConnectionOptions {
    ConnectionOptions {
        endpoint: form.endpoint.clone(),
        security_protocol: form.security_protocol.clone(),
        sasl_mechanism: form.sasl_mechanism.clone(),
        sasl_username: form.sasl_username.clone(),
        sasl_password: None,
        tls_ca_cert: form.tls_ca_cert.clone(),
        tls_client_cert: form.tls_client_cert.clone(),
        tls_client_key: None,
        tls_server_name: form.tls_server_name.clone(),
        tls_skip_verify: form.tls_skip_verify,
        dial_timeout_seconds: form.dial_timeout_seconds,
        request_timeout_seconds: form.request_timeout_seconds,
        read_max_attempts: form.read_max_attempts,
        advertised_host_allow_list: form.advertised_host_allow_list.clone(),
    }
}

/// Checks a form with the secrets that will go with it, and returns a client that has dialled nothing yet.
///
/// # Errors
/// Every field that breaks a rule.
pub(crate) fn check(form: &ConnectionForm, secrets: Secrets) -> Result<FlussClient, Vec<FieldProblem>> {
    let mut problems = own_problems(form);
    let mut options = with_secrets(options_of(form), secrets);
    let mut client = None;
    let mut refused: Vec<&'static str> = Vec::new();
    while problems.len() < MAX_PROBLEMS {
        let error = match ConnectionSettings::try_from(options.clone()) {
            // Certificates and keys are read only when a client is made.
            Ok(checked) => match logged_client(checked) {
                Ok(made) => {
                    client = Some(made);
                    break;
                }
                Err(error) => error,
            },
            Err(error) => error,
        };
        let (field, reason) = match error {
            ClientError::InvalidSetting { field, reason } => (field, reason),
            other => ("endpoint", other.to_string()),
        };
        if !problems.iter().any(|problem| problem.pointer == pointer(field)) {
            problems.push(FieldProblem::new(pointer(field), "setting", said_of_kept(form, field, reason)));
        }
        // A field that is refused twice cannot be got out of the way; the others wait for the next try.
        if refused.contains(&field) {
            break;
        }
        refused.push(field);
        set_aside(&mut options, field);
    }
    match client {
        Some(client) if problems.is_empty() => Ok(client),
        _ => Err(problems),
    }
}

/// Finds what the client would take and a server must not.
fn own_problems(form: &ConnectionForm) -> Vec<FieldProblem> {
    let mut problems = Vec::new();
    let list = "/connection/advertised_host_allow_list";
    if form.advertised_host_allow_list.as_ref().is_some_and(Vec::is_empty) {
        let rule = "an empty list allows no host; leave it out to allow all";
        problems.push(FieldProblem::new(list, "setting", rule));
    }
    for host in form.advertised_host_allow_list.iter().flatten() {
        if let Err(refusal) = egress::check_host(host) {
            problems.push(FieldProblem::new(list, "address", refusal.reason()));
            break;
        }
    }
    let addresses = form.endpoint.as_deref().unwrap_or_default().split(',');
    for address in addresses.filter_map(|text| text.parse::<fluss_client::bootstrap::HostPort>().ok()) {
        if let Err(refusal) = egress::check_host(address.host()) {
            problems.push(FieldProblem::new("/connection/endpoint", "address", refusal.reason()));
            break;
        }
    }
    let is_name = |name: &String| fluss_client::bootstrap::HostPort::new(name, 1).is_ok();
    if !form.tls_server_name.as_ref().is_none_or(is_name) {
        let rule = "not a host name or IP address; ports are not part of it";
        problems.push(FieldProblem::new("/connection/tls_server_name", "characters", rule));
    }
    for (pointer, pem) in [
        ("/connection/tls_ca_cert", &form.tls_ca_cert),
        ("/connection/tls_client_cert", &form.tls_client_cert),
    ] {
        // Certificates are shown to whoever may see the cluster.
        if pem.as_ref().is_some_and(|pem| pem.contains("PRIVATE KEY")) {
            let rule = "holds a private key, whose place is tls_client_key";
            problems.push(FieldProblem::new(pointer, "secret", rule));
        }
    }
    problems
}

/// Says of a stored secret that it is in the way, where the form does not name it.
fn said_of_kept(form: &ConnectionForm, field: &str, reason: String) -> String {
    let is_kept = match field {
        "sasl_password" => form.sasl_password.is_keep(),
        "tls_client_key" => form.tls_client_key.is_keep(),
        _ => false,
    };
    if is_kept && reason.contains("no effect") {
        format!("the stored one {reason}, or remove it with null")
    } else {
        reason
    }
}

/// Gets a field that was refused out of the way, so that the next problem shows itself.
fn set_aside(options: &mut ConnectionOptions, field: &str) {
    let protocol = options.security_protocol.as_deref().unwrap_or_default();
    let placeholder = protocol.starts_with("SASL").then(|| PLACEHOLDER.to_owned());
    match field {
        "endpoint" => options.endpoint = None,
        "security_protocol" => options.security_protocol = Some(meant_protocol(options).to_owned()),
        "sasl_mechanism" => options.sasl_mechanism = None,
        "sasl_username" => options.sasl_username = placeholder,
        "sasl_password" => options.sasl_password = placeholder.map(SecretString::from),
        "tls_ca_cert" => options.tls_ca_cert = None,
        "tls_client_cert" | "tls_client_key" => {
            options.tls_client_cert = None;
            options.tls_client_key = None;
        }
        "tls_server_name" => options.tls_server_name = None,
        "tls_skip_verify" => options.tls_skip_verify = None,
        "dial_timeout_seconds" => options.dial_timeout_seconds = None,
        "request_timeout_seconds" => options.request_timeout_seconds = None,
        "read_max_attempts" => options.read_max_attempts = None,
        _ => options.advertised_host_allow_list = None,
    }
}

/// Returns the protocol under which the other options have an effect.
fn meant_protocol(options: &ConnectionOptions) -> &'static str {
    let has_sasl = options.sasl_username.is_some() || options.sasl_password.is_some();
    let has_tls = options.tls_ca_cert.is_some()
        || options.tls_client_cert.is_some()
        || options.tls_client_key.is_some()
        || options.tls_server_name.is_some()
        || options.tls_skip_verify == Some(true);
    match (has_sasl, has_tls) {
        (true, true) => "SASL_TLS",
        (true, false) => "SASL_PLAINTEXT",
        (false, true) => "TLS",
        (false, false) => "PLAINTEXT",
    }
}

/// Returns where a setting stands in a request.
pub(crate) fn pointer(field: &str) -> &'static str {
    match field {
        "endpoint" => "/connection/endpoint",
        "security_protocol" => "/connection/security_protocol",
        "sasl_mechanism" => "/connection/sasl_mechanism",
        "sasl_username" => "/connection/sasl_username",
        "sasl_password" => "/connection/sasl_password",
        "tls_ca_cert" => "/connection/tls_ca_cert",
        "tls_client_cert" => "/connection/tls_client_cert",
        "tls_client_key" => "/connection/tls_client_key",
        "tls_server_name" => "/connection/tls_server_name",
        "tls_skip_verify" => "/connection/tls_skip_verify",
        "dial_timeout_seconds" => "/connection/dial_timeout_seconds",
        "request_timeout_seconds" => "/connection/request_timeout_seconds",
        "read_max_attempts" => "/connection/read_max_attempts",
        "advertised_host_allow_list" => "/connection/advertised_host_allow_list",
        _ => "/connection",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn form(json: &str) -> ConnectionForm {
        normalized(&serde_json::from_str(json).unwrap())
    }

    fn settings(json: &str) -> ConnectionSettings {
        let form = form(json);
        check(&form, effective_secrets(&form, &Secrets::default())).unwrap().settings().clone()
    }

    /// Returns where the problems are, in the order in which they were found.
    fn pointers(json: &str) -> Vec<String> {
        let form = form(json);
        let problems = check(&form, effective_secrets(&form, &Secrets::default())).err().unwrap_or_default();
        problems.into_iter().map(|problem| problem.pointer.replace("/connection/", "")).collect()
    }

    #[test]
    fn defaults_are_those_of_the_manual() {
        let settings = settings("{}");
        assert_eq!(settings.bootstrap().to_string(), "localhost:9123");
        assert_eq!(settings.security_protocol().name(), "PLAINTEXT");
        assert_eq!(settings.dial_timeout(), Duration::from_secs(10));
        assert_eq!(settings.request_timeout(), Duration::from_secs(15));
        assert_eq!(settings.read_max_attempts(), 2);
        assert!(settings.sasl().is_none() && !settings.skips_verification());
    }

    #[test]
    fn every_field_has_its_range() {
        for (json, wrong) in [
            (r#"{"endpoint":"a:1, [::1]:2"}"#, ""),
            (r#"{"endpoint":""}"#, "endpoint"),
            (r#"{"endpoint":"a"}"#, "endpoint"),
            (r#"{"endpoint":"http://a:1"}"#, "endpoint"),
            (r#"{"endpoint":"a:1,169.254.169.254:80"}"#, "endpoint"),
            (r#"{"endpoint":"2852039166:80"}"#, "endpoint"),
            (r#"{"security_protocol":"SSL"}"#, "security_protocol"),
            (r#"{"security_protocol":"TLS","tls_skip_verify":true}"#, ""),
            (r#"{"tls_skip_verify":true}"#, "tls_skip_verify"),
            (r#"{"security_protocol":"SASL_PLAINTEXT","sasl_username":"u","sasl_password":"p"}"#, ""),
            (r#"{"security_protocol":"SASL_PLAINTEXT","sasl_username":"u"}"#, "sasl_password"),
            (r#"{"security_protocol":"SASL_PLAINTEXT","sasl_password":"p"}"#, "sasl_username"),
            (r#"{"sasl_password":"p"}"#, "sasl_password"),
            (r#"{"sasl_mechanism":"PLAIN"}"#, "sasl_mechanism"),
            (r#"{"security_protocol":"TLS","tls_ca_cert":"no PEM"}"#, "tls_ca_cert"),
            (r#"{"security_protocol":"TLS","tls_client_cert":"no PEM"}"#, "tls_client_key"),
            (r#"{"security_protocol":"TLS","tls_client_key":"no PEM"}"#, "tls_client_cert"),
            (r#"{"security_protocol":"TLS","tls_server_name":"fluss.example"}"#, ""),
            (r#"{"security_protocol":"TLS","tls_server_name":"fluss.example:9123"}"#, "tls_server_name"),
            (r#"{"dial_timeout_seconds":1,"request_timeout_seconds":300,"read_max_attempts":3}"#, ""),
            (r#"{"dial_timeout_seconds":300,"request_timeout_seconds":1,"read_max_attempts":1}"#, ""),
            (r#"{"dial_timeout_seconds":0}"#, "dial_timeout_seconds"),
            (r#"{"dial_timeout_seconds":301}"#, "dial_timeout_seconds"),
            (r#"{"request_timeout_seconds":0}"#, "request_timeout_seconds"),
            (r#"{"request_timeout_seconds":301}"#, "request_timeout_seconds"),
            (r#"{"read_max_attempts":0}"#, "read_max_attempts"),
            (r#"{"read_max_attempts":4}"#, "read_max_attempts"),
            (r#"{"advertised_host_allow_list":["a","::1"]}"#, ""),
            (r#"{"advertised_host_allow_list":["a:9123"]}"#, "advertised_host_allow_list"),
            (r#"{"advertised_host_allow_list":[]}"#, "advertised_host_allow_list"),
            (r#"{"advertised_host_allow_list":["fe80::1"]}"#, "advertised_host_allow_list"),
        ] {
            assert_eq!(pointers(json).join(" "), wrong, "{json}");
        }
    }

    #[test]
    fn all_problems_are_told_at_once() {
        let mut found = pointers(
            r#"{"endpoint":"http://a","security_protocol":"SSL","sasl_username":"u","tls_server_name":"a b",
                "tls_client_cert":"c","dial_timeout_seconds":0,"request_timeout_seconds":999,
                "read_max_attempts":9,"advertised_host_allow_list":["a:1"],"sasl_mechanism":"GSSAPI"}"#,
        );
        found.sort();
        assert_eq!(
            found,
            [
                "advertised_host_allow_list",
                "dial_timeout_seconds",
                "endpoint",
                "read_max_attempts",
                "request_timeout_seconds",
                "sasl_mechanism",
                "sasl_password",
                "security_protocol",
                "tls_client_key",
                "tls_server_name",
            ]
        );
        // Under a protocol without either, every option of SASL and TLS is out of place.
        let mut found = pointers(
            r#"{"sasl_mechanism":"PLAIN","sasl_username":"u","sasl_password":"p","tls_ca_cert":"c",
                "tls_client_cert":"c","tls_client_key":"k","tls_server_name":"a","tls_skip_verify":true}"#,
        );
        found.sort();
        assert_eq!(
            found,
            [
                "sasl_mechanism",
                "sasl_password",
                "sasl_username",
                "tls_ca_cert",
                "tls_client_cert",
                "tls_server_name",
                "tls_skip_verify"
            ]
        );
    }

    #[test]
    fn a_private_key_is_not_taken_for_a_certificate() {
        let pem = "-----BEGIN PRIVATE KEY-----";
        for field in ["tls_ca_cert", "tls_client_cert"] {
            let found = pointers(&format!(r#"{{"security_protocol":"TLS","{field}":"{pem}"}}"#));
            assert_eq!(found.first().map(String::as_str), Some(field));
        }
    }

    #[test]
    fn no_problem_quotes_a_secret() {
        let form = form(
            r#"{"sasl_password":"hunter2\u0000","security_protocol":"SASL_TLS","sasl_username":"u",
                "tls_client_cert":"x","tls_client_key":"KEYTEXT"}"#,
        );
        let problems = check(&form, effective_secrets(&form, &Secrets::default())).err().unwrap();
        let text = format!("{problems:?}");
        assert!(
            text.contains("sasl_password") && !text.contains("hunter2") && !text.contains("KEYTEXT"),
            "{text}"
        );
    }

    #[test]
    fn a_stored_secret_in_the_way_is_told_as_such() {
        let form = form("{}");
        let stored = Secrets { sasl_password: Some("p".into()), tls_client_key: None };
        let problems = check(&form, effective_secrets(&form, &stored)).err().unwrap();
        assert_eq!(problems.len(), 1);
        assert!(problems[0].detail.contains("stored one") && problems[0].detail.contains("null"));
    }

    #[test]
    fn empty_texts_are_left_out() {
        let form = form(r#"{"sasl_username":"","tls_ca_cert":" ","tls_server_name":"","endpoint":""}"#);
        assert_eq!(serde_json::to_string(&form).unwrap(), r#"{"endpoint":""}"#);
    }
}
