//! Resumes a monitor.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::monitoring::monitors::MonitorView;
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
        "/monitors/{id}/resume",
        Access::Needs(&MONITORS_WRITE),
        "Resumes a monitor. What it knew before counts no more.",
    )
    .answers::<MonitorView>(200, "The monitor as it is now.")
    .audited("monitors.resume")
    .by(resume_monitor)
}

async fn resume_monitor(
    State(app): State<App>,
    May(may): May<MonitorsWrite>,
    names: Names,
) -> Result<Json<MonitorView>, Refusal> {
    Ok(Json(app.service.monitoring().resume(&may, names.id("id")?).await?))
}
