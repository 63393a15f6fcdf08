//! From options of the command line to the form that a server takes.

use fluss_client::settings::ConnectionOptions;
use pegel_api_types::clusters::connection::{ConnectionForm, ConnectionView, SecretChange};
use secrecy::SecretString;

/// Returns the form of a connection that there was not before.
pub(super) fn new_form(options: ConnectionOptions) -> ConnectionForm {
    ConnectionForm {
        endpoint: options.endpoint,
        security_protocol: options.security_protocol,
        sasl_mechanism: options.sasl_mechanism,
        sasl_username: options.sasl_username,
        sasl_password: secret(options.sasl_password),
        tls_ca_cert: options.tls_ca_cert,
        tls_client_cert: options.tls_client_cert,
        tls_client_key: secret(options.tls_client_key),
        tls_server_name: options.tls_server_name,
        tls_skip_verify: options.tls_skip_verify,
        dial_timeout_seconds: options.dial_timeout_seconds,
        request_timeout_seconds: options.request_timeout_seconds,
        read_max_attempts: options.read_max_attempts,
        advertised_host_allow_list: options.advertised_host_allow_list,
    }
}

fn secret(given: Option<SecretString>) -> SecretChange {
    given.map_or(SecretChange::Keep, SecretChange::Replace)
}

/// Returns the form of a connection of which some options change. What the new protocol has no use for goes,
/// unless it is given expressly: then the server says that it would have no effect.
pub(super) fn form(before: &ConnectionView, options: ConnectionOptions) -> ConnectionForm {
    let given = new_form(options);
    let protocol = given.security_protocol.clone().unwrap_or_else(|| before.security_protocol.clone());
    let (has_sasl, has_tls) = (protocol.contains("SASL"), protocol.contains("TLS"));
    let kept = |is_of_use: bool, value: &Option<String>| value.clone().filter(|_| is_of_use);
    let kept_secret = |is_of_use: bool, has_one: bool, change: SecretChange| {
        if change.is_keep() && !is_of_use && has_one { SecretChange::Remove } else { change }
    };
    ConnectionForm {
        endpoint: given.endpoint.or_else(|| Some(before.endpoint.clone())),
        sasl_mechanism: given.sasl_mechanism.or_else(|| kept(has_sasl, &before.sasl_mechanism)),
        sasl_username: given.sasl_username.or_else(|| kept(has_sasl, &before.sasl_username)),
        sasl_password: kept_secret(has_sasl, before.has_sasl_password, given.sasl_password),
        tls_ca_cert: given.tls_ca_cert.or_else(|| kept(has_tls, &before.tls_ca_cert)),
        tls_client_cert: given.tls_client_cert.or_else(|| kept(has_tls, &before.tls_client_cert)),
        tls_client_key: kept_secret(has_tls, before.has_tls_client_key, given.tls_client_key),
        tls_server_name: given.tls_server_name.or_else(|| kept(has_tls, &before.tls_server_name)),
        tls_skip_verify: given.tls_skip_verify.or((has_tls && before.tls_skip_verify).then_some(true)),
        dial_timeout_seconds: given.dial_timeout_seconds.or(Some(before.dial_timeout_seconds)),
        request_timeout_seconds: given.request_timeout_seconds.or(Some(before.request_timeout_seconds)),
        read_max_attempts: given.read_max_attempts.or(Some(before.read_max_attempts)),
        advertised_host_allow_list: given
            .advertised_host_allow_list
            .or_else(|| before.advertised_host_allow_list.clone()),
        security_protocol: Some(protocol),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn before() -> ConnectionView {
        ConnectionView {
            endpoint: "a:1".to_owned(),
            security_protocol: "SASL_TLS".to_owned(),
            sasl_mechanism: Some("PLAIN".to_owned()),
            sasl_username: Some("pegel".to_owned()),
            has_sasl_password: true,
            tls_ca_cert: Some("CA".to_owned()),
            tls_client_cert: None,
            has_tls_client_key: false,
            tls_server_name: Some("fluss.example".to_owned()),
            tls_skip_verify: false,
            dial_timeout_seconds: 10,
            request_timeout_seconds: 7,
            read_max_attempts: 2,
            advertised_host_allow_list: Some(vec!["a".to_owned()]),
        }
    }

    fn json(options: ConnectionOptions) -> serde_json::Value {
        serde_json::to_value(form(&before(), options)).unwrap()
    }

    #[test]
    fn what_is_not_given_stays_and_secrets_are_not_named() {
        let json =
            json(ConnectionOptions { endpoint: Some("b:2".to_owned()), ..ConnectionOptions::default() });
        let expected = serde_json::json!({
            "endpoint": "b:2", "security_protocol": "SASL_TLS", "sasl_mechanism": "PLAIN", "sasl_username": "pegel",
            "tls_ca_cert": "CA", "tls_server_name": "fluss.example", "dial_timeout_seconds": 10,
            "request_timeout_seconds": 7, "read_max_attempts": 2, "advertised_host_allow_list": ["a"],
        });
        assert_eq!(json, expected);
    }

    #[test]
    fn what_the_new_protocol_has_no_use_for_goes() {
        let protocol = |name: &str| ConnectionOptions {
            security_protocol: Some(name.to_owned()),
            ..ConnectionOptions::default()
        };
        let plain = json(protocol("PLAINTEXT"));
        assert_eq!(plain["sasl_password"], serde_json::Value::Null);
        assert!(plain.get("sasl_password").is_some(), "the stored password is removed");
        for gone in ["sasl_username", "sasl_mechanism", "tls_ca_cert", "tls_server_name", "tls_client_key"] {
            assert!(plain.get(gone).is_none(), "{gone}");
        }
        let tls = json(protocol("TLS"));
        assert!(tls.get("tls_ca_cert").is_some() && tls.get("sasl_username").is_none());
    }

    #[test]
    fn what_is_given_expressly_is_sent() {
        let options = ConnectionOptions {
            security_protocol: Some("PLAINTEXT".to_owned()),
            sasl_password: Some(SecretString::from("pw")),
            ..ConnectionOptions::default()
        };
        assert_eq!(json(options)["sasl_password"], "pw");
    }
}
