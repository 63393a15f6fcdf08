//! Requests to a server on this machine over one kept connection, each timed as its caller feels it.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, ORIGIN, SET_COOKIE};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::clock::Stopwatch;

/// What a request shows to be let in.
#[derive(Debug, Clone)]
pub(crate) enum Credential {
    /// Nothing yet.
    None,
    /// A session's cookie, as `name=value`.
    Cookie(String),
    /// An access token.
    Token(String),
}

/// A connection to a server.
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    authority: String,
    /// Shown with every request.
    pub(crate) credential: Credential,
}

/// An answer and the time until its last byte was here.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) cookie: Option<String>,
    pub(crate) body: Bytes,
    pub(crate) took: Duration,
}

/// How a request went whose server may end meanwhile.
pub(crate) enum Exchange {
    /// All of the answer came.
    Answered(Answer),
    /// Nothing of an answer came.
    Unanswered(anyhow::Error),
    /// An answer began and did not end.
    Torn(StatusCode, anyhow::Error),
}

/// An answer that goes on.
pub(crate) struct Stream {
    body: Incoming,
}

impl Answer {
    /// Returns the body as JSON; null if there is none.
    pub(crate) fn json(&self) -> anyhow::Result<Value> {
        if self.body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&self.body).with_context(|| format!("reading {}", self.text()))
    }

    /// Returns the body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Connection {
    /// Connects to `host:port`.
    pub(crate) async fn open(authority: &str) -> anyhow::Result<Self> {
        Self::open_with(authority, Credential::None).await
    }

    /// Connects to `host:port`, to show a credential with each request.
    pub(crate) async fn open_with(authority: &str, credential: Credential) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(authority).await.context("connecting to the server")?;
        stream.set_nodelay(true).context("setting up the connection")?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self { sender, authority: authority.to_owned(), credential })
    }

    /// Sends a request; a body is JSON.
    pub(crate) async fn send(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<Answer> {
        match self.exchange(method, path, body).await {
            Exchange::Answered(answer) => Ok(answer),
            Exchange::Unanswered(error) | Exchange::Torn(_, error) => Err(error),
        }
    }

    /// Sends a request; a body is JSON.
    pub(crate) async fn exchange(&mut self, method: Method, path: &str, body: Option<&Value>) -> Exchange {
        let stopwatch = Stopwatch::start();
        let response = match self.begin(method, path, body, &[]).await {
            Ok(response) => response,
            Err(error) => return Exchange::Unanswered(error),
        };
        let (head, body) = response.into_parts();
        let body = match body.collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) => {
                return Exchange::Torn(head.status, anyhow::Error::new(error).context("reading an answer"));
            }
        };
        let took = stopwatch.elapsed();
        let cookie = head.headers.get(SET_COOKIE).and_then(|value| value.to_str().ok());
        let cookie = cookie.and_then(|cookie| cookie.split(';').next()).map(str::to_owned);
        Exchange::Answered(Answer { status: head.status, cookie, body, took })
    }

    /// Sends a request that has to succeed, and returns its JSON and time.
    pub(crate) async fn expect(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<(Value, Duration)> {
        let answer = self.send(method, path, body).await?;
        ensure!(answer.status.is_success(), "{path} was answered with {}: {}", answer.status, answer.text());
        Ok((answer.json()?, answer.took))
    }

    /// Returns the JSON of a resource.
    pub(crate) async fn get(&mut self, path: &str) -> anyhow::Result<Value> {
        Ok(self.expect(Method::GET, path, None).await?.0)
    }

    /// Opens the stream of changes, after an event where one is named.
    pub(crate) async fn stream(mut self, last_event_id: Option<&str>) -> anyhow::Result<Stream> {
        let resume = last_event_id.map(|id| ("last-event-id", id));
        let response = self.begin(Method::GET, "/api/v1/changes", None, resume.as_slice()).await?;
        ensure!(response.status().is_success(), "the stream was answered with {}", response.status());
        Ok(Stream { body: response.into_body() })
    }

    async fn begin(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        headers: &[(&str, &str)],
    ) -> anyhow::Result<Response<Incoming>> {
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
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = request.body(Full::from(body)).context("making a request")?;
        self.sender.ready().await.context("waiting for the connection")?;
        self.sender.send_request(request).await.context("sending a request")
    }
}

impl Stream {
    /// Returns the next part of the stream; nothing once the server has ended it.
    ///
    /// # Errors
    /// It broke off.
    pub(crate) async fn next(&mut self) -> anyhow::Result<Option<String>> {
        while let Some(frame) = self.body.frame().await {
            if let Ok(data) = frame.context("reading a stream")?.into_data() {
                return Ok(Some(String::from_utf8_lossy(&data).into_owned()));
            }
        }
        Ok(None)
    }
}
