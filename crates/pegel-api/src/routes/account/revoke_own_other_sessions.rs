//! Ends all of the caller's sessions but the one that asks.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::people::EndedSessions;

use crate::app::App;
use crate::auth::CurrentCaller;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::DELETE,
        "/account/sessions",
        Access::Account,
        "Ends all of the caller's sessions but the one that asks.",
    )
    .answers::<EndedSessions>(200, "How many were ended.")
    .audited("sessions.revoke_all")
    .by(revoke_own_other_sessions)
}

async fn revoke_own_other_sessions(
    State(app): State<App>,
    CurrentCaller(caller): CurrentCaller,
) -> Result<Json<EndedSessions>, Refusal> {
    let ended_count = app.service.people().revoke_own_other_sessions(&caller).await?;
    Ok(Json(EndedSessions { ended_count }))
}
