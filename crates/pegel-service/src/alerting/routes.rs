//! Routes, which are changed as one list since their order means something.

use std::collections::BTreeSet;

use pegel_api_types::alerting::routes::{PreviewRoutes, RouteList, RoutePreview};
use pegel_api_types::problem::FieldProblem;
use pegel_core::monitor::routing::decide;
use pegel_monitor::judge::in_force;
use pegel_store::{audit, channels, quiet_times, routes};
use serde_json::json;
use uuid::Uuid;

use crate::alerting::Alerting;
use crate::error::Error;
use crate::journal;
use crate::policy::Authorized;
use crate::policy::permission::{AlertingRead, AlertingWrite};

impl Alerting {
    /// Returns the routes in order.
    ///
    /// # Errors
    /// As the store.
    pub async fn routes(&self, _may: &Authorized<AlertingRead>) -> Result<RouteList, Error> {
        let list = self.db.read(|tx| Box::pin(routes::get(tx))).await?;
        Ok(RouteList { routes: list.routes, version: list.version })
    }

    /// Replaces the list of routes.
    ///
    /// # Errors
    /// `invalid`, with every route that breaks a rule or leads to a channel that is not there; `conflict` for
    /// another version; or as the store.
    pub async fn replace_routes(
        &self,
        may: &Authorized<AlertingWrite>,
        request: &RouteList,
    ) -> Result<RouteList, Error> {
        request.validate().map_err(|problems| Error::Invalid { problems })?;
        let detail = json!({ "version": request.version.saturating_add(1), "count": request.routes.len() });
        let target = routes::RESOURCE_KEY.to_owned();
        let entry = journal::of_caller(may.caller(), "alerting.replace_routes", target);
        let entry = journal::with(entry, "ok", detail);
        let wanted = request.clone();
        let written = self.db.write(move |tx| {
            let (wanted, entry) = (wanted.clone(), entry.clone());
            Box::pin(async move {
                let known = channels::list(tx).await?.into_iter().map(|channel| channel.id).collect();
                let problems = unknown_channels(&wanted, &known);
                if !problems.is_empty() {
                    return Ok(Err(Error::Invalid { problems }));
                }
                let version = routes::replace(tx, wanted.version, &wanted.routes).await?;
                audit::append(tx, &entry).await?;
                Ok(Ok(RouteList { routes: wanted.routes, version }))
            })
        });
        written.await?
    }

    /// Returns who would be told, by the very function that decides when something fires.
    ///
    /// # Errors
    /// `invalid`, or as the store.
    pub async fn preview_routes(
        &self,
        _may: &Authorized<AlertingRead>,
        request: &PreviewRoutes,
    ) -> Result<RoutePreview, Error> {
        request.validate().map_err(|problems| Error::Invalid { problems })?;
        let stored = self.db.read(|tx| {
            Box::pin(async move {
                let routes = routes::get(tx).await?.routes;
                Ok((routes, quiet_times::current(tx, None, quiet_times::MAX_PAGE).await?))
            })
        });
        let (stored, quiet) = stored.await?;
        let routes = request.routes.as_ref().unwrap_or(&stored);
        let decision = decide(routes, request.severity, &request.labels);
        let now = self.db.clock().now();
        let withheld = quiet.iter().filter_map(|one| in_force(one, &request.labels, now));
        Ok(RoutePreview::new(decision, withheld.map(|withheld| withheld.quiet_time_id).collect()))
    }
}

fn unknown_channels(list: &RouteList, known: &BTreeSet<Uuid>) -> Vec<FieldProblem> {
    let mut problems = Vec::new();
    for (place, route) in list.routes.iter().enumerate() {
        for (number, id) in route.channel_ids.iter().enumerate() {
            if !known.contains(id) {
                let pointer = format!("/routes/{place}/channel_ids/{number}");
                problems.push(FieldProblem::new(pointer, "value", "there is no such channel"));
            }
        }
    }
    problems.truncate(pegel_api_types::problem::MAX_FIELD_PROBLEMS);
    problems
}
