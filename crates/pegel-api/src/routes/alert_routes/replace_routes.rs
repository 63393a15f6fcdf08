//! Replaces the list of routes.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::alerting::routes::RouteList;
use pegel_core::access::permissions::ALERTING_WRITE;
use pegel_service::policy::permission::AlertingWrite;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::JsonBody;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::PUT,
        "/alert-routes",
        Access::Needs(&ALERTING_WRITE),
        "Replaces all routes at once, since their order is a part of what they mean.",
    )
    .body::<RouteList>()
    .answers::<RouteList>(200, "The routes and their new version.")
    .audited("alerting.replace_routes")
    .refuses(&[409])
    .by(replace_routes)
}

async fn replace_routes(
    State(app): State<App>,
    May(may): May<AlertingWrite>,
    JsonBody(request): JsonBody<RouteList>,
) -> Result<Json<RouteList>, Refusal> {
    Ok(Json(app.service.alerting().replace_routes(&may, &request).await?))
}
