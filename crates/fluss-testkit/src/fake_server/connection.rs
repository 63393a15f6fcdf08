//! One connection: a reader, a worker that answers in order, and a writer.
//!
//! As in the real server, one worker takes the requests of a connection one after the other, and reading stops
//! while too many wait.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use fluss_codec::api_key::ApiKey;
use fluss_codec::frame::{FrameReader, RequestFrame, decode_request, encode_error, encode_server_failure};
use fluss_codec::messages::ErrorResponse;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time;

use super::answer::{Reply, Session};
use super::counters::{OpenConnection, Ticket};
use super::script::{Act, Script};
use super::state::ServerState;

/// Largest request a server takes unless configured otherwise, as in `netty.server.max-request-size`.
const MAX_REQUEST_BYTES: usize = 100 * 1024 * 1024;

/// Requests that may wait for the worker, as in `netty.server.max-queued-requests`.
const MAX_QUEUED: usize = 500;

/// Answers that may wait for the socket.
const MAX_ANSWERS: usize = 1024;

/// How long a connection that the server closes waits for its client, so that the last bytes are not lost to
/// a reset.
const LINGER: Duration = Duration::from_secs(2);

/// Bytes of a frame before its request id: length and type.
const BEFORE_ID_BYTES: usize = 5;
/// Bytes of a frame before its body.
const BEFORE_BODY_BYTES: usize = 9;

/// What the reader hands to the worker.
enum Incoming {
    Request(RequestFrame, Ticket),
    /// The stream cannot be followed any more.
    Unreadable(String),
}

/// What the worker hands to the writer.
struct Outgoing {
    bytes: Bytes,
    /// Pause after each byte.
    pause: Option<Duration>,
    end: End,
    /// Keeps the request counted as under way until the answer is written.
    ticket: Option<Ticket>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Open,
    Close,
    Reset,
}

impl Outgoing {
    fn new(bytes: Bytes, ticket: Ticket) -> Self {
        Self { bytes, pause: None, end: End::Open, ticket: Some(ticket) }
    }

    fn last(bytes: Bytes, end: End) -> Self {
        Self { bytes, pause: None, end, ticket: None }
    }
}

/// Serves a connection until either side closes it. Dropping the future closes it at once.
pub(super) async fn serve(stream: TcpStream, state: Arc<ServerState>) {
    // An answer is written whole; waiting for more would only slow tests down. Where the option cannot be set
    // the answers come all the same.
    drop(stream.set_nodelay(true));
    let open = state.counters.accepted();
    let (read, write) = stream.into_split();
    let (requests, queue) = mpsc::channel(MAX_QUEUED);
    let (answers, outgoing) = mpsc::channel(MAX_ANSWERS);
    let reading = read_requests(read, requests, &state, &open);
    tokio::pin!(reading);
    let worker = Worker {
        state: Arc::clone(&state),
        session: Session::default(),
        answers,
        parked: Vec::new(),
        unanswered: Vec::new(),
        late: JoinSet::new(),
    };
    let end = tokio::select! {
        () = &mut reading => return,
        () = worker.run(queue) => return,
        end = write_answers(write, outgoing, &state) => end,
    };
    if end == End::Close {
        // Elapsing is fine: the client had its time to read.
        drop(time::timeout(LINGER, reading).await);
    }
}

async fn read_requests(
    mut read: OwnedReadHalf,
    requests: mpsc::Sender<Incoming>,
    state: &ServerState,
    open: &OpenConnection,
) {
    let mut reader = FrameReader::new(MAX_REQUEST_BYTES);
    let mut buffer = BytesMut::new();
    // Once nobody takes requests any more, what comes is thrown away until the client closes.
    let mut is_discarding = false;
    loop {
        state.thawed().await;
        buffer.reserve(4096);
        let count = read.read_buf(&mut buffer).await;
        state.thawed().await;
        match count {
            Ok(0) | Err(_) => return,
            Ok(_) if is_discarding => buffer.clear(),
            Ok(_) => {}
        }
        while !is_discarding {
            let incoming = match reader.feed(&mut buffer) {
                Ok(None) => break,
                Ok(Some(frame)) => match decode_request(frame) {
                    Ok(frame) => {
                        let (key, version, id) = (frame.api_key, frame.api_version, frame.request_id);
                        let ticket = open.request(key, version, id, &frame.body);
                        Incoming::Request(frame, ticket)
                    }
                    Err(error) => Incoming::Unreadable(error.to_string()),
                },
                Err(error) => Incoming::Unreadable(error.to_string()),
            };
            is_discarding = matches!(incoming, Incoming::Unreadable(_));
            is_discarding |= requests.send(incoming).await.is_err();
        }
    }
}

async fn write_answers(
    mut write: OwnedWriteHalf,
    mut outgoing: mpsc::Receiver<Outgoing>,
    state: &ServerState,
) -> End {
    while let Some(Outgoing { bytes, pause, end, ticket }) = outgoing.recv().await {
        state.thawed().await;
        let written = match pause {
            None => write.write_all(&bytes).await,
            Some(pause) => trickle(&mut write, &bytes, pause).await,
        };
        drop(ticket);
        if written.is_err() {
            return End::Reset;
        }
        match end {
            End::Open => {}
            End::Close => {
                drop(write.shutdown().await);
                return End::Close;
            }
            End::Reset => {
                drop(write.as_ref().set_zero_linger());
                // Dropping this half would say goodbye in order first.
                write.forget();
                return End::Reset;
            }
        }
    }
    End::Close
}

async fn trickle(write: &mut OwnedWriteHalf, bytes: &Bytes, pause: Duration) -> io::Result<()> {
    for byte in bytes {
        write.write_all(std::slice::from_ref(byte)).await?;
        time::sleep(pause).await;
    }
    Ok(())
}

struct Worker {
    state: Arc<ServerState>,
    session: Session,
    answers: mpsc::Sender<Outgoing>,
    /// Answers that wait for another to go first.
    parked: Vec<Outgoing>,
    /// Requests that never get an answer; they stay under way as long as the connection.
    unanswered: Vec<Ticket>,
    /// Answers that come later by themselves.
    late: JoinSet<()>,
}

impl Worker {
    async fn run(mut self, mut queue: mpsc::Receiver<Incoming>) {
        while let Some(incoming) = queue.recv().await {
            while self.late.try_join_next().is_some() {}
            self.state.thawed().await;
            match incoming {
                Incoming::Request(frame, ticket) => self.handle(frame, ticket).await,
                Incoming::Unreadable(error) => {
                    let error = format!("io.netty.handler.codec.TooLongFrameException: {error}");
                    self.send(Outgoing::last(failure(-1, Some(error)), End::Close)).await;
                }
            }
        }
    }

    async fn handle(&mut self, frame: RequestFrame, ticket: Ticket) {
        let act = self.state.take_script(ApiKey::from_code(frame.api_key));
        let Some(Act { script, delay, nth }) = act else {
            return self.answer(frame, ticket, None).await;
        };
        if !delay.is_zero() {
            time::sleep(delay).await;
        }
        match script {
            Script::Answer => self.answer(frame, ticket, None).await,
            Script::Delay(delay) => {
                time::sleep(delay).await;
                self.answer(frame, ticket, None).await;
            }
            Script::NeverAnswer => self.unanswered.push(ticket),
            Script::Close => self.send(Outgoing::last(Bytes::new(), End::Close)).await,
            Script::Reset => self.send(Outgoing::last(Bytes::new(), End::Reset)).await,
            Script::ServerFailure { code, message } => {
                self.send(Outgoing::last(failure(code, message), End::Close)).await;
            }
            Script::RawBytes(bytes) => self.send(Outgoing::new(bytes, ticket)).await,
            Script::BucketError { code, buckets } => {
                self.answer(frame, ticket, Some((code, buckets.as_slice()))).await;
            }
            other => self.distort(other, nth, &frame, ticket).await,
        }
    }

    /// Answers properly, or not at all where the real server would be silent.
    async fn answer(&mut self, frame: RequestFrame, ticket: Ticket, bucket_error: Option<(i32, &[i32])>) {
        match self.proper(&frame, bucket_error) {
            Some(bytes) => self.send(Outgoing::new(bytes, ticket)).await,
            None => self.unanswered.push(ticket),
        }
    }

    /// Returns the frame of the proper answer.
    fn proper(&mut self, frame: &RequestFrame, bucket_error: Option<(i32, &[i32])>) -> Option<Bytes> {
        let reply = self.state.reply(frame.api_key, frame.body.clone(), &mut self.session, bucket_error);
        match reply {
            Reply::Success(body) => Some(success(frame.request_id, &body)),
            Reply::Refused(refusal) => Some(error(frame.request_id, refusal.code, refusal.message)),
            Reply::Silence => None,
        }
    }

    /// Does what a script makes of the proper answer; where there is none, nothing is sent.
    async fn distort(&mut self, script: Script, nth: u64, frame: &RequestFrame, ticket: Ticket) {
        let made = match &script {
            Script::Body(body) => Some(success(frame.request_id, body)),
            Script::ErrorFrame { code, message } => Some(error(frame.request_id, *code, message.clone())),
            _ => self.proper(frame, None),
        };
        let Some(whole) = made else {
            self.unanswered.push(ticket);
            return;
        };
        let mut out = Outgoing::new(whole.clone(), ticket);
        match script {
            Script::LateAnswer(delay) => return self.later(out, time::sleep(delay)),
            Script::Hold => return self.later(out, self.state.released()),
            Script::Reorder => return self.parked.push(out),
            Script::CloseAfterBytes(count) => {
                out.bytes.truncate(count);
                out.end = End::Close;
            }
            Script::Corrupt(bits) => out.bytes = bits.flip(&whole, nth),
            Script::Truncate { keep_bytes, true_length } => {
                out.bytes.truncate(keep_bytes);
                if true_length {
                    let length = i32::try_from(out.bytes.len().saturating_sub(4)).unwrap_or(i32::MAX);
                    out.bytes = with_number(&out.bytes, 0, length);
                }
            }
            Script::WrongRequestId(id) => out.bytes = with_number(&whole, BEFORE_ID_BYTES, id),
            Script::Length(length) => out.bytes = with_number(&whole, 0, length),
            Script::DuplicateAnswer => out.bytes = Bytes::from([&whole[..], &whole[..]].concat()),
            Script::TrickleBytes(pause) => out.pause = Some(pause),
            _ => {}
        }
        self.send(out).await;
    }

    fn later(&mut self, out: Outgoing, moment: impl Future<Output = ()> + Send + 'static) {
        let answers = self.answers.clone();
        self.late.spawn(async move {
            moment.await;
            // The connection may have ended meanwhile; then nobody waits for the answer.
            drop(answers.send(out).await);
        });
    }

    /// Sends an answer, then those that waited for it.
    async fn send(&mut self, out: Outgoing) {
        let waiting = std::mem::take(&mut self.parked);
        for out in std::iter::once(out).chain(waiting) {
            if self.answers.send(out).await.is_err() {
                return;
            }
        }
    }
}

fn success(request_id: i32, body: &Bytes) -> Bytes {
    let length = BEFORE_BODY_BYTES - 4 + body.len();
    let mut frame = Vec::with_capacity(length + 4);
    frame.extend_from_slice(&i32::try_from(length).unwrap_or(i32::MAX).to_be_bytes());
    frame.push(0);
    frame.extend_from_slice(&request_id.to_be_bytes());
    frame.extend_from_slice(body);
    Bytes::from(frame)
}

fn error(request_id: i32, error_code: i32, error_message: Option<String>) -> Bytes {
    encode_error(request_id, &ErrorResponse { error_code, error_message }).unwrap_or_default()
}

fn failure(error_code: i32, error_message: Option<String>) -> Bytes {
    encode_server_failure(&ErrorResponse { error_code, error_message }).unwrap_or_default()
}

/// Returns the frame with four bytes replaced by a number; unchanged if it is too short.
fn with_number(frame: &Bytes, at: usize, number: i32) -> Bytes {
    let mut bytes = BytesMut::from(&frame[..]);
    if let Some(place) = bytes.get_mut(at..at + 4) {
        place.copy_from_slice(&number.to_be_bytes());
    }
    bytes.freeze()
}
