//! Makes a channel.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use pegel_api_types::monitoring::channels::{ChannelView, CreateChannel};
use pegel_core::access::permissions::ALERTING_WRITE;
use pegel_service::policy::permission::AlertingWrite;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::JsonBody;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(Method::POST, "/channels", Access::Needs(&ALERTING_WRITE), "Makes a channel.")
        .body::<CreateChannel>()
        .answers::<ChannelView>(201, "The channel.")
        .audited("alerting.create_channel")
        .refuses(&[409])
        .by(create_channel)
}

async fn create_channel(
    State(app): State<App>,
    May(may): May<AlertingWrite>,
    JsonBody(request): JsonBody<CreateChannel>,
) -> Result<(StatusCode, Json<ChannelView>), Refusal> {
    let made = app.service.monitoring().create_channel(&may, &request).await?;
    Ok((StatusCode::CREATED, Json(made)))
}
