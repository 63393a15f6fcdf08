//! Connections: accepted up to a bound, each with deadlines, drained when the server ends.

mod paced;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::serve::paced::Paced;
use crate::settings::ServeSettings;

/// The largest head of a request, in bytes.
const MAX_HEAD_BYTES: usize = 32 * 1024;

/// The most headers of a request.
const MAX_HEADERS: usize = 100;

/// How long to wait when the system has nothing left to accept with.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(100);

/// How long connections get to notice that they are cut.
const CUT_TIMEOUT: Duration = Duration::from_secs(1);

/// When to end.
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    /// Cancelled to take no more connections and let requests under way finish.
    pub drain: CancellationToken,
    /// Cancelled to end at once.
    pub stop: CancellationToken,
}

/// The connection that a request came by; in the extensions of every request of [`serve`].
#[derive(Debug, Clone)]
pub struct Connection {
    /// The other end, which may be a proxy.
    pub peer: SocketAddr,
    /// This end.
    pub local: SocketAddr,
    /// Cancelled when the server begins to end, so that answers without an end do.
    pub ending: CancellationToken,
}

impl Connection {
    /// Describes a connection of a server that does not end.
    pub fn new(peer: SocketAddr, local: SocketAddr) -> Self {
        Self { peer, local, ending: CancellationToken::new() }
    }
}

/// Serves HTTP/1.1 until told to end: then requests under way have `drain_timeout`, and streams end at once.
///
/// Dropping the future closes the listener and lets the connections go on until their requests are answered.
///
/// # Errors
/// What the system says when the listener's own address cannot be read. A connection that fails is only logged.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    settings: ServeSettings,
    shutdown: Shutdown,
) -> io::Result<()> {
    let address = listener.local_addr()?;
    let slots = Arc::new(Semaphore::new(settings.max_connections));
    let (tasks, cut) = (TaskTracker::new(), CancellationToken::new());
    tracing::info!(server.address = %address, "serving HTTP on {address}");
    loop {
        let accepted = tokio::select! {
            biased;
            () = shutdown.stop.cancelled() => break,
            () = shutdown.drain.cancelled() => break,
            accepted = accept(&listener, &slots) => accepted,
        };
        let (stream, peer, slot) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection cannot be accepted: {error}");
                if !is_of_one_connection(&error) {
                    tokio::time::sleep(EXHAUSTED_PAUSE).await;
                }
                continue;
            }
        };
        let Ok(local) = stream.local_addr() else { continue };
        let connection = Connection { peer, local, ending: shutdown.drain.clone() };
        let answered = answer(stream, router.clone(), connection, settings, cut.clone());
        tasks.spawn(async move {
            answered.await;
            drop(slot);
        });
    }
    drop(listener);
    tasks.close();
    tokio::select! {
        () = tasks.wait() => {}
        () = shutdown.stop.cancelled() => {}
        () = tokio::time::sleep(settings.drain_timeout) => {
            tracing::warn!(connections = tasks.len(), "requests under way took too long and are cut");
        }
    }
    cut.cancel();
    // Only what waits can be cut; a handler that computes goes on to its next wait.
    if tokio::time::timeout(CUT_TIMEOUT, tasks.wait()).await.is_err() {
        tracing::warn!(connections = tasks.len(), "connections are left behind");
    }
    Ok(())
}

type Slot = tokio::sync::OwnedSemaphorePermit;

/// Waits for a place and then for a connection, so that the system holds back what has no place.
async fn accept(listener: &TcpListener, slots: &Arc<Semaphore>) -> io::Result<(TcpStream, SocketAddr, Slot)> {
    let slot = Arc::clone(slots).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    Ok((stream, peer, slot))
}

fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Answers the requests of one connection.
async fn answer(
    stream: TcpStream,
    router: Router,
    connection: Connection,
    settings: ServeSettings,
    cut: CancellationToken,
) {
    // Events and small answers are not held back to be sent with others; without it they only come later.
    let _ = stream.set_nodelay(true);
    let (peer, ending) = (connection.peer, connection.ending.clone());
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(connection.clone());
        router.clone().oneshot(request.map(Body::new))
    });
    let io = TokioIo::new(Paced::new(stream, settings.write_timeout));
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(settings.header_read_timeout)
        .max_header_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS);
    let mut served = std::pin::pin!(builder.serve_connection(io, service));
    let result = tokio::select! {
        result = served.as_mut() => result,
        () = cut.cancelled() => return,
        () = ending.cancelled() => {
            served.as_mut().graceful_shutdown();
            tokio::select! {
                result = served.as_mut() => result,
                () = cut.cancelled() => return,
            }
        }
    };
    if let Err(error) = result {
        // A client that goes away is nothing to report.
        tracing::debug!(client.address = %peer, %error, "a connection ended: {error}");
    }
}
