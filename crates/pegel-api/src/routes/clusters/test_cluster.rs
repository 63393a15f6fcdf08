//! Tests the connection of a registered cluster as it is stored.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::operations::connection_test::ConnectionTest;
use pegel_core::access::permissions::CLUSTERS_READ;
use pegel_core::envelope::Envelope;
use pegel_service::policy::permission::ClustersRead;

use crate::app::App;
use crate::auth::MayWholeCluster;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::POST,
        "/clusters/{cluster}/test",
        Access::Needs(&CLUSTERS_READ),
        "Tests the connection of a registered cluster as it is stored. The answer names servers.",
    )
    .answers::<Envelope<ConnectionTest>>(200, "Each step of the test; a failed one is an answer too.")
    .audited("clusters.test")
    .by(test_cluster)
}

async fn test_cluster(
    State(app): State<App>,
    MayWholeCluster(may): MayWholeCluster<ClustersRead>,
) -> Result<Json<Envelope<ConnectionTest>>, Refusal> {
    Ok(Json(app.service.clusters().test_stored(&may).await?))
}
