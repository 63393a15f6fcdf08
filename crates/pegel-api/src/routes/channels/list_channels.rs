//! Lists channels.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::monitoring::channels::ChannelView;
use pegel_api_types::page::Page;
use pegel_core::access::permissions::ALERTING_READ;
use pegel_service::policy::permission::AlertingRead;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::GET,
        "/channels",
        Access::Needs(&ALERTING_READ),
        "Lists all channels by name, without secrets.",
    )
    .answers::<Page<ChannelView>>(200, "The channels; there are never more than one page.")
    .by(list_channels)
}

async fn list_channels(
    State(app): State<App>,
    May(may): May<AlertingRead>,
) -> Result<Json<Page<ChannelView>>, Refusal> {
    let items = app.service.monitoring().channels(&may).await?;
    Ok(Json(Page { items, next_cursor: None }))
}
