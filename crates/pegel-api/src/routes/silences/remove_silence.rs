//! Removes a silence.

use axum::extract::State;
use axum::http::{Method, StatusCode};
use pegel_api_types::page::SeenVersion;
use pegel_core::access::permissions::ALERTING_WRITE;
use pegel_service::policy::permission::AlertingWrite;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::{Names, Params};
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::DELETE,
        "/silences/{id}",
        Access::Needs(&ALERTING_WRITE),
        "Removes a silence, which ends it at once.",
    )
    .query::<SeenVersion>()
    .answers_nothing(204, "Removed.")
    .audited("alerting.remove_silence")
    .refuses(&[409])
    .by(remove_silence)
}

async fn remove_silence(
    State(app): State<App>,
    May(may): May<AlertingWrite>,
    names: Names,
    Params(seen): Params<SeenVersion>,
) -> Result<StatusCode, Refusal> {
    app.service.alerting().remove_silence(&may, names.id("id")?, seen.version).await?;
    Ok(StatusCode::NO_CONTENT)
}
