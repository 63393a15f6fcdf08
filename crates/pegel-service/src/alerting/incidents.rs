//! Incidents: a caller sees those of clusters in scope, and those of no cluster only with every cluster in scope.

use pegel_api_types::alerting::incidents::{CommentIncident, IncidentEventView, IncidentView};
use pegel_core::access::scope::Scope;
use pegel_core::ids::ClusterSlug;
use pegel_core::monitor::verdict::FiringId;
use pegel_store::audit;
use pegel_store::incidents::{self as table, Event, Incident, MAX_PAGE};
use serde_json::json;
use uuid::Uuid;

use crate::alerting::Alerting;
use crate::caller::Caller;
use crate::error::Error;
use crate::journal;
use crate::policy::Authorized;
use crate::policy::permission::{IncidentsRead, IncidentsWrite};
use crate::policy::rights::is_in_scope;

/// Which incidents are asked for.
#[derive(Debug, Clone, Default)]
pub struct IncidentFilter {
    /// Only those that are still open.
    pub only_open: bool,
    /// Only those of this cluster.
    pub cluster: Option<ClusterSlug>,
}

impl Alerting {
    /// Returns the incidents of the caller's scope, the newest first, before `before`, at most `limit` (up to
    /// 1,000). Fewer than that are the last.
    ///
    /// # Errors
    /// As the store.
    pub async fn incidents(
        &self,
        may: &Authorized<IncidentsRead>,
        filter: &IncidentFilter,
        before: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<IncidentView>, Error> {
        let (scope, filter) = (may.caller().principal().scope.clone(), filter.clone());
        let most = usize::try_from(limit.clamp(1, MAX_PAGE)).unwrap_or(1);
        let found = self.db.read(move |tx| {
            let (scope, filter, mut before) = (scope.clone(), filter.clone(), before.map(FiringId));
            Box::pin(async move {
                let mut found = Vec::new();
                loop {
                    let page = table::list(tx, before, filter.only_open, MAX_PAGE).await?;
                    let is_last = u32::try_from(page.len()).unwrap_or(MAX_PAGE) < MAX_PAGE;
                    before = page.last().map(|incident| incident.id);
                    let wanted = page.into_iter().filter(|incident| {
                        let cluster = filter.cluster.as_ref().map(ClusterSlug::as_str);
                        is_visible(&scope, incident)
                            && (cluster.is_none() || cluster == incident.cluster_slug.as_deref())
                    });
                    found.extend(wanted.take(most - found.len()));
                    if is_last || found.len() == most {
                        return Ok(found);
                    }
                }
            })
        });
        Ok(found.await?.into_iter().map(incident_view).collect())
    }

    /// Returns an incident.
    ///
    /// # Errors
    /// `not_found`, also outside of the caller's scope; or as the store.
    pub async fn incident(&self, may: &Authorized<IncidentsRead>, id: Uuid) -> Result<IncidentView, Error> {
        self.incident_of(may.caller(), id).await.map(incident_view)
    }

    /// Returns what happened in an incident, oldest first, after `after`, at most `limit` (up to 1,000).
    ///
    /// # Errors
    /// As [`Alerting::incident`].
    pub async fn incident_timeline(
        &self,
        may: &Authorized<IncidentsRead>,
        id: Uuid,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<IncidentEventView>, Error> {
        let incident = self.incident_of(may.caller(), id).await?;
        let events = self.db.read(move |tx| Box::pin(table::timeline(tx, incident.id, after, limit)));
        Ok(events.await?.into_iter().map(event_view).collect())
    }

    /// Writes down what somebody has to say about an incident. Beyond 10,000 events nothing more is written.
    ///
    /// # Errors
    /// `invalid`, or as [`Alerting::incident`].
    pub async fn comment_incident(
        &self,
        may: &Authorized<IncidentsWrite>,
        id: Uuid,
        request: &CommentIncident,
    ) -> Result<IncidentView, Error> {
        request.validate().map_err(|problems| Error::Invalid { problems })?;
        let incident = self.incident_of(may.caller(), id).await?;
        let actor = may.caller().principal().name.clone();
        let entry = journal::of_caller(may.caller(), "incidents.comment", table::resource_key(incident.id));
        let (detail, id) = (json!({ "text": request.text }), incident.id);
        let noted = self.db.write(move |tx| {
            let (actor, detail, entry) = (actor.clone(), detail.clone(), entry.clone());
            Box::pin(async move {
                table::note(tx, id, "comment", &actor, &detail).await?;
                audit::append(tx, &entry).await?;
                table::get(tx, id).await
            })
        });
        Ok(incident_view(noted.await?))
    }

    async fn incident_of(&self, caller: &Caller, id: Uuid) -> Result<Incident, Error> {
        let incident = self.db.read(move |tx| Box::pin(table::get(tx, FiringId(id)))).await?;
        if is_visible(&caller.principal().scope, &incident) {
            Ok(incident)
        } else {
            Err(Error::not_found("incident", id))
        }
    }
}

/// A cluster whose name cannot be read counts as none: only those see it who see everything.
fn is_visible(scope: &Scope, incident: &Incident) -> bool {
    let cluster = incident.cluster_slug.as_deref().and_then(|slug| slug.parse().ok());
    is_in_scope(scope, cluster.as_ref())
}

fn incident_view(incident: Incident) -> IncidentView {
    IncidentView {
        id: incident.id.0,
        monitor_id: incident.monitor_id,
        monitor_name: incident.monitor_name,
        cluster: incident.cluster_slug,
        labels: incident.labels,
        cause: incident.cause,
        severity: incident.severity,
        since: incident.since,
        fired_at: incident.fired_at,
        announced_at: incident.announced_at,
        acknowledged_at: incident.acknowledged_at,
        ended_at: incident.ended_at,
        closed_at: incident.closed_at,
        ending: incident.ending,
        version: incident.version,
    }
}

fn event_view(event: Event) -> IncidentEventView {
    IncidentEventView {
        id: event.id,
        happened_at: event.happened_at,
        kind: event.kind,
        actor: event.actor,
        detail: event.detail,
    }
}
