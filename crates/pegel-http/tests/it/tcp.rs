//! TCP probes: what a port that is open says, and what it does not.

use std::time::Duration;

use pegel_http::request::Addresses;
use pegel_http::tcp::{TcpProbe, TcpTls};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::target::{DEADLINE, Target, assert_timeout, outbound, told};

fn probe(target: &Target, sent: &[u8], expected: &[u8]) -> TcpProbe {
    TcpProbe {
        host: "127.0.0.1".to_owned(),
        port: target.port(),
        deadline: DEADLINE,
        addresses: Addresses::Any,
        is_private_allowed: false,
        tls: None,
        sent: sent.to_vec(),
        expected: expected.to_vec(),
    }
}

async fn frozen() -> Target {
    Target::start(|stream| async move {
        let _stream = stream;
        std::future::pending::<()>().await;
    })
    .await
}

#[tokio::test]
async fn a_frozen_process_accepts_and_does_not_reply_a63() {
    let target = frozen().await;
    let report = outbound().0.probe_tcp(&probe(&target, b"", b"")).await;
    assert_eq!(told(&report), "ok");
    assert!(report.hops[0].timings.connect.is_some() && report.hops[0].timings.first_byte.is_none());
    assert_timeout(&outbound().0.probe_tcp(&probe(&target, b"ruok", b"imok")).await, "first_byte");
}

#[tokio::test]
async fn a_reply_in_pieces_is_heard() {
    let target = Target::start(|mut stream| async move {
        let mut asked = [0; 4];
        stream.read_exact(&mut asked).await.unwrap();
        assert_eq!(&asked, b"ruok");
        for piece in ["noise im", "o", "k and more"] {
            stream.write_all(piece.as_bytes()).await.unwrap();
            stream.flush().await.unwrap();
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // The other side says good-bye.
        let _ = stream.read(&mut asked).await;
    })
    .await;
    let report = outbound().0.probe_tcp(&probe(&target, b"ruok", b"imok")).await;
    assert_eq!(told(&report), "ok");
    assert!(report.hops[0].timings.first_byte.is_some() && report.hops[0].timings.body.is_some());
}

#[tokio::test]
async fn refused_closed_reset_and_other_replies_are_told_apart() {
    let expect = |target: &Target| probe(target, b"", b"imok");
    let closing = Target::start(|stream| async move { drop(stream) }).await;
    assert_eq!(told(&outbound().0.probe_tcp(&expect(&closing)).await), "reply_missing in first_byte");
    let resetting = Target::start(|stream| async move { stream.set_zero_linger().unwrap() }).await;
    assert_eq!(told(&outbound().0.probe_tcp(&expect(&resetting)).await), "connection_lost in first_byte");
    let other = Target::start(|mut stream| async move { stream.write_all(b"imnot").await.unwrap() }).await;
    assert_eq!(told(&outbound().0.probe_tcp(&expect(&other)).await), "reply_unexpected in body");
    let refused = expect(&other);
    drop(other);
    tokio::task::yield_now().await;
    assert_eq!(told(&outbound().0.probe_tcp(&refused).await), "connection_refused in connect");
}

#[tokio::test]
async fn a_reply_without_end_ends() {
    let target =
        Target::start(|mut stream| async move { while stream.write_all(&[b'x'; 4_096]).await.is_ok() {} })
            .await;
    assert_eq!(
        told(&outbound().0.probe_tcp(&probe(&target, b"", b"imok")).await),
        "reply_unexpected in body"
    );
}

#[tokio::test]
async fn tls_that_never_ends_and_inner_addresses_end() {
    let target = frozen().await;
    let tls = TcpProbe { tls: Some(TcpTls { is_insecure: true }), ..probe(&target, b"", b"") };
    assert_timeout(&outbound().0.probe_tcp(&tls).await, "tls");
    let metadata =
        TcpProbe { host: "169.254.169.254".to_owned(), is_private_allowed: true, ..probe(&target, b"", b"") };
    assert!(told(&outbound().0.probe_tcp(&metadata).await).starts_with("egress_refused"));
    let nowhere = TcpProbe { port: 0, ..probe(&target, b"", b"") };
    assert!(told(&outbound().0.probe_tcp(&nowhere).await).starts_with("invalid"));
}
