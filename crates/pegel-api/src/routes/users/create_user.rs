//! Makes a user with a generated password.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use pegel_api_types::people::{CreateUser, UserWithPassword};
use pegel_core::access::permissions::USERS_WRITE;
use pegel_service::policy::permission::UsersWrite;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::JsonBody;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::POST,
        "/users",
        Access::Needs(&USERS_WRITE),
        "Makes a user with a generated password, which is shown this once and has to be changed.",
    )
    .body::<CreateUser>()
    .answers::<UserWithPassword>(201, "The user and the password.")
    .audited("users.create")
    .refuses(&[409])
    .by(create_user)
}

async fn create_user(
    State(app): State<App>,
    May(may): May<UsersWrite>,
    JsonBody(request): JsonBody<CreateUser>,
) -> Result<(StatusCode, Json<UserWithPassword>), Refusal> {
    let made = app.service.people().create_user(&may, &request).await?;
    Ok((StatusCode::CREATED, Json(made)))
}
