//! A cluster at a glance.

use pegel_api_types::operations::cluster::{ClusterOverview, GetCluster, GetClusterInput};
use pegel_api_types::operations::servers::{Server, ServerRole};

use crate::catalog::liveness::Sighting;
use crate::catalog::{Execute, servers};
use crate::execution::{Answer, Execution};
use crate::failure::Failure;
use crate::failure::sight::Sight;
use crate::policy::Authorized;
use crate::policy::permission::ClusterRead;

impl Execute for GetCluster {
    type Permit = ClusterRead;

    /// Shows the coordinator and the tablet servers that are alive.
    ///
    /// # Errors
    /// `coordinator_unavailable` and what keeps the cluster from being found.
    async fn execute(
        execution: &Execution,
        _may: &Authorized<ClusterRead>,
        _input: GetClusterInput,
    ) -> Result<Answer<ClusterOverview>, Failure> {
        let sighting = servers::sighted(execution).await?;
        let mut answer = judge(&sighting, execution.sight);
        answer.read_at = execution.liveness.is_some().then_some(sighting.asked_at);
        Ok(answer)
    }
}

fn judge(sighting: &Sighting, sight: Sight) -> Answer<ClusterOverview> {
    let (status, evidence, warnings) = servers::worth(sighting, sight);
    let (alive, registered) = servers::counts(&sighting.servers);
    let seen = || sighting.servers.iter().map(|server| servers::view(server, sight));
    let coordinator = seen().find(|server| server.role == ServerRole::Coordinator);
    let is_alive = |server: &Server| server.role == ServerRole::TabletServer && server.answers;
    let alive_tablet_servers = seen().filter(is_alive).collect();
    let mut answer = Answer::new(
        status,
        ClusterOverview {
            is_coordinator_alive: coordinator.as_ref().is_some_and(|server| server.answers),
            coordinator,
            alive_tablet_servers,
            tablet_servers_alive_count: alive,
            tablet_servers_registered_count: registered,
            metadata_at: sighting.metadata_at,
        },
    );
    answer.evidence = evidence;
    answer.warnings = warnings;
    answer
}
