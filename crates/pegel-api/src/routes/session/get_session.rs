//! Says who the caller is and how far it may go.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::people::SessionInfo;

use crate::app::App;
use crate::auth::CurrentCaller;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(Method::GET, "/session", Access::Account, "Says who the caller is and how far it may go.")
        .answers::<SessionInfo>(200, "The caller, also of an access token.")
        .by(get_session)
}

async fn get_session(
    State(app): State<App>,
    CurrentCaller(caller): CurrentCaller,
) -> Result<Json<SessionInfo>, Refusal> {
    let mut expires_at = None;
    if caller.session_id().is_some() {
        let own = app.service.people().list_own_sessions(&caller).await?;
        expires_at = own.into_iter().find(|session| session.is_current).map(|session| session.expires_at);
    }
    let principal = caller.principal();
    Ok(Json(SessionInfo {
        principal_kind: principal.kind,
        user_id: caller.user_id(),
        name: principal.name.clone(),
        role: principal.role,
        grants: principal.grants.clone(),
        scope: principal.scope.clone(),
        must_change_password: caller.must_change_password(),
        session_id: caller.session_id(),
        expires_at,
    }))
}
