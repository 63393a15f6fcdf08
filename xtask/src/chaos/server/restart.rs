//! Stopping and starting a server under load: what it began to say it says to the end, and its clients find it again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use fluss_testkit::fake_server::FakeCluster;
use hyper::{Method, StatusCode};
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time;

use super::{at, longest, row, until};
use crate::clock::Stopwatch;
use crate::evidence::{Goal, Measurement};
use crate::program::folder::Folder;
use crate::program::http::{Connection, Credential, Exchange};
use crate::program::serve::Plan;

const RESTARTS: u32 = 5;
const TABLES: u64 = 1_000;
/// Clients that list tables.
const READERS: u32 = 8;
/// Clients that hold a stream.
const LISTENERS: u32 = 4;
const DRAIN: Duration = Duration::from_secs(5);
/// How long the clients work between two restarts.
const WORK: Duration = Duration::from_secs(3);
/// How long until clients that lost the server are answered by it again.
const BACK: Duration = Duration::from_secs(15);
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// Measures.
///
/// # Errors
/// An answer was cut, a client was not let in again, or the server did not end as it should.
pub(super) async fn measure(program: &Path) -> anyhow::Result<Vec<Measurement>> {
    let folder = Folder::new("chaos-restart")?;
    let cluster = FakeCluster::builder().tablet_servers(3).generated_tables(10, 100, 4).start()?;
    let drain = DRAIN.as_secs().to_string();
    let plan = Plan::new(program, folder.path())?.with("PEGEL_SERVER_DRAIN_TIMEOUT_SECONDS", drain);
    let mut server = plan.start().await?;
    let token = server.first_token().await?;
    let mut connection = server.connect(&token).await?;
    let body = json!({
        "slug": "eu", "name": "eu", "environment": "test", "read_only": true,
        "connection": { "endpoint": cluster.bootstrap() },
    });
    connection.expect(Method::POST, "/api/v1/clusters", Some(&body)).await?;
    whole(&mut connection).await?;

    let load = Load::begin(&plan, &token);
    let (mut drains, mut returns) = (Vec::new(), Vec::new());
    for _ in 0..RESTARTS {
        time::sleep(WORK).await;
        let before = load.counts.answered.load(Ordering::Relaxed);
        ensure!(before > 0, "the clients do nothing");
        let stopwatch = Stopwatch::start();
        server.terminate().await?;
        let status = server.ended(DRAIN * 10).await?;
        ensure!(status.success(), "the server ended with {status}; it said: {}", server.messages());
        drains.push(stopwatch.elapsed());
        let stopwatch = Stopwatch::start();
        server = plan.start().await?;
        let mut connection = server.connect(&token).await?;
        whole(&mut connection).await?;
        returns.push(stopwatch.elapsed());
    }
    time::sleep(WORK).await;
    let counts = load.end().await?;
    server.stop().await?;
    let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let (answered, refused) = (of(&counts.answered), of(&counts.refused));
    let (ended, resumed) = (of(&counts.streams_ended), of(&counts.streams_opened));
    println!(
        "{RESTARTS} restarts under {READERS} readers and {LISTENERS} streams: {answered} answers, all whole, \
         {refused} requests refused meanwhile, {ended} streams ended, {resumed} opened; longest drain {:.2} s, \
         longest return of the whole catalog {:.2} s",
        longest(drains.iter().copied()),
        longest(returns.iter().copied())
    );
    let streams = f64::from(LISTENERS * RESTARTS);
    Ok(vec![
        row(
            "drain under load, longest",
            longest(drains),
            "s",
            Goal::AtMost((DRAIN + Duration::from_secs(2)).as_secs_f64()),
            RESTARTS,
        ),
        row(
            "1,000 tables listed again after a restart, longest",
            longest(returns),
            "s",
            Goal::AtMost(BACK.as_secs_f64()),
            RESTARTS,
        ),
        row("answers under restarts, none cut", answered as f64, "count", Goal::AtLeast(100.0), RESTARTS),
        row(
            "streams that a stop ended as streams end",
            ended as f64,
            "count",
            Goal::AtLeast(streams),
            RESTARTS,
        ),
    ])
}

/// Waits until the whole catalog is listed.
async fn whole(connection: &mut Connection) -> anyhow::Result<()> {
    let path = "/api/v1/clusters/eu/operations/tables?limit=1";
    let is_whole = |answer: &_| *at(answer, "/status") == "ok" && *at(answer, "/data/total_count") == TABLES;
    until(connection, path, BACK, is_whole).await?;
    Ok(())
}

#[derive(Default)]
struct Counts {
    answered: AtomicU64,
    refused: AtomicU64,
    streams_opened: AtomicU64,
    streams_ended: AtomicU64,
}

/// Clients at work. The first thing that must not be ends its client with an error.
struct Load {
    clients: JoinSet<anyhow::Result<()>>,
    counts: Arc<Counts>,
    stop: watch::Sender<bool>,
}

impl Load {
    fn begin(plan: &Plan, token: &str) -> Self {
        let (stop, stopped) = watch::channel(false);
        let (mut clients, counts) = (JoinSet::new(), Arc::<Counts>::default());
        let client = |number: u32| Client {
            authority: plan.authority().to_owned(),
            credential: Credential::Token(token.to_owned()),
            number,
            counts: Arc::clone(&counts),
            stopped: stopped.clone(),
        };
        for number in 0..READERS {
            clients.spawn(client(number).read());
        }
        for number in 0..LISTENERS {
            clients.spawn(client(number).listen());
        }
        Self { clients, counts, stop }
    }

    async fn end(mut self) -> anyhow::Result<Arc<Counts>> {
        self.stop.send_replace(true);
        while let Some(ended) =
            time::timeout(BACK, self.clients.join_next()).await.context("a client hangs")?
        {
            ended??;
        }
        Ok(self.counts)
    }
}

struct Client {
    authority: String,
    credential: Credential,
    number: u32,
    counts: Arc<Counts>,
    stopped: watch::Receiver<bool>,
}

impl Client {
    /// Connects, as often as it takes; nothing once the work is over.
    async fn connect(&self) -> anyhow::Result<Option<Connection>> {
        let stopwatch = Stopwatch::start();
        while !*self.stopped.borrow() {
            match Connection::open_with(&self.authority, self.credential.clone()).await {
                Ok(connection) => return Ok(Some(connection)),
                Err(error) if stopwatch.elapsed() > BACK => return Err(error),
                Err(_) => {
                    self.counts.refused.fetch_add(1, Ordering::Relaxed);
                    time::sleep(BETWEEN_TRIES).await;
                }
            }
        }
        Ok(None)
    }

    async fn read(self) -> anyhow::Result<()> {
        let mut round = self.number;
        while let Some(mut connection) = self.connect().await? {
            while !*self.stopped.borrow() {
                round = round.wrapping_add(1);
                // One reader waits for readings of the cluster itself, which take long.
                let path = if self.number == 0 {
                    "/api/v1/clusters/eu/operations/tables?limit=1000&refresh=true".to_owned()
                } else {
                    format!("/api/v1/clusters/eu/operations/tables?limit=100&offset={}", round * 37 % 900)
                };
                match connection.exchange(Method::GET, &path, None).await {
                    Exchange::Answered(answer) if answer.status == StatusCode::OK => {
                        // What is no whole JSON was cut, however it ended.
                        ensure!(at(&answer.json()?, "/status").is_string(), "no envelope: {}", answer.text());
                        self.counts.answered.fetch_add(1, Ordering::Relaxed);
                    }
                    Exchange::Answered(answer) if answer.status == StatusCode::SERVICE_UNAVAILABLE => {
                        ensure!(at(&answer.json()?, "/code").is_string(), "no problem: {}", answer.text());
                        self.counts.refused.fetch_add(1, Ordering::Relaxed);
                    }
                    Exchange::Answered(answer) => bail!("{path}: {} {}", answer.status, answer.text()),
                    Exchange::Unanswered(_) => {
                        self.counts.refused.fetch_add(1, Ordering::Relaxed);
                        break;
                    }
                    Exchange::Torn(status, error) => return Err(error.context(format!("{status} was cut"))),
                }
            }
        }
        Ok(())
    }

    async fn listen(mut self) -> anyhow::Result<()> {
        let mut last_id: Option<String> = None;
        while let Some(connection) = self.connect().await? {
            // The server may end between the connection and the request.
            let Ok(mut stream) = connection.stream(last_id.as_deref()).await else {
                self.counts.refused.fetch_add(1, Ordering::Relaxed);
                time::sleep(BETWEEN_TRIES).await;
                continue;
            };
            self.counts.streams_opened.fetch_add(1, Ordering::Relaxed);
            loop {
                let part = tokio::select! {
                    part = stream.next() => part.context("a stream broke off")?,
                    _ = self.stopped.wait_for(|is_stopped| *is_stopped) => return Ok(()),
                };
                let Some(part) = part else { break };
                ensure!(!part.contains("event: resync"), "changes were missed over a restart");
                let id = part.lines().filter_map(|line| line.strip_prefix("id:")).next_back();
                last_id = id.map(|id| id.trim().to_owned()).or(last_id);
            }
            self.counts.streams_ended.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}
