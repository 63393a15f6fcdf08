//! One request and its answer, from resolving the name to the last byte.

use std::error::Error;
use std::io;
use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use pegel_core::error_code::ErrorCode;
use pegel_service::failure::Failure;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::remote::{ANSWER_TIMEOUT, DIAL_TIMEOUT, MAX_ANSWER_BYTES};
use crate::server_url::ServerUrl;

/// How requests travel to one server.
#[derive(Clone)]
pub(super) struct Exchange {
    url: ServerUrl,
    tls: Option<Arc<ClientConfig>>,
}

/// Anything that bytes go to and come from.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// An answer, read to its end.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Answer {
    /// Reads the body as JSON.
    pub(super) fn json<T: DeserializeOwned>(&self, url: &ServerUrl) -> Result<T, Failure> {
        // Nothing is as good as `null`: a change may be answered by its status alone.
        let bytes: &[u8] = if self.body.is_empty() { b"null" } else { &self.body };
        serde_json::from_slice(bytes).map_err(|error| {
            let place = format!("line {} column {}", error.line(), error.column());
            let message = format!("the answer of {url} is not of the expected form ({place})");
            // The whole error could quote the answer, which may hold what is shown only once.
            Failure::new(ErrorCode::ServerAnswerUnusable, message)
        })
    }
}

impl Exchange {
    pub(super) fn new(url: ServerUrl, tls: Option<Arc<ClientConfig>>) -> Self {
        Self { url, tls }
    }

    /// Sends a request and reads the answer.
    ///
    /// # Errors
    /// `server_unreachable`, `server_answer_unusable`.
    pub(super) async fn run(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Option<Vec<u8>>,
    ) -> Result<Answer, Failure> {
        let stream = timeout(DIAL_TIMEOUT, self.dial()).await.unwrap_or_else(|_| {
            Err(self.unreachable(&format!("no connection within {} s", DIAL_TIMEOUT.as_secs())))
        })?;
        let request = self.request(method, path, headers, body)?;
        timeout(ANSWER_TIMEOUT, self.answer(stream, request)).await.unwrap_or_else(|_| {
            Err(self.unreachable(&format!("no answer within {} s", ANSWER_TIMEOUT.as_secs())))
        })
    }

    async fn dial(&self) -> Result<Box<dyn Stream>, Failure> {
        let (host, port) = (self.url.bare_host(), self.url.port());
        let stream = TcpStream::connect((host, port)).await.map_err(|error| self.no_connection(&error))?;
        let Some(tls) = &self.tls else { return Ok(Box::new(stream)) };
        let name = ServerName::try_from(host.to_owned()).map_err(|_| {
            Failure::invalid(format!("{} holds no name that a certificate can have", self.url))
        })?;
        let stream = TlsConnector::from(Arc::clone(tls)).connect(name, stream).await;
        Ok(Box::new(stream.map_err(|error| self.no_tls(&error))?))
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Option<Vec<u8>>,
    ) -> Result<Request<Full<Bytes>>, Failure> {
        let wrong = |error: &dyn Error| Failure::internal("cannot make the request").with_cause(error);
        let host = HeaderValue::from_str(&self.url.authority()).map_err(|error| wrong(&error))?;
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url.base_path()))
            .body(Full::new(Bytes::from(body.unwrap_or_default())))
            .map_err(|error| wrong(&error))?;
        *request.headers_mut() = headers;
        request.headers_mut().insert(header::HOST, host);
        let agent = concat!("pegel/", env!("CARGO_PKG_VERSION"));
        request.headers_mut().insert(header::USER_AGENT, HeaderValue::from_static(agent));
        Ok(request)
    }

    async fn answer(
        &self,
        stream: Box<dyn Stream>,
        request: Request<Full<Bytes>>,
    ) -> Result<Answer, Failure> {
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| self.broken(&error))?;
        // Dropped with this function, which ends the connection.
        let mut driver = JoinSet::new();
        driver.spawn(connection);
        let response = sender.send_request(request).await.map_err(|error| self.broken(&error))?;
        let (head, body) = response.into_parts();
        let body = self.read(body).await?;
        Ok(Answer { status: head.status, headers: head.headers, body })
    }

    async fn read(&self, body: Incoming) -> Result<Bytes, Failure> {
        match Limited::new(body, MAX_ANSWER_BYTES).collect().await {
            Ok(collected) => Ok(collected.to_bytes()),
            Err(error) if error.is::<LengthLimitError>() => {
                let message =
                    format!("the answer of {} is larger than {} MiB", self.url, MAX_ANSWER_BYTES >> 20);
                Err(Failure::new(ErrorCode::ServerAnswerUnusable, message))
            }
            Err(error) => Err(self.broken(&*error)),
        }
    }

    fn unreachable(&self, why: &str) -> Failure {
        let mut failure = Failure::new(ErrorCode::ServerUnreachable, format!("{} does not answer", self.url));
        failure.causes.push(why.to_owned());
        failure
    }

    fn no_connection(&self, error: &io::Error) -> Failure {
        let failure = Failure::new(ErrorCode::ServerUnreachable, format!("cannot connect to {}", self.url));
        let failure = failure.with_cause(error);
        if error.kind() == io::ErrorKind::ConnectionRefused {
            return failure.with_hint("nobody listens there: is `pegel serve` running?");
        }
        failure
    }

    fn no_tls(&self, error: &io::Error) -> Failure {
        let message = format!("no TLS connection to {}", self.url);
        let failure = Failure::new(ErrorCode::ServerUnreachable, message).with_cause(error);
        match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            Some(rustls::Error::InvalidCertificate(_)) => failure.with_hint(
                "if the server's certificate is of an authority of your own, name its file with --server-ca",
            ),
            Some(rustls::Error::InvalidMessage(_)) => {
                failure.with_hint("what listens there does not speak TLS: is it an http address?")
            }
            _ => failure,
        }
    }

    fn broken(&self, error: &dyn Error) -> Failure {
        let message = format!("{} hung up before its answer was complete", self.url);
        Failure::new(ErrorCode::ServerUnreachable, message).with_cause(error).with_hint(
            "what listens there may be no HTTP server, or speak TLS; a change may have been made or not",
        )
    }
}
