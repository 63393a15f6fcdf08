//! Lists users by name.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::page::{Page, PageQuery};
use pegel_api_types::people::UserView;
use pegel_core::access::permissions::USERS_READ;
use pegel_service::policy::permission::UsersRead;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Params;
use crate::paging::Paging;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(Method::GET, "/users", Access::Needs(&USERS_READ), "Lists users by name.")
        .query::<PageQuery>()
        .answers::<Page<UserView>>(200, "The users.")
        .by(list_users)
}

async fn list_users(
    State(app): State<App>,
    May(may): May<UsersRead>,
    Params(query): Params<PageQuery>,
) -> Result<Json<Page<UserView>>, Refusal> {
    let paging = Paging::begin(&app, may.caller(), "users", query.cursor.as_deref(), query.limit)?;
    let items = app.service.people().list_users(&may, paging.after(), paging.fetch()).await?;
    paging.finish(items, |user| user.name.clone()).map(Json)
}
