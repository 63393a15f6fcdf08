//! Asking a Pegel server over HTTP.
//!
//! One connection for each request, deadlines on every step, answers bounded in size. Redirects are not followed and
//! no proxy is used: a password or token goes to the server that was named, or nowhere. Nothing is ever repeated.

use std::path::Path;
use std::time::Duration;

use http::{HeaderMap, HeaderValue, Method, header};
use pegel_core::error_code::ErrorCode;
use pegel_service::failure::Failure;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::server_url::ServerUrl;

pub(crate) mod cluster;
mod exchange;
pub(crate) mod login;
mod problem;
mod query;
mod tls;

use exchange::{Answer, Exchange};
pub(crate) use query::query;

/// How long resolving, connecting and TLS may take together.
const DIAL_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a whole answer may take. A server gives a cluster its own deadlines, which are shorter.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(180);

/// Largest answer, in bytes: all tables of the largest clusters fit many times.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// What every path of the API begins with.
const API: &str = "/api/v1";

/// How a request shows who asks.
#[derive(Clone)]
pub(crate) enum Credential {
    /// Not at all, as for signing in.
    None,
    /// An access token.
    Token(SecretString),
    /// A session: the cookie as it was set, as `name=value`.
    Session(SecretString),
}

/// A server to ask, and who asks. Nothing is dialled before the first request.
#[derive(Clone)]
pub(crate) struct Server {
    url: ServerUrl,
    exchange: Exchange,
    credential: Credential,
}

/// An answer's body and the headers that came with it.
pub(crate) struct Reply<T> {
    pub(crate) body: T,
    pub(crate) headers: HeaderMap,
}

impl Server {
    /// Makes a client that has not shown who it is.
    ///
    /// # Errors
    /// `invalid` for a server on another machine without TLS, unless that is allowed; `invalid_config` when the
    /// authorities' file cannot be used.
    pub(crate) fn new(url: ServerUrl, ca: Option<&Path>, is_http_allowed: bool) -> Result<Self, Failure> {
        if !url.is_https() && !url.is_loopback() && !is_http_allowed {
            let message = format!("{url} would get passwords and tokens unencrypted");
            return Err(Failure::invalid(message)
                .with_hint("use https; --insecure-http sends them all the same, for isolated testing only"));
        }
        let tls = if url.is_https() { Some(tls::client_config(ca)?) } else { None };
        let exchange = Exchange::new(url.clone(), tls);
        Ok(Self { url, exchange, credential: Credential::None })
    }

    /// Returns the same server, asked by somebody.
    #[must_use]
    pub(crate) fn asked_by(self, credential: Credential) -> Self {
        Self { credential, ..self }
    }

    /// Returns where the server is.
    pub(crate) fn url(&self) -> &ServerUrl {
        &self.url
    }

    /// Asks for what is at a path below the API's.
    ///
    /// # Errors
    /// `server_unreachable`, `server_answer_unusable`, or what the server says.
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        self.call(Method::GET, path, None::<&()>).await.map(|reply| reply.body)
    }

    /// Sends something and returns the answer.
    ///
    /// # Errors
    /// As [`Server::get`]; whether a change was made is not known after `server_unreachable`.
    pub(crate) async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Failure> {
        self.call(method, path, Some(body)).await.map(|reply| reply.body)
    }

    /// As [`Server::send`], with the headers of the answer.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&impl Serialize>,
    ) -> Result<Reply<T>, Failure> {
        let answer = self.ask(method, &format!("{API}{path}"), body).await?;
        let body = answer.json(&self.url)?;
        Ok(Reply { body, headers: answer.headers })
    }

    /// Returns whether what answers there is a Pegel server, whatever it says to this request.
    pub(crate) async fn is_pegel(&self) -> bool {
        match self.ask(Method::GET, &format!("{API}/session"), None::<&()>).await {
            Ok(_) => true,
            Err(failure) => {
                !matches!(failure.code, ErrorCode::ServerUnreachable | ErrorCode::ServerAnswerUnusable)
            }
        }
    }

    /// Sends something whose answer has no body.
    ///
    /// # Errors
    /// As [`Server::send`].
    pub(crate) async fn order(
        &self,
        method: Method,
        path: &str,
        body: Option<&impl Serialize>,
    ) -> Result<(), Failure> {
        self.ask(method, &format!("{API}{path}"), body).await.map(|_| ())
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&impl Serialize>,
    ) -> Result<Answer, Failure> {
        let body = body.map(serde_json::to_vec).transpose();
        let body = body.map_err(|error| Failure::internal("cannot write the request").with_cause(&error))?;
        let headers = self.headers(&method)?;
        let answer = self.exchange.run(method, path, headers, body).await?;
        if answer.status.is_success() {
            return Ok(answer);
        }
        if answer.status.is_redirection() {
            let message = format!("{} redirects elsewhere, which is not followed", self.url);
            return Err(Failure::new(ErrorCode::ServerAnswerUnusable, message)
                .with_hint("give the address that people open, with its path"));
        }
        Err(problem::failure(&answer, &self.url))
    }

    fn headers(&self, method: &Method) -> Result<HeaderMap, Failure> {
        let mut headers = HeaderMap::new();
        headers
            .insert(header::ACCEPT, HeaderValue::from_static("application/json, application/problem+json"));
        if !method.is_safe() {
            // A server takes a change that comes with a cookie only from its own pages, and as JSON.
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            headers.insert(header::ORIGIN, value(&self.url.origin())?);
        }
        match &self.credential {
            Credential::None => {}
            Credential::Token(token) => {
                headers.insert(
                    header::AUTHORIZATION,
                    secret_value(&format!("Bearer {}", token.expose_secret()))?,
                );
            }
            Credential::Session(cookie) => {
                headers.insert(header::COOKIE, secret_value(cookie.expose_secret())?);
            }
        }
        Ok(headers)
    }
}

fn value(text: &str) -> Result<HeaderValue, Failure> {
    HeaderValue::from_str(text).map_err(|_| {
        Failure::new(ErrorCode::CredentialsUnusable, "the token holds characters that no token has")
    })
}

fn secret_value(text: &str) -> Result<HeaderValue, Failure> {
    let mut value = value(text)?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests;
