//! How registered clusters look on the terminal.

use pegel_api_types::clusters::state::{ClusterState, ClusterStateView};
use pegel_api_types::clusters::{ClusterView, SavedCluster};

use crate::console::Console;
use crate::render::escape::escape;
use crate::render::grid::{Cell, Column, Grid, Mark};
use crate::render::paper::Paper;
use crate::server_url::ServerUrl;

/// Writes a list of clusters.
pub(super) fn list(clusters: &[ClusterView], url: &ServerUrl, console: &Console) -> String {
    if clusters.is_empty() {
        return format!("{url} knows no cluster that you may see.\n");
    }
    let mut grid = Grid::new(&[
        Column::Short("NAME"),
        Column::Text("DISPLAY NAME"),
        Column::Short("ENVIRONMENT"),
        Column::Short("STATE"),
        Column::Short("TABLET SERVERS"),
        Column::Short("CHANGES"),
        Column::Text("ADDRESSES"),
    ]);
    for cluster in clusters {
        let endpoint = cluster.connection.as_ref().map(|connection| &connection.endpoint);
        grid.row(vec![
            Cell::text(cluster.slug.as_str()),
            Cell::text(&cluster.name),
            Cell::text(cluster.environment.as_str()),
            mark(cluster).map_or(Cell::Unknown, Cell::State),
            cluster.state.as_ref().and_then(alive).map_or(Cell::Unknown, Cell::text),
            Cell::text(if cluster.read_only { "never" } else { "by role" }),
            endpoint.map_or(Cell::Unknown, Cell::text),
        ]);
    }
    grid.render(console.style())
}

/// Says what was last seen of a cluster; nothing to those who may not see servers.
fn mark(cluster: &ClusterView) -> Option<Mark> {
    if cluster.unusable.is_some() {
        return Some(Mark::Bad("unusable"));
    }
    cluster.state.as_ref().map(|seen| match seen.state {
        ClusterState::Up => Mark::Good("up"),
        ClusterState::Degraded => Mark::Half("degraded"),
        ClusterState::Down => Mark::Bad("down"),
        ClusterState::Unknown => Mark::Neutral("unknown"),
    })
}

fn alive(seen: &ClusterStateView) -> Option<String> {
    let (alive, registered) = (seen.tablet_servers_alive_count?, seen.tablet_servers_registered_count?);
    Some(format!("{alive} of {registered}"))
}

/// Writes all about one cluster.
pub(super) fn cluster(cluster: &ClusterView, console: &Console) -> String {
    let mut paper = Paper::new(console.style());
    paper.title(&format!("{} – {}", cluster.slug, escape(&cluster.name)));
    let seen = cluster.state.as_ref();
    paper.facts(&[
        ("state", mark(cluster).map(Mark::text)),
        ("seen", seen.and_then(|seen| seen.observed_at).map(|at| at.to_string())),
        ("reason", seen.and_then(|seen| seen.reason).map(|code| code.to_string())),
        ("tablet servers alive", seen.and_then(alive)),
        ("environment", Some(cluster.environment.as_str().to_owned())),
        ("changes", Some(if cluster.read_only { "never" } else { "by role" }.to_owned())),
        ("registered", Some(cluster.created_at.to_string())),
        ("changed", Some(cluster.updated_at.to_string())),
        ("version", Some(cluster.version.to_string())),
        ("unusable", cluster.unusable.as_ref().map(|why| format!("{} ({})", why.message, why.code))),
    ]);
    let Some(connection) = &cluster.connection else { return paper.into_text() };
    let set = |is_set: bool| is_set.then(|| "set".to_owned());
    let given = |text: &Option<String>| text.as_ref().map(|_| "given".to_owned());
    paper.blank();
    paper.facts(&[
        ("endpoint", Some(connection.endpoint.clone())),
        ("security_protocol", Some(connection.security_protocol.clone())),
        ("sasl_mechanism", connection.sasl_mechanism.clone()),
        ("sasl_username", connection.sasl_username.clone()),
        ("sasl_password", set(connection.has_sasl_password)),
        ("tls_ca_cert", given(&connection.tls_ca_cert)),
        ("tls_client_cert", given(&connection.tls_client_cert)),
        ("tls_client_key", set(connection.has_tls_client_key)),
        ("tls_server_name", connection.tls_server_name.clone()),
        ("tls_skip_verify", connection.tls_skip_verify.then(|| "true".to_owned())),
        ("dial_timeout_seconds", Some(connection.dial_timeout_seconds.to_string())),
        ("request_timeout_seconds", Some(connection.request_timeout_seconds.to_string())),
        ("read_max_attempts", Some(connection.read_max_attempts.to_string())),
        (
            "advertised_host_allow_list",
            connection.advertised_host_allow_list.as_ref().map(|list| list.join(", ")),
        ),
    ]);
    paper.into_text()
}

/// Writes what was saved and how the test of its connection went.
pub(super) fn saved(what: &str, saved: &SavedCluster) -> String {
    let cluster = &saved.cluster;
    let test = match &saved.connection_test {
        None => "its connection did not change".to_owned(),
        Some(envelope) => match &envelope.data {
            Some(test) => format!("its connection test: {}", test.verdict.as_str()),
            None => format!("its connection test: {}", envelope.status.as_str()),
        },
    };
    format!(
        "{what} {} ({}, {}); {test}.\n",
        cluster.slug,
        escape(&cluster.name),
        cluster.environment.as_str()
    )
}
