//! Targets that never end, send nonsense, or lead astray: each fails at its deadline or before, with its phase.

use std::time::Duration;

use pegel_http::expect::Expect;
use pegel_http::request::Request;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpSocket, TcpStream};

use crate::target::{DEADLINE, SLACK, Target, ask, assert_timeout, get, outbound, read_head, told};

/// Writes a head, then one byte again and again.
async fn drip(mut stream: TcpStream, head: &'static [u8]) {
    read_head(&mut stream).await;
    let _ = stream.write_all(head).await;
    while stream.write_all(b"x").await.is_ok() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_body_of_a_byte_now_and_then_ends_at_the_deadline_a35() {
    let target = Target::start(|stream| drip(stream, b"HTTP/1.1 200 OK\r\n\r\n")).await;
    let report = ask(&get(&target.url("/"))).await;
    assert_timeout(&report, "body");
    assert!(report.hops[0].timings.body.unwrap() > DEADLINE / 2);
}

#[tokio::test]
async fn a_head_of_a_byte_now_and_then_ends_at_the_deadline() {
    let target = Target::start(|stream| drip(stream, b"HTTP/1.1 200 OK\r\nX-Slow: ")).await;
    assert_timeout(&ask(&get(&target.url("/"))).await, "first_byte");
}

#[tokio::test]
async fn a_target_that_accepts_and_is_silent_ends_at_the_deadline() {
    let target = Target::start(|stream| async move {
        let _stream = stream;
        std::future::pending::<()>().await;
    })
    .await;
    assert_timeout(&ask(&get(&target.url("/"))).await, "first_byte");
    assert_timeout(&ask(&get(&format!("https://{}/", target.address))).await, "tls");
}

#[tokio::test]
async fn hints_without_end_end_at_the_deadline() {
    let target = Target::start(|mut stream| async move {
        read_head(&mut stream).await;
        while stream.write_all(b"HTTP/1.1 103 Early Hints\r\n\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    assert_timeout(&ask(&get(&target.url("/"))).await, "first_byte");
}

#[tokio::test]
async fn a_name_server_that_is_silent_ends_at_the_deadline() {
    assert_timeout(&ask(&get("http://silent.test/")).await, "resolve");
    let report = ask(&get("http://broken.test/")).await;
    assert_eq!(told(&report), "resolver_unavailable in resolve");
    assert!(report.failure.unwrap().error.is_own_fault());
    assert_eq!(told(&ask(&get("http://missing.test/")).await), "resolve_failed in resolve");
}

#[tokio::test]
async fn a_machine_that_drops_packets_ends_at_the_deadline() {
    // A queue of connections that nobody accepts fills, and the system then drops what comes.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut filling = Vec::new();
    while let Ok(Ok(stream)) = tokio::time::timeout(DEADLINE, TcpStream::connect(address)).await {
        filling.push(stream);
        assert!(filling.len() < 100, "the queue never fills");
    }
    let url = format!("http://{address}/");
    assert_timeout(&ask(&get(&url)).await, "connect");
    let mut request = Request::get(&url, DEADLINE * 10).unwrap();
    request.connect_deadline = Some(DEADLINE);
    assert_timeout(&ask(&request).await, "connect");
}

#[tokio::test]
async fn endless_headers_end_at_their_limit() {
    let target = Target::start(|mut stream| async move {
        read_head(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n").await;
        while stream.write_all(format!("X-A: {}\r\n", "a".repeat(1_000)).as_bytes()).await.is_ok() {}
    })
    .await;
    assert_eq!(told(&ask(&get(&target.url("/"))).await), "headers_too_large in first_byte");
    let head =
        |count: usize| format!("HTTP/1.1 200 OK\r\n{}Content-Length: 0\r\n\r\n", "X-A: b\r\n".repeat(count));
    let many = Target::answering(head(100)).await;
    assert_eq!(told(&ask(&get(&many.url("/"))).await), "headers_too_large in first_byte");
    let enough = Target::answering(head(99)).await;
    assert_eq!(told(&ask(&get(&enough.url("/"))).await), "ok");
}

#[tokio::test]
async fn another_protocol_is_told() {
    let target = Target::answering("SSH-2.0-OpenSSH_9.2\r\n").await;
    assert_eq!(told(&ask(&get(&target.url("/"))).await), "http_malformed in first_byte");
    let plain = Target::answering("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").await;
    let report = ask(&get(&format!("https://{}/", plain.address))).await;
    assert!(told(&report).ends_with("in tls"), "{}", told(&report));
}

#[tokio::test]
async fn a_reset_in_the_middle_is_told() {
    let target = Target::start(|mut stream| async move {
        read_head(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf").await;
        stream.set_zero_linger().unwrap();
    })
    .await;
    let told = told(&ask(&get(&target.url("/"))).await);
    assert!(["connection_lost in body", "connection_lost in first_byte"].contains(&told.as_str()), "{told}");
}

#[tokio::test]
async fn a_body_without_end_ends_at_what_is_read_of_it() {
    let target = Target::start(|mut stream| async move {
        read_head(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
        while stream.write_all(&[b'x'; 8_192]).await.is_ok() {}
    })
    .await;
    let mut request = Request::get(&target.url("/"), DEADLINE * 20).unwrap();
    request.read_bytes = 1_000_000;
    let report = ask(&request).await;
    assert_eq!(told(&report), "ok");
    let answer = report.answer.unwrap();
    assert_eq!((answer.body_bytes, answer.is_body_whole), (1_000_000, false));
}

#[tokio::test]
async fn redirects_without_end_end() {
    let circle = Target::answering("HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n").await;
    assert_eq!(told(&ask(&get(&circle.url("/"))).await), "redirect_loop in first_byte");
    let chain = Target::start(|mut stream| async move {
        let head = read_head(&mut stream).await;
        let length = head.split(' ').nth(1).unwrap().len();
        let next = "a".repeat(length);
        let _ = stream.write_all(format!("HTTP/1.1 302 Found\r\nLocation: /{next}\r\n\r\n").as_bytes()).await;
    })
    .await;
    let report = ask(&get(&chain.url("/"))).await;
    assert_eq!(told(&report), "redirect_limit in first_byte");
    assert_eq!(report.hops.len(), 11);
}

#[tokio::test]
async fn one_deadline_is_over_all_redirects() {
    let target = Target::start(|mut stream| async move {
        let head = read_head(&mut stream).await;
        let length = head.split(' ').nth(1).unwrap().len();
        tokio::time::sleep(DEADLINE / 4).await;
        let next = "a".repeat(length);
        let _ = stream.write_all(format!("HTTP/1.1 302 Found\r\nLocation: /{next}\r\n\r\n").as_bytes()).await;
    })
    .await;
    let report = ask(&get(&target.url("/"))).await;
    assert_timeout(&report, "first_byte");
    assert!((2..=5).contains(&report.hops.len()));
}

#[tokio::test]
async fn one_that_gives_up_waiting_closes_the_connection() {
    let (sender, mut closed) = tokio::sync::mpsc::channel(1);
    let target = Target::start(move |mut stream| {
        let sender = sender.clone();
        async move {
            read_head(&mut stream).await;
            let read = tokio::io::AsyncReadExt::read(&mut stream, &mut [0]).await;
            let _ = sender.send(read.is_ok_and(|read| read == 0)).await;
        }
    })
    .await;
    let (outbound, request) = (outbound().0, Request::get(&target.url("/"), DEADLINE * 100).unwrap());
    let expect = Expect::default();
    let sending = outbound.send(&request, &expect);
    assert!(tokio::time::timeout(DEADLINE, sending).await.is_err());
    assert_eq!(tokio::time::timeout(SLACK, closed.recv()).await.unwrap(), Some(true));
}
