//! One request and one answer on a connection, driven by whoever waits for it.
//!
//! No task is started for the connection: it goes on only while its answer is awaited, and ends with it.

use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONNECTION, HOST, USER_AGENT};
use http::{HeaderValue, Method, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use url::Position;

use crate::body::{More, Read, Reader};
use crate::error::{Error, Phase};
use crate::redirect::Ask;

/// The largest head of an answer, in bytes.
pub(crate) const MAX_HEAD_BYTES: usize = 64 * 1_024;

/// The most headers of an answer.
pub(crate) const MAX_HEADERS: usize = 100;

const AGENT: &str = concat!("pegel/", env!("CARGO_PKG_VERSION"));

/// A connection, with TLS or without.
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// A connection on which HTTP is spoken.
pub(crate) struct Connection {
    sender: http1::SendRequest<Full<Bytes>>,
    driver: Driver,
}

/// What reads and writes.
struct Driver {
    connection: Pin<Box<http1::Connection<TokioIo<Stream>, Full<Bytes>>>>,
    is_done: bool,
}

impl Driver {
    /// Waits for something that needs the connection to go on.
    async fn drive<F: Future>(&mut self, future: F) -> F::Output {
        let mut future = pin!(future);
        std::future::poll_fn(|context| {
            // Its own failure also reaches whoever waits for the answer.
            if !self.is_done {
                self.is_done = self.connection.as_mut().poll(context).is_ready();
            }
            future.as_mut().poll(context)
        })
        .await
    }
}

impl Connection {
    /// Begins to speak HTTP; nothing is sent yet.
    pub(crate) async fn open(stream: Stream) -> Result<Self, Error> {
        let mut builder = http1::Builder::new();
        builder.max_buf_size(MAX_HEAD_BYTES).max_headers(MAX_HEADERS);
        let (sender, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(head_error)?;
        Ok(Self { sender, driver: Driver { connection: Box::pin(connection), is_done: false } })
    }

    /// Sends a request and waits for the head of its answer.
    pub(crate) async fn send(&mut self, ask: &Ask) -> Result<Response<Incoming>, Error> {
        let request = build(ask)?;
        let answer = self.sender.send_request(request);
        self.driver.drive(answer).await.map_err(head_error)
    }

    /// Reads the body of an answer, as much of it as is wanted.
    pub(crate) async fn read(&mut self, mut body: Incoming, mut reader: Reader) -> Result<Read, Error> {
        loop {
            let piece = match self.driver.drive(body.frame()).await {
                None => return reader.finish(true),
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
                Some(Err(error)) => return Err(body_error(error, reader.wire_bytes())),
            };
            if reader.push(&piece)? == More::Enough {
                return reader.finish(false);
            }
        }
    }
}

fn build(ask: &Ask) -> Result<http::Request<Full<Bytes>>, Error> {
    let not_sendable = |_| Error::invalid("the url cannot be sent");
    let host = &ask.url[Position::BeforeHost..Position::AfterPort];
    let path = &ask.url[Position::BeforePath..Position::AfterQuery];
    let mut request = http::Request::new(Full::new(ask.body.clone()));
    *request.method_mut() = ask.method.clone();
    *request.uri_mut() = path.parse().map_err(|_| Error::invalid("the url cannot be sent"))?;
    let headers = request.headers_mut();
    headers.insert(HOST, HeaderValue::from_str(host).map_err(not_sendable)?);
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
    for header in &ask.headers {
        headers.insert(header.name.clone(), header.value.clone());
    }
    if ask.method != Method::HEAD {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, deflate, br, zstd"));
    }
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    Ok(request)
}

fn head_error(error: hyper::Error) -> Error {
    if error.is_parse_too_large() {
        Error::HeadersTooLarge
    } else if error.is_parse() {
        Error::HttpMalformed { source: Box::new(error) }
    } else {
        Error::ConnectionLost { phase: Phase::FirstByte, source: Some(Box::new(error)) }
    }
}

fn body_error(error: hyper::Error, received_bytes: u64) -> Error {
    let mut source: Option<&(dyn std::error::Error + 'static)> = std::error::Error::source(&error);
    let mut is_reset = false;
    while let Some(inner) = source {
        let io = inner.downcast_ref::<std::io::Error>();
        is_reset |= io.is_some_and(|io| io.kind() == std::io::ErrorKind::ConnectionReset);
        source = inner.source();
    }
    if is_reset {
        Error::ConnectionLost { phase: Phase::Body, source: Some(Box::new(error)) }
    } else {
        Error::BodyIncomplete { received_bytes }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
