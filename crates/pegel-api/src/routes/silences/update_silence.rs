//! Changes a silence, all of it at once.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::alerting::quiet_times::{SilenceView, UpdateSilence};
use pegel_core::access::permissions::ALERTING_WRITE;
use pegel_service::policy::permission::AlertingWrite;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::{JsonBody, Names};
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::PUT,
        "/silences/{id}",
        Access::Needs(&ALERTING_WRITE),
        "Changes a silence, all of it at once.",
    )
    .body::<UpdateSilence>()
    .answers::<SilenceView>(200, "The silence as it is now.")
    .audited("alerting.update_silence")
    .refuses(&[409])
    .by(update_silence)
}

async fn update_silence(
    State(app): State<App>,
    May(may): May<AlertingWrite>,
    names: Names,
    JsonBody(request): JsonBody<UpdateSilence>,
) -> Result<Json<SilenceView>, Refusal> {
    Ok(Json(app.service.alerting().update_silence(&may, names.id("id")?, &request).await?))
}
