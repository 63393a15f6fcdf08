//! One connection to one server: negotiation, authentication, requests in flight.
//!
//! Two tasks own the two halves of the stream; requests meet their answers by
//! id. Every request has a deadline. A connection that sent bytes we cannot
//! read, or no whole answer while a request waited out its deadline, is never
//! used again. Follows the connection life of the Java client 0.9.1
//! (`ServerConnection`), except that nothing here waits without a limit.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use fluss_codec::api_key::ApiKey;
use fluss_codec::frame::{self, FrameReader, ResponseFrame};
use fluss_codec::messages::{self, ApiVersionsRequest, AuthenticateRequest, ErrorResponse, Request};
use fluss_codec::server_type::ServerType;
use fluss_codec::versions::ApiVersionTable;
use secrecy::ExposeSecret;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::bootstrap::HostPort;
use crate::clock;
use crate::dial::{Dialer, Stream};
use crate::error::{AuthenticationFault, Error, ProtocolFault, SharedSource, TlsFault};
use crate::observer::{Event, Observer};
use crate::settings::SaslCredentials;
use crate::tls;

/// Most requests under way on one connection; more wait for a place.
const MAX_IN_FLIGHT: usize = 1024;
/// Requests that may wait for the socket.
const OUTGOING_QUEUE: usize = 64;
/// Least space offered to one read from the socket.
const READ_CHUNK_BYTES: usize = 16 * 1024;
/// Most restarts of an authentication that the server asks to repeat (code 51).
const MAX_AUTHENTICATION_RESTARTS: u32 = 5;
/// Name and version sent to servers.
const SOFTWARE: (&str, &str) = ("pegel", env!("CARGO_PKG_VERSION"));

/// Why a connection ended.
#[derive(Debug, Clone)]
enum CloseCause {
    /// The peer closed it.
    Closed,
    /// Reading or writing failed.
    Io(Arc<io::Error>),
    /// A TLS alert came.
    Tls(TlsFault, Arc<io::Error>),
    /// Bytes that are no legal frame came.
    Corrupt(String),
    /// The server said that its pipeline failed.
    ServerFailure(ErrorResponse),
    /// A request waited for as long as any may and not one whole answer came meanwhile.
    Silent(u64),
}

/// A negotiated and, where configured, authenticated connection.
pub(crate) struct Connection {
    shared: Arc<Shared>,
    outgoing: mpsc::Sender<Bytes>,
    versions: OnceLock<ApiVersionTable>,
    has_sasl: bool,
}

struct Shared {
    address: HostPort,
    observer: Arc<dyn Observer>,
    state: Mutex<State>,
    /// Cancelled once, when the connection ends: both tasks end with it.
    ended: CancellationToken,
    room: tokio::sync::Semaphore,
    request_timeout: Duration,
}

struct State {
    next_id: i32,
    wrapped: bool,
    pending: HashMap<i32, Pending>,
    last_answer: Instant,
    closed: Option<CloseCause>,
}

/// A request whose answer is awaited.
struct Pending {
    since: Instant,
    answer: oneshot::Sender<Result<Bytes, Failure>>,
}

/// What ended a request: the connection, or an error answer.
enum Failure {
    Connection(CloseCause),
    Answer(ErrorResponse),
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.shared.ended.cancel();
    }
}

impl Connection {
    /// Makes a connection out of a fresh stream: asks for versions, then authenticates.
    ///
    /// # Errors
    /// `protocol_failed`, `tls_expected` when no negotiation comes about, `authentication_…`
    /// when the credentials are not accepted.
    pub(crate) async fn open(
        address: &HostPort,
        stream: Stream,
        sasl: Option<&SaslCredentials>,
        limits: &Limits,
        observer: Arc<dyn Observer>,
        dialer: &Dialer,
    ) -> Result<Self, Error> {
        let connection = Self::negotiate(address, stream, sasl.is_some(), limits, observer, dialer).await?;
        if let Some(credentials) = sasl {
            connection.authenticate(credentials, limits.request_timeout).await?;
        }
        Ok(connection)
    }

    /// Does the first half of [`Connection::open`]: the version request alone.
    ///
    /// Where a plaintext port just closes, `dialer` finds out whether it speaks TLS.
    pub(crate) async fn negotiate(
        address: &HostPort,
        stream: Stream,
        has_sasl: bool,
        limits: &Limits,
        observer: Arc<dyn Observer>,
        dialer: &Dialer,
    ) -> Result<Self, Error> {
        let is_plain = matches!(stream, Stream::Plain(_));
        match Self::ask_versions(address, stream, has_sasl, limits, observer).await {
            Err(Error::Protocol { address, fault: ProtocolFault::Closed })
                if is_plain && dialer.speaks_tls(&address).await =>
            {
                Err(Error::Protocol { address, fault: ProtocolFault::TlsExpected })
            }
            outcome => outcome,
        }
    }

    async fn ask_versions(
        address: &HostPort,
        stream: Stream,
        has_sasl: bool,
        limits: &Limits,
        observer: Arc<dyn Observer>,
    ) -> Result<Self, Error> {
        let over_tls = matches!(stream, Stream::Tls(_));
        let shared = Arc::new(Shared {
            address: address.clone(),
            observer,
            state: Mutex::new(State {
                next_id: 0,
                wrapped: false,
                pending: HashMap::new(),
                last_answer: clock::now(),
                closed: None,
            }),
            ended: CancellationToken::new(),
            room: tokio::sync::Semaphore::new(MAX_IN_FLIGHT),
            request_timeout: limits.request_timeout,
        });
        let (reading, writing) = tokio::io::split(stream);
        let (outgoing, queue) = mpsc::channel(OUTGOING_QUEUE);
        tokio::spawn(read_frames(Arc::clone(&shared), reading, limits.max_frame_bytes));
        tokio::spawn(write_frames(Arc::clone(&shared), writing, queue));
        // Dropping it ends both tasks, also when the negotiation below fails or is dropped.
        let connection = Self { shared, outgoing, versions: OnceLock::new(), has_sasl };
        let answer = connection
            .send(0, &version_request(), clock::deadline_in(limits.request_timeout), limits.request_timeout)
            .await
            .map_err(|error| negotiation_error(error, over_tls))?;
        let table = ApiVersionTable::from_response(&answer).map_err(|error| Error::Protocol {
            address: address.clone(),
            fault: ProtocolFault::NotAFrame(error.to_string()),
        })?;
        connection.versions.get_or_init(|| table);
        Ok(connection)
    }

    /// Proves who we are with SASL/PLAIN.
    pub(crate) async fn authenticate(
        &self,
        credentials: &SaslCredentials,
        limit: Duration,
    ) -> Result<(), Error> {
        let deadline = clock::deadline_in(limit);
        let token =
            Bytes::from(format!("\0{}\0{}", credentials.username, credentials.password.expose_secret()));
        let request = AuthenticateRequest { protocol: "PLAIN".to_owned(), token };
        let mut said = None;
        for restart in 0..=MAX_AUTHENTICATION_RESTARTS {
            match self.send(0, &request, deadline, limit).await {
                Ok(answer) if answer.challenge.as_ref().is_none_or(|challenge| challenge.is_empty()) => {
                    return Ok(());
                }
                Ok(_) => break,
                Err(Error::Server { code, message, .. }) if code.code() == 51 => {
                    said = Some(message);
                    let pause = backoff(restart);
                    if restart == MAX_AUTHENTICATION_RESTARTS || clock::remaining(deadline) <= pause {
                        break;
                    }
                    tokio::time::sleep(pause).await;
                }
                Err(Error::Server { code, message, .. }) if code.code() == 46 => {
                    return Err(self.authentication_error(refusal(&message), Some(message)));
                }
                Err(error) => return Err(error),
            }
        }
        Err(self.authentication_error(AuthenticationFault::Unsettled, said))
    }

    /// Sends one request and waits for its answer until `deadline`.
    ///
    /// `limit` is the span that `deadline` came from and only used in messages.
    /// Dropping the future gives the request up; its answer is then ignored.
    ///
    /// # Errors
    /// `unsupported_api` without sending, `request_timeout`, `connection_lost`,
    /// `corrupt_answer`, `server_error`, `authentication_required`.
    pub(crate) async fn request<R: Request>(
        &self,
        request: &R,
        deadline: Instant,
        limit: Duration,
    ) -> Result<R::Response, Error> {
        let version =
            self.versions.get().and_then(|versions| versions.negotiate(R::KEY).ok()).ok_or_else(|| {
                Error::Unsupported { address: self.shared.address.clone(), api: R::KEY.name() }
            })?;
        match self.send(version, request, deadline, limit).await {
            Err(Error::Server { code, message, .. }) if code.code() == 46 && !self.has_sasl => {
                Err(self.authentication_error(AuthenticationFault::Required, Some(message)))
            }
            result => result,
        }
    }

    /// Asks for the versions once more, which proves that the server answers now.
    pub(crate) async fn ping(&self, deadline: Instant, limit: Duration) -> Result<(), Error> {
        self.send(0, &version_request(), deadline, limit).await.map(drop)
    }

    /// Returns the kind of server that answered the negotiation.
    pub(crate) fn server_type(&self) -> Option<ServerType> {
        self.versions.get().and_then(ApiVersionTable::server_type)
    }

    /// Returns what the server offered.
    pub(crate) fn versions(&self) -> Option<&ApiVersionTable> {
        self.versions.get()
    }

    /// Returns the address that was dialled.
    pub(crate) fn address(&self) -> &HostPort {
        &self.shared.address
    }

    /// Returns whether this connection can take no more requests.
    pub(crate) fn is_closed(&self) -> bool {
        self.shared.ended.is_cancelled()
    }

    fn authentication_error(&self, fault: AuthenticationFault, said: Option<String>) -> Error {
        let source = said.map(|text| -> SharedSource { Arc::new(ServerText(text)) });
        Error::Authentication { address: self.shared.address.clone(), fault, source }
    }

    async fn send<R: Request>(
        &self,
        version: i16,
        request: &R,
        deadline: Instant,
        limit: Duration,
    ) -> Result<R::Response, Error> {
        let started = clock::now();
        // A time-out lets its future run once first, so a deadline that has passed must not reach it.
        let outcome = if clock::remaining(deadline).is_zero() {
            None
        } else {
            timeout_at(deadline, self.exchange(version, request)).await.ok()
        };
        let result = match outcome {
            Some(result) => result.and_then(|body| self.decode::<R>(body)),
            None => {
                self.shared.note_silence(started);
                Err(Error::RequestTimeout {
                    address: self.shared.address.clone(),
                    api: R::KEY.name(),
                    timeout_ms: clock::waited_ms(started, limit),
                })
            }
        };
        self.shared.observer.observe(&Event::Request {
            address: &self.shared.address,
            api: R::KEY.name(),
            error: result.as_ref().err().map(Error::code),
            duration: clock::now() - started,
        });
        result
    }

    fn decode<R: Request>(&self, body: Bytes) -> Result<R::Response, Error> {
        messages::decode::<R::Response>(body).map_err(|error| {
            self.shared.observer.observe(&Event::DecodeFailure { address: &self.shared.address });
            // The frame was whole, so the stream is still in step; but a peer that
            // sends such a body is not to be trusted with the next request.
            self.shared.close(&CloseCause::Corrupt(error.to_string()));
            Error::corrupt_message(&self.shared.address, &error)
        })
    }

    async fn exchange<R: Request>(&self, version: i16, request: &R) -> Result<Bytes, Error> {
        let api = R::KEY;
        // Closing the semaphore would be a second sign of the same event, so it stays open.
        let _place = self.shared.room.acquire().await;
        let (id, mut answer) = self.shared.register(api)?;
        let _ticket = Ticket { shared: &self.shared, id };
        let bytes = frame::encode_request(version, id, request)
            .map_err(|error| Error::corrupt_frame(&self.shared.address, &error))?;
        let early = tokio::select! {
            sent = self.outgoing.send(bytes) => match sent {
                Ok(()) => None,
                Err(_) => return Err(self.shared.closed_error(api)),
            },
            // The connection may end while the queue to the socket is full.
            ended = &mut answer => Some(ended),
        };
        let answered = match early {
            Some(ended) => ended,
            None => answer.await,
        };
        match answered {
            Ok(Ok(body)) => Ok(body),
            Ok(Err(Failure::Answer(error))) => {
                Err(Error::server(&self.shared.address, api, error.error_code, error.error_message))
            }
            Ok(Err(Failure::Connection(cause))) => Err(self.shared.error_of(&cause, api)),
            Err(_) => Err(self.shared.closed_error(api)),
        }
    }
}

fn version_request() -> ApiVersionsRequest {
    ApiVersionsRequest {
        client_software_name: SOFTWARE.0.to_owned(),
        client_software_version: SOFTWARE.1.to_owned(),
    }
}

/// Limits that a connection keeps to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Limit of the negotiation and of each authentication step.
    pub(crate) request_timeout: Duration,
    /// Largest frame taken from a server, in bytes.
    pub(crate) max_frame_bytes: usize,
}

/// Takes a request off the books when its future ends, however it ends.
struct Ticket<'a> {
    shared: &'a Shared,
    id: i32,
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.shared.lock().pending.remove(&self.id);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the next request its id and a place to wait.
    fn register(&self, api: ApiKey) -> Result<(i32, oneshot::Receiver<Result<Bytes, Failure>>), Error> {
        let (answer, receiver) = oneshot::channel();
        let mut state = self.lock();
        if let Some(cause) = &state.closed {
            return Err(self.error_of(cause, api));
        }
        let id = state.next_id;
        (state.next_id, state.wrapped) = match id.checked_add(1) {
            Some(next) => (next, state.wrapped),
            None => (0, true),
        };
        state.pending.insert(id, Pending { since: clock::now(), answer });
        let in_flight = state.pending.len();
        drop(state);
        if in_flight > 1 {
            self.observer.observe(&Event::Queue { address: &self.address, in_flight });
        }
        Ok((id, receiver))
    }

    /// Hands an answer to whoever waits for it.
    ///
    /// An id that was given out but is no longer waited for belongs to a request
    /// that was given up. One that was never given out means the stream is out of step.
    fn answer(&self, id: i32, result: Result<Bytes, Failure>) -> Result<(), CloseCause> {
        let mut state = self.lock();
        state.last_answer = clock::now();
        let waiting = state.pending.remove(&id);
        let was_issued = id >= 0 && (state.wrapped || id < state.next_id);
        drop(state);
        match waiting {
            Some(pending) => {
                let _ = pending.answer.send(result);
                Ok(())
            }
            None if was_issued => {
                self.observer.observe(&Event::LateAnswer { address: &self.address });
                Ok(())
            }
            None => Err(CloseCause::Corrupt(format!("answer to request {id}, which was never sent"))),
        }
    }

    /// Ends the connection when a request has waited about as long as any may without one
    /// whole answer in between; `since` is when the request began that was just given up.
    ///
    /// A caller with little time left proves nothing about the server. Bytes alone do
    /// not count either: after a wrong length field a server's answers would pile up for
    /// ever in a frame that is never whole.
    fn note_silence(&self, since: Instant) {
        let state = self.lock();
        let oldest = state.pending.values().map(|pending| pending.since).fold(since, Instant::min);
        let silence = clock::now() - oldest.max(state.last_answer);
        drop(state);
        // A deadline starts a little before its request is under way.
        if silence >= self.request_timeout * 3 / 4 {
            self.close(&CloseCause::Silent(clock::millis(silence)));
        }
    }

    /// Ends the connection once and fails everything that waits on it.
    fn close(&self, cause: &CloseCause) {
        let pending = {
            let mut state = self.lock();
            if state.closed.is_some() {
                return;
            }
            state.closed = Some(cause.clone());
            std::mem::take(&mut state.pending)
        };
        self.ended.cancel();
        for pending in pending.into_values() {
            let _ = pending.answer.send(Err(Failure::Connection(cause.clone())));
        }
        self.observer.observe(&Event::ConnectionClosed { address: &self.address });
    }

    fn closed_error(&self, api: ApiKey) -> Error {
        let cause = self.lock().closed.clone().unwrap_or(CloseCause::Closed);
        self.error_of(&cause, api)
    }

    fn error_of(&self, cause: &CloseCause, api: ApiKey) -> Error {
        let address = self.address.clone();
        let lost = |source: Option<SharedSource>| Error::ConnectionLost {
            address: self.address.clone(),
            api: api.name(),
            source,
        };
        match cause {
            CloseCause::Closed => lost(None),
            CloseCause::Silent(waited_ms) => {
                lost(Some(Arc::new(ServerText(format!("given up after {waited_ms} ms of silence")))))
            }
            CloseCause::Io(error) => lost(Some(Arc::<io::Error>::clone(error))),
            // An alert to the first request is the end of the handshake: TLS 1.3 servers look at the
            // client's certificate only then. Later it is a connection that ends like any other.
            CloseCause::Tls(fault, error) if api == ApiKey::ApiVersions => {
                Error::Tls { address, fault: fault.clone(), source: Some(Arc::<io::Error>::clone(error)) }
            }
            CloseCause::Tls(_, error) => lost(Some(Arc::<io::Error>::clone(error))),
            CloseCause::Corrupt(reason) => Error::corrupt(&self.address, reason.clone()),
            // It says that the server's pipeline failed, not that this request was refused.
            CloseCause::ServerFailure(error) => {
                let text = error.error_message.clone().unwrap_or_default();
                let first = text.lines().next().unwrap_or_default();
                lost(Some(Arc::new(ServerText(format!("server failure {}: {first}", error.error_code)))))
            }
        }
    }
}

/// Reads frames until the connection ends, and says why it ended.
async fn read_frames(shared: Arc<Shared>, mut reading: ReadHalf<Stream>, limit: usize) {
    let cause = tokio::select! {
        cause = read_until_closed(&shared, &mut reading, limit) => cause,
        () = shared.ended.cancelled() => return,
    };
    if matches!(cause, CloseCause::Corrupt(_)) {
        shared.observer.observe(&Event::DecodeFailure { address: &shared.address });
    }
    shared.close(&cause);
}

async fn read_until_closed(shared: &Shared, reading: &mut ReadHalf<Stream>, limit: usize) -> CloseCause {
    let mut frames = FrameReader::new(limit);
    let mut buffer = BytesMut::with_capacity(READ_CHUNK_BYTES);
    let mut opening: Option<[u8; 5]> = None;
    loop {
        buffer.reserve(READ_CHUNK_BYTES);
        match reading.read_buf(&mut buffer).await {
            Ok(0) => return CloseCause::Closed,
            Ok(_) => {}
            Err(error) => {
                return match tls::fault_of(&error) {
                    Some(fault) => CloseCause::Tls(fault, Arc::new(error)),
                    None if error.kind() == io::ErrorKind::UnexpectedEof => CloseCause::Closed,
                    None => CloseCause::Io(Arc::new(error)),
                };
            }
        }
        if opening.is_none() {
            opening = buffer.first_chunk::<5>().copied();
        }
        loop {
            let frame = match frames.feed(&mut buffer) {
                Ok(Some(frame)) => frame,
                Ok(None) => break,
                Err(error) => return CloseCause::Corrupt(describe(opening, &error.to_string())),
            };
            if let Err(cause) = dispatch(shared, frame) {
                return cause;
            }
        }
    }
}

fn dispatch(shared: &Shared, frame: Bytes) -> Result<(), CloseCause> {
    match frame::decode_response(frame) {
        Err(error) => Err(CloseCause::Corrupt(error.to_string())),
        Ok(ResponseFrame::Success { request_id, body }) => shared.answer(request_id, Ok(body)),
        Ok(ResponseFrame::Error { request_id, error }) => {
            shared.answer(request_id, Err(Failure::Answer(error)))
        }
        Ok(ResponseFrame::ServerFailure { error }) => Err(CloseCause::ServerFailure(error)),
    }
}

/// Says what a foreign protocol's first bytes look like, since the frame error alone helps nobody.
fn describe(opening: Option<[u8; 5]>, error: &str) -> String {
    match opening {
        Some([0x14..=0x17, 0x03, 0x00..=0x04, ..]) => TLS_RECORD.to_owned(),
        Some([b'H', b'T', b'T', b'P', ..]) => "it speaks HTTP".to_owned(),
        // Some web servers answer what they do not understand with a bare page.
        Some([b'<', b'!' | b'h' | b'H' | b'?', ..]) => "it speaks HTTP".to_owned(),
        Some([b'S', b'S', b'H', b'-', ..]) => "it speaks SSH".to_owned(),
        _ => error.to_owned(),
    }
}

/// Marks an answer that was a TLS record, see [`describe`].
const TLS_RECORD: &str = "it speaks TLS";

/// Writes queued requests until the connection ends.
async fn write_frames(shared: Arc<Shared>, mut writing: WriteHalf<Stream>, mut queue: mpsc::Receiver<Bytes>) {
    let write = async {
        while let Some(bytes) = queue.recv().await {
            writing.write_all(&bytes).await?;
            writing.flush().await?;
        }
        Ok(())
    };
    tokio::select! {
        result = write => {
            if let Err(error) = result {
                shared.close(&CloseCause::Io(Arc::new(error)));
            }
        }
        () = shared.ended.cancelled() => {}
    }
}

/// What a server said, or what ended a connection, as the cause of an error.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct ServerText(String);

/// Turns what went wrong with the version request into what that says about the port.
fn negotiation_error(error: Error, over_tls: bool) -> Error {
    match error {
        Error::ConnectionLost { address, .. } => Error::Protocol { address, fault: ProtocolFault::Closed },
        Error::Corrupt { address, reason } if reason == TLS_RECORD && !over_tls => {
            Error::Protocol { address, fault: ProtocolFault::TlsExpected }
        }
        Error::Corrupt { address, reason } => {
            Error::Protocol { address, fault: ProtocolFault::NotAFrame(reason) }
        }
        Error::RequestTimeout { address, timeout_ms, .. } => {
            Error::Protocol { address, fault: ProtocolFault::Silent(timeout_ms) }
        }
        Error::Server { address, code, .. } => {
            Error::Protocol { address, fault: ProtocolFault::Refused(code.code()) }
        }
        other => other,
    }
}

/// Tells a listener without SASL from wrong credentials; both answer 46.
fn refusal(message: &str) -> AuthenticationFault {
    let names_mechanism = message.contains("mechanism") || message.contains("protocol");
    if names_mechanism { AuthenticationFault::Mechanism } else { AuthenticationFault::Credentials }
}

/// Returns the pause before try number `attempt` + 2: 100 ms doubled each time, at most 5 s, ±20 %.
pub(crate) fn backoff(attempt: u32) -> Duration {
    const FIRST_MS: u64 = 100;
    const MOST_MS: u64 = 5_000;
    let base = FIRST_MS.saturating_mul(1 << attempt.min(16)).min(MOST_MS);
    // RandomState is seeded anew each time, which is all the chance a jitter needs.
    let jitter = RandomState::new().hash_one(attempt) % (base * 2 / 5 + 1);
    Duration::from_millis(base * 4 / 5 + jitter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_within_its_jitter_and_stops_growing() {
        for (attempt, base) in [(0, 100), (1, 200), (3, 800), (6, 5_000), (40, 5_000)] {
            let pause = backoff(attempt).as_millis();
            assert!(pause >= base * 4 / 5 && pause <= base * 6 / 5, "{attempt}: {pause}");
        }
    }

    #[test]
    fn foreign_protocols_are_named() {
        assert_eq!(describe(Some([0x15, 3, 3, 0, 2]), "x"), TLS_RECORD);
        assert_eq!(describe(Some(*b"HTTP/"), "x"), "it speaks HTTP");
        assert_eq!(describe(Some(*b"SSH-2"), "x"), "it speaks SSH");
        assert_eq!(describe(Some([0, 0, 0, 9, 0]), "x"), "x");
        assert_eq!(describe(None, "x"), "x");
    }
}
