//! Shows a monitor.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::monitoring::monitors::MonitorView;
use pegel_core::access::permissions::MONITORS_READ;
use pegel_service::policy::permission::MonitorsRead;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Names;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::GET,
        "/monitors/{id}",
        Access::Needs(&MONITORS_READ),
        "Shows a monitor and how it stands.",
    )
    .answers::<MonitorView>(200, "The monitor.")
    .by(get_monitor)
}

async fn get_monitor(
    State(app): State<App>,
    May(may): May<MonitorsRead>,
    names: Names,
) -> Result<Json<MonitorView>, Refusal> {
    Ok(Json(app.service.monitoring().get(&may, names.id("id")?).await?))
}
