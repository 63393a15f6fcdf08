//! What can be read from a cluster, one operation per file.
//!
//! An operation asks the client or what is kept of the cluster, decides what the answer is worth, hides secrets
//! and leaves out what lies beyond the caller's scope: what a face of Pegel gets may be shown as it is.

mod acls;
mod buckets;
mod cluster;
mod cluster_config;
mod config_defaults;
pub(crate) mod connection_test;
mod database;
mod databases;
mod figures;
pub mod inventory;
pub mod liveness;
mod names;
mod offsets;
mod partitions;
mod properties;
mod servers;
mod stats;
mod table;
mod tables;
mod targets;
mod within;

use std::future::Future;
use std::sync::Arc;

use pegel_api_types::operation::{Concerns, Operation};
use pegel_core::access::decision::Target;
use pegel_core::envelope::{Envelope, Status};
use pegel_core::ids::ClusterSlug;
use pegel_core::limits::Page;

use crate::caller::Caller;
use crate::error::Error;
use crate::execution::{Answer, Execution};
use crate::failure::Failure;
use crate::policy::Authorized;
use crate::policy::permission::Permit;
use crate::service::Service;

/// An operation that the service can do.
pub trait Execute: Operation {
    /// The permission of the operation's `META`, as a type.
    type Permit: Permit;

    /// Does it. Dropping the future ends what it has begun.
    ///
    /// A failure whose code has a status of answers is an answer of the cluster; every other is a problem
    /// with the question.
    fn execute(
        execution: &Execution,
        may: &Authorized<Self::Permit>,
        input: Self::Input,
    ) -> impl Future<Output = Result<Answer<Self::Output>, Failure>> + Send;
}

/// What became of an operation, the failure in full.
#[derive(Debug)]
pub enum Outcome<T> {
    /// There is an answer.
    Answered(Envelope<T>),
    /// The cluster gave none: the envelope has no data.
    Unanswered {
        /// Why.
        failure: Failure,
        /// What a caller gets.
        envelope: Envelope<T>,
    },
    /// The question made no sense, or Pegel itself failed.
    Failed(Failure),
}

impl Service {
    /// Does an operation on a registered cluster.
    ///
    /// # Errors
    /// `permission_denied`; `not_found` for what lies beyond the caller's scope and for a cluster that is not
    /// registered; `cluster_unusable`; `invalid` and other problems with the question. A cluster that does
    /// not answer, or refuses, is no error: the envelope's status says so.
    pub async fn run<O: Execute>(
        &self,
        caller: &Caller,
        cluster: &ClusterSlug,
        input: O::Input,
    ) -> Result<Envelope<O::Output>, Error> {
        let may = self.policy().authorize::<O::Permit>(caller, target(cluster, O::target(&input))).await?;
        let live = self.clusters().live(cluster)?;
        let execution = Execution::of(&live, caller, Arc::clone(self.db().clock()));
        match perform::<O>(&execution, &may, input).await {
            Outcome::Answered(envelope) => Ok(envelope),
            Outcome::Unanswered { failure, envelope } => {
                tracing::info!(
                    cluster.slug = %cluster, execution.id = %envelope.execution_id, operation = O::META.id,
                    failure = failure.one_line(), "the cluster gave no answer"
                );
                Ok(envelope)
            }
            Outcome::Failed(failure) => Err(failure.into()),
        }
    }
}

/// Returns what a permission is needed for.
pub(crate) fn target<'a>(cluster: &'a ClusterSlug, concerns: Concerns<'a>) -> Target<'a> {
    match concerns {
        Concerns::Cluster => Target::Cluster(cluster),
        Concerns::WholeCluster => Target::WholeCluster(cluster),
        Concerns::Database(database) => Target::Database(cluster, database),
        Concerns::Table(database, table) => Target::Table(cluster, database, table),
    }
}

/// Does an operation that the caller may do.
pub(crate) async fn perform<O: Execute>(
    execution: &Execution,
    may: &Authorized<O::Permit>,
    input: O::Input,
) -> Outcome<O::Output> {
    let failure = match Box::pin(O::execute(execution, may, input)).await {
        Ok(answer) => return Outcome::Answered(execution.seal(answer)),
        Err(failure) => failure,
    };
    match Status::of_failure(failure.code) {
        Some(status) => {
            let evidence = vec![failure.evidence(O::META.id, execution.sight)];
            let envelope = execution.seal(Answer::without_data(status, evidence));
            Outcome::Unanswered { failure, envelope }
        }
        None => Outcome::Failed(failure),
    }
}

/// Returns the status of a list and a warning when the page lies behind its end.
fn list_status<T>(page: &Page<T>) -> (Status, Option<String>) {
    if page.matched_count == 0 {
        (Status::Empty, None)
    } else if page.items.is_empty() {
        let warning = format!("offset {} is behind the last of {} entries", page.offset, page.matched_count);
        (Status::Ok, Some(warning))
    } else {
        (Status::Ok, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! check_permits {
        ($($operation:ty),* $(,)?) => {
            $(assert_eq!(
                <<$operation as Execute>::Permit as Permit>::PERMISSION,
                <$operation as Operation>::META.permission,
                "{}",
                <$operation as Operation>::META.id
            );)*
        };
    }

    #[test]
    fn every_operation_can_be_done_and_asks_for_the_permission_it_names() {
        pegel_api_types::for_each_operation!(check_permits);
    }
}
