//! Makes a maintenance window.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use pegel_api_types::alerting::quiet_times::{MaintenanceForm, MaintenanceView};
use pegel_core::access::permissions::ALERTING_WRITE;
use pegel_service::policy::permission::AlertingWrite;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::JsonBody;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::POST,
        "/maintenance-windows",
        Access::Needs(&ALERTING_WRITE),
        "Makes a maintenance window.",
    )
    .body::<MaintenanceForm>()
    .answers::<MaintenanceView>(201, "The maintenance window.")
    .audited("alerting.create_maintenance_window")
    .refuses(&[413])
    .by(create_maintenance_window)
}

async fn create_maintenance_window(
    State(app): State<App>,
    May(may): May<AlertingWrite>,
    JsonBody(request): JsonBody<MaintenanceForm>,
) -> Result<(StatusCode, Json<MaintenanceView>), Refusal> {
    let made = app.service.alerting().create_maintenance_window(&may, &request).await?;
    Ok((StatusCode::CREATED, Json(made)))
}
