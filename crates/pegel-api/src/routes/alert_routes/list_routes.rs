//! Shows all routes.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::alerting::routes::RouteList;
use pegel_core::access::permissions::ALERTING_READ;
use pegel_service::policy::permission::AlertingRead;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::GET,
        "/alert-routes",
        Access::Needs(&ALERTING_READ),
        "Shows all routes in the order in which they are looked at.",
    )
    .answers::<RouteList>(200, "The routes and their version.")
    .by(list_routes)
}

async fn list_routes(
    State(app): State<App>,
    May(may): May<AlertingRead>,
) -> Result<Json<RouteList>, Refusal> {
    Ok(Json(app.service.alerting().routes(&may).await?))
}
