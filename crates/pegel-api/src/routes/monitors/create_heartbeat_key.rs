//! Makes a key under which a heartbeat is pinged.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use pegel_api_types::monitoring::monitors::HeartbeatKey;
use pegel_core::access::permissions::MONITORS_WRITE;
use pegel_service::policy::permission::MonitorsWrite;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Names;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::POST,
        "/monitors/{id}/keys",
        Access::Needs(&MONITORS_WRITE),
        "Makes a key under which a heartbeat is pinged, shown this once. Earlier ones go on to work.",
    )
    .answers::<HeartbeatKey>(201, "The key, and the path that it makes.")
    .audited("monitors.create_key")
    .refuses(&[413])
    .by(create_heartbeat_key)
}

async fn create_heartbeat_key(
    State(app): State<App>,
    May(may): May<MonitorsWrite>,
    names: Names,
) -> Result<(StatusCode, Json<HeartbeatKey>), Refusal> {
    let made = app.service.monitoring().create_heartbeat_key(&may, names.id("id")?).await?;
    Ok((StatusCode::CREATED, Json(made)))
}
