//! Shows an incident.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::alerting::incidents::IncidentView;
use pegel_core::access::permissions::INCIDENTS_READ;
use pegel_service::policy::permission::IncidentsRead;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Names;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(Method::GET, "/incidents/{id}", Access::Needs(&INCIDENTS_READ), "Shows an incident.")
        .answers::<IncidentView>(200, "The incident.")
        .by(get_incident)
}

async fn get_incident(
    State(app): State<App>,
    May(may): May<IncidentsRead>,
    names: Names,
) -> Result<Json<IncidentView>, Refusal> {
    Ok(Json(app.service.alerting().incident(&may, names.id("id")?).await?))
}
