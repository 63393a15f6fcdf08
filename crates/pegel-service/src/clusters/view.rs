//! A cluster as it is shown: with every setting, defaults filled in, and without any secret.

use fluss_client::settings::{
    ConnectionOptions, DEFAULT_DIAL_TIMEOUT_SECONDS, DEFAULT_ENDPOINT, DEFAULT_READ_MAX_ATTEMPTS,
    DEFAULT_REQUEST_TIMEOUT_SECONDS,
};
use jiff::Timestamp;
use pegel_api_types::clusters::connection::ConnectionView;
use pegel_api_types::clusters::{ClusterView, Unusable};

use crate::caller::Caller;
use crate::clusters::connection::{DEFAULT_MECHANISM, DEFAULT_PROTOCOL};
use crate::clusters::state::state_view;
use crate::clusters::stored::{Described, SecretsSet};
use crate::failure::sight::Sight;
use crate::live::registry::Registry;

/// Shows a cluster to a caller: its connection to those who may see it as a whole, its state to those who may
/// see servers.
pub(crate) fn cluster_view(
    described: &Described,
    registry: &Registry,
    caller: &Caller,
    now: Timestamp,
) -> ClusterView {
    let cluster = &described.cluster;
    let slug = &cluster.slug;
    let is_whole = caller.principal().scope.allows_whole_cluster(slug);
    let options = if is_whole { described.options().ok() } else { None };
    let sees_servers = Sight::of(caller, slug) >= Sight::Servers;
    let failure = registry.failure(slug);
    ClusterView {
        slug: cluster.slug.clone(),
        name: cluster.settings.name.clone(),
        environment: cluster.settings.environment,
        read_only: cluster.settings.read_only,
        connection: options.map(|options| connection_view(options, described.has)),
        state: sees_servers.then(|| state_view(registry.sighting(slug).as_deref(), now)),
        unusable: failure.map(|failure| Unusable {
            code: failure.code,
            // It may quote the connection, which not everybody may see.
            message: if is_whole { failure.one_line() } else { failure.meaning() },
            hint: failure.hint.clone(),
        }),
        created_at: cluster.created_at,
        updated_at: cluster.updated_at,
        version: cluster.version,
    }
}

fn connection_view(options: ConnectionOptions, has: SecretsSet) -> ConnectionView {
    let security_protocol = options.security_protocol.unwrap_or_else(|| DEFAULT_PROTOCOL.to_owned());
    let uses_sasl = security_protocol.starts_with("SASL");
    ConnectionView {
        endpoint: options.endpoint.unwrap_or_else(|| DEFAULT_ENDPOINT.to_owned()),
        sasl_mechanism: uses_sasl
            .then(|| options.sasl_mechanism.unwrap_or_else(|| DEFAULT_MECHANISM.to_owned())),
        security_protocol,
        sasl_username: options.sasl_username,
        has_sasl_password: has.sasl_password,
        tls_ca_cert: options.tls_ca_cert,
        tls_client_cert: options.tls_client_cert,
        has_tls_client_key: has.tls_client_key,
        tls_server_name: options.tls_server_name,
        tls_skip_verify: options.tls_skip_verify.unwrap_or(false),
        dial_timeout_seconds: options.dial_timeout_seconds.unwrap_or(DEFAULT_DIAL_TIMEOUT_SECONDS),
        request_timeout_seconds: options.request_timeout_seconds.unwrap_or(DEFAULT_REQUEST_TIMEOUT_SECONDS),
        read_max_attempts: options.read_max_attempts.unwrap_or(DEFAULT_READ_MAX_ATTEMPTS),
        advertised_host_allow_list: options.advertised_host_allow_list,
    }
}
