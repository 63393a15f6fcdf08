//! Who answers: this process itself, or somebody else on its behalf.
//!
//! Commands put a question together and print what comes back; they never know which way it went.

use std::sync::Arc;

use fluss_client::settings::ConnectionSettings;
use pegel_api_types::operations::connection_test::ConnectionTest;
use pegel_core::envelope::Envelope;
use pegel_service::catalog::{Execute, Outcome};
use pegel_service::execution::Extent;
use pegel_service::failure::Failure;
use pegel_service::local::Local;
use uuid::Uuid;

use crate::clock;
use crate::remote::cluster::{RemoteCluster, why_unanswered};

/// Whom to ask.
pub(crate) enum Backend {
    /// The service in this process, on a connection of one's own.
    Local(Local),
    /// A server, on the connection that it keeps of a registered cluster.
    Remote(RemoteCluster),
}

/// What came back.
#[derive(Debug)]
pub(crate) enum Told<T> {
    /// An answer.
    Answer(Envelope<T>),
    /// The cluster gave none; the envelope has no data.
    Unanswered {
        /// Why, as far as it may be known.
        failure: Failure,
        /// What programs get.
        envelope: Envelope<T>,
    },
    /// The question made no sense, or something else than the cluster failed.
    Failed {
        /// Why.
        failure: Failure,
        /// The execution, if it came to one.
        execution_id: Option<Uuid>,
    },
}

impl Backend {
    /// Makes the service in this process. Nothing is dialled yet.
    ///
    /// # Errors
    /// `invalid_setting` when certificates or keys cannot be used.
    pub(crate) async fn local(settings: ConnectionSettings) -> Result<Self, Failure> {
        let local = Local::open(settings, Arc::new(clock::SystemClock)).await;
        local.map(Self::Local).map_err(failure_of)
    }

    /// Asks one question. Of a list, `extent` says how much.
    pub(crate) async fn ask<O: Execute>(&self, input: O::Input, extent: Extent) -> Told<O::Output> {
        match self {
            Self::Local(local) => {
                let id = clock::execution_id();
                match Box::pin(local.run::<O>(id, input, extent)).await {
                    Ok(outcome) => told(outcome, id),
                    Err(error) => Told::Failed { failure: failure_of(error), execution_id: Some(id) },
                }
            }
            Self::Remote(cluster) => told_by_server(Box::pin(cluster.ask::<O>(&input, extent)).await),
        }
    }

    /// Tests the connection step by step.
    pub(crate) async fn test_connection(&self) -> Told<ConnectionTest> {
        match self {
            Self::Local(local) => {
                let id = clock::execution_id();
                told(Box::pin(local.test_connection(id)).await, id)
            }
            Self::Remote(cluster) => told_by_server(Box::pin(cluster.test_connection()).await),
        }
    }
}

fn told<T>(outcome: Outcome<T>, id: Uuid) -> Told<T> {
    match outcome {
        Outcome::Answered(envelope) => Told::Answer(envelope),
        Outcome::Unanswered { failure, envelope } => Told::Unanswered { failure, envelope },
        Outcome::Failed(failure) => Told::Failed { failure, execution_id: Some(id) },
    }
}

fn told_by_server<T>(answer: Result<Envelope<T>, Failure>) -> Told<T> {
    match answer {
        Ok(envelope) => match why_unanswered(&envelope) {
            Some(failure) => Told::Unanswered { failure, envelope },
            None => Told::Answer(envelope),
        },
        Err(failure) => Told::Failed { failure, execution_id: None },
    }
}

/// Tells an error of the service as a failure of the command.
fn failure_of(error: pegel_service::Error) -> Failure {
    match error {
        pegel_service::Error::Failed(failure) => *failure,
        other => Failure::new(other.code(), other.public()),
    }
}
