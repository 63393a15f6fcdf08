//! Listeners that speak something else than Fluss, for a client that was given the wrong port.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time;
use tokio_util::sync::CancellationToken;

use crate::error::Error;
use crate::ports::loopback;

const HTTP_ANSWER: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n\
    Connection: close\r\n\r\n400 Bad Request";

const SSH_BANNER: &[u8] = b"SSH-2.0-OpenSSH_9.6\r\n";

/// Connections that a listener who accepts none takes at most before it counts as no black hole.
const MAX_FILLING: usize = 16;

/// A connection on loopback that is not there after this will not come.
const FILLING_BOUND: Duration = Duration::from_millis(100);

#[derive(Clone, Debug)]
enum Manner {
    /// Waits for a request, answers that it is bad, and closes.
    Http,
    /// Sends bytes at once, then listens until the client closes.
    Greets(Bytes),
    /// Listens and says nothing.
    Mute,
    /// Closes each connection at once.
    Closing,
}

/// A listener on loopback that is no Fluss server. Dropping it closes the listener and all connections.
#[derive(Debug)]
pub struct ForeignListener {
    address: SocketAddr,
    accepted: Arc<AtomicU64>,
    ended: CancellationToken,
}

impl ForeignListener {
    /// Starts something like an HTTP server, which answers `400 Bad Request` to all.
    ///
    /// # Errors
    /// `io_failed` if no port can be listened on.
    pub async fn http() -> Result<Self, Error> {
        Self::start(Manner::Http).await
    }

    /// Starts something like an SSH server, which sends its banner first.
    ///
    /// # Errors
    /// `io_failed` if no port can be listened on.
    pub async fn ssh() -> Result<Self, Error> {
        Self::start(Manner::Greets(Bytes::from_static(SSH_BANNER))).await
    }

    /// Starts a listener that sends these bytes to each client at once.
    ///
    /// # Errors
    /// `io_failed` if no port can be listened on.
    pub async fn greeting(bytes: impl Into<Bytes>) -> Result<Self, Error> {
        Self::start(Manner::Greets(bytes.into())).await
    }

    /// Starts a listener that reads and never says anything.
    ///
    /// # Errors
    /// `io_failed` if no port can be listened on.
    pub async fn mute() -> Result<Self, Error> {
        Self::start(Manner::Mute).await
    }

    /// Starts a listener that closes each connection as soon as it is there.
    ///
    /// # Errors
    /// `io_failed` if no port can be listened on.
    pub async fn closing() -> Result<Self, Error> {
        Self::start(Manner::Closing).await
    }

    /// Returns the address clients use.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns how many connections were accepted.
    pub fn accepted_count(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    async fn start(manner: Manner) -> Result<Self, Error> {
        let any = loopback(0);
        let failed = |source| Error::Io { action: "listen on", subject: any.to_string(), source };
        let listener = TcpListener::bind(any).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let accepted = Arc::new(AtomicU64::new(0));
        let ended = CancellationToken::new();
        tokio::spawn(ended.clone().run_until_cancelled_owned(accept(
            listener,
            manner,
            Arc::clone(&accepted),
            ended.clone(),
        )));
        Ok(Self { address, accepted, ended })
    }
}

impl Drop for ForeignListener {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

async fn accept(listener: TcpListener, manner: Manner, accepted: Arc<AtomicU64>, ended: CancellationToken) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        accepted.fetch_add(1, Ordering::Relaxed);
        let talking = talk(stream, manner.clone());
        tokio::spawn(ended.clone().run_until_cancelled_owned(async move {
            // A client that goes away in the middle is no concern here.
            drop(talking.await);
        }));
    }
}

async fn talk(mut stream: TcpStream, manner: Manner) -> io::Result<()> {
    let mut buffer = [0_u8; 1024];
    match manner {
        Manner::Closing => return Ok(()),
        Manner::Mute => {}
        Manner::Greets(bytes) => stream.write_all(&bytes).await?,
        Manner::Http => {
            if stream.read(&mut buffer).await? == 0 {
                return Ok(());
            }
            stream.write_all(HTTP_ANSWER).await?;
            stream.shutdown().await?;
        }
    }
    while stream.read(&mut buffer).await? > 0 {}
    Ok(())
}

/// An address on loopback where connecting hangs, as behind a firewall that drops packets.
///
/// The listener accepts nothing and its queue is full, so that the kernel ignores further attempts. Dropping it
/// makes the attempts fail.
#[derive(Debug)]
pub struct BlackHole {
    address: SocketAddr,
    _listener: TcpListener,
    _filling: Vec<TcpStream>,
}

impl BlackHole {
    /// Opens a black hole; takes a tenth of a second.
    ///
    /// # Errors
    /// `io_failed` if no port can be listened on, or if the kernel goes on taking connections.
    pub async fn open() -> Result<Self, Error> {
        let any = loopback(0);
        let failed = |source| Error::Io { action: "listen on", subject: any.to_string(), source };
        let socket = TcpSocket::new_v4().map_err(failed)?;
        socket.bind(any).map_err(failed)?;
        let listener = socket.listen(0).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let mut filling = Vec::new();
        while filling.len() < MAX_FILLING {
            match time::timeout(FILLING_BOUND, TcpStream::connect(address)).await {
                Ok(stream) => filling.push(stream.map_err(failed)?),
                Err(_) => return Ok(Self { address, _listener: listener, _filling: filling }),
            }
        }
        Err(failed(io::Error::other("the queue of the listener never fills")))
    }

    /// Returns the address to which connecting hangs.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}
