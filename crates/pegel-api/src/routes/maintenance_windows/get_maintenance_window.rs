//! Shows a maintenance window.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::alerting::quiet_times::MaintenanceView;
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
        "/maintenance-windows/{id}",
        Access::Needs(&ALERTING_READ),
        "Shows a maintenance window.",
    )
    .answers::<MaintenanceView>(200, "The maintenance window.")
    .by(get_maintenance_window)
}

async fn get_maintenance_window(
    State(app): State<App>,
    May(may): May<AlertingRead>,
    names: Names,
) -> Result<Json<MaintenanceView>, Refusal> {
    Ok(Json(app.service.alerting().maintenance_window(&may, names.id("id")?).await?))
}
