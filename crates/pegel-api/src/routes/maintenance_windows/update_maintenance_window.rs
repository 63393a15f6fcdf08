//! Changes a maintenance window, all of it at once.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::alerting::quiet_times::{MaintenanceView, UpdateMaintenance};
use pegel_core::access::permissions::ALERTING_WRITE;
use pegel_service::policy::permission::AlertingWrite;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::{JsonBody, Names};
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::PUT,
        "/maintenance-windows/{id}",
        Access::Needs(&ALERTING_WRITE),
        "Changes a maintenance window, all of it at once.",
    )
    .body::<UpdateMaintenance>()
    .answers::<MaintenanceView>(200, "The maintenance window as it is now.")
    .audited("alerting.update_maintenance_window")
    .refuses(&[409])
    .by(update_maintenance_window)
}

async fn update_maintenance_window(
    State(app): State<App>,
    May(may): May<AlertingWrite>,
    names: Names,
    JsonBody(request): JsonBody<UpdateMaintenance>,
) -> Result<Json<MaintenanceView>, Refusal> {
    Ok(Json(app.service.alerting().update_maintenance_window(&may, names.id("id")?, &request).await?))
}
