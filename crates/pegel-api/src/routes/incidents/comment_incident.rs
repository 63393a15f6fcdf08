//! Writes a comment into an incident.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use pegel_api_types::alerting::incidents::{CommentIncident, IncidentView};
use pegel_core::access::permissions::INCIDENTS_WRITE;
use pegel_service::policy::permission::IncidentsWrite;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::{JsonBody, Names};
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::POST,
        "/incidents/{id}/comments",
        Access::Needs(&INCIDENTS_WRITE),
        "Writes down what somebody has to say about an incident.",
    )
    .body::<CommentIncident>()
    .answers::<IncidentView>(201, "The incident.")
    .audited("incidents.comment")
    .by(comment_incident)
}

async fn comment_incident(
    State(app): State<App>,
    May(may): May<IncidentsWrite>,
    names: Names,
    JsonBody(request): JsonBody<CommentIncident>,
) -> Result<(StatusCode, Json<IncidentView>), Refusal> {
    let incident = app.service.alerting().comment_incident(&may, names.id("id")?, &request).await?;
    Ok((StatusCode::CREATED, Json(incident)))
}
