//! Ends anybody's access token.

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
    Draft::api(Method::DELETE, "/tokens/{id}", Access::Needs(&USERS_WRITE), "Ends anybody's access token.")
        .answers_nothing(204, "Ended.")
        .audited("tokens.revoke")
        .by(revoke_token)
}

async fn revoke_token(
    State(app): State<App>,
    May(may): May<UsersWrite>,
    names: Names,
) -> Result<StatusCode, Refusal> {
    app.service.people().revoke_token(&may, names.id("id")?).await?;
    Ok(StatusCode::NO_CONTENT)
}
