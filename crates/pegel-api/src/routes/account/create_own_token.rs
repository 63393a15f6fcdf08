//! Makes an access token with a part of the caller's rights.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use pegel_api_types::people::{CreateToken, NewTokenView};
use pegel_core::access::permissions::TOKENS_WRITE;
use pegel_service::policy::permission::TokensWrite;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::JsonBody;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::POST,
        "/account/tokens",
        Access::Needs(&TOKENS_WRITE),
        "Makes an access token with a part of the caller's rights. It is shown this once.",
    )
    .body::<CreateToken>()
    .answers::<NewTokenView>(201, "The token.")
    .audited("tokens.create")
    .by(create_own_token)
}

async fn create_own_token(
    State(app): State<App>,
    May(may): May<TokensWrite>,
    JsonBody(request): JsonBody<CreateToken>,
) -> Result<(StatusCode, Json<NewTokenView>), Refusal> {
    let made = app.service.people().create_token(&may, &request).await?;
    Ok((StatusCode::CREATED, Json(made)))
}
