//! Signs in. The session's token goes into a cookie that scripts cannot read, and is always a new one.

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use pegel_api_types::people::{LoginRequest, SessionInfo};
use pegel_core::access::decision::PrincipalKind;
use pegel_service::caller::Origin;

use crate::app::App;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::JsonBody;
use crate::problem::Refusal;
use crate::routes::session::set_cookie;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(Method::POST, "/session", Access::Public, "Signs in: the answer's cookie is the session.")
        .body::<LoginRequest>()
        .answers::<SessionInfo>(201, "Signed in.")
        .audited("login")
        .refuses(&[401, 429])
        .by(create_session)
}

async fn create_session(
    State(app): State<App>,
    Extension(origin): Extension<Origin>,
    JsonBody(request): JsonBody<LoginRequest>,
) -> Result<Response, Refusal> {
    let session = app.service.people().login(&origin, &request).await?;
    let user = session.user;
    let info = SessionInfo {
        principal_kind: PrincipalKind::User,
        user_id: user.id,
        name: user.name,
        role: user.role,
        grants: user.grants,
        scope: user.scope,
        must_change_password: user.must_change_password,
        session_id: Some(session.session_id),
        expires_at: Some(session.expires_at),
    };
    Ok((StatusCode::CREATED, set_cookie(&app, Some(&session.token))?, Json(info)).into_response())
}
