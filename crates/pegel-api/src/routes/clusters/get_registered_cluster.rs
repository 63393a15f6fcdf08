//! Returns a registered cluster.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::clusters::ClusterView;
use pegel_core::access::permissions::CLUSTERS_READ;
use pegel_service::policy::permission::ClustersRead;

use crate::app::App;
use crate::auth::MayInCluster;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::GET,
        "/clusters/{cluster}",
        Access::Needs(&CLUSTERS_READ),
        "Returns a registered cluster.",
    )
    .answers::<ClusterView>(200, "The cluster, without secrets.")
    .by(get_registered_cluster)
}

async fn get_registered_cluster(
    State(app): State<App>,
    MayInCluster(may): MayInCluster<ClustersRead>,
) -> Result<Json<ClusterView>, Refusal> {
    Ok(Json(app.service.clusters().get(&may).await?))
}
