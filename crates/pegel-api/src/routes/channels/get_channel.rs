//! Shows a channel.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::monitoring::channels::ChannelView;
use pegel_core::access::permissions::ALERTING_READ;
use pegel_service::policy::permission::AlertingRead;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Names;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::GET,
        "/channels/{id}",
        Access::Needs(&ALERTING_READ),
        "Shows a channel, without secrets.",
    )
    .answers::<ChannelView>(200, "The channel.")
    .by(get_channel)
}

async fn get_channel(
    State(app): State<App>,
    May(may): May<AlertingRead>,
    names: Names,
) -> Result<Json<ChannelView>, Refusal> {
    Ok(Json(app.service.monitoring().channel(&may, names.id("id")?).await?))
}
