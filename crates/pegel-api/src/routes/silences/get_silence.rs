//! Shows a silence.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::alerting::quiet_times::SilenceView;
use pegel_core::access::permissions::ALERTING_READ;
use pegel_service::policy::permission::AlertingRead;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Names;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(Method::GET, "/silences/{id}", Access::Needs(&ALERTING_READ), "Shows a silence.")
        .answers::<SilenceView>(200, "The silence.")
        .by(get_silence)
}

async fn get_silence(
    State(app): State<App>,
    May(may): May<AlertingRead>,
    names: Names,
) -> Result<Json<SilenceView>, Refusal> {
    Ok(Json(app.service.alerting().silence(&may, names.id("id")?).await?))
}
