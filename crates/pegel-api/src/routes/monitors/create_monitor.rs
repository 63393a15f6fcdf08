//! Makes a monitor.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use pegel_api_types::monitoring::monitors::{CreateMonitor, MonitorView};
use pegel_core::access::permissions::MONITORS_WRITE;
use pegel_service::policy::permission::MonitorsWrite;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::JsonBody;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(Method::POST, "/monitors", Access::Needs(&MONITORS_WRITE), "Makes a monitor.")
        .body::<CreateMonitor>()
        .answers::<MonitorView>(201, "The monitor.")
        .audited("monitors.create")
        .refuses(&[404])
        .by(create_monitor)
}

async fn create_monitor(
    State(app): State<App>,
    May(may): May<MonitorsWrite>,
    JsonBody(request): JsonBody<CreateMonitor>,
) -> Result<(StatusCode, Json<MonitorView>), Refusal> {
    let made = app.service.monitoring().create(&may, &request).await?;
    Ok((StatusCode::CREATED, Json(made)))
}
