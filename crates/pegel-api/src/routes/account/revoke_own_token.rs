//! Ends one of the caller's access tokens.

use axum::extract::State;
use axum::http::{Method, StatusCode};

use crate::app::App;
use crate::auth::CurrentCaller;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Names;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::DELETE,
        "/account/tokens/{id}",
        Access::Account,
        "Ends one of the caller's access tokens. Needs a session and no permission: a leak must be stopped.",
    )
    .answers_nothing(204, "Ended.")
    .audited("tokens.revoke")
    .by(revoke_own_token)
}

async fn revoke_own_token(
    State(app): State<App>,
    CurrentCaller(caller): CurrentCaller,
    names: Names,
) -> Result<StatusCode, Refusal> {
    app.service.people().revoke_own_token(&caller, names.id("id")?).await?;
    Ok(StatusCode::NO_CONTENT)
}
