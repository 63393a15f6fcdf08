//! Tests a connection of a cluster that is not registered yet.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::clusters::TestConnection;
use pegel_api_types::operations::connection_test::ConnectionTest;
use pegel_core::access::permissions::CLUSTERS_WRITE;
use pegel_core::envelope::Envelope;
use pegel_service::policy::permission::ClustersWrite;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::JsonBody;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    // Below `/clusters/` the name could be a cluster's.
    Draft::api(
        Method::POST,
        "/connection-tests",
        Access::Needs(&CLUSTERS_WRITE),
        "Tests a connection of a cluster that is not registered yet. Nothing is saved.",
    )
    .body::<TestConnection>()
    .answers::<Envelope<ConnectionTest>>(200, "Each step of the test; a failed one is an answer too.")
    .audited("clusters.test")
    .by(test_connection)
}

async fn test_connection(
    State(app): State<App>,
    May(may): May<ClustersWrite>,
    JsonBody(request): JsonBody<TestConnection>,
) -> Result<Json<Envelope<ConnectionTest>>, Refusal> {
    Ok(Json(app.service.clusters().test_form(&may, &request).await?))
}
