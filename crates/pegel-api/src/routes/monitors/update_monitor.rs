//! Changes a monitor.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::monitoring::monitors::{MonitorView, UpdateMonitor};
use pegel_core::access::permissions::MONITORS_WRITE;
use pegel_service::policy::permission::MonitorsWrite;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::{JsonBody, Names};
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::PUT,
        "/monitors/{id}",
        Access::Needs(&MONITORS_WRITE),
        "Changes a monitor, all of it at once but the secrets that are not named.",
    )
    .body::<UpdateMonitor>()
    .answers::<MonitorView>(200, "The monitor as it is now.")
    .audited("monitors.update")
    .refuses(&[409])
    .by(update_monitor)
}

async fn update_monitor(
    State(app): State<App>,
    May(may): May<MonitorsWrite>,
    names: Names,
    JsonBody(request): JsonBody<UpdateMonitor>,
) -> Result<Json<MonitorView>, Refusal> {
    Ok(Json(app.service.monitoring().update(&may, names.id("id")?, &request).await?))
}
