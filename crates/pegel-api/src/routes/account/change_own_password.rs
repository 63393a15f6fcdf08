//! Changes the caller's password. Other sessions end, this one gets a new token.

use axum::extract::{Extension, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use pegel_api_types::people::ChangePassword;
use pegel_service::caller::Origin;

use crate::app::App;
use crate::auth::CurrentCaller;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::JsonBody;
use crate::problem::Refusal;
use crate::routes::session::set_cookie;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::POST,
        "/account/password",
        Access::Account,
        "Changes the caller's password; other sessions end and this one gets a new cookie.",
    )
    .body::<ChangePassword>()
    .answers_nothing(204, "Changed; the old cookie is no longer valid.")
    .audited("password.change")
    .refuses(&[409, 429])
    .by(change_own_password)
}

async fn change_own_password(
    State(app): State<App>,
    CurrentCaller(caller): CurrentCaller,
    Extension(origin): Extension<Origin>,
    JsonBody(request): JsonBody<ChangePassword>,
) -> Result<Response, Refusal> {
    let token = app.service.people().change_password(&caller, &origin, &request).await?;
    Ok((StatusCode::NO_CONTENT, set_cookie(&app, Some(&token))?).into_response())
}
