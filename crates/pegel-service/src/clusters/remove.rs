//! Removing a cluster.

use pegel_store::audit;
use pegel_store::clusters::{self as table, resource_key};
use serde_json::json;

use crate::clusters::Clusters;
use crate::error::Error;
use crate::journal;
use crate::policy::Authorized;
use crate::policy::permission::ClustersWrite;

impl Clusters {
    /// Removes a cluster with its secrets and lets go of its connections. The cluster itself is not touched.
    ///
    /// # Errors
    /// `conflict` for another version, `not_found`, or as the store.
    pub async fn remove(&self, may: &Authorized<ClustersWrite>, version: i64) -> Result<(), Error> {
        let slug = super::whole_cluster(may)?.clone();
        let entry = journal::of_caller(may.caller(), "clusters.remove", resource_key(&slug));
        let wanted = slug.clone();
        let done = self.inner.db.write(move |tx| {
            let (slug, entry) = (wanted.clone(), entry.clone());
            Box::pin(async move {
                let name = table::get(tx, &slug).await?.settings.name;
                table::delete(tx, &slug, version).await?;
                let detail = json!({ "name": name, "version": version });
                audit::append(tx, &journal::with(entry, "ok", detail)).await
            })
        });
        done.await?;
        self.inner.registry.refresh_after_change(&slug).await;
        Ok(())
    }
}
