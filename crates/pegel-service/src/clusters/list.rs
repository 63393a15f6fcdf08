//! Seeing registered clusters.

use pegel_api_types::clusters::ClusterView;
use pegel_core::ids::ClusterSlug;
use pegel_store::clusters::{self as table, MAX_PAGE};

use crate::clusters::Clusters;
use crate::clusters::stored::describe;
use crate::error::Error;
use crate::policy::permission::ClustersRead;
use crate::policy::{Authorized, OwnedTarget};

impl Clusters {
    /// Returns the clusters of the caller's scope in the order of their slugs, after `after`, at most
    /// `limit` (up to 1,000). Fewer than that are the last.
    ///
    /// # Errors
    /// As the store.
    pub async fn list(
        &self,
        may: &Authorized<ClustersRead>,
        after: Option<ClusterSlug>,
        limit: u32,
    ) -> Result<Vec<ClusterView>, Error> {
        let allowed = may.caller().principal().scope.clone();
        let most = usize::try_from(limit.clamp(1, MAX_PAGE)).unwrap_or(1);
        let found = self.inner.db.read(move |tx| {
            let (scope, mut after) = (allowed.clone(), after.clone());
            Box::pin(async move {
                let mut found = Vec::new();
                loop {
                    let page = table::list(tx, after.as_ref(), MAX_PAGE).await?;
                    let is_last = u32::try_from(page.len()).unwrap_or(MAX_PAGE) < MAX_PAGE;
                    after = page.last().map(|cluster| cluster.slug.clone());
                    let in_scope = page.into_iter().filter(|cluster| scope.allows_cluster(&cluster.slug));
                    for cluster in in_scope.take(most - found.len()) {
                        found.push(describe(tx, cluster).await?);
                    }
                    if is_last || found.len() == most {
                        return Ok(found);
                    }
                }
            })
        });
        Ok(found.await?.iter().map(|described| self.view(described, may.caller())).collect())
    }

    /// Returns a cluster, to those with a part of it without its connection.
    ///
    /// # Errors
    /// `not_found`, or as the store.
    pub async fn get(&self, may: &Authorized<ClustersRead>) -> Result<ClusterView, Error> {
        let slug = match may.target() {
            OwnedTarget::Cluster(slug) | OwnedTarget::WholeCluster(slug) => slug,
            other => return Err(Error::NotFound { what: other.to_string() }),
        };
        let wanted = slug.clone();
        let found = self.inner.db.read(move |tx| {
            let wanted = wanted.clone();
            Box::pin(async move {
                let cluster = table::get(tx, &wanted).await?;
                describe(tx, cluster).await
            })
        });
        Ok(self.view(&found.await?, may.caller()))
    }
}
