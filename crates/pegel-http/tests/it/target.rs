//! Targets that do as a test says, names that resolve as a test says, and exchanges that ask them.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pegel_core::clock::ManualClock;
use pegel_http::Outbound;
use pegel_http::egress::Egress;
use pegel_http::expect::Expect;
use pegel_http::report::Report;
use pegel_http::request::Request;
use pegel_http::resolve::{BoxFuture, Resolve, ResolveError};
use pegel_http::trust::Trust;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A deadline that is long for a loopback target and short for a person.
pub(crate) const DEADLINE: Duration = Duration::from_millis(400);

/// The most an exchange may take beyond its deadline on a busy machine.
pub(crate) const SLACK: Duration = Duration::from_millis(600);

/// A target on loopback; it ends with the value.
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    pub(crate) connection_count: Arc<AtomicUsize>,
    accepting: JoinHandle<()>,
}

impl Target {
    /// Starts a target that treats each connection as told.
    pub(crate) async fn start<F, W>(treat: F) -> Self
    where
        F: Fn(TcpStream) -> W + Send + Sync + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        Self::start_on("127.0.0.1:0", treat).await
    }

    pub(crate) async fn start_on<F, W>(address: &str, treat: F) -> Self
    where
        F: Fn(TcpStream) -> W + Send + Sync + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let connection_count = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connection_count);
        let accepting = tokio::spawn(async move {
            let mut treated = tokio::task::JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                count.fetch_add(1, Ordering::SeqCst);
                treated.spawn(treat(stream));
                while treated.try_join_next().is_some() {}
            }
        });
        Self { address, connection_count, accepting }
    }

    /// Starts a target that reads a request, writes these bytes and closes.
    pub(crate) async fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer = Arc::new(answer.into());
        Self::start(move |mut stream| {
            let answer = Arc::clone(&answer);
            async move {
                read_head(&mut stream).await;
                let _ = stream.write_all(&answer).await;
            }
        })
        .await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Reads the head of a request.
pub(crate) async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(head).unwrap()
}

/// A name server of a test: each name has a list of answers, of which the last is repeated.
#[derive(Default)]
pub(crate) struct Names {
    answers: Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>,
    pub(crate) asked: AtomicUsize,
}

impl Names {
    pub(crate) fn set(&self, name: &str, answers: &[&[&str]]) {
        let addresses = |answer: &&[&str]| answer.iter().map(|text| text.parse().unwrap()).collect();
        let answers = answers.iter().map(addresses).collect();
        self.answers.lock().unwrap().insert(name.to_owned(), answers);
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, ResolveError>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut all = self.answers.lock().unwrap();
        let found = all.get_mut(host).and_then(|answers| match answers.len() {
            0 => None,
            1 => answers.front().cloned(),
            _ => answers.pop_front(),
        });
        Box::pin(async move {
            match host {
                "silent.test" => std::future::pending().await,
                "broken.test" => Err(ResolveError::Unavailable(None)),
                _ => found.ok_or(ResolveError::NotFound(None)),
            }
        })
    }
}

pub(crate) const NOW: &str = "2026-06-01T00:00:00Z";

/// Exchanges that may ask loopback by its addresses and by `*.test` names that are listed here.
pub(crate) fn outbound_of(names: &Arc<Names>, trust: Trust) -> Outbound {
    let hosts = ["127.0.0.1", "::1", "good.test", "other.test", "each.test"].map(str::to_owned);
    let clock = Arc::new(ManualClock::new(NOW.parse().unwrap()));
    Outbound::new(Arc::clone(names) as Arc<dyn Resolve>, Egress::new(hosts), trust, clock)
}

pub(crate) fn outbound() -> (Outbound, Arc<Names>) {
    let names = Arc::new(Names::default());
    let trust = Trust::only(&crate::certificates::any_root()).unwrap();
    (outbound_of(&names, trust), names)
}

pub(crate) fn get(url: &str) -> Request {
    Request::get(url, DEADLINE).unwrap()
}

/// Asks once, expecting 200 to 299 only.
pub(crate) async fn ask(request: &Request) -> Report {
    outbound().0.send(request, &Expect::default()).await
}

/// Returns the code of a failure and the phase in which it was, or `ok`.
pub(crate) fn told(report: &Report) -> String {
    match &report.failure {
        None => "ok".to_owned(),
        Some(failure) => format!("{} in {}", failure.error.code(), failure.phase),
    }
}

/// Checks that an exchange ended at its deadline, in a phase, and not much later.
pub(crate) fn assert_timeout(report: &Report, phase: &str) {
    assert_eq!(told(report), format!("outbound_timeout in {phase}"));
    assert!(report.total >= DEADLINE && report.total < DEADLINE + SLACK, "{:?}", report.total);
}
