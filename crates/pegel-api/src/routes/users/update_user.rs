//! Changes a user, all of it at once.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::people::{UpdateUser, UserView};
use pegel_core::access::permissions::USERS_WRITE;
use pegel_service::policy::permission::UsersWrite;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::{JsonBody, Names};
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::PUT,
        "/users/{id}",
        Access::Needs(&USERS_WRITE),
        "Changes a user. If the rights change or the user is disabled, all of the user's sessions end.",
    )
    .body::<UpdateUser>()
    .answers::<UserView>(200, "The user as it is now.")
    .audited("users.update")
    .refuses(&[409])
    .by(update_user)
}

async fn update_user(
    State(app): State<App>,
    May(may): May<UsersWrite>,
    names: Names,
    JsonBody(request): JsonBody<UpdateUser>,
) -> Result<Json<UserView>, Refusal> {
    Ok(Json(app.service.people().update_user(&may, names.id("id")?, &request).await?))
}
