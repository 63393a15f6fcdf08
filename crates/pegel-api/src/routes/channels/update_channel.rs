//! Changes a channel.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::monitoring::channels::{ChannelView, UpdateChannel};
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
        "/channels/{id}",
        Access::Needs(&ALERTING_WRITE),
        "Changes a channel, all of it at once but a secret that is not named.",
    )
    .body::<UpdateChannel>()
    .answers::<ChannelView>(200, "The channel as it is now.")
    .audited("alerting.update_channel")
    .refuses(&[409])
    .by(update_channel)
}

async fn update_channel(
    State(app): State<App>,
    May(may): May<AlertingWrite>,
    names: Names,
    JsonBody(request): JsonBody<UpdateChannel>,
) -> Result<Json<ChannelView>, Refusal> {
    Ok(Json(app.service.monitoring().update_channel(&may, names.id("id")?, &request).await?))
}
