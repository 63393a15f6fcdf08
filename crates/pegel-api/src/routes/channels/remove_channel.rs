//! Removes a channel.

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
        "/channels/{id}",
        Access::Needs(&ALERTING_WRITE),
        "Removes a channel and its secrets. Routes that lead to it lead nowhere then.",
    )
    .query::<SeenVersion>()
    .answers_nothing(204, "Removed.")
    .audited("alerting.remove_channel")
    .refuses(&[409])
    .by(remove_channel)
}

async fn remove_channel(
    State(app): State<App>,
    May(may): May<AlertingWrite>,
    names: Names,
    Params(seen): Params<SeenVersion>,
) -> Result<StatusCode, Refusal> {
    app.service.monitoring().remove_channel(&may, names.id("id")?, seen.version).await?;
    Ok(StatusCode::NO_CONTENT)
}
