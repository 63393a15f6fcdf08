//! Returns a user.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::people::UserView;
use pegel_core::access::permissions::USERS_READ;
use pegel_service::policy::permission::UsersRead;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Names;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(Method::GET, "/users/{id}", Access::Needs(&USERS_READ), "Returns a user.")
        .answers::<UserView>(200, "The user.")
        .by(get_user)
}

async fn get_user(
    State(app): State<App>,
    May(may): May<UsersRead>,
    names: Names,
) -> Result<Json<UserView>, Refusal> {
    Ok(Json(app.service.people().get_user(&may, names.id("id")?).await?))
}
