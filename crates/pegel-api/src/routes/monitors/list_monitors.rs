//! Lists monitors.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::monitoring::monitors::MonitorView;
use pegel_api_types::page::{Page, PageQuery};
use pegel_core::access::permissions::MONITORS_READ;
use pegel_service::policy::permission::MonitorsRead;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Params;
use crate::paging::Paging;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::GET,
        "/monitors",
        Access::Needs(&MONITORS_READ),
        "Lists the monitors of the clusters in scope, in the order in which they were made.",
    )
    .query::<PageQuery>()
    .answers::<Page<MonitorView>>(200, "The monitors and how they stand.")
    .by(list_monitors)
}

async fn list_monitors(
    State(app): State<App>,
    May(may): May<MonitorsRead>,
    Params(query): Params<PageQuery>,
) -> Result<Json<Page<MonitorView>>, Refusal> {
    let paging = Paging::begin(&app, may.caller(), "monitors", query.cursor.as_deref(), query.limit)?;
    let after = paging.after_id()?;
    let items = app.service.monitoring().list(&may, after, paging.fetch()).await?;
    paging.finish(items, |monitor| monitor.id.to_string()).map(Json)
}
