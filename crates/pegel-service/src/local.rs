//! One cluster asked from one's own machine, without a server: `pegel --bootstrap`.
//!
//! The same gate, limits and redaction as in a server, on a store in memory that is gone with the process. There
//! is nobody to sign in: whoever calls holds the connection's credentials already, so the caller made here may
//! everything on this one cluster and nothing else exists. Nothing of it may be reachable by anybody else.

use std::sync::Arc;

use fluss_client::client::FlussClient;
use fluss_client::settings::ConnectionSettings;
use pegel_api_types::operations::connection_test::ConnectionTest;
use pegel_core::clock::Clock;
use pegel_core::ids::ClusterSlug;
use pegel_store::{Db, StoreConfig};
use uuid::Uuid;

use crate::caller::Caller;
use crate::catalog::{Execute, Outcome, connection_test, perform, target};
use crate::clusters::stored::logged_client;
use crate::error::Error;
use crate::execution::{Execution, Extent};
use crate::failure::Failure;
use crate::failure::sight::Sight;
use crate::policy::Policy;

/// The name that the one cluster goes by in here; nobody sees it.
const SLUG: &str = "local";

/// One cluster, and whoever started this process as the one who asks. Dropping it ends its connections.
pub struct Local {
    policy: Policy,
    client: FlussClient,
    cluster: ClusterSlug,
    clock: Arc<dyn Clock>,
}

impl Local {
    /// Makes the store and the client. Nothing is dialled yet and no password is hashed.
    ///
    /// # Errors
    /// `invalid_setting` when certificates or keys cannot be used; or as the store.
    pub async fn open(settings: ConnectionSettings, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let client = logged_client(settings).map_err(Failure::from)?;
        let db = Db::open(&StoreConfig::SqliteMemory, Arc::clone(&clock)).await?;
        let cluster = SLUG.parse().expect("a test parses it");
        Ok(Self { policy: Policy::new(db), client, cluster, clock })
    }

    /// Does an operation. `id` becomes the execution's id.
    ///
    /// Everything is read for this answer: nothing is kept between two questions.
    ///
    /// # Errors
    /// As the store. What comes of the question itself is in the outcome.
    pub async fn run<O: Execute>(
        &self,
        id: Uuid,
        input: O::Input,
        extent: Extent,
    ) -> Result<Outcome<O::Output>, Error> {
        let caller = Caller::local(id);
        let may =
            self.policy.authorize::<O::Permit>(&caller, target(&self.cluster, O::target(&input))).await?;
        let execution = self.execution(id).with_extent(extent);
        Ok(perform::<O>(&execution, &may, input).await)
    }

    /// Tests the connection step by step.
    pub async fn test_connection(&self, id: Uuid) -> Outcome<ConnectionTest> {
        let execution = self.execution(id);
        match Box::pin(connection_test::run(&execution)).await {
            Ok(answer) => Outcome::Answered(execution.seal(answer)),
            Err(failure) => Outcome::Failed(failure),
        }
    }

    fn execution(&self, id: Uuid) -> Execution {
        let cluster = self.client.settings().bootstrap().to_string();
        Execution::detached(&self.client, cluster, id, Arc::clone(&self.clock), Sight::Everything)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clusters_name_is_one() {
        assert!(SLUG.parse::<ClusterSlug>().is_ok());
    }
}
