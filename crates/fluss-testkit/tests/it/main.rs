//! Quick tests: no Java, only loopback and the shell.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what tests share fails by panicking")]

mod ports;
mod process;
mod proxy;
mod tls;

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time;

/// Within this everything that should happen does; a test that needs it has failed.
const BOUND: Duration = Duration::from_secs(10);

/// Listens on loopback and sends every byte back; ends with the runtime.
async fn echo_server() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut from, mut to) = stream.into_split();
                drop(tokio::io::copy(&mut from, &mut to).await);
            });
        }
    });
    address
}

/// Sends bytes and reads as many back; `None` if the connection ends or breaks before.
async fn echo<S>(stream: &mut S, bytes: &[u8]) -> Option<Vec<u8>>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    let mut answer = vec![0; bytes.len()];
    let exchange = async {
        stream.write_all(bytes).await.ok()?;
        stream.flush().await.ok()?;
        stream.read_exact(&mut answer).await.ok()
    };
    time::timeout(BOUND, exchange).await.expect("an exchange ends within the bound")?;
    Some(answer)
}

/// Tells whether the peer has closed the connection, waiting for it.
async fn is_closed(stream: &mut TcpStream) -> bool {
    let mut byte = [0];
    let read = time::timeout(BOUND, stream.read(&mut byte)).await.expect("the connection is closed in time");
    !matches!(read, Ok(count) if count > 0)
}
