//! Ends one of the caller's sessions.

use axum::extract::State;
use axum::http::{Method, StatusCode};

use crate::app::App;
use crate::auth::CurrentCaller;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Names;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::DELETE,
        "/account/sessions/{id}",
        Access::Account,
        "Ends one of the caller's sessions.",
    )
    .answers_nothing(204, "Ended.")
    .audited("sessions.revoke")
    .by(revoke_own_session)
}

async fn revoke_own_session(
    State(app): State<App>,
    CurrentCaller(caller): CurrentCaller,
    names: Names,
) -> Result<StatusCode, Refusal> {
    app.service.people().revoke_own_session(&caller, names.id("id")?).await?;
    Ok(StatusCode::NO_CONTENT)
}
