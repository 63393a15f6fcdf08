//! Removing a cluster.

use pegel_monitor::judge::Change;
use pegel_store::clusters::{self as table, resource_key};
use pegel_store::{audit, monitors};
use serde_json::json;

use crate::clusters::Clusters;
use crate::error::Error;
use crate::journal;
use crate::policy::Authorized;
use crate::policy::permission::ClustersWrite;

impl Clusters {
    /// Removes a cluster with its secrets and its monitors, and lets go of its connections. The cluster itself is not
    /// touched. What the monitors fire ends, and those who were told are told so.
    ///
    /// # Errors
    /// `conflict` for another version, `not_found`, or as the store.
    pub async fn remove(&self, may: &Authorized<ClustersWrite>, version: i64) -> Result<(), Error> {
        let slug = super::whole_cluster(may)?.clone();
        let entry = journal::of_caller(may.caller(), "clusters.remove", resource_key(&slug));
        let wanted = slug.clone();
        let (judge, actor) = (self.inner.judge.clone(), may.caller().principal().name.clone());
        let done = self.inner.db.write(move |tx| {
            let (slug, entry) = (wanted.clone(), entry.clone());
            let (judge, actor) = (judge.clone(), actor.clone());
            Box::pin(async move {
                let name = table::get(tx, &slug).await?.settings.name;
                // The database would take them along and leave their incidents open for ever.
                let mut after = None;
                loop {
                    let page = monitors::list(tx, after, monitors::MAX_PAGE).await?;
                    let Some(last) = page.last().map(|monitor| monitor.id) else { break };
                    after = Some(last);
                    for monitor in page.iter().filter(|monitor| monitor.cluster.as_ref() == Some(&slug)) {
                        let gone = Change::Delete { version: monitor.version };
                        judge.apply(tx, monitor.id, &gone, &actor).await?;
                    }
                }
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
