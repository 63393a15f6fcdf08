//! What the server costs: ready after a start, at rest with one small cluster, and with a large catalog under readers.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use fluss_testkit::fake_server::peak_count;
use fluss_testkit::fake_server::{FakeCluster, NewTable};
use hyper::Method;
use serde_json::{Value, json};
use tokio::time;

use crate::bench::idle::{TABLES, large_cluster, median, percentile};
use crate::clock::Stopwatch;
use crate::evidence::{Goal, Measurement};
use crate::program::folder::Folder;
use crate::program::http::Connection;
use crate::program::serve::Plan;

/// Starts on an existing store that count.
const STARTS: u32 = 7;
/// How long the server rests before its memory counts; its first readings of the cluster lie behind it then.
const REST: Duration = Duration::from_secs(30);
/// Connections that ask at the same time.
const READERS: u32 = 4;
/// Requests of each kind on each connection.
const REQUESTS: u32 = 150;
/// How long the first reading of the large catalog may take.
const READ_BOUND: Duration = Duration::from_secs(60);
const BETWEEN_TRIES: Duration = Duration::from_millis(100);
/// Span over which requests are counted.
const SECOND: Duration = Duration::from_secs(1);

/// Measures.
///
/// # Errors
/// The server does not start or does not answer as it should.
pub(super) fn measure(program: &Path) -> anyhow::Result<Vec<Measurement>> {
    let runtime = tokio::runtime::Runtime::new().context("starting the scripted server's runtime")?;
    runtime.block_on(async {
        let mut rows = at_rest(program).await?;
        rows.extend(with_large_catalog(program).await?);
        Ok(rows)
    })
}

async fn at_rest(program: &Path) -> anyhow::Result<Vec<Measurement>> {
    let folder = Folder::new("bench-idle")?;
    let cluster = FakeCluster::builder().tablet_servers(3).table(NewTable::log("shop", "orders")).start()?;
    let plan = Plan::new(program, folder.path())?;
    let token = {
        let mut server = plan.start().await?;
        let token = server.first_token().await?;
        let mut connection = server.connect(&token).await?;
        register(&mut connection, "small", &cluster.bootstrap()).await?;
        server.stop().await?;
        token
    };
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let server = plan.start().await?;
        println!("ready after {:.0} ms", server.ready_after().as_secs_f64() * 1e3);
        starts.push(server.ready_after().as_secs_f64() * 1e3);
        server.stop().await?;
    }
    let server = plan.start().await?;
    let mut connection = server.connect(&token).await?;
    until_listed(&mut connection, "small", 1).await?;
    time::sleep(REST).await;
    let rss = server.rss_mib()?;
    println!("at rest: {rss:.1} MiB");
    server.stop().await?;
    let largest = starts.iter().copied().fold(f64::NAN, f64::max);
    Ok(vec![
        row("start to ready, median", median(starts.into_iter()), "ms", Goal::AtMost(300.0), STARTS),
        row("start to ready, longest", largest, "ms", Goal::AtMost(300.0), STARTS),
        row("server at rest, RSS", rss, "MiB", Goal::AtMost(64.0), 1),
    ])
}

async fn with_large_catalog(program: &Path) -> anyhow::Result<Vec<Measurement>> {
    let folder = Folder::new("bench-large")?;
    let cluster = large_cluster()?;
    let plan = Plan::new(program, folder.path())?;
    let mut server = plan.start().await?;
    let token = server.first_token().await?;
    let mut connection = server.connect(&token).await?;
    cluster.reset_counters();
    let stopwatch = Stopwatch::start();
    register(&mut connection, "large", &cluster.bootstrap()).await?;
    until_listed(&mut connection, "large", TABLES).await?;
    println!("catalog read after {:.1} s", stopwatch.elapsed().as_secs_f64());

    let mut readers = tokio::task::JoinSet::new();
    for number in 0..READERS {
        let connection = server.connect(&token).await?;
        readers.spawn(read(connection, number));
    }
    let mut times = Times::default();
    while let Some(read) = readers.join_next().await {
        times.add(read.context("a reader stopped")??);
    }
    // Another reading in the background falls into the time that is counted.
    let refresh = "/api/v1/clusters/large/operations/tables?limit=1&refresh=true";
    connection.expect(Method::GET, refresh, None).await?;
    time::sleep(Duration::from_secs(10)).await;
    let busiest = peak_count(&cluster.seen(), SECOND);
    let rss = server.rss_mib()?;
    println!("large catalog: {rss:.1} MiB, {busiest} requests in the busiest second");
    server.stop().await?;
    let runs = READERS * REQUESTS;
    let p95 = |values: Vec<f64>| percentile(values.into_iter(), 95);
    Ok(vec![
        row("list of 10,000 tables, p95", p95(times.list), "ms", Goal::AtMost(50.0), runs),
        row("search in 10,000 tables, p95", p95(times.search), "ms", Goal::AtMost(50.0), runs),
        row("page of 10,000 tables, p95", p95(times.page), "ms", Goal::AtMost(50.0), runs),
        row("server with 10,000 tables, RSS", rss, "MiB", Goal::AtMost(256.0), 1),
        row("cluster requests in the busiest second", busiest as f64, "count", Goal::AtMost(20.0), 1),
    ])
}

/// Milliseconds of each request, by what was asked.
#[derive(Default)]
struct Times {
    list: Vec<f64>,
    search: Vec<f64>,
    page: Vec<f64>,
}

impl Times {
    fn add(&mut self, other: Self) {
        self.list.extend(other.list);
        self.search.extend(other.search);
        self.page.extend(other.page);
    }
}

async fn read(mut connection: Connection, number: u32) -> anyhow::Result<Times> {
    let mut times = Times::default();
    for round in 0..REQUESTS {
        // A different part each time, so that nothing can be answered from the last answer.
        let place = (round * 61 + number * 17) % 9_900;
        let base = "/api/v1/clusters/large/operations/tables?limit=100";
        times.list.push(listed(&mut connection, base).await?.0);
        let (took, name) = listed(&mut connection, &format!("{base}&offset={place}")).await?;
        times.page.push(took);
        // The end of a name stands anywhere in a few others, as what people type does.
        let word: String = name.chars().skip(1).collect();
        times.search.push(listed(&mut connection, &format!("{base}&search={word}")).await?.0);
    }
    Ok(times)
}

/// Returns how many milliseconds a list took, and the first name in it; an empty one is an error.
async fn listed(connection: &mut Connection, path: &str) -> anyhow::Result<(f64, String)> {
    let (answer, took) = connection.expect(Method::GET, path, None).await?;
    let name = answer.pointer("/data/items/0/name").and_then(Value::as_str);
    let name = name.with_context(|| format!("{path} lists nothing: {answer}"))?;
    Ok((took.as_secs_f64() * 1e3, name.to_owned()))
}

/// Registers a cluster; what it is called is its slug.
pub(in crate::bench) async fn register(
    connection: &mut Connection,
    slug: &str,
    endpoint: &str,
) -> anyhow::Result<()> {
    let body = json!({
        "slug": slug,
        "name": slug,
        "environment": "test",
        "read_only": true,
        "connection": { "endpoint": endpoint },
    });
    connection.expect(Method::POST, "/api/v1/clusters", Some(&body)).await?;
    Ok(())
}

/// Waits until the whole catalog is listed and said to be complete.
pub(in crate::bench) async fn until_listed(
    connection: &mut Connection,
    slug: &str,
    count: u64,
) -> anyhow::Result<()> {
    let path = format!("/api/v1/clusters/{slug}/operations/tables?limit=1");
    let stopwatch = Stopwatch::start();
    loop {
        let (answer, _) = connection.expect(Method::GET, &path, None).await?;
        let at = |pointer: &str| answer.pointer(pointer).unwrap_or(&Value::Null);
        if *at("/status") == "ok" && *at("/data/total_count") == count {
            return Ok(());
        }
        if stopwatch.elapsed() > READ_BOUND {
            bail!("the catalog of {slug} is not listed: {answer}");
        }
        time::sleep(BETWEEN_TRIES).await;
    }
}

fn row(metric: &'static str, value: f64, unit: &'static str, goal: Goal, runs: u32) -> Measurement {
    Measurement { metric, value, unit, goal, runs }
}
