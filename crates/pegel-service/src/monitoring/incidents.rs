//! Taking on what fires.

use pegel_api_types::problem::FieldProblem;
use pegel_core::monitor::verdict::FiringId;
use pegel_monitor::judge::Change;
use pegel_store::incidents as table;
use uuid::Uuid;

use crate::error::Error;
use crate::journal;
use crate::monitoring::Monitoring;
use crate::policy::Authorized;
use crate::policy::permission::IncidentsWrite;
use crate::policy::rights::is_in_scope;

impl Monitoring {
    /// Takes on an incident: no more reminders, and everybody who was told hears of it.
    ///
    /// # Errors
    /// `invalid` for one that is closed; `not_found`, also outside of the caller's scope; or as the store.
    pub async fn acknowledge(&self, may: &Authorized<IncidentsWrite>, id: Uuid) -> Result<(), Error> {
        let incident = self.inner.db.read(move |tx| Box::pin(table::get(tx, FiringId(id)))).await?;
        let cluster = incident.cluster_slug.as_deref().and_then(|slug| slug.parse().ok());
        if !is_in_scope(&may.caller().principal().scope, cluster.as_ref()) {
            return Err(Error::not_found("incident", id));
        }
        if incident.closed_at.is_some() {
            let problem = FieldProblem::new("/id", "value", "the incident is closed");
            return Err(Error::Invalid { problems: vec![problem] });
        }
        let target = table::resource_key(incident.id);
        let entry = journal::of_caller(may.caller(), "incidents.acknowledge", target);
        self.judged(may.caller(), incident.monitor_id, Change::Acknowledge, entry).await
    }
}
