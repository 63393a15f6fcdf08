//! Lists the caller's sessions.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::page::Page;
use pegel_api_types::people::SessionView;

use crate::app::App;
use crate::auth::CurrentCaller;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::GET,
        "/account/sessions",
        Access::Account,
        "Lists the caller's sessions, the newest first; there are few enough for one page.",
    )
    .answers::<Page<SessionView>>(200, "The sessions that have not ended.")
    .by(list_own_sessions)
}

async fn list_own_sessions(
    State(app): State<App>,
    CurrentCaller(caller): CurrentCaller,
) -> Result<Json<Page<SessionView>>, Refusal> {
    let items = app.service.people().list_own_sessions(&caller).await?;
    Ok(Json(Page { items, next_cursor: None }))
}
