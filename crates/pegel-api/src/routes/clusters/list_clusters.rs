//! Lists registered clusters.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::clusters::ClusterView;
use pegel_api_types::page::{Page, PageQuery};
use pegel_core::access::permissions::CLUSTERS_READ;
use pegel_service::policy::permission::ClustersRead;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Params;
use crate::paging::Paging;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::GET,
        "/clusters",
        Access::Needs(&CLUSTERS_READ),
        "Lists the registered clusters within the caller's scope, by slug.",
    )
    .query::<PageQuery>()
    .answers::<Page<ClusterView>>(200, "The clusters, without secrets.")
    .by(list_clusters)
}

async fn list_clusters(
    State(app): State<App>,
    May(may): May<ClustersRead>,
    Params(query): Params<PageQuery>,
) -> Result<Json<Page<ClusterView>>, Refusal> {
    let paging = Paging::begin(&app, may.caller(), "clusters", query.cursor.as_deref(), query.limit)?;
    let items = app.service.clusters().list(&may, paging.after_slug()?, paging.fetch()).await?;
    paging.finish(items, |cluster| cluster.slug.to_string()).map(Json)
}
