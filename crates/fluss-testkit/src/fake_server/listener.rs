//! The listening side of a server: it can stop, and start again on the same port.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection;
use super::state::ServerState;
use crate::error::Error;
use crate::ports::loopback;

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 1024;

/// What a server is told to do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order {
    /// Refuse connections and close those there are.
    Stop,
    /// Listen again.
    Start,
    /// Close the connections there are.
    CloseConnections,
}

pub(super) struct Command {
    order: Order,
    done: oneshot::Sender<Result<(), Error>>,
}

/// The handle of a listening task. Dropping it ends the task and all connections.
#[derive(Debug)]
pub(super) struct Listening {
    address: SocketAddr,
    commands: mpsc::Sender<Command>,
    ended: CancellationToken,
}

impl Listening {
    /// Listens on a free port of loopback.
    pub(super) fn start(state: Arc<ServerState>) -> Result<Self, Error> {
        let any = loopback(0);
        let listener =
            bind(any).and_then(|socket| socket.listen(BACKLOG)).map_err(|error| failed(any, error))?;
        let address = listener.local_addr().map_err(|error| failed(any, error))?;
        let (commands, received) = mpsc::channel(1);
        let ended = CancellationToken::new();
        let acceptor = Acceptor {
            address,
            state,
            port: Port::Listening(listener),
            generation: Generation::new(&ended),
            ended: ended.clone(),
        };
        tokio::spawn(acceptor.run(received));
        Ok(Self { address, commands, ended })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Gives an order; it is carried out when this returns.
    pub(super) async fn order(&self, order: Order) -> Result<(), Error> {
        let (done, outcome) = oneshot::channel();
        let gone = || failed(self.address, io::Error::other("the server has ended"));
        self.commands.send(Command { order, done }).await.map_err(|_| gone())?;
        outcome.await.map_err(|_| gone())?
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

/// Connections that end together.
struct Generation {
    ended: CancellationToken,
    tasks: TaskTracker,
}

impl Generation {
    fn new(parent: &CancellationToken) -> Self {
        Self { ended: parent.child_token(), tasks: TaskTracker::new() }
    }
}

enum Port {
    Listening(TcpListener),
    /// Bound but not listening: connections are refused, and nobody else gets the port.
    Reserved(TcpSocket),
    Lost,
}

struct Acceptor {
    address: SocketAddr,
    state: Arc<ServerState>,
    port: Port,
    generation: Generation,
    ended: CancellationToken,
}

impl Acceptor {
    async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        loop {
            let accept = async {
                match &self.port {
                    Port::Listening(listener) => listener.accept().await,
                    Port::Reserved(_) | Port::Lost => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.ended.cancelled() => return,
                command = commands.recv() => {
                    let Some(Command { order, done }) = command else { return };
                    let outcome = self.obey(order).await;
                    // The caller may have given up waiting; the order holds all the same.
                    drop(done.send(outcome));
                }
                accepted = accept => {
                    let Ok((stream, _)) = accepted else { continue };
                    if self.state.closes_at_once() {
                        drop(self.state.counters.accepted());
                        continue;
                    }
                    let ended = self.generation.ended.clone();
                    let state = Arc::clone(&self.state);
                    self.generation.tasks.spawn(async move {
                        tokio::select! {
                            () = ended.cancelled() => {}
                            () = connection::serve(stream, state) => {}
                        }
                    });
                }
            }
        }
    }

    async fn obey(&mut self, order: Order) -> Result<(), Error> {
        match order {
            Order::Stop => {
                if matches!(self.port, Port::Listening(_)) {
                    self.port = Port::Lost;
                    let socket = bind_when_free(self.address).await;
                    self.port = Port::Reserved(socket.map_err(|error| failed(self.address, error))?);
                }
                self.close_connections().await;
                Ok(())
            }
            Order::Start => {
                let socket = match std::mem::replace(&mut self.port, Port::Lost) {
                    Port::Listening(listener) => {
                        self.port = Port::Listening(listener);
                        return Ok(());
                    }
                    Port::Reserved(socket) => Ok(socket),
                    Port::Lost => bind(self.address),
                };
                let listener = socket.and_then(|socket| socket.listen(BACKLOG));
                self.port = Port::Listening(listener.map_err(|error| failed(self.address, error))?);
                Ok(())
            }
            Order::CloseConnections => {
                self.close_connections().await;
                Ok(())
            }
        }
    }

    async fn close_connections(&mut self) {
        let generation = std::mem::replace(&mut self.generation, Generation::new(&self.ended));
        generation.ended.cancel();
        generation.tasks.close();
        generation.tasks.wait().await;
    }
}

/// Binds a port that this process has just given up.
///
/// A child that another thread starts holds a copy of the old socket between its fork and its exec, so the
/// port may be taken for a moment.
async fn bind_when_free(address: SocketAddr) -> io::Result<TcpSocket> {
    const PAUSE: Duration = Duration::from_millis(5);
    const ATTEMPTS: u32 = 400;
    for _ in 1..ATTEMPTS {
        match bind(address) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => tokio::time::sleep(PAUSE).await,
            other => return other,
        }
    }
    bind(address)
}

fn bind(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    // Connections of before linger in the kernel and must not keep the port.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

fn failed(address: SocketAddr, source: io::Error) -> Error {
    Error::Io { action: "listen on", subject: address.to_string(), source }
}
