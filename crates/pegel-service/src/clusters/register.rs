//! Registering a cluster.

use std::sync::Arc;

use pegel_api_types::clusters::{RegisterCluster, SavedCluster};
use pegel_core::ids::ClusterSlug;
use pegel_store::clusters::{self as table, Settings as StoredSettings, resource_key};
use pegel_store::{Error as StoreError, audit};
use serde_json::json;

use crate::clusters::connection::{self, check, effective_secrets};
use crate::clusters::stored::{Secrets, describe};
use crate::clusters::{Clusters, save};
use crate::error::Error;
use crate::journal;
use crate::policy::Authorized;
use crate::policy::permission::ClustersWrite;

impl Clusters {
    /// Registers a cluster after testing its connection. Takes as long as the test, at most
    /// [`super::Settings::test_deadline`].
    ///
    /// Dropping the future before the test is over leaves nothing but the test's audit row.
    ///
    /// # Errors
    /// `invalid`, with every field that breaks a rule; `rights_exceeded` for a slug outside of the caller's
    /// scope; `conflict` for one that is taken; `connection_test_failed` unless the request says to save
    /// despite that; `connection_test_busy`; or as the store.
    pub async fn register(
        &self,
        may: &Authorized<ClustersWrite>,
        request: &RegisterCluster,
    ) -> Result<SavedCluster, Error> {
        let form = connection::normalized(&request.connection);
        let client = save::all_problems(
            request.validate(),
            check(&form, effective_secrets(&form, &Secrets::default())),
        )?;
        let slug = request.slug.clone();
        if !may.caller().principal().scope.allows_whole_cluster(&slug) {
            return Err(Error::RightsExceeded { part: "scope" });
        }
        self.check_free(&slug).await?;
        let target = resource_key(&slug);
        let test = self.prove(may.caller(), target.clone(), client, request.save_despite_failure).await?;
        let row = StoredSettings {
            name: request.name.clone(),
            environment: request.environment,
            read_only: request.read_only,
            options: (&save::options_json(&form)).into(),
        };
        let detail = json!({
            "name": row.name,
            "environment": row.environment,
            "read_only": row.read_only,
            "secrets": save::named_secrets(&form),
            "connection_test": test.status,
        });
        let entry =
            journal::with(journal::of_caller(may.caller(), "clusters.register", target), "ok", detail);
        let secret_box = Arc::clone(&self.inner.secrets);
        let wanted = slug.clone();
        let saved = self.inner.db.write(move |tx| {
            let (slug, row, form, entry) = (wanted.clone(), row.clone(), form.clone(), entry.clone());
            let secret_box = Arc::clone(&secret_box);
            Box::pin(async move {
                table::create(tx, &slug, &row).await?;
                save::write_secrets(tx, &secret_box, &slug, &form).await?;
                audit::append(tx, &entry).await?;
                let cluster = table::get(tx, &slug).await?;
                describe(tx, cluster).await
            })
        });
        let saved = saved.await?;
        self.inner.registry.refresh_after_change(&slug).await;
        let cluster = self.view(&saved, may.caller());
        Ok(SavedCluster { cluster, connection_test: Some(test) })
    }

    /// Refuses a slug that is taken before anything is dialled for it.
    async fn check_free(&self, slug: &ClusterSlug) -> Result<(), Error> {
        let wanted = slug.clone();
        let found = self.inner.db.read(move |tx| {
            let wanted = wanted.clone();
            Box::pin(async move { table::get(tx, &wanted).await })
        });
        match found.await {
            Ok(_) => Err(StoreError::Conflict { what: format!("cluster {slug}") }.into()),
            Err(StoreError::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
