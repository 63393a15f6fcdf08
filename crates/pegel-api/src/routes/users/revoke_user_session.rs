//! Ends one of a user's sessions.

use axum::extract::State;
use axum::http::{Method, StatusCode};
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
        "/users/{id}/sessions/{session_id}",
        Access::Needs(&USERS_WRITE),
        "Ends one of a user's sessions.",
    )
    .answers_nothing(204, "Ended.")
    .audited("sessions.revoke")
    .by(revoke_user_session)
}

async fn revoke_user_session(
    State(app): State<App>,
    May(may): May<UsersWrite>,
    names: Names,
) -> Result<StatusCode, Refusal> {
    let (user_id, session_id) = (names.id("id")?, names.id("session_id")?);
    app.service.people().revoke_user_sessions(&may, user_id, Some(session_id)).await?;
    Ok(StatusCode::NO_CONTENT)
}
