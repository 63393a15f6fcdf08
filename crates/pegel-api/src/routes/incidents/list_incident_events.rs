//! Lists what happened in an incident.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::alerting::incidents::IncidentEventView;
use pegel_api_types::page::{Page, PageQuery};
use pegel_core::access::permissions::INCIDENTS_READ;
use pegel_service::policy::permission::IncidentsRead;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::{Names, Params};
use crate::paging::Paging;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::GET,
        "/incidents/{id}/events",
        Access::Needs(&INCIDENTS_READ),
        "Lists what happened in an incident, oldest first.",
    )
    .query::<PageQuery>()
    .answers::<Page<IncidentEventView>>(200, "The events.")
    .by(list_incident_events)
}

async fn list_incident_events(
    State(app): State<App>,
    May(may): May<IncidentsRead>,
    names: Names,
    Params(query): Params<PageQuery>,
) -> Result<Json<Page<IncidentEventView>>, Refusal> {
    let id = names.id("id")?;
    let list = format!("incident {id}");
    let paging = Paging::begin(&app, may.caller(), list, query.cursor.as_deref(), query.limit)?;
    let after = paging.after_id()?;
    let items = app.service.alerting().incident_timeline(&may, id, after, paging.fetch()).await?;
    paging.finish(items, |event| event.id.to_string()).map(Json)
}
