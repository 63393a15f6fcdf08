//! Removes a maintenance window.

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
        "/maintenance-windows/{id}",
        Access::Needs(&ALERTING_WRITE),
        "Removes a maintenance window, which ends it at once.",
    )
    .query::<SeenVersion>()
    .answers_nothing(204, "Removed.")
    .audited("alerting.remove_maintenance_window")
    .refuses(&[409])
    .by(remove_maintenance_window)
}

async fn remove_maintenance_window(
    State(app): State<App>,
    May(may): May<AlertingWrite>,
    names: Names,
    Params(seen): Params<SeenVersion>,
) -> Result<StatusCode, Refusal> {
    app.service.alerting().remove_maintenance_window(&may, names.id("id")?, seen.version).await?;
    Ok(StatusCode::NO_CONTENT)
}
