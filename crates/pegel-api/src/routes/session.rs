//! Signing in, asking who one is, signing out.

mod create_session;
mod delete_session;
mod get_session;

use axum::http::header::SET_COOKIE;
use axum::http::{HeaderName, HeaderValue};
use secrecy::SecretString;

use crate::app::App;
use crate::auth::session_cookie;
use crate::endpoint::Endpoint;
use crate::problem::Refusal;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![create_session::endpoint(), get_session::endpoint(), delete_session::endpoint()]
}

/// Returns the header that gives a session's token to the browser, or takes it away.
pub(super) fn set_cookie(
    app: &App,
    token: Option<&SecretString>,
) -> Result<[(HeaderName, HeaderValue); 1], Refusal> {
    let cookie = HeaderValue::from_str(&session_cookie(&app.settings, token));
    let mut cookie = cookie.map_err(|_| Refusal::internal("a session's token is no header"))?;
    cookie.set_sensitive(true);
    Ok([(SET_COOKIE, cookie)])
}
