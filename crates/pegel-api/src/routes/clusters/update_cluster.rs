//! Changes a registered cluster, all of it but the secrets that are not named.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::clusters::{SavedCluster, UpdateCluster};
use pegel_core::access::permissions::CLUSTERS_WRITE;
use pegel_service::policy::permission::ClustersWrite;

use crate::app::App;
use crate::auth::MayWholeCluster;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::JsonBody;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::PUT,
        "/clusters/{cluster}",
        Access::Needs(&CLUSTERS_WRITE),
        "Changes a registered cluster; a changed connection is tested first. Secrets that are not named stay.",
    )
    .body::<UpdateCluster>()
    .answers::<SavedCluster>(200, "The cluster as it is now, and how the test went.")
    .audited("clusters.update")
    .refuses(&[409, 422])
    .by(update_cluster)
}

async fn update_cluster(
    State(app): State<App>,
    MayWholeCluster(may): MayWholeCluster<ClustersWrite>,
    JsonBody(request): JsonBody<UpdateCluster>,
) -> Result<Json<SavedCluster>, Refusal> {
    Ok(Json(app.service.clusters().update(&may, &request).await?))
}
