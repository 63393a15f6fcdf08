//! Ending a server while requests hang: nothing holds it longer than its drain timeout, and a second signal ends it.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use fluss_testkit::fake_server::{FakeCluster, NewTable, Script};
use hyper::Method;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time;

use super::{at, row, until};
use crate::clock::Stopwatch;
use crate::evidence::{Goal, Measurement};
use crate::program::folder::Folder;
use crate::program::http::{Connection, Credential, Exchange, Stream};
use crate::program::serve::{Plan, Server};

const DRAIN: Duration = Duration::from_secs(3);
/// How much longer than the drain timeout the end may take.
const SLACK: Duration = Duration::from_secs(2);
/// How soon a second signal ends the process.
const AT_ONCE: Duration = Duration::from_secs(1);
/// How long it may take until what is sent lies on the server.
const SOON: Duration = Duration::from_secs(15);

/// Measures.
///
/// # Errors
/// A server does not start, or what should hang does not.
pub(super) async fn measure(program: &Path) -> anyhow::Result<Vec<Measurement>> {
    let folder = Folder::new("chaos-hang")?;
    let builder = FakeCluster::builder().tablet_servers(2);
    let cluster = builder.table(NewTable::log("shop", "orders").buckets(4)).start()?;
    let drain = DRAIN.as_secs().to_string();
    let plan = Plan::new(program, folder.path())?.with("PEGEL_SERVER_DRAIN_TIMEOUT_SECONDS", drain);
    let token = prepare(&plan, &cluster).await?;

    let server = plan.start().await?;
    let burden = Burden::lay_on(&server, &plan, &cluster, &token).await?;
    let stopwatch = Stopwatch::start();
    let first = end(server, None).await?;
    println!(
        "SIGTERM with {} requests hanging, a stream, an idle connection, a half-sent head and a half-sent body: \
         ended after {:.2} s, drain timeout {} s",
        burden.hanging.len(),
        first.as_secs_f64(),
        DRAIN.as_secs()
    );
    burden.check_all_ended(stopwatch).await?;
    release(&cluster);

    let server = plan.start().await?;
    let burden = Burden::lay_on(&server, &plan, &cluster, &token).await?;
    let second = end(server, Some(Duration::from_millis(500))).await?;
    println!("second SIGTERM after 0.5 s: ended {:.2} s later", second.as_secs_f64());
    drop(burden);
    release(&cluster);

    let quiet = idle_only(&plan, &token).await?;
    println!("SIGTERM with an idle connection only: ended after {:.2} s", quiet.as_secs_f64());
    let unread = never_read(&plan, &cluster, &token).await?;
    println!(
        "SIGTERM while a list waits for the first reading of a silent cluster: ended after {:.2} s",
        unread.as_secs_f64()
    );
    let held = Goal::AtMost((DRAIN + SLACK).as_secs_f64());
    let at_once = Goal::AtMost(AT_ONCE.as_secs_f64());
    Ok(vec![
        row("end with hanging requests, drain timeout 3 s", first.as_secs_f64(), "s", held, 1),
        row("end while a list waits for its first reading", unread.as_secs_f64(), "s", held, 1),
        row("end after a second SIGTERM", second.as_secs_f64(), "s", at_once, 1),
        row("end with an idle connection only", quiet.as_secs_f64(), "s", at_once, 1),
    ])
}

/// Registers the cluster with limits far beyond the drain timeout, and returns a token.
async fn prepare(plan: &Plan, cluster: &FakeCluster) -> anyhow::Result<String> {
    let mut server = plan.start().await?;
    let token = server.first_token().await?;
    let mut connection = server.connect(&token).await?;
    let body = json!({
        "slug": "eu", "name": "eu", "environment": "test", "read_only": true,
        "connection": {
            "endpoint": cluster.bootstrap(), "request_timeout_seconds": 120, "dial_timeout_seconds": 120,
        },
    });
    connection.expect(Method::POST, "/api/v1/clusters", Some(&body)).await?;
    let path = "/api/v1/clusters/eu/operations/tables";
    until(&mut connection, path, SOON, |answer| *at(answer, "/data/total_count") == 1).await?;
    server.stop().await?;
    Ok(token)
}

/// Ends a server by one signal, or by a second one after a pause; returns how long the last one took.
async fn end(mut server: Server, pause: Option<Duration>) -> anyhow::Result<Duration> {
    server.terminate().await?;
    if let Some(pause) = pause {
        time::sleep(pause).await;
        server.terminate().await?;
    }
    let stopwatch = Stopwatch::start();
    let status = server.ended(DRAIN * 10).await?;
    ensure!(status.success(), "the server ended with {status}; it said: {}", server.messages());
    Ok(stopwatch.elapsed())
}

fn release(cluster: &FakeCluster) {
    for server in cluster.servers() {
        server.clear_all();
    }
}

async fn idle_only(plan: &Plan, token: &str) -> anyhow::Result<Duration> {
    let server = plan.start().await?;
    let mut idle = plan_connection(plan, token).await?;
    idle.get("/api/v1/session").await?;
    end(server, None).await
}

/// Ends a server that has never been answered by its cluster, while somebody waits for a list of it.
async fn never_read(plan: &Plan, cluster: &FakeCluster, token: &str) -> anyhow::Result<Duration> {
    for one in cluster.servers() {
        one.on_any(Script::NeverAnswer);
    }
    let server = plan.start().await?;
    let mut connection = plan_connection(plan, token).await?;
    let path = "/api/v1/clusters/eu/operations/tables";
    let waiting = tokio::spawn(async move { connection.exchange(Method::GET, path, None).await });
    time::sleep(Duration::from_millis(500)).await;
    ensure!(!waiting.is_finished(), "a list of what was never read is answered at once");
    let took = end(server, None).await?;
    if let Exchange::Torn(status, error) = waiting.await? {
        bail!("an answer of {status} was cut: {error:#}");
    }
    release(cluster);
    Ok(took)
}

async fn plan_connection(plan: &Plan, token: &str) -> anyhow::Result<Connection> {
    Connection::open_with(plan.authority(), Credential::Token(token.to_owned())).await
}

/// Everything that could keep a server from ending.
struct Burden {
    hanging: JoinSet<Exchange>,
    stream: Stream,
    _idle: Connection,
    _half_head: TcpStream,
    _half_body: TcpStream,
}

impl Burden {
    async fn lay_on(
        server: &Server,
        plan: &Plan,
        cluster: &FakeCluster,
        token: &str,
    ) -> anyhow::Result<Self> {
        let mut idle = server.connect(token).await?;
        let listed = "/api/v1/clusters/eu/operations/tables";
        until(&mut idle, listed, SOON, |answer| *at(answer, "/data/total_count") == 1).await?;
        let mut stream = server.connect(token).await?.stream(None).await?;
        stream.next().await?.context("a stream begins with a sign of life")?;
        for one in cluster.servers() {
            one.reset_counters();
            one.on_any(Script::NeverAnswer);
        }
        let mut hanging = JoinSet::new();
        for (method, path) in [
            (Method::GET, "/api/v1/clusters/eu/operations/tables/offsets?database=shop&table=orders"),
            (Method::GET, "/api/v1/clusters/eu/operations/tables/stats?database=shop&table=orders"),
            (Method::GET, "/api/v1/clusters/eu/operations/acls"),
            (Method::GET, "/api/v1/clusters/eu/operations/cluster-config"),
            (Method::POST, "/api/v1/clusters/eu/test"),
        ] {
            let mut connection = plan_connection(plan, token).await?;
            let body = (method == Method::POST).then(|| json!({}));
            hanging.spawn(async move { connection.exchange(method, path, body.as_ref()).await });
        }
        let arrived = cluster.coordinator().until(|one| one.in_flight_max() >= 3);
        time::timeout(SOON, arrived).await.context("the requests do not reach the cluster")?;
        let half_head = half_sent(plan, "GET /api/v1/clusters HTTP/1.1\r\nhost: a").await?;
        let head = format!(
            "POST /api/v1/users HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: 1000\r\n\r\n{{",
            plan.authority()
        );
        let half_body = half_sent(plan, &head).await?;
        // What answers at once does not hang; a moment shows it.
        time::sleep(Duration::from_millis(300)).await;
        if let Some(done) = hanging.try_join_next() {
            match done? {
                Exchange::Answered(answer) => {
                    bail!("a request does not hang: {} {}", answer.status, answer.text())
                }
                Exchange::Unanswered(error) | Exchange::Torn(_, error) => return Err(error),
            }
        }
        Ok(Self { hanging, stream, _idle: idle, _half_head: half_head, _half_body: half_body })
    }

    /// Checks that no answer of success was cut, and that the stream ended as streams end.
    async fn check_all_ended(mut self, since: Stopwatch) -> anyhow::Result<()> {
        while let Some(ended) = self.hanging.join_next().await {
            if let Exchange::Torn(status, error) = ended? {
                bail!("an answer of {status} was cut: {error:#}");
            }
        }
        while self.stream.next().await.context("the stream broke off")?.is_some() {}
        ensure!(since.elapsed() < DRAIN * 10, "clients were left waiting");
        Ok(())
    }
}

async fn half_sent(plan: &Plan, text: &str) -> anyhow::Result<TcpStream> {
    let mut stream = TcpStream::connect(plan.authority()).await?;
    stream.write_all(text.as_bytes()).await?;
    Ok(stream)
}
