//! Leads from the operations page's address in the manual to the page here.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::endpoint::{Draft, Endpoint, Place};
use crate::input::Names;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::public(
        Place::Web,
        "/resources/{cluster}/manage/operations",
        "Leads to the operations page of a cluster, whether or not there is such a cluster.",
    )
    .answers_nothing(307, "The page is at `Location`.")
    .by(redirect_operations)
}

async fn redirect_operations(State(app): State<App>, names: Names) -> Result<Response, Refusal> {
    let location = format!("{}/clusters/{}/operations", app.settings.base_path(), names.cluster()?);
    Ok((StatusCode::TEMPORARY_REDIRECT, [(LOCATION, location)]).into_response())
}
