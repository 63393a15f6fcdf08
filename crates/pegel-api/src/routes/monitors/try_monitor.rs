//! Looks at a target once.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::monitoring::monitors::MonitorTrial;
use pegel_core::access::permissions::MONITORS_WRITE;
use pegel_service::policy::permission::MonitorsWrite;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Names;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::POST,
        "/monitors/{id}/try",
        Access::Needs(&MONITORS_WRITE),
        "Looks at the target once, now, and keeps nothing of what it saw.",
    )
    .answers::<MonitorTrial>(200, "What was seen.")
    .audited("monitors.try")
    .by(try_monitor)
}

async fn try_monitor(
    State(app): State<App>,
    May(may): May<MonitorsWrite>,
    names: Names,
) -> Result<Json<MonitorTrial>, Refusal> {
    Ok(Json(app.service.monitoring().try_out(&may, names.id("id")?).await?))
}
