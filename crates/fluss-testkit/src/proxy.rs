//! A TCP proxy on loopback that can misbehave on command.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{self, Instant};
use tokio_util::sync::CancellationToken;

use crate::clock::{self, Deadline};
use crate::error::Error;

/// The largest piece that is read at once.
const CHUNK: usize = 16 * 1024;

/// How many pieces may be under way in one direction, so that a delay does not cap the throughput too early.
const IN_FLIGHT: usize = 64;

/// How long a port may take to be really closed or free again.
const SETTLE: Duration = Duration::from_secs(1);
const SETTLE_POLL: Duration = Duration::from_millis(5);

/// What a proxy does with the connections through it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fault {
    /// Forwards everything.
    #[default]
    Pass,
    /// Closes all connections and refuses new ones, as a dead process would.
    Cut,
    /// Accepts connections and swallows what comes, answering nothing, as a dead host behind a live switch would.
    /// Connections that lost bytes are closed when the fault ends.
    BlackHole,
    /// Forwards late.
    Slow {
        /// Added to each piece on its way to the server.
        to_server: Duration,
        /// Added to each piece on its way to the client.
        to_client: Duration,
        /// The most bytes per second in each direction of one connection; no bound if `None`.
        bytes_per_second: Option<u32>,
    },
    /// Closes a connection after that many bytes to its client, counted from the setting of the fault.
    CutAfter {
        /// The bytes that still arrive at the client.
        bytes_to_client: u64,
    },
}

/// What went through a proxy since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Connections accepted.
    pub accepted_count: u64,
    /// Connections open now.
    pub open_count: u64,
    /// Bytes handed to the server.
    pub to_server_bytes: u64,
    /// Bytes handed to clients.
    pub to_client_bytes: u64,
}

#[derive(Debug, Default)]
struct Counters {
    accepted: AtomicU64,
    open: AtomicU64,
    to_server: AtomicU64,
    to_client: AtomicU64,
}

/// A proxy before one address. Dropping it closes the listener and all connections.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    commands: mpsc::Sender<Command>,
    fault: watch::Receiver<Fault>,
    counters: Arc<Counters>,
    ended: CancellationToken,
}

#[derive(Debug)]
struct Command {
    fault: Fault,
    done: oneshot::Sender<Result<(), Error>>,
}

impl Proxy {
    /// Listens on `bind` (port 0 for any) and forwards to `server`.
    ///
    /// # Errors
    /// `io_failed` if the port cannot be listened on.
    pub async fn start(bind: SocketAddr, server: SocketAddr) -> Result<Self, Error> {
        let listener = listen(bind).await?;
        let address = listener.local_addr().map_err(|source| listen_error(bind, source))?;
        let (commands, received) = mpsc::channel(1);
        let (fault_sender, fault) = watch::channel(Fault::Pass);
        let counters = Arc::new(Counters::default());
        let ended = CancellationToken::new();
        let acceptor = Acceptor {
            address,
            server,
            fault: fault_sender,
            connections: ended.child_token(),
            ended: ended.clone(),
            counters: Arc::clone(&counters),
        };
        tokio::spawn(acceptor.run(listener, received));
        Ok(Self { address, commands, fault, counters, ended })
    }

    /// Returns the address that clients use.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes what the proxy does; in force for old and new connections when this returns.
    ///
    /// # Errors
    /// `io_failed` if the port was taken by someone else while it was cut.
    pub async fn set(&self, fault: Fault) -> Result<(), Error> {
        let (done, outcome) = oneshot::channel();
        let gone = || listen_error(self.address, std::io::Error::other("the proxy has ended"));
        self.commands.send(Command { fault, done }).await.map_err(|_| gone())?;
        outcome.await.map_err(|_| gone())?
    }

    /// Returns what the proxy does now.
    pub fn fault(&self) -> Fault {
        *self.fault.borrow()
    }

    /// Returns what went through.
    pub fn traffic(&self) -> Traffic {
        Traffic {
            accepted_count: self.counters.accepted.load(Ordering::Relaxed),
            open_count: self.counters.open.load(Ordering::Relaxed),
            to_server_bytes: self.counters.to_server.load(Ordering::Relaxed),
            to_client_bytes: self.counters.to_client.load(Ordering::Relaxed),
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

async fn listen(address: SocketAddr) -> Result<TcpListener, Error> {
    TcpListener::bind(address).await.map_err(|source| listen_error(address, source))
}

fn listen_error(address: SocketAddr, source: std::io::Error) -> Error {
    Error::Io { action: "listen on", subject: address.to_string(), source }
}

/// The task that owns the listener.
struct Acceptor {
    address: SocketAddr,
    server: SocketAddr,
    fault: watch::Sender<Fault>,
    /// Ends the connections of now; replaced after each cut.
    connections: CancellationToken,
    ended: CancellationToken,
    counters: Arc<Counters>,
}

impl Acceptor {
    async fn run(mut self, listener: TcpListener, mut commands: mpsc::Receiver<Command>) {
        let mut listener = Some(listener);
        loop {
            let accept = async {
                match &listener {
                    Some(listener) => listener.accept().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.ended.cancelled() => return,
                command = commands.recv() => {
                    let Some(Command { fault, done }) = command else { return };
                    let outcome = self.apply(fault, &mut listener).await;
                    // The caller may have given up waiting; the fault holds all the same.
                    drop(done.send(outcome));
                }
                accepted = accept => {
                    if let Ok((client, _)) = accepted {
                        self.serve(client);
                    }
                }
            }
        }
    }

    async fn apply(&mut self, fault: Fault, listener: &mut Option<TcpListener>) -> Result<(), Error> {
        if fault == Fault::Cut {
            *listener = None;
            self.connections.cancel();
            self.connections = self.ended.child_token();
            self.wait_until_refused().await;
        } else if listener.is_none() {
            *listener = Some(self.listen_again().await?);
        }
        self.fault.send_replace(fault);
        Ok(())
    }

    /// A process being started holds a copy of the closed listener for a moment; the kernel accepts for it.
    async fn wait_until_refused(&self) {
        let refused = async {
            while TcpStream::connect(self.address).await.is_ok() {
                time::sleep(SETTLE_POLL).await;
            }
        };
        if time::timeout(SETTLE, refused).await.is_err() {
            tracing::warn!(address = %self.address, "someone else listens on the port of a cut proxy");
        }
    }

    /// Listens on the same port; for the same reason it may look taken at first.
    async fn listen_again(&self) -> Result<TcpListener, Error> {
        let deadline = Deadline::after(SETTLE);
        loop {
            match listen(self.address).await {
                Err(_) if !deadline.passed() => time::sleep(SETTLE_POLL).await,
                other => return other,
            }
        }
    }

    fn serve(&self, client: TcpStream) {
        self.counters.accepted.fetch_add(1, Ordering::Relaxed);
        let link = Link {
            server: self.server,
            fault: self.fault.subscribe(),
            closed: self.connections.child_token(),
            counters: Arc::clone(&self.counters),
        };
        tokio::spawn(link.run(client));
    }
}

/// One connection through the proxy.
struct Link {
    server: SocketAddr,
    fault: watch::Receiver<Fault>,
    closed: CancellationToken,
    counters: Arc<Counters>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    ToServer,
    ToClient,
}

impl Link {
    async fn run(self, client: TcpStream) {
        self.counters.open.fetch_add(1, Ordering::Relaxed);
        let counters = Arc::clone(&self.counters);
        let closed = self.closed.clone();
        tokio::select! {
            () = closed.cancelled() => {}
            () = self.carry(client) => {}
        }
        counters.open.fetch_sub(1, Ordering::Relaxed);
    }

    async fn carry(mut self, client: TcpStream) {
        if *self.fault.borrow_and_update() == Fault::BlackHole {
            return self.swallow(client).await;
        }
        let Ok(server) = TcpStream::connect(self.server).await else { return };
        // Small frames must not wait for each other; the delays are the proxy's own.
        if client.set_nodelay(true).is_err() || server.set_nodelay(true).is_err() {
            return;
        }
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        let up = self.pump(Direction::ToServer, from_client, to_server);
        let down = self.pump(Direction::ToClient, from_server, to_client);
        // A direction that ends in order is a half-close; one that ends by fault closes both.
        tokio::pin!(up, down);
        tokio::select! {
            up_end = &mut up => if up_end == End::InOrder { down.await; },
            down_end = &mut down => if down_end == End::InOrder { up.await; },
        }
    }

    /// Takes what the client sends and answers nothing, until the fault is another.
    async fn swallow(mut self, mut client: TcpStream) {
        let mut buffer = vec![0; CHUNK];
        loop {
            tokio::select! {
                changed = self.fault.changed() => {
                    if changed.is_err() || *self.fault.borrow() != Fault::BlackHole {
                        return;
                    }
                }
                read = client.read(&mut buffer) => {
                    // A client that gave up is gone; one that only sends no more still waits.
                    if read.is_err() {
                        return;
                    }
                    if matches!(read, Ok(0)) && self.fault.changed().await.is_err() {
                        return;
                    }
                }
            }
        }
    }

    async fn pump(&self, direction: Direction, from: OwnedReadHalf, to: OwnedWriteHalf) -> End {
        let (pieces, received) = mpsc::channel(IN_FLIGHT);
        let reader = Reader { direction, fault: self.fault.clone(), from, pieces };
        let counter = match direction {
            Direction::ToServer => &self.counters.to_server,
            Direction::ToClient => &self.counters.to_client,
        };
        let (read_end, write_end) = tokio::join!(reader.run(), deliver(received, to, counter));
        if read_end == End::InOrder { write_end } else { read_end }
    }
}

/// How one direction of a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The sender closed its side, and everything before was delivered.
    InOrder,
    /// The connection broke, or the fault wants it closed.
    Broken,
}

/// A piece of the stream with the time it is due.
struct Piece {
    bytes: Vec<u8>,
    due: Instant,
}

/// The reading half of one direction: decides what happens to each piece.
struct Reader {
    direction: Direction,
    fault: watch::Receiver<Fault>,
    from: OwnedReadHalf,
    pieces: mpsc::Sender<Piece>,
}

impl Reader {
    async fn run(mut self) -> End {
        let mut fault = *self.fault.borrow_and_update();
        let mut left = cut_after(fault, self.direction);
        // When the line is free again, for a bounded rate.
        let mut free_at = clock::now();
        let mut lost = false;
        let mut buffer = vec![0; CHUNK];
        loop {
            let limit = read_limit(fault, left);
            if limit == 0 {
                return End::Broken;
            }
            let window = buffer.get_mut(..limit).expect("the limit is at most the buffer's size");
            let count = tokio::select! {
                biased;
                changed = self.fault.changed() => {
                    if changed.is_err() {
                        return End::Broken;
                    }
                    fault = *self.fault.borrow_and_update();
                    left = cut_after(fault, self.direction);
                    if lost && fault != Fault::BlackHole {
                        return End::Broken;
                    }
                    continue;
                }
                read = self.from.read(window) => match read {
                    Ok(0) if fault == Fault::BlackHole => return self.wait_for_end_of_black_hole().await,
                    Ok(0) => return End::InOrder,
                    Ok(count) => count,
                    Err(_) => return End::Broken,
                },
            };
            if fault == Fault::BlackHole {
                lost = true;
                continue;
            }
            left = left.map(|left| left.saturating_sub(u64::try_from(count).unwrap_or(u64::MAX)));
            let due = due(fault, self.direction, count, &mut free_at);
            let bytes = buffer.get(..count).unwrap_or_default().to_vec();
            if self.pieces.send(Piece { bytes, due }).await.is_err() {
                return End::Broken;
            }
        }
    }

    /// A hang-up is not seen through a black hole either.
    async fn wait_for_end_of_black_hole(&mut self) -> End {
        while *self.fault.borrow_and_update() == Fault::BlackHole {
            if self.fault.changed().await.is_err() {
                break;
            }
        }
        End::Broken
    }
}

fn cut_after(fault: Fault, direction: Direction) -> Option<u64> {
    match (fault, direction) {
        (Fault::CutAfter { bytes_to_client }, Direction::ToClient) => Some(bytes_to_client),
        _ => None,
    }
}

/// Returns how much may be read at once: small pieces at a low rate, never more than is left before a cut.
fn read_limit(fault: Fault, left: Option<u64>) -> usize {
    let by_rate = match fault {
        Fault::Slow { bytes_per_second: Some(rate), .. } => {
            usize::try_from(rate / 20).unwrap_or(CHUNK).clamp(1, CHUNK)
        }
        _ => CHUNK,
    };
    left.map_or(by_rate, |left| by_rate.min(usize::try_from(left).unwrap_or(CHUNK)))
}

fn due(fault: Fault, direction: Direction, count: usize, free_at: &mut Instant) -> Instant {
    let now = clock::now();
    let Fault::Slow { to_server, to_client, bytes_per_second } = fault else { return now };
    let delay = match direction {
        Direction::ToServer => to_server,
        Direction::ToClient => to_client,
    };
    if let Some(rate) = bytes_per_second.filter(|rate| *rate > 0) {
        let bytes = u32::try_from(count).unwrap_or(u32::MAX);
        *free_at = (*free_at).max(now) + Duration::from_secs(1) * bytes / rate;
        return *free_at + delay;
    }
    now + delay
}

/// The writing half of one direction: hands pieces on when they are due, then closes in order.
async fn deliver(mut pieces: mpsc::Receiver<Piece>, mut to: OwnedWriteHalf, counter: &AtomicU64) -> End {
    while let Some(piece) = pieces.recv().await {
        time::sleep_until(piece.due).await;
        if to.write_all(&piece.bytes).await.is_err() {
            return End::Broken;
        }
        counter.fetch_add(u64::try_from(piece.bytes.len()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
    if to.shutdown().await.is_err() { End::Broken } else { End::InOrder }
}
