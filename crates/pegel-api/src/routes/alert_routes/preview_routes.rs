//! Says who would be told.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::alerting::routes::{PreviewRoutes, RoutePreview};
use pegel_core::access::permissions::ALERTING_READ;
use pegel_service::policy::permission::AlertingRead;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::JsonBody;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::POST,
        "/alert-routes/preview",
        Access::Needs(&ALERTING_READ),
        "Says who would be told of something this bad with these labels, and why. Nobody is told.",
    )
    .extension("x-pegel-risk", "read")
    .body::<PreviewRoutes>()
    .answers::<RoutePreview>(200, "Who, over which channels, and what would become of each route.")
    .by(preview_routes)
}

async fn preview_routes(
    State(app): State<App>,
    May(may): May<AlertingRead>,
    JsonBody(request): JsonBody<PreviewRoutes>,
) -> Result<Json<RoutePreview>, Refusal> {
    Ok(Json(app.service.alerting().preview_routes(&may, &request).await?))
}
