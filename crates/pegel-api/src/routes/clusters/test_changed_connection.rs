//! Tests a connection that a registered cluster might get, with the stored secrets that the form keeps.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::clusters::TestConnection;
use pegel_api_types::operations::connection_test::ConnectionTest;
use pegel_core::access::permissions::CLUSTERS_WRITE;
use pegel_core::envelope::Envelope;
use pegel_service::policy::permission::ClustersWrite;

use crate::app::App;
use crate::auth::MayWholeCluster;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::JsonBody;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::POST,
        "/clusters/{cluster}/connection-tests",
        Access::Needs(&CLUSTERS_WRITE),
        "Tests a connection that a registered cluster might get; secrets that are not named are the stored ones.",
    )
    .body::<TestConnection>()
    .answers::<Envelope<ConnectionTest>>(200, "Each step of the test; a failed one is an answer too.")
    .audited("clusters.test")
    .by(test_changed_connection)
}

async fn test_changed_connection(
    State(app): State<App>,
    MayWholeCluster(may): MayWholeCluster<ClustersWrite>,
    JsonBody(request): JsonBody<TestConnection>,
) -> Result<Json<Envelope<ConnectionTest>>, Refusal> {
    Ok(Json(app.service.clusters().test_form(&may, &request).await?))
}
