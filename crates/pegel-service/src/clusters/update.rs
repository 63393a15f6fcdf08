//! Changing a cluster.

use std::sync::Arc;

use pegel_api_types::clusters::{SavedCluster, UpdateCluster};
use pegel_store::clusters::{self as table, Settings as StoredSettings, resource_key};
use pegel_store::{Error as StoreError, audit};
use serde_json::json;

use crate::clusters::connection::{self, check, effective_secrets};
use crate::clusters::stored::describe;
use crate::clusters::{Clusters, kept, save};
use crate::error::Error;
use crate::journal;
use crate::policy::Authorized;
use crate::policy::permission::ClustersWrite;

impl Clusters {
    /// Changes a cluster. A connection that changes is tested first; a new name alone dials nothing.
    ///
    /// Dropping the future before the test is over leaves nothing but the test's audit row.
    ///
    /// # Errors
    /// `invalid`, with every field that breaks a rule; `secret_required` if a stored secret would go to a new
    /// place; `conflict` for another version; `connection_test_failed` unless the request says to save
    /// despite that; `connection_test_busy`; `not_found`; or as the store.
    pub async fn update(
        &self,
        may: &Authorized<ClustersWrite>,
        request: &UpdateCluster,
    ) -> Result<SavedCluster, Error> {
        let slug = super::whole_cluster(may)?.clone();
        let stored = self.stored(&slug).await?;
        if stored.cluster().version != request.version {
            return Err(StoreError::Conflict { what: format!("cluster {slug}") }.into());
        }
        let form = connection::normalized(&request.connection);
        let secrets = effective_secrets(&form, &stored.secrets.clone().unwrap_or_default());
        let client = kept::guard(&stored, &form, request.validate(), check(&form, secrets))?;
        let options = save::options_json(&form);
        let row = StoredSettings {
            name: request.name.clone(),
            environment: request.environment,
            read_only: request.read_only,
            options: (&options).into(),
        };
        let before = &stored.cluster().settings;
        // Of options that cannot be read nothing is kept.
        let mut changed = save::changed_names(&before.options.read().unwrap_or_default(), &options);
        changed.extend(save::named_secrets(&form).into_iter().map(str::to_owned));
        let target = resource_key(&slug);
        let test = if changed.is_empty() {
            None
        } else {
            Some(self.prove(may.caller(), target.clone(), client, request.save_despite_failure).await?)
        };
        for (name, is_changed) in [
            ("name", before.name != row.name),
            ("environment", before.environment != row.environment),
            ("read_only", before.read_only != row.read_only),
        ] {
            changed.extend(is_changed.then(|| name.to_owned()));
        }
        let detail = json!({
            "version": request.version.saturating_add(1),
            "changed": changed,
            "environment": row.environment,
            "read_only": row.read_only,
            "connection_test": test.as_ref().map(|test| test.status),
        });
        let entry = journal::with(journal::of_caller(may.caller(), "clusters.update", target), "ok", detail);
        let (secret_box, version, wanted) = (Arc::clone(&self.inner.secrets), request.version, slug.clone());
        let saved = self.inner.db.write(move |tx| {
            let (slug, row, form, entry) = (wanted.clone(), row.clone(), form.clone(), entry.clone());
            let secret_box = Arc::clone(&secret_box);
            Box::pin(async move {
                table::update(tx, &slug, version, &row).await?;
                save::write_secrets(tx, &secret_box, &slug, &form).await?;
                audit::append(tx, &entry).await?;
                let cluster = table::get(tx, &slug).await?;
                describe(tx, cluster).await
            })
        });
        let saved = saved.await?;
        self.inner.registry.refresh_after_change(&slug).await;
        let cluster = self.view(&saved, may.caller());
        Ok(SavedCluster { cluster, connection_test: test })
    }
}
