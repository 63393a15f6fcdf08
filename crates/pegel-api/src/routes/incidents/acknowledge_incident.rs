//! Takes on an incident.

use axum::extract::State;
use axum::http::{Method, StatusCode};
use pegel_core::access::permissions::INCIDENTS_WRITE;
use pegel_service::policy::permission::IncidentsWrite;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Names;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::POST,
        "/incidents/{id}/acknowledge",
        Access::Needs(&INCIDENTS_WRITE),
        "Takes on an incident: reminders end, and those who were told hear of it.",
    )
    .answers_nothing(204, "Taken on.")
    .audited("incidents.acknowledge")
    .by(acknowledge_incident)
}

async fn acknowledge_incident(
    State(app): State<App>,
    May(may): May<IncidentsWrite>,
    names: Names,
) -> Result<StatusCode, Refusal> {
    app.service.monitoring().acknowledge(&may, names.id("id")?).await?;
    Ok(StatusCode::NO_CONTENT)
}
