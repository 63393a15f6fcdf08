//! The proxy passes, cuts, swallows, slows and truncates.

use std::net::SocketAddr;
use std::time::Duration;

use fluss_testkit::ports::loopback;
use fluss_testkit::proxy::{Fault, Proxy};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::{self, Instant};

use crate::{BOUND, echo, echo_server, is_closed};

async fn proxied() -> (Proxy, SocketAddr) {
    let proxy = Proxy::start(loopback(0), echo_server().await).await.unwrap();
    let address = proxy.address();
    (proxy, address)
}

#[expect(clippy::disallowed_methods, reason = "the test measures real delays")]
fn now() -> Instant {
    Instant::now()
}

#[tokio::test]
async fn bytes_pass_unchanged_in_both_directions_and_are_counted() {
    let (proxy, address) = proxied().await;
    let mut client = TcpStream::connect(address).await.unwrap();
    let sent: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    let (mut from, mut to) = client.split();
    let mut back = vec![0; sent.len()];
    let (written, read) =
        tokio::join!(tokio::io::AsyncWriteExt::write_all(&mut to, &sent), from.read_exact(&mut back));
    written.unwrap();
    read.unwrap();
    assert!(back == sent, "the bytes came back as they were sent");
    let traffic = proxy.traffic();
    assert_eq!((traffic.accepted_count, traffic.open_count), (1, 1));
    assert_eq!((traffic.to_server_bytes, traffic.to_client_bytes), (400_000, 400_000));
}

#[tokio::test]
async fn a_closed_client_closes_the_connection_behind_it() {
    let (proxy, address) = proxied().await;
    let mut client = TcpStream::connect(address).await.unwrap();
    echo(&mut client, b"hello").await.unwrap();
    drop(client);
    time::timeout(BOUND, async {
        while proxy.traffic().open_count > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("the proxy notices that its client is gone");
}

#[tokio::test]
async fn a_cut_closes_connections_refuses_new_ones_and_can_be_undone() {
    let (proxy, address) = proxied().await;
    let mut client = TcpStream::connect(address).await.unwrap();
    echo(&mut client, b"before").await.unwrap();
    proxy.set(Fault::Cut).await.unwrap();
    assert!(is_closed(&mut client).await);
    let refused = TcpStream::connect(address).await.unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    proxy.set(Fault::Pass).await.unwrap();
    let mut client = TcpStream::connect(address).await.unwrap();
    assert_eq!(echo(&mut client, b"after").await.as_deref(), Some(&b"after"[..]));
}

#[tokio::test]
async fn a_black_hole_answers_nothing_and_its_connections_end_with_it() {
    let (proxy, address) = proxied().await;
    let mut old = TcpStream::connect(address).await.unwrap();
    echo(&mut old, b"before").await.unwrap();
    proxy.set(Fault::BlackHole).await.unwrap();
    let mut new = TcpStream::connect(address).await.unwrap();
    for client in [&mut old, &mut new] {
        tokio::io::AsyncWriteExt::write_all(client, b"anyone there").await.unwrap();
        let mut byte = [0];
        let silence = time::timeout(Duration::from_millis(200), client.read(&mut byte)).await;
        assert!(silence.is_err(), "neither an answer nor an end: {silence:?}");
    }
    proxy.set(Fault::Pass).await.unwrap();
    assert!(is_closed(&mut old).await, "a stream that lost bytes must not go on");
    assert!(is_closed(&mut new).await);
    let mut client = TcpStream::connect(address).await.unwrap();
    assert_eq!(echo(&mut client, b"after").await.as_deref(), Some(&b"after"[..]));
}

#[tokio::test]
async fn an_idle_connection_survives_a_black_hole() {
    let (proxy, address) = proxied().await;
    let mut client = TcpStream::connect(address).await.unwrap();
    echo(&mut client, b"before").await.unwrap();
    proxy.set(Fault::BlackHole).await.unwrap();
    proxy.set(Fault::Pass).await.unwrap();
    assert_eq!(echo(&mut client, b"after").await.as_deref(), Some(&b"after"[..]));
}

#[tokio::test]
async fn a_slow_proxy_delays_each_direction() {
    let (proxy, address) = proxied().await;
    let mut client = TcpStream::connect(address).await.unwrap();
    echo(&mut client, b"warm").await.unwrap();
    let (to_server, to_client) = (Duration::from_millis(120), Duration::from_millis(80));
    proxy.set(Fault::Slow { to_server, to_client, bytes_per_second: None }).await.unwrap();
    let started = now();
    assert_eq!(echo(&mut client, b"late").await.as_deref(), Some(&b"late"[..]));
    assert!(started.elapsed() >= to_server + to_client, "{:?}", started.elapsed());
    proxy.set(Fault::Pass).await.unwrap();
    let started = now();
    echo(&mut client, b"quick").await.unwrap();
    assert!(started.elapsed() < to_server + to_client, "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_slow_proxy_keeps_to_its_rate() {
    let (proxy, address) = proxied().await;
    let mut client = TcpStream::connect(address).await.unwrap();
    let fault =
        Fault::Slow { to_server: Duration::ZERO, to_client: Duration::ZERO, bytes_per_second: Some(40_000) };
    proxy.set(fault).await.unwrap();
    let started = now();
    let sent = vec![7; 10_000];
    assert_eq!(echo(&mut client, &sent).await, Some(sent));
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(200), "10000 bytes at 40000/s need 250 ms: {took:?}");
}

#[tokio::test]
async fn a_cut_after_some_bytes_delivers_exactly_those() {
    let (proxy, address) = proxied().await;
    let mut client = TcpStream::connect(address).await.unwrap();
    echo(&mut client, b"not counted").await.unwrap();
    proxy.set(Fault::CutAfter { bytes_to_client: 1_000 }).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut client, &[1; 1_500]).await.unwrap();
    let mut got = Vec::new();
    // The end may come as a reset, since the echo was still sending.
    let end = time::timeout(BOUND, client.read_to_end(&mut got)).await.expect("the connection is cut");
    assert_eq!(got.len(), 1_000, "{end:?}");
}

#[tokio::test]
async fn a_dropped_proxy_closes_everything() {
    let (proxy, address) = proxied().await;
    let mut client = TcpStream::connect(address).await.unwrap();
    echo(&mut client, b"hello").await.unwrap();
    drop(proxy);
    assert!(is_closed(&mut client).await);
}
