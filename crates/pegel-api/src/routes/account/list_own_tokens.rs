//! Lists the caller's access tokens.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::page::{Page, PageQuery};
use pegel_api_types::people::TokenView;
use pegel_core::access::permissions::TOKENS_READ;
use pegel_service::policy::permission::TokensRead;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Params;
use crate::paging::Paging;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::GET,
        "/account/tokens",
        Access::Needs(&TOKENS_READ),
        "Lists the caller's access tokens in the order they were made, also ended ones.",
    )
    .query::<PageQuery>()
    .answers::<Page<TokenView>>(200, "The tokens, without what they are.")
    .by(list_own_tokens)
}

async fn list_own_tokens(
    State(app): State<App>,
    May(may): May<TokensRead>,
    Params(query): Params<PageQuery>,
) -> Result<Json<Page<TokenView>>, Refusal> {
    let paging = Paging::begin(&app, may.caller(), "own_tokens", query.cursor.as_deref(), query.limit)?;
    let items = app.service.people().list_own_tokens(&may, paging.after_id()?, paging.fetch()).await?;
    paging.finish(items, |token| token.id.to_string()).map(Json)
}
