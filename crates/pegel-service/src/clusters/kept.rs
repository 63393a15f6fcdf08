//! When a stored secret has to be given again.
//!
//! Someone who may change a cluster but does not know its password could otherwise point it at a server of
//! their own and be sent the password. Whatever decides where a secret goes, and how well it is guarded on
//! the way, can only be changed by someone who has the secret.

use fluss_client::bootstrap::{BootstrapList, HostPort};
use fluss_client::settings::{ConnectionOptions, DEFAULT_ENDPOINT};
use pegel_api_types::clusters::connection::ConnectionForm;
use pegel_api_types::problem::FieldProblem;

use crate::clusters::connection::{options_of, pointer};
use crate::clusters::save::all_problems;
use crate::clusters::stored::{SASL_PASSWORD, Stored, TLS_CLIENT_KEY};
use crate::error::Error;

/// Lets a form pass that is valid and sends no stored secret to a new place.
///
/// # Errors
/// `invalid`, then with the missing secrets among the problems; `secret_required` if that is the only one.
pub(crate) fn guard<T>(
    stored: &Stored,
    form: &ConnectionForm,
    request: Result<(), Vec<FieldProblem>>,
    connection: Result<T, Vec<FieldProblem>>,
) -> Result<T, Error> {
    let mut required = required_again(stored, form);
    match all_problems(request, connection) {
        Ok(checked) if required.is_empty() => Ok(checked),
        Ok(_) => Err(Error::SecretRequired { problems: required }),
        Err(Error::Invalid { mut problems }) => {
            let is_in = |list: &[FieldProblem], one: &FieldProblem| {
                list.iter().any(|problem| problem.pointer == one.pointer)
            };
            if stored.secrets.is_err() {
                // One that cannot be read was found missing; that is not what is wrong with it.
                problems.retain(|problem| !is_in(&required, problem));
            } else {
                // One that has no effect would be asked for in vain.
                required.retain(|problem| !is_in(&problems, problem));
            }
            if problems.is_empty() {
                return Err(Error::SecretRequired { problems: required });
            }
            problems.extend(required);
            Err(Error::Invalid { problems })
        }
        Err(error) => Err(error),
    }
}

/// Names the secrets that the form keeps although it changes where they go.
pub(crate) fn required_again(stored: &Stored, form: &ConnectionForm) -> Vec<FieldProblem> {
    let new = options_of(form);
    let reason = match (&stored.secrets, stored.described.options()) {
        (Err(_), _) => "the stored one cannot be read".to_owned(),
        (Ok(_), Err(_)) => "the stored settings cannot be read".to_owned(),
        (Ok(_), Ok(old)) => match changed(&old, &new) {
            fields if fields.is_empty() => return Vec::new(),
            fields => {
                format!("{} changed, and a stored secret goes to no new place unasked", fields.join(", "))
            }
        },
    };
    let kept = [
        (SASL_PASSWORD, form.sasl_password.is_keep() && stored.described.has.sasl_password),
        (TLS_CLIENT_KEY, form.tls_client_key.is_keep() && stored.described.has.tls_client_key),
    ];
    let problem =
        |(field, _)| FieldProblem::new(pointer(field), "secret", format!("give it again: {reason}"));
    kept.into_iter().filter(|(_, is_kept)| *is_kept).map(problem).collect()
}

/// Names the settings that differ and decide where secrets go.
fn changed(old: &ConnectionOptions, new: &ConnectionOptions) -> Vec<&'static str> {
    let guards = |options: &ConnectionOptions| {
        options.security_protocol.as_deref().is_some_and(|protocol| protocol.ends_with("TLS"))
    };
    let skips = |options: &ConnectionOptions| options.tls_skip_verify.unwrap_or(false);
    [
        ("endpoint", addresses(old) != addresses(new)),
        ("security_protocol", guards(old) && !guards(new)),
        ("sasl_username", old.sasl_username != new.sasl_username),
        ("tls_ca_cert", old.tls_ca_cert != new.tls_ca_cert),
        ("tls_server_name", old.tls_server_name != new.tls_server_name),
        ("tls_skip_verify", skips(old) != skips(new)),
        ("advertised_host_allow_list", hosts(old) != hosts(new)),
    ]
    .into_iter()
    .filter_map(|(field, is_changed)| is_changed.then_some(field))
    .collect()
}

/// Returns the addresses without regard to their order.
fn addresses(options: &ConnectionOptions) -> Option<Vec<HostPort>> {
    let text = options.endpoint.as_deref().unwrap_or(DEFAULT_ENDPOINT);
    let list: BootstrapList = text.parse().ok()?;
    let mut addresses = list.addresses().to_vec();
    addresses.sort();
    Some(addresses)
}

/// Returns the allowed hosts without regard to their order and case.
fn hosts(options: &ConnectionOptions) -> Option<Vec<String>> {
    let mut hosts: Vec<String> =
        options.advertised_host_allow_list.as_ref()?.iter().map(|host| host.to_ascii_lowercase()).collect();
    hosts.sort();
    Some(hosts)
}

#[cfg(test)]
mod tests {
    use pegel_core::ids::Environment;
    use pegel_store::clusters::{Cluster, Settings};
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::clusters::stored::{Described, Secrets, SecretsSet};
    use crate::failure::Failure;

    fn stored() -> Stored {
        let settings = Settings {
            name: "EU".to_owned(),
            environment: Environment::Test,
            read_only: false,
            options: (&json!({
                "endpoint": "a:1,b:2", "security_protocol": "SASL_TLS", "sasl_username": "ann",
                "tls_ca_cert": "CA", "tls_server_name": "fluss", "tls_client_cert": "CERT",
                "advertised_host_allow_list": ["a", "b"],
            }))
                .into(),
        };
        let at = "2026-03-01T12:00:00Z".parse().unwrap();
        let cluster =
            Cluster { slug: "eu".parse().unwrap(), settings, created_at: at, updated_at: at, version: 1 };
        let has = SecretsSet { sasl_password: true, tls_client_key: true };
        let secrets = Secrets { sasl_password: Some("p".into()), tls_client_key: Some("k".into()) };
        Stored { described: Described { cluster, has }, secrets: Ok(secrets) }
    }

    /// Returns which secrets have to be given again when these settings become those.
    fn asked(stored: &Stored, change: &Json) -> Vec<String> {
        let mut options = stored.cluster().settings.options.read().unwrap();
        for (name, value) in change.as_object().unwrap() {
            options[name] = value.clone();
        }
        let form = serde_json::from_value(options).unwrap();
        required_again(stored, &form)
            .into_iter()
            .map(|problem| problem.pointer.replace("/connection/", ""))
            .collect()
    }

    #[test]
    fn whatever_decides_where_a_secret_goes_asks_for_it_again() {
        for change in [
            json!({ "endpoint": "a:1,c:3" }),
            json!({ "endpoint": "a:1" }),
            json!({ "endpoint": null }),
            json!({ "security_protocol": "SASL_PLAINTEXT" }),
            json!({ "security_protocol": "PLAINTEXT" }),
            json!({ "sasl_username": "bob" }),
            json!({ "tls_ca_cert": "OTHER" }),
            json!({ "tls_ca_cert": null }),
            json!({ "tls_server_name": "other" }),
            json!({ "tls_server_name": null }),
            json!({ "tls_skip_verify": true }),
            json!({ "advertised_host_allow_list": ["a", "b", "c"] }),
            json!({ "advertised_host_allow_list": null }),
        ] {
            assert_eq!(asked(&stored(), &change), ["sasl_password", "tls_client_key"], "{change}");
            let mut one_given = change.clone();
            one_given["sasl_password"] = json!("q");
            assert_eq!(asked(&stored(), &one_given), ["tls_client_key"], "{change}");
            one_given["tls_client_key"] = Json::Null;
            assert_eq!(asked(&stored(), &one_given), [""; 0], "{change}");
        }
    }

    #[test]
    fn what_decides_nothing_of_that_asks_for_nothing() {
        for change in [
            json!({}),
            json!({ "endpoint": "b:2, a:1" }),
            json!({ "tls_skip_verify": false }),
            json!({ "advertised_host_allow_list": ["B", "a"] }),
            json!({ "dial_timeout_seconds": 3, "request_timeout_seconds": 4, "read_max_attempts": 1 }),
            json!({ "sasl_mechanism": "PLAIN", "tls_client_cert": "NEXT" }),
        ] {
            assert_eq!(asked(&stored(), &change), [""; 0], "{change}");
        }
    }

    #[test]
    fn what_cannot_be_read_cannot_be_kept() {
        let unreadable = Stored { secrets: Err(Failure::internal("damaged")), ..stored() };
        assert_eq!(asked(&unreadable, &json!({})), ["sasl_password", "tls_client_key"]);
        let mut foreign = stored();
        foreign.described.cluster.settings.options = (&json!({ "endpoint": "a:1", "shiny": true })).into();
        let form = serde_json::from_value(json!({ "endpoint": "a:1" })).unwrap();
        assert_eq!(required_again(&foreign, &form).len(), 2);
    }

    #[test]
    fn a_cluster_without_secrets_is_asked_for_none() {
        let mut bare = stored();
        bare.described.has = SecretsSet::default();
        bare.secrets = Ok(Secrets::default());
        assert_eq!(asked(&bare, &json!({ "endpoint": "c:3" })), [""; 0]);
    }
}
