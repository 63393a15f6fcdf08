//! Lists everybody's access tokens, or one user's.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::page::Page;
use pegel_api_types::people::{ListTokens, TokenView};
use pegel_core::access::permissions::USERS_READ;
use pegel_service::policy::permission::UsersRead;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Params;
use crate::paging::Paging;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::GET,
        "/tokens",
        Access::Needs(&USERS_READ),
        "Lists everybody's access tokens, or one user's, in the order they were made, also ended ones.",
    )
    .query::<ListTokens>()
    .answers::<Page<TokenView>>(200, "The tokens, without what they are.")
    .by(list_tokens)
}

async fn list_tokens(
    State(app): State<App>,
    May(may): May<UsersRead>,
    Params(query): Params<ListTokens>,
) -> Result<Json<Page<TokenView>>, Refusal> {
    let list = format!("tokens {:?}", query.user_id);
    let paging = Paging::begin(&app, may.caller(), list, query.cursor.as_deref(), query.limit)?;
    let people = app.service.people();
    let items = people.list_tokens(&may, query.user_id, paging.after_id()?, paging.fetch()).await?;
    paging.finish(items, |token| token.id.to_string()).map(Json)
}
