//! Removes a registered cluster and its secrets.

use axum::extract::State;
use axum::http::{Method, StatusCode};
use pegel_api_types::page::SeenVersion;
use pegel_core::access::permissions::CLUSTERS_WRITE;
use pegel_service::policy::permission::ClustersWrite;

use crate::app::App;
use crate::auth::MayWholeCluster;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Params;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::DELETE,
        "/clusters/{cluster}",
        Access::Needs(&CLUSTERS_WRITE),
        "Removes a registered cluster and its secrets. Nothing happens to the cluster itself.",
    )
    .query::<SeenVersion>()
    .answers_nothing(204, "Removed.")
    .audited("clusters.remove")
    .refuses(&[409])
    .by(remove_cluster)
}

async fn remove_cluster(
    State(app): State<App>,
    MayWholeCluster(may): MayWholeCluster<ClustersWrite>,
    Params(seen): Params<SeenVersion>,
) -> Result<StatusCode, Refusal> {
    app.service.clusters().remove(&may, seen.version).await?;
    Ok(StatusCode::NO_CONTENT)
}
