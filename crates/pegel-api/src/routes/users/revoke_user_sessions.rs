//! Ends all of a user's sessions.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::people::EndedSessions;
use pegel_core::access::permissions::USERS_WRITE;
use pegel_service::policy::permission::UsersWrite;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Names;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::DELETE,
        "/users/{id}/sessions",
        Access::Needs(&USERS_WRITE),
        "Ends all of a user's sessions.",
    )
    .answers::<EndedSessions>(200, "How many were ended.")
    .audited("sessions.revoke")
    .by(revoke_user_sessions)
}

async fn revoke_user_sessions(
    State(app): State<App>,
    May(may): May<UsersWrite>,
    names: Names,
) -> Result<Json<EndedSessions>, Refusal> {
    let ended_count = app.service.people().revoke_user_sessions(&may, names.id("id")?, None).await?;
    Ok(Json(EndedSessions { ended_count }))
}
