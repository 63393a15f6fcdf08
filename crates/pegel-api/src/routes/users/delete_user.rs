//! Removes a user.

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
        "/users/{id}",
        Access::Needs(&USERS_WRITE),
        "Removes a user with all sessions and access tokens.",
    )
    .answers_nothing(204, "Removed.")
    .audited("users.delete")
    .refuses(&[409])
    .by(delete_user)
}

async fn delete_user(
    State(app): State<App>,
    May(may): May<UsersWrite>,
    names: Names,
) -> Result<StatusCode, Refusal> {
    app.service.people().delete_user(&may, names.id("id")?).await?;
    Ok(StatusCode::NO_CONTENT)
}
