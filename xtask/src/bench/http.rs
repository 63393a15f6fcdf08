//! Requests to a server on this machine over one kept connection, each timed as its caller feels it.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, ORIGIN, SET_COOKIE};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::clock::Stopwatch;

/// What a request shows to be let in.
#[derive(Debug, Clone)]
pub(super) enum Credential {
    /// Nothing yet.
    None,
    /// A session's cookie, as `name=value`.
    Cookie(String),
    /// An access token.
    Token(String),
}

/// A connection to a server.
pub(super) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    authority: String,
    /// Shown with every request.
    pub(super) credential: Credential,
}

/// An answer and the time until its last byte was here.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) cookie: Option<String>,
    pub(super) body: Bytes,
    pub(super) took: Duration,
}

impl Connection {
    /// Connects to `host:port`.
    pub(super) async fn open(authority: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(authority).await.context("connecting to the server")?;
        stream.set_nodelay(true).context("setting up the connection")?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self { sender, authority: authority.to_owned(), credential: Credential::None })
    }

    /// Sends a request; a body is JSON.
    pub(super) async fn send(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&serde_json::Value>,
    ) -> anyhow::Result<Answer> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, &self.authority)
            .header(ORIGIN, format!("http://{}", self.authority))
            .header(CONTENT_TYPE, "application/json");
        request = match &self.credential {
            Credential::None => request,
            Credential::Cookie(cookie) => request.header(COOKIE, cookie),
            Credential::Token(token) => request.header(AUTHORIZATION, format!("Bearer {token}")),
        };
        let body = body.map(serde_json::Value::to_string).unwrap_or_default();
        let request = request.body(Full::from(body)).context("making a request")?;
        let stopwatch = Stopwatch::start();
        self.sender.ready().await.context("waiting for the connection")?;
        let response = self.sender.send_request(request).await.context("sending a request")?;
        let (head, body) = response.into_parts();
        let body = body.collect().await.context("reading an answer")?.to_bytes();
        let took = stopwatch.elapsed();
        let cookie = head.headers.get(SET_COOKIE).and_then(|value| value.to_str().ok());
        let cookie = cookie.and_then(|cookie| cookie.split(';').next()).map(str::to_owned);
        Ok(Answer { status: head.status, cookie, body, took })
    }

    /// Sends a request that has to succeed, and returns its JSON and time.
    pub(super) async fn expect(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&serde_json::Value>,
    ) -> anyhow::Result<(serde_json::Value, Duration)> {
        let answer = self.send(method, path, body).await?;
        let text = String::from_utf8_lossy(&answer.body);
        ensure!(answer.status.is_success(), "{path} was answered with {}: {text}", answer.status);
        let json =
            if answer.body.is_empty() { serde_json::Value::Null } else { serde_json::from_str(&text)? };
        Ok((json, answer.took))
    }
}
