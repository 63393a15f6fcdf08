//! What a list of clusters says of each: whether it is up, as far as the watch has seen.
//!
//! Nothing is asked for it. What is not known is not up, and not an outage either.

use std::time::Duration;

use jiff::Timestamp;
use pegel_api_types::clusters::state::{ClusterState, ClusterStateView};
use pegel_api_types::operations::servers::ServerRole;
use pegel_core::error_code::ExitClass;

use crate::catalog::liveness::{SeenServer, Sighting};

/// How old what was seen may be and still be called the state.
const STALE_AFTER: Duration = Duration::from_secs(60);

/// Judges what was last seen; `None` if nothing was seen yet.
pub(crate) fn state_view(sighting: Option<&Sighting>, now: Timestamp) -> ClusterStateView {
    let Some(sighting) = sighting else { return ClusterStateView::unknown() };
    let is_tablet_server = |server: &&SeenServer| server.role == ServerRole::TabletServer;
    let alive =
        sighting.servers.iter().filter(is_tablet_server).filter(|server| server.answer.is_ok()).count();
    let registered = sighting.servers.iter().filter(is_tablet_server).count();
    let age = Duration::try_from(now.duration_since(sighting.asked_at)).unwrap_or_default();
    ClusterStateView {
        state: if age > STALE_AFTER { ClusterState::Unknown } else { state(sighting, alive, registered) },
        observed_at: Some(sighting.asked_at),
        is_coordinator_up: Some(sighting.failure.is_none()),
        tablet_servers_alive_count: Some(alive),
        tablet_servers_registered_count: sighting.metadata_at.map(|_| registered),
        reason: sighting.failure.as_ref().map(|failure| failure.code),
    }
}

fn state(sighting: &Sighting, alive: usize, registered: usize) -> ClusterState {
    match &sighting.failure {
        None if alive == registered && registered > 0 => ClusterState::Up,
        None => ClusterState::Degraded,
        Some(_) if alive > 0 => ClusterState::Degraded,
        // Someone answered, if only with a no: whether the cluster does its work is not known.
        Some(failure) if failure.code.exit_class() == ExitClass::Refused => ClusterState::Unknown,
        Some(_) => ClusterState::Down,
    }
}

#[cfg(test)]
mod tests {
    use pegel_core::error_code::ErrorCode;

    use super::*;
    use crate::failure::Failure;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_767_225_600 + second).unwrap()
    }

    fn sighting(failure: Option<ErrorCode>, tablet_servers: &[bool]) -> Sighting {
        let server = |(id, is_alive): (usize, &bool)| SeenServer {
            role: ServerRole::TabletServer,
            id: i32::try_from(id).unwrap(),
            advertised: format!("a:{id}"),
            rack: None,
            answer: if *is_alive { Ok(Duration::ZERO) } else { Err(Failure::internal("silent")) },
            asked_at: at(0),
            answered_at: is_alive.then_some(at(0)),
        };
        Sighting {
            servers: tablet_servers.iter().enumerate().map(server).collect(),
            metadata_at: Some(at(0)),
            asked_at: at(0),
            failure: failure.map(|code| Failure::new(code, "no")),
        }
    }

    #[test]
    fn a_cluster_is_up_only_when_all_of_it_answers() {
        let gone = Some(ErrorCode::CoordinatorUnavailable);
        for (failure, tablet_servers, expected) in [
            (None, &[true, true][..], ClusterState::Up),
            (None, &[true, false], ClusterState::Degraded),
            (None, &[false, false], ClusterState::Degraded),
            (None, &[], ClusterState::Degraded),
            (gone, &[true, false], ClusterState::Degraded),
            (gone, &[false], ClusterState::Down),
            (gone, &[], ClusterState::Down),
            (Some(ErrorCode::AuthenticationFailed), &[], ClusterState::Unknown),
        ] {
            let view = state_view(Some(&sighting(failure, tablet_servers)), at(1));
            assert_eq!(view.state, expected, "{failure:?} {tablet_servers:?}");
            assert_eq!((view.reason, view.is_coordinator_up), (failure, Some(failure.is_none())));
        }
    }

    #[test]
    fn what_was_not_seen_lately_is_unknown() {
        assert_eq!(state_view(None, at(0)), ClusterStateView::unknown());
        let seen = sighting(None, &[true]);
        assert_eq!(state_view(Some(&seen), at(60)).state, ClusterState::Up);
        let old = state_view(Some(&seen), at(61));
        assert_eq!((old.state, old.observed_at), (ClusterState::Unknown, Some(at(0))));
    }

    #[test]
    fn servers_that_were_never_named_are_not_counted_as_none() {
        let never = Sighting { metadata_at: None, ..sighting(Some(ErrorCode::DialTimeout), &[]) };
        assert_eq!(state_view(Some(&never), at(0)).tablet_servers_registered_count, None);
    }
}
