//! Makes a silence.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use pegel_api_types::alerting::quiet_times::{SilenceForm, SilenceView};
use pegel_core::access::permissions::ALERTING_WRITE;
use pegel_service::policy::permission::AlertingWrite;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::JsonBody;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(Method::POST, "/silences", Access::Needs(&ALERTING_WRITE), "Makes a silence.")
        .body::<SilenceForm>()
        .answers::<SilenceView>(201, "The silence.")
        .audited("alerting.create_silence")
        .refuses(&[413])
        .by(create_silence)
}

async fn create_silence(
    State(app): State<App>,
    May(may): May<AlertingWrite>,
    JsonBody(request): JsonBody<SilenceForm>,
) -> Result<(StatusCode, Json<SilenceView>), Refusal> {
    let made = app.service.alerting().create_silence(&may, &request).await?;
    Ok((StatusCode::CREATED, Json(made)))
}
