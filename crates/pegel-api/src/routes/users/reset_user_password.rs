//! Gives a user a generated password.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::people::UserWithPassword;
use pegel_core::access::permissions::USERS_WRITE;
use pegel_service::policy::permission::UsersWrite;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Names;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::POST,
        "/users/{id}/password-reset",
        Access::Needs(&USERS_WRITE),
        "Gives a user a generated password, shown this once and to be changed; all of the user's sessions end.",
    )
    .answers::<UserWithPassword>(200, "The user and the password.")
    .audited("password.reset")
    .by(reset_user_password)
}

async fn reset_user_password(
    State(app): State<App>,
    May(may): May<UsersWrite>,
    names: Names,
) -> Result<Json<UserWithPassword>, Refusal> {
    Ok(Json(app.service.people().reset_password(&may, names.id("id")?).await?))
}
