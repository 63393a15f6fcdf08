//! The servers of the cluster, each with two facts: metadata names it, and it answers.

use std::sync::Arc;
use std::time::Duration;

use pegel_api_types::operations::servers::{
    ListServers, ListServersInput, Server, ServerRole, ServerState, Servers,
};
use pegel_core::envelope::{Evidence, EvidenceState, Status};
use pegel_core::limits::PageRequest;

use crate::catalog::liveness::{self, SeenServer, Sighting};
use crate::catalog::{Execute, list_status};
use crate::execution::{Answer, Execution};
use crate::failure::Failure;
use crate::failure::sight::Sight;
use crate::policy::Authorized;
use crate::policy::permission::ClusterRead;

impl Execute for ListServers {
    type Permit = ClusterRead;

    /// Lists the servers of the cluster.
    ///
    /// # Errors
    /// `coordinator_unavailable` and what keeps the cluster from being found.
    async fn execute(
        execution: &Execution,
        _may: &Authorized<ClusterRead>,
        input: ListServersInput,
    ) -> Result<Answer<Servers>, Failure> {
        let page = execution.page(input.search.as_deref(), input.offset, input.limit)?;
        let sighting = sighted(execution).await?;
        let mut answer = judge(&sighting, &page, execution.sight);
        answer.read_at = execution.liveness.is_some().then_some(sighting.asked_at);
        let addresses = execution.client.settings().bootstrap().addresses();
        let listed: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        answer.warnings.extend(unregistered(&listed, &sighting.servers));
        Ok(answer)
    }
}

/// Returns what the watch has seen of the servers, or looks where there is none.
///
/// # Errors
/// What keeps the cluster from being found, where no server of it is known.
pub(super) async fn sighted(execution: &Execution) -> Result<Arc<Sighting>, Failure> {
    let Some(liveness) = &execution.liveness else {
        return liveness::look(&execution.client, || execution.now()).await.map(Arc::new);
    };
    let sighting = liveness.recent().await;
    match &sighting.failure {
        Some(failure) if sighting.servers.is_empty() => Err(failure.clone()),
        _ => Ok(sighting),
    }
}

/// Says which bootstrap addresses no server is registered at.
///
/// The list may name servers otherwise than they advertise themselves. Only where it names some
/// of them the same way does a missing one mean something.
fn unregistered(listed: &[String], servers: &[SeenServer]) -> Option<String> {
    let is_registered = |address: &String| servers.iter().any(|server| server.advertised == *address);
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

/// Judges by all servers, whichever of them the page shows.
fn judge(sighting: &Sighting, page: &PageRequest, sight: Sight) -> Answer<Servers> {
    let (status, evidence, warnings) = worth(sighting, sight);
    let servers: Vec<Server> = sighting.servers.iter().map(|server| view(server, sight)).collect();
    let (alive, registered) = counts(&sighting.servers);
    let page = page.cut(servers, |server| {
        let name = format!("{} {}", server.role.as_str(), server.id);
        vec![name, server.address.clone(), server.rack.clone().unwrap_or_default()]
    });
    let (_, behind) = list_status(&page);
    let mut answer = Answer::new(
        status,
        Servers {
            servers: page.items,
            tablet_servers_alive_count: alive,
            tablet_servers_registered_count: registered,
            metadata_at: sighting.metadata_at,
            total_count: page.total_count,
            matched_count: page.matched_count,
            offset: page.offset,
            limit: page.limit,
            next_offset: page.next_offset,
        },
    );
    answer.evidence = evidence;
    answer.warnings.extend(warnings.into_iter().chain(behind));
    answer
}

/// Returns what is to be said of a cluster with these servers: partial unless all answer and there are some,
/// unavailable if none does.
pub(super) fn worth(sighting: &Sighting, sight: Sight) -> (Status, Vec<Evidence>, Vec<String>) {
    let servers = &sighting.servers;
    let mut evidence: Vec<Evidence> = servers.iter().filter_map(|server| silent(server, sight)).collect();
    let mut warnings = Vec::new();
    let has_silent_coordinator =
        servers.iter().any(|server| server.role == ServerRole::Coordinator && server.answer.is_err());
    if let Some(failure) = &sighting.failure {
        if !has_silent_coordinator {
            evidence.push(failure.evidence("read_metadata", sight));
        }
        let at = sighting.metadata_at.map_or_else(|| "never".to_owned(), |at| at.to_string());
        warnings.push(format!(
            "the coordinator does not answer: the tablet servers are those it last named, at {at}"
        ));
    }
    let (_, registered) = counts(servers);
    if registered == 0 && sighting.failure.is_none() {
        warnings.push("no tablet server is registered: nothing can be read or written".to_owned());
    }
    let status = if !servers.iter().any(|server| server.answer.is_ok()) {
        Status::Unavailable
    } else if evidence.is_empty() && registered > 0 {
        Status::Ok
    } else {
        Status::Partial
    };
    (status, evidence, warnings)
}

/// Returns how many tablet servers answer, and how many there are.
pub(super) fn counts(servers: &[SeenServer]) -> (usize, usize) {
    let tablet_servers = || servers.iter().filter(|server| server.role == ServerRole::TabletServer);
    (tablet_servers().filter(|server| server.answer.is_ok()).count(), tablet_servers().count())
}

/// Returns a server as it is told.
pub(super) fn view(server: &SeenServer, sight: Sight) -> Server {
    let answers = server.answer.is_ok();
    Server {
        role: server.role,
        id: server.id,
        address: server.advertised.clone(),
        rack: server.rack.clone(),
        state: if answers { ServerState::Alive } else { ServerState::NotAnswering },
        is_in_metadata: true,
        answers,
        latency_ms: server.answer.as_ref().ok().copied().map(milliseconds),
        asked_at: Some(server.asked_at),
        answered_at: server.answered_at,
        failure: server.answer.as_ref().err().map(|failure| failure.part(sight)),
    }
}

/// Returns milliseconds with three decimals.
fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

fn silent(server: &SeenServer, sight: Sight) -> Option<Evidence> {
    let failure = server.answer.as_ref().err()?;
    let subject = format!("{} {} at {}", server.role.as_str(), server.id, server.advertised);
    Some(Evidence {
        subject: Some(subject),
        hint: None,
        state: EvidenceState::Failed,
        ..failure.evidence("ping", sight)
    })
}

#[cfg(test)]
mod tests {
    use fluss_client::admin::{ServerRole as ClientRole, ServerStatus};
    use fluss_client::bootstrap::HostPort;
    use fluss_client::client::ServerNode;
    use fluss_client::error::Error;
    use jiff::Timestamp;

    use super::*;

    fn status(role: ClientRole, id: i32, answer: Result<Duration, Error>) -> SeenServer {
        let port = 9123 + u16::try_from(id).unwrap();
        let node = ServerNode {
            id,
            advertised: format!("fluss-1.example:{port}"),
            address: HostPort::new("fluss-1.example", port),
            rack: Some(format!("rack-{id}")),
        };
        liveness::seen(ServerStatus { node, role, answer }, Timestamp::UNIX_EPOCH)
    }

    fn sighting(servers: Vec<SeenServer>) -> Sighting {
        let asked_at = Timestamp::UNIX_EPOCH;
        Sighting { servers, metadata_at: Some(asked_at), asked_at, failure: None }
    }

    fn of(servers: Vec<SeenServer>) -> Answer<Servers> {
        judge(&sighting(servers), &PageRequest::new(None, 0, None).unwrap(), Sight::Everything)
    }

    /// A cluster of which one tablet server does not answer.
    fn one_silent() -> Vec<SeenServer> {
        let address = HostPort::new("fluss-1.example", 9125).unwrap();
        vec![
            status(ClientRole::Coordinator, 0, Ok(Duration::from_micros(1_234))),
            status(ClientRole::TabletServer, 1, Ok(Duration::from_micros(850))),
            status(ClientRole::TabletServer, 2, Err(Error::DialTimeout { address, timeout_ms: 10_000 })),
        ]
    }

    #[test]
    fn silent_server_makes_the_answer_partial() {
        let answer = of(one_silent());
        assert_eq!(answer.status, Status::Partial);
        assert_eq!(answer.evidence.len(), 1);
        let servers = answer.data.unwrap();
        assert_eq!((servers.tablet_servers_alive_count, servers.tablet_servers_registered_count), (1, 2));
        assert_eq!(servers.servers[2].state, ServerState::NotAnswering);
        assert_eq!(servers.servers[1].latency_ms, Some(0.85));
    }

    #[test]
    fn a_page_shows_some_servers_and_counts_all() {
        let page = PageRequest::new(Some("RACK-1"), 0, Some(1)).unwrap();
        let answer = judge(&sighting(one_silent()), &page, Sight::Everything);
        assert_eq!(answer.status, Status::Partial, "the silent one is not on the page and still missing");
        let servers = answer.data.unwrap();
        assert_eq!((servers.servers.len(), servers.matched_count, servers.total_count), (1, 1, 3));
        assert_eq!(servers.tablet_servers_registered_count, 2);
    }

    #[test]
    fn coordinator_alone_is_not_a_working_cluster() {
        let answer = of(vec![status(ClientRole::Coordinator, 0, Ok(Duration::ZERO))]);
        assert_eq!(answer.status, Status::Partial);
        assert!(answer.warnings[0].contains("no tablet server"));
    }

    #[test]
    fn without_the_coordinator_the_age_of_its_metadata_is_told() {
        let lost = || Error::CoordinatorUnavailable { address: None, source: None };
        let mut seen = sighting(vec![
            status(ClientRole::Coordinator, 0, Err(lost())),
            status(ClientRole::TabletServer, 1, Ok(Duration::ZERO)),
        ]);
        seen.failure = Some(Failure::from(lost()));
        let (status_seen, evidence, warnings) = worth(&seen, Sight::Everything);
        assert_eq!((status_seen, evidence.len()), (Status::Partial, 1));
        assert!(warnings[0].contains("1970-01-01"), "{warnings:?}");
        seen.servers.pop();
        assert_eq!(worth(&seen, Sight::Everything).0, Status::Unavailable, "nobody answers");
    }

    #[test]
    fn bootstrap_address_without_a_server_is_told_where_the_names_are_the_clusters_own() {
        let servers = one_silent();
        let known = servers[0].advertised.clone();
        let told = unregistered(&[known.clone(), "fluss-1.example:9999".to_owned()], &servers);
        assert!(told.unwrap().contains("fluss-1.example:9999"));
        assert_eq!(unregistered(&[known], &servers), None);
        assert_eq!(unregistered(&["10.0.0.1:9123".to_owned()], &servers), None, "another way of naming");
    }
}
