//! Connections over real sockets: bounds, deadlines, the end.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use pegel_api::settings::ServeSettings;
use pegel_api::{Shutdown, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::app::{Shown, TestApp};

/// Longer than anything here takes.
const BOUND: Duration = Duration::from_secs(20);

struct Server {
    app: TestApp,
    address: SocketAddr,
    shutdown: Shutdown,
    served: JoinHandle<std::io::Result<()>>,
}

impl Server {
    async fn start(settings: ServeSettings) -> Self {
        let app = TestApp::sqlite().await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = Shutdown::default();
        let served = tokio::spawn(serve(listener, app.router.clone(), settings, shutdown.clone()));
        Self { app, address, shutdown, served }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    async fn ended(self) {
        timeout(BOUND, self.served).await.expect("the server ends").unwrap().unwrap();
    }
}

/// Sends bytes and returns everything until the other end closes.
async fn exchange(stream: &mut TcpStream, bytes: &[u8]) -> String {
    // The other end may close before it has read everything.
    let _ = stream.write_all(bytes).await;
    rest(stream).await
}

async fn rest(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    match timeout(BOUND, stream.read_to_end(&mut text)).await.expect("the server closes") {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
    }
    String::from_utf8(text).unwrap()
}

/// Sends a request and reads its head and short body, on a connection that stays.
async fn ask(stream: &mut TcpStream, path: &str, headers: &str) -> String {
    let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut text = String::new();
    let mut buffer = [0; 4_096];
    while !text.contains("\r\n\r\n") || text.ends_with("\r\n\r\n") {
        let count = timeout(BOUND, stream.read(&mut buffer)).await.expect("an answer").unwrap();
        assert_ne!(count, 0, "closed after {text:?}");
        text.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
    }
    text
}

#[tokio::test]
async fn requests_are_answered_over_one_connection() {
    let server = Server::start(ServeSettings::default()).await;
    let mut stream = server.connect().await;
    for _ in 0..3 {
        let answer = ask(&mut stream, "/healthz", "").await;
        assert!(
            answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with(r#"{"status":"ok"}"#),
            "{answer}"
        );
    }
    let answer = ask(&mut stream, "/api/v1/session", "").await;
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}

#[tokio::test]
async fn what_is_not_http_and_heads_without_end_are_refused() {
    let server = Server::start(ServeSettings::default()).await;
    let check = async |bytes: &[u8], status: &str| {
        let answer = exchange(&mut server.connect().await, bytes).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{status}: {answer:?}");
    };
    check(b"what is this\r\n\r\n", "400").await;
    check(b"GET / HTTP/1.1\r\nHost: localhost\r\nHost localhost\r\n\r\n", "400").await;
    let long = format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: {}\r\n\r\n", "x".repeat(40_000));
    check(long.as_bytes(), "431").await;
    let many = format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X-Many: x\r\n".repeat(200));
    check(many.as_bytes(), "431").await;
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(70_000));
    let answer = exchange(&mut server.connect().await, long.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 414") || answer.starts_with("HTTP/1.1 431"), "{answer:?}");
    // Two lengths are how requests are smuggled past a proxy.
    let two = b"POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx";
    check(two, "400").await;
}

#[tokio::test]
async fn a_head_that_does_not_arrive_ends_the_connection() {
    let settings =
        ServeSettings { header_read_timeout: Duration::from_millis(100), ..ServeSettings::default() };
    let server = Server::start(settings).await;
    let mut stream = server.connect().await;
    exchange(&mut stream, b"GET /healthz HTTP/1.1\r\nHost: local").await;
    // Nothing at all, and nothing after an answer, are no different.
    rest(&mut server.connect().await).await;
    let mut stream = server.connect().await;
    ask(&mut stream, "/healthz", "").await;
    rest(&mut stream).await;
}

#[tokio::test]
async fn more_connections_than_there_may_be_wait() {
    let settings = ServeSettings { max_connections: 2, ..ServeSettings::default() };
    let server = Server::start(settings).await;
    let (mut first, mut second, mut third) =
        (server.connect().await, server.connect().await, server.connect().await);
    ask(&mut first, "/healthz", "").await;
    ask(&mut second, "/healthz", "").await;
    third.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut byte = [0; 1];
    assert!(timeout(Duration::from_millis(200), third.read(&mut byte)).await.is_err(), "it had a place");
    drop(first);
    timeout(BOUND, third.read_exact(&mut byte)).await.expect("it has a place now").unwrap();
    assert_eq!(byte, [b'H']);
}

#[tokio::test]
async fn who_reads_nothing_loses_the_connection() {
    let settings = ServeSettings { write_timeout: Duration::from_millis(200), ..ServeSettings::default() };
    let server = Server::start(settings).await;
    let admin = server.app.admin().await;
    let Shown::Cookie(cookie) = &admin.shown else { panic!("a cookie") };
    let mut stream = server.connect().await;
    let request = format!("GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n");
    // Many answers of hundreds of kilobytes fill what the system holds for a slow reader.
    let asked = timeout(BOUND, async {
        loop {
            if stream.write_all(request.as_bytes()).await.is_err() {
                break;
            }
        }
    });
    asked.await.expect("the server gives up");
}

#[tokio::test]
async fn draining_answers_what_is_under_way_and_takes_nothing_new() {
    let server = Server::start(ServeSettings::default()).await;
    let admin = server.app.admin().await;
    let Shown::Cookie(cookie) = &admin.shown else { panic!("a cookie") };
    let mut idle = server.connect().await;
    ask(&mut idle, "/healthz", "").await;
    let mut streaming = server.connect().await;
    ask(&mut streaming, "/api/v1/changes", &format!("Cookie: {cookie}\r\n")).await;
    let mut sending = server.connect().await;
    let head = "POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n";
    sending.write_all(head.as_bytes()).await.unwrap();
    sending.write_all(b"{").await.unwrap();
    // The body's first half has arrived when the server answers someone else after it.
    ask(&mut idle, "/healthz", "").await;

    server.shutdown.drain.cancel();
    assert_eq!(rest(&mut idle).await, "");
    assert!(rest(&mut streaming).await.ends_with("0\r\n\r\n"), "the stream ends as it should");
    let answer = exchange(&mut sending, b"}").await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    let address = server.address;
    server.ended().await;
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn draining_has_an_end_and_stopping_is_at_once() {
    let settings = ServeSettings { drain_timeout: Duration::from_millis(100), ..ServeSettings::default() };
    let begin = async |server: &Server| {
        let mut stream = server.connect().await;
        let head = "POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{";
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut other = server.connect().await;
        ask(&mut other, "/healthz", "").await;
        stream
    };
    let server = Server::start(settings).await;
    let mut stream = begin(&server).await;
    server.shutdown.drain.cancel();
    assert_eq!(rest(&mut stream).await, "");
    server.ended().await;

    let server = Server::start(ServeSettings::default()).await;
    let mut stream = begin(&server).await;
    server.shutdown.drain.cancel();
    server.shutdown.stop.cancel();
    assert_eq!(rest(&mut stream).await, "");
    server.ended().await;
}
