//! Lists maintenance windows.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::alerting::quiet_times::MaintenanceView;
use pegel_api_types::page::{Page, PageQuery};
use pegel_core::access::permissions::ALERTING_READ;
use pegel_service::policy::permission::AlertingRead;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Params;
use crate::paging::Paging;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::GET,
        "/maintenance-windows",
        Access::Needs(&ALERTING_READ),
        "Lists the maintenance windows that are not over, in the order in which they were made.",
    )
    .query::<PageQuery>()
    .answers::<Page<MaintenanceView>>(200, "The maintenance windows.")
    .by(list_maintenance_windows)
}

async fn list_maintenance_windows(
    State(app): State<App>,
    May(may): May<AlertingRead>,
    Params(query): Params<PageQuery>,
) -> Result<Json<Page<MaintenanceView>>, Refusal> {
    let paging =
        Paging::begin(&app, may.caller(), "maintenance-windows", query.cursor.as_deref(), query.limit)?;
    let after = paging.after_id()?;
    let items = app.service.alerting().maintenance_windows(&may, after, paging.fetch()).await?;
    paging.finish(items, |item| item.id.to_string()).map(Json)
}
