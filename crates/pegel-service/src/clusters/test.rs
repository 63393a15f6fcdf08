//! Testing a connection: of a registered cluster, of a form, and before anything is saved.
//!
//! A test makes Pegel dial somewhere, so each one is audited, also one whose caller has gone away.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use fluss_client::client::FlussClient;
use pegel_api_types::clusters::TestConnection;
use pegel_api_types::operations::connection_test::ConnectionTest;
use pegel_core::access::permissions::{CLUSTER_READ, Permission};
use pegel_core::envelope::{Envelope, Status};
use pegel_core::error_code::ErrorCode;
use pegel_store::audit;
use pegel_store::clusters::resource_key;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::time::{self, Sleep};
use tokio_util::sync::CancellationToken;

use crate::caller::Caller;
use crate::catalog::connection_test;
use crate::clusters::connection::{self, check, effective_secrets};
use crate::clusters::stored::Secrets;
use crate::clusters::{Clusters, kept, save};
use crate::error::Error;
use crate::execution::{Answer, Execution};
use crate::failure::Failure;
use crate::failure::sight::Sight;
use crate::journal;
use crate::policy::permission::{ClustersRead, ClustersWrite};
use crate::policy::{Authorized, OwnedTarget};

/// Tests that dial at once.
const PARALLEL: usize = 4;

/// Tests that dial or wait for their turn.
const IN_LINE: usize = 20;

/// The bounds of all tests together.
#[derive(Debug)]
pub(crate) struct Tests {
    running: Arc<Semaphore>,
    in_line: Arc<Semaphore>,
    deadline: Duration,
}

impl Tests {
    pub(crate) fn new(deadline: Duration) -> Self {
        let (running, in_line) = (Semaphore::new(PARALLEL), Semaphore::new(IN_LINE));
        Self { running: Arc::new(running), in_line: Arc::new(in_line), deadline }
    }
}

impl Clusters {
    /// Tests the connection of a registered cluster as it is stored. The answer names servers.
    ///
    /// # Errors
    /// `permission_denied` for those who may not see servers; `not_found`; `cluster_unusable`; `connection_test_busy`; or as the store. What fails on the network is
    /// an answer, not an error.
    pub async fn test_stored(
        &self,
        may: &Authorized<ClustersRead>,
    ) -> Result<Envelope<ConnectionTest>, Error> {
        let slug = super::whole_cluster(may)?;
        if Sight::of(may.caller(), slug) < Sight::Servers {
            let Permission { name: pattern, minimum_role, .. } = CLUSTER_READ;
            return Err(Error::PermissionDenied { pattern, minimum_role });
        }
        let stored = self.stored(slug).await?;
        let client = stored
            .client()
            .map_err(|failure| Error::ClusterUnusable { slug: slug.clone(), failure: Box::new(failure) })?;
        self.test(may.caller(), resource_key(slug), client).await
    }

    /// Tests a connection that is not saved: of a cluster to come, or, with a handle for a registered
    /// cluster, of that one with the stored secrets that the form keeps.
    ///
    /// # Errors
    /// `invalid`, with every field that breaks a rule; `secret_required` if a stored secret would go to a new
    /// place; `not_found`; `connection_test_busy`; or as the store.
    pub async fn test_form(
        &self,
        may: &Authorized<ClustersWrite>,
        request: &TestConnection,
    ) -> Result<Envelope<ConnectionTest>, Error> {
        let form = connection::normalized(&request.connection);
        if *may.target() == OwnedTarget::Global {
            let secrets = effective_secrets(&form, &Secrets::default());
            let client = save::all_problems(request.validate(), check(&form, secrets))?;
            return self.test(may.caller(), "connection".to_owned(), client).await;
        }
        let slug = super::whole_cluster(may)?;
        let stored = self.stored(slug).await?;
        let secrets = effective_secrets(&form, &stored.secrets.clone().unwrap_or_default());
        let client = kept::guard(&stored, &form, request.validate(), check(&form, secrets))?;
        self.test(may.caller(), resource_key(slug), client).await
    }

    /// Tests a connection that is about to be saved, and says whether it may be.
    ///
    /// # Errors
    /// `connection_test_failed` unless it is to be saved despite that; `connection_test_busy`; or as the store.
    pub(super) async fn prove(
        &self,
        caller: &Caller,
        target: String,
        client: FlussClient,
        save_despite_failure: bool,
    ) -> Result<Envelope<ConnectionTest>, Error> {
        let test = self.test(caller, target, client).await?;
        if has_passed(test.status) || save_despite_failure {
            Ok(test)
        } else {
            Err(Error::ConnectionTestFailed { test: Box::new(test) })
        }
    }

    /// Runs a test to its end and audits it, whether or not the caller waits.
    async fn test(
        &self,
        caller: &Caller,
        target: String,
        client: FlussClient,
    ) -> Result<Envelope<ConnectionTest>, Error> {
        let tests = &self.inner.tests;
        let in_line =
            Arc::clone(&tests.in_line).try_acquire_owned().map_err(|_| Error::ConnectionTestBusy)?;
        let (running, deadline) = (Arc::clone(&tests.running), tests.deadline);
        let (stop, db, id) = (self.inner.stop.clone(), self.inner.db.clone(), caller.request_id());
        let entry = journal::of_caller(caller, "clusters.test", target);
        let client = self.inner.registry.pace(&client);
        let test = self.inner.tasks.spawn(async move {
            let _in_line = in_line;
            let left = pin!(time::sleep(deadline));
            let endpoint = client.settings().bootstrap().to_string();
            let clock = Arc::clone(db.clock());
            let execution = Execution::detached(&client, endpoint.clone(), id, clock, Sight::Servers);
            let test = bounded(&execution, &running, left, &stop).await?;
            let outcome = if has_passed(test.status) { "ok" } else { "connection_test_failed" };
            let entry = journal::with(entry, outcome, json!({ "endpoint": endpoint, "status": test.status }));
            let written = db.write(move |tx| {
                let entry = entry.clone();
                Box::pin(async move { audit::append(tx, &entry).await })
            });
            written.await?;
            Ok(test)
        });
        // A task that did not end was aborted with the runtime.
        test.await.unwrap_or_else(|_| Err(pegel_store::Error::Closed.into()))
    }
}

/// Waits for the test's turn and runs it.
async fn bounded(
    execution: &Execution,
    running: &Semaphore,
    mut left: Pin<&mut Sleep>,
    stop: &CancellationToken,
) -> Result<Envelope<ConnectionTest>, Error> {
    let _turn = tokio::select! {
        biased;
        () = stop.cancelled() => return Err(pegel_store::Error::Closed.into()),
        () = &mut left => return Err(Error::ConnectionTestBusy),
        turn = running.acquire() => turn,
    };
    let answer = tokio::select! {
        answer = connection_test::run(execution) => answer.unwrap_or_else(|failure| without_answer(&failure)),
        () = &mut left => without_answer(&unfinished("the test took longer than it may")),
        () = stop.cancelled() => without_answer(&unfinished("Pegel was stopped meanwhile")),
    };
    Ok(execution.seal(answer))
}

fn unfinished(reason: &str) -> Failure {
    Failure::new(ErrorCode::RequestTimeout, reason)
}

/// Makes the answer of a test of which nothing is known but that it came to no end.
fn without_answer(failure: &Failure) -> Answer<ConnectionTest> {
    let evidence = vec![failure.evidence("connection_test", Sight::Servers)];
    Answer::without_data(Status::Unavailable, evidence)
}

/// Returns whether the cluster can be used, if not by every address.
fn has_passed(status: Status) -> bool {
    matches!(status, Status::Ok | Status::Partial)
}
