//! Removes a monitor.

use axum::extract::State;
use axum::http::{Method, StatusCode};
use pegel_api_types::page::SeenVersion;
use pegel_core::access::permissions::MONITORS_WRITE;
use pegel_service::policy::permission::MonitorsWrite;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::{Names, Params};
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::DELETE,
        "/monitors/{id}",
        Access::Needs(&MONITORS_WRITE),
        "Removes a monitor with its samples and keys. What it fires ends; its incidents stay.",
    )
    .query::<SeenVersion>()
    .answers_nothing(204, "Removed.")
    .audited("monitors.remove")
    .refuses(&[409])
    .by(remove_monitor)
}

async fn remove_monitor(
    State(app): State<App>,
    May(may): May<MonitorsWrite>,
    names: Names,
    Params(seen): Params<SeenVersion>,
) -> Result<StatusCode, Refusal> {
    app.service.monitoring().remove(&may, names.id("id")?, seen.version).await?;
    Ok(StatusCode::NO_CONTENT)
}
