//! Lists incidents.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::alerting::incidents::{IncidentQuery, IncidentView};
use pegel_api_types::page::Page;
use pegel_api_types::problem::FieldProblem;
use pegel_core::access::permissions::INCIDENTS_READ;
use pegel_service::alerting::incidents::IncidentFilter;
use pegel_service::policy::permission::IncidentsRead;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Params;
use crate::paging::Paging;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::GET,
        "/incidents",
        Access::Needs(&INCIDENTS_READ),
        "Lists the incidents of the clusters in scope, the newest first.",
    )
    .query::<IncidentQuery>()
    .answers::<Page<IncidentView>>(200, "The incidents.")
    .by(list_incidents)
}

async fn list_incidents(
    State(app): State<App>,
    May(may): May<IncidentsRead>,
    Params(query): Params<IncidentQuery>,
) -> Result<Json<Page<IncidentView>>, Refusal> {
    let cluster = query.cluster.as_deref().map(str::parse).transpose().map_err(|error| {
        Refusal::of_field(FieldProblem::new("/cluster", "characters", format!("{error}")))
    })?;
    let filter = IncidentFilter { only_open: query.only_open, cluster };
    let list = format!("incidents {filter:?}");
    let paging = Paging::begin(&app, may.caller(), list, query.cursor.as_deref(), query.limit)?;
    let before = paging.after_id()?;
    let items = app.service.alerting().incidents(&may, &filter, before, paging.fetch()).await?;
    paging.finish(items, |incident| incident.id.to_string()).map(Json)
}
