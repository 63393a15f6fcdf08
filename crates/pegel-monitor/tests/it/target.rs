//! Targets on loopback that are well, or not, as they are told.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// What a target does with a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Answers with these bytes and closes.
    Answer(&'static str),
    /// Answers 200 once it is told to go on.
    Wait,
    /// Writes these bytes and then nothing more, for ever.
    Stall(&'static str),
}

/// A target that is well.
pub(crate) const WELL: Manner = Manner::Answer("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");

/// A target that is not.
pub(crate) const ILL: Manner =
    Manner::Answer("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 4\r\n\r\nhelp");

/// A target; it ends with the value.
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    manner: Arc<Mutex<Manner>>,
    open_count: Arc<AtomicUsize>,
    asked_count: Arc<AtomicUsize>,
    go_on: Arc<Notify>,
    accepting: JoinHandle<()>,
}

impl Drop for Target {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Target {
    pub(crate) async fn start(manner: Manner) -> Self {
        Self::start_on("127.0.0.1:0", manner).await
    }

    pub(crate) async fn start_on(address: &str, manner: Manner) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let manner = Arc::new(Mutex::new(manner));
        let (open_count, asked_count) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let go_on = Arc::new(Notify::new());
        let (shared, open, asked, going) =
            (Arc::clone(&manner), Arc::clone(&open_count), Arc::clone(&asked_count), Arc::clone(&go_on));
        let accepting = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let manner = shared.lock().unwrap().clone();
                open.fetch_add(1, Ordering::SeqCst);
                asked.fetch_add(1, Ordering::SeqCst);
                let (open, going) = (Arc::clone(&open), Arc::clone(&going));
                connections.spawn(async move {
                    treat(stream, manner, &going).await;
                    open.fetch_sub(1, Ordering::SeqCst);
                });
                while connections.try_join_next().is_some() {}
            }
        });
        Self { address, manner, open_count, asked_count, go_on, accepting }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Changes what it does from now on.
    pub(crate) fn is(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    /// How many connections it has had.
    pub(crate) fn asked_count(&self) -> usize {
        self.asked_count.load(Ordering::SeqCst)
    }

    /// How many connections are open.
    pub(crate) fn open_count(&self) -> usize {
        self.open_count.load(Ordering::SeqCst)
    }

    /// Lets one connection that waits go on.
    pub(crate) fn go_on(&self) {
        self.go_on.notify_one();
    }
}

async fn treat(mut stream: TcpStream, manner: Manner, go_on: &Notify) {
    let mut head = Vec::new();
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        if stream.read_buf(&mut head).await.unwrap_or(0) == 0 {
            return;
        }
    }
    match manner {
        Manner::Answer(answer) => drop(stream.write_all(answer.as_bytes()).await),
        Manner::Wait => {
            go_on.notified().await;
            drop(stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await);
        }
        Manner::Stall(beginning) => {
            drop(stream.write_all(beginning.as_bytes()).await);
            let mut rest = [0; 64];
            while stream.read(&mut rest).await.unwrap_or(0) > 0 {}
        }
    }
}
