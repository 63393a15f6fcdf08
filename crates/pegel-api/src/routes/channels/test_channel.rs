//! Sends a test message over a channel.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::monitoring::channels::ChannelTrial;
use pegel_core::access::permissions::ALERTING_WRITE;
use pegel_service::policy::permission::AlertingWrite;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Names;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::POST,
        "/channels/{id}/test",
        Access::Needs(&ALERTING_WRITE),
        "Sends a message that says that it is a test. Where the target keeps it open, it is closed again.",
    )
    .answers::<ChannelTrial>(200, "What became of it; that the target did not take it is an answer, too.")
    .audited("alerting.test_channel")
    .by(test_channel)
}

async fn test_channel(
    State(app): State<App>,
    May(may): May<AlertingWrite>,
    names: Names,
) -> Result<Json<ChannelTrial>, Refusal> {
    Ok(Json(app.service.monitoring().try_channel(&may, names.id("id")?).await?))
}
