//! Signs out: ends the session and takes the cookie away.

use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::auth::CurrentCaller;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::problem::Refusal;
use crate::routes::session::set_cookie;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(Method::DELETE, "/session", Access::Account, "Signs out: ends the session.")
        .answers_nothing(204, "Signed out.")
        .audited("logout")
        .by(delete_session)
}

async fn delete_session(
    State(app): State<App>,
    CurrentCaller(caller): CurrentCaller,
) -> Result<Response, Refusal> {
    app.service.people().logout(&caller).await?;
    Ok((StatusCode::NO_CONTENT, set_cookie(&app, None)?).into_response())
}
