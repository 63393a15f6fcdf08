//! Registers a cluster.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use pegel_api_types::clusters::{RegisterCluster, SavedCluster};
use pegel_core::access::permissions::CLUSTERS_WRITE;
use pegel_service::policy::permission::ClustersWrite;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::JsonBody;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::POST,
        "/clusters",
        Access::Needs(&CLUSTERS_WRITE),
        "Registers a cluster after testing its connection.",
    )
    .body::<RegisterCluster>()
    .answers::<SavedCluster>(201, "The cluster, and how the test went.")
    .audited("clusters.register")
    .refuses(&[409, 422])
    .by(register_cluster)
}

async fn register_cluster(
    State(app): State<App>,
    May(may): May<ClustersWrite>,
    JsonBody(request): JsonBody<RegisterCluster>,
) -> Result<(StatusCode, Json<SavedCluster>), Refusal> {
    let saved = app.service.clusters().register(&may, &request).await?;
    Ok((StatusCode::CREATED, Json(saved)))
}
