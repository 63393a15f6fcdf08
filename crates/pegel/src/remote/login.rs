//! Signing in at a server, and setting another password there.

use http::header::SET_COOKIE;
use http::{HeaderMap, Method};
use pegel_api_types::people::{ChangePassword, LoginRequest, SessionInfo};
use pegel_core::error_code::ErrorCode;
use pegel_service::failure::Failure;
use secrecy::SecretString;

use crate::remote::{Credential, Server};

/// The names that a session's cookie can have: with TLS one that no other host can set.
const COOKIES: [&str; 2] = ["__Host-pegel_session", "pegel_session"];

/// Somebody who has signed in.
pub(crate) struct SignedIn {
    /// The server, asked in the session.
    pub(crate) server: Server,
    /// The session's cookie, as `name=value`.
    pub(crate) cookie: SecretString,
    pub(crate) info: SessionInfo,
}

/// Signs in.
///
/// # Errors
/// `login_failed`, `login_locked`, `login_busy`; those of [`Server::send`].
pub(crate) async fn sign_in(server: Server, name: &str, password: SecretString) -> Result<SignedIn, Failure> {
    let request = LoginRequest { name: name.to_owned(), password };
    let reply = server.call::<SessionInfo>(Method::POST, "/session", Some(&request)).await?;
    let cookie = cookie(&reply.headers, &server)?;
    let server = server.asked_by(Credential::Session(cookie.clone()));
    Ok(SignedIn { server, cookie, info: reply.body })
}

impl SignedIn {
    /// Sets another password; the session gets another cookie.
    ///
    /// # Errors
    /// `invalid` for a password that is too short; `login_failed` for a wrong present one; those of
    /// [`Server::send`].
    pub(crate) async fn change_password(
        self,
        current_password: SecretString,
        new_password: SecretString,
    ) -> Result<Self, Failure> {
        let request = ChangePassword { current_password, new_password };
        let reply = self.server.call::<()>(Method::POST, "/account/password", Some(&request)).await?;
        let cookie = cookie(&reply.headers, &self.server)?;
        let server = self.server.asked_by(Credential::Session(cookie.clone()));
        Ok(Self { server, cookie, info: SessionInfo { must_change_password: false, ..self.info } })
    }
}

/// Returns the session's cookie of an answer.
fn cookie(headers: &HeaderMap, server: &Server) -> Result<SecretString, Failure> {
    let pairs = headers.get_all(SET_COOKIE).iter().filter_map(|header| header.to_str().ok());
    let pairs = pairs.filter_map(|header| header.split(';').next());
    let found = pairs.map(str::trim).find(|pair| {
        pair.split_once('=').is_some_and(|(name, value)| COOKIES.contains(&name) && !value.is_empty())
    });
    found.map(SecretString::from).ok_or_else(|| {
        let message = format!("{} took the password and gave no session", server.url());
        Failure::new(ErrorCode::ServerAnswerUnusable, message)
    })
}
