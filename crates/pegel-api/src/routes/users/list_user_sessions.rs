//! Lists a user's sessions.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::page::Page;
use pegel_api_types::people::SessionView;
use pegel_core::access::permissions::USERS_READ;
use pegel_service::policy::permission::UsersRead;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Names;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::GET,
        "/users/{id}/sessions",
        Access::Needs(&USERS_READ),
        "Lists a user's sessions, the newest first; there are few enough for one page.",
    )
    .answers::<Page<SessionView>>(200, "The sessions that have not ended.")
    .by(list_user_sessions)
}

async fn list_user_sessions(
    State(app): State<App>,
    May(may): May<UsersRead>,
    names: Names,
) -> Result<Json<Page<SessionView>>, Refusal> {
    let items = app.service.people().list_user_sessions(&may, names.id("id")?).await?;
    Ok(Json(Page { items, next_cursor: None }))
}
