//! The servers of the cluster, each with two facts: metadata names it, and it answers.

use std::time::Duration;

use fluss_client::admin::{ServerRole, ServerStatus};
use pegel_core::envelope::{Evidence, EvidenceState, Status};
use serde::Serialize;

use crate::failure::Failure;
use crate::reads::buckets::PartFailure;
use crate::session::{Answer, Session};

/// The servers of the cluster.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Servers {
    /// The coordinator first, then tablet servers by id.
    pub(crate) servers: Vec<Server>,
    /// Tablet servers that answer.
    pub(crate) tablet_servers_alive_count: usize,
    /// Tablet servers that metadata names.
    pub(crate) tablet_servers_registered_count: usize,
}

/// One server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Server {
    /// `coordinator` or `tablet_server`.
    pub(crate) role: &'static str,
    /// Id within its role.
    pub(crate) id: i32,
    /// Advertised address.
    pub(crate) address: String,
    /// Rack, when one is configured.
    pub(crate) rack: Option<String>,
    /// `ALIVE` or `NOT_ANSWERING`.
    pub(crate) state: State,
    /// Whether the coordinator's metadata names it. ZooKeeper keeps a dead one listed for a while.
    pub(crate) is_in_metadata: bool,
    /// Whether it answers a version request on its own connection.
    pub(crate) answers: bool,
    /// Time of that request and its answer in milliseconds.
    pub(crate) latency_ms: Option<f64>,
    /// Why it does not answer.
    pub(crate) failure: Option<PartFailure>,
}

/// Whether a server is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum State {
    /// In metadata, and answers.
    Alive,
    /// In metadata, but does not answer.
    NotAnswering,
}

/// Reads the servers of the cluster.
///
/// # Errors
/// `coordinator_unavailable` and what keeps the cluster from being found.
pub(crate) async fn read(session: &Session) -> Result<Answer<Servers>, Failure> {
    let mut answer = judge(session.client.servers().await?);
    let addresses = session.client.settings().bootstrap().addresses();
    let listed: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    answer.warnings.extend(answer.data.as_ref().and_then(|found| unregistered(&listed, &found.servers)));
    Ok(answer)
}

/// Says which bootstrap addresses no server is registered at.
///
/// The list may name servers otherwise than they advertise themselves. Only where it names some
/// of them the same way does a missing one mean something.
fn unregistered(listed: &[String], servers: &[Server]) -> Option<String> {
    let is_registered = |address: &String| servers.iter().any(|server| server.address == *address);
    let missing: Vec<&str> =
        listed.iter().filter(|address| !is_registered(address)).map(String::as_str).collect();
    if missing.is_empty() || missing.len() == listed.len() {
        return None;
    }
    Some(format!(
        "no server is registered at {}, which the bootstrap list names: it has left the cluster, or never was part of it",
        missing.join(", ")
    ))
}

fn judge(found: Vec<ServerStatus>) -> Answer<Servers> {
    let servers: Vec<Server> = found.into_iter().map(view).collect();
    let is_tablet_server = |server: &&Server| server.role == ServerRole::TabletServer.name();
    let registered = servers.iter().filter(is_tablet_server).count();
    let alive = servers.iter().filter(is_tablet_server).filter(|server| server.answers).count();
    let evidence: Vec<Evidence> = servers.iter().filter_map(silent).collect();
    let status = if evidence.is_empty() && registered > 0 { Status::Ok } else { Status::Partial };
    let mut answer = Answer::new(
        status,
        Servers { servers, tablet_servers_alive_count: alive, tablet_servers_registered_count: registered },
    );
    if registered == 0 {
        answer.warnings.push("no tablet server is registered: nothing can be read or written".to_owned());
    }
    answer.evidence = evidence;
    answer
}

fn view(server: ServerStatus) -> Server {
    let failure = server.answer.as_ref().err().map(Failure::from);
    let latency = server.answer.as_ref().ok().copied();
    Server {
        role: server.role.name(),
        id: server.node.id,
        address: server.node.advertised.clone(),
        rack: server.node.rack,
        state: if latency.is_some() { State::Alive } else { State::NotAnswering },
        is_in_metadata: true,
        answers: latency.is_some(),
        latency_ms: latency.map(milliseconds),
        failure: failure.as_ref().map(PartFailure::from),
    }
}

/// Returns milliseconds with three decimals.
fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

fn silent(server: &Server) -> Option<Evidence> {
    let failure = server.failure.as_ref()?;
    Some(Evidence {
        check: "ping",
        subject: Some(format!("{} {} at {}", server.role, server.id, server.address)),
        state: EvidenceState::Failed,
        code: Some(failure.code),
        message: failure.message.clone(),
        hint: None,
        duration_ms: None,
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use fluss_client::bootstrap::HostPort;
    use fluss_client::client::ServerNode;
    use fluss_client::error::Error;

    use super::*;

    fn status(role: ServerRole, id: i32, answer: Result<Duration, Error>) -> ServerStatus {
        let port = 9123 + u16::try_from(id).unwrap();
        let address = HostPort::new("fluss-1.example", port);
        let node = ServerNode {
            id,
            advertised: format!("fluss-1.example:{port}"),
            address,
            rack: Some(format!("rack-{id}")),
        };
        ServerStatus { node, role, answer }
    }

    /// A cluster of which one tablet server does not answer.
    pub(crate) fn one_silent() -> Answer<Servers> {
        let address = HostPort::new("fluss-1.example", 9125).unwrap();
        judge(vec![
            status(ServerRole::Coordinator, 0, Ok(Duration::from_micros(1_234))),
            status(ServerRole::TabletServer, 1, Ok(Duration::from_micros(850))),
            status(ServerRole::TabletServer, 2, Err(Error::DialTimeout { address, timeout_ms: 10_000 })),
        ])
    }

    #[test]
    fn silent_server_makes_the_answer_partial() {
        let answer = one_silent();
        assert_eq!(answer.status, Status::Partial);
        assert_eq!(answer.evidence.len(), 1);
        let servers = answer.data.unwrap();
        assert_eq!((servers.tablet_servers_alive_count, servers.tablet_servers_registered_count), (1, 2));
        assert_eq!(servers.servers[2].state, State::NotAnswering);
        assert_eq!(servers.servers[1].latency_ms, Some(0.85));
    }

    #[test]
    fn coordinator_alone_is_not_a_working_cluster() {
        let answer = judge(vec![status(ServerRole::Coordinator, 0, Ok(Duration::ZERO))]);
        assert_eq!(answer.status, Status::Partial);
        assert!(answer.warnings[0].contains("no tablet server"));
    }

    #[test]
    fn bootstrap_address_without_a_server_is_told_where_the_names_are_the_clusters_own() {
        let servers = one_silent().data.unwrap().servers;
        let known = servers[0].address.clone();
        let told = unregistered(&[known.clone(), "fluss-1.example:9999".to_owned()], &servers);
        assert!(told.unwrap().contains("fluss-1.example:9999"));
        assert_eq!(unregistered(&[known], &servers), None);
        assert_eq!(unregistered(&["10.0.0.1:9123".to_owned()], &servers), None, "another way of naming");
    }
}
