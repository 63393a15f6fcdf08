//! Clusters that go and come: what is said of them is right soon, and they are not hammered meanwhile.
//!
//! Connections and requests are counted where they arrive, by the scripted clusters.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use fluss_testkit::fake_server::{FakeCluster, FakeServer, peak_count};
use hyper::Method;
use serde_json::{Value, json};
use tokio::time;

use super::{at, longest, row, until};
use crate::clock::Stopwatch;
use crate::evidence::{Goal, Measurement};
use crate::program::folder::Folder;
use crate::program::http::Connection;
use crate::program::serve::Plan;

/// How soon what is said has to be right.
const RIGHT: Duration = Duration::from_secs(15);
/// How long a cluster stays away while its connections are counted.
const AWAY: Duration = Duration::from_secs(20);
/// How often a person's console asks meanwhile.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// Most connections to one server in one second that is away, on the average: one each two seconds.
const DIALS_PER_SECOND: f64 = 0.5;
/// How long thawed servers take to read what lay there.
const UNREAD: Duration = Duration::from_millis(100);
/// Most requests to all frozen servers together in one second, on the average.
const UNREAD_PER_SECOND: f64 = 2.0;
const SECOND: Duration = Duration::from_secs(1);

/// Measures.
///
/// # Errors
/// What is said of a cluster stays wrong.
pub(super) async fn measure(program: &Path) -> anyhow::Result<Vec<Measurement>> {
    let folder = Folder::new("chaos-outage")?;
    let open = FakeCluster::builder().tablet_servers(3).generated_tables(10, 20, 4).start()?;
    let guarded = FakeCluster::builder().tablet_servers(2).user("pegel", "first");
    let guarded = guarded.generated_tables(3, 10, 1).start()?;
    let plan = Plan::new(program, folder.path())?;
    let mut server = plan.start().await?;
    let token = server.first_token().await?;
    let mut connection = server.connect(&token).await?;
    let registered = register(&mut connection, "open", json!({ "endpoint": open.bootstrap() })).await?;
    register(&mut connection, "guarded", credentials(&guarded, "first")).await?;
    let mut watch = Watch { connection, times: Vec::new(), dials: Vec::new(), busiest: Vec::new() };
    watch.comes_to("open", "up", 4).await?;
    watch.comes_to("guarded", "up", 3).await?;
    // The inventories are read, so that what is counted from here on is what an outage makes.
    for (slug, count) in [("open", 200_u64), ("guarded", 30)] {
        let path = format!("/api/v1/clusters/{slug}/operations/tables?limit=1");
        let is_whole = |answer: &Value| *at(answer, "/data/total_count") == count;
        until(&mut watch.connection, &path, RIGHT, is_whole).await?;
    }
    watch.note_busiest(&open, "registering, the open cluster");
    watch.note_busiest(&guarded, "registering, the guarded cluster");
    let registering = watch.busiest.drain(..).max().unwrap_or_default();
    println!("registering: answered after {:.2} s", registered.as_secs_f64());
    watch.times.clear();

    stopped(&mut watch, &open).await?;
    closing(&mut watch, &open).await?;
    frozen(&mut watch, &open).await?;
    one_tablet_server(&mut watch, &open).await?;
    another_password(&mut watch, &guarded).await?;
    server.stop().await?;

    let busiest = watch.busiest.iter().copied().max().unwrap_or_default();
    let most = watch.dials.iter().copied().fold(0.0, f64::max);
    let times = u32::try_from(watch.times.len())?;
    let outages = u32::try_from(watch.dials.len())?;
    let count = |count: usize| count as f64;
    Ok(vec![
        row("registration of a cluster", registered.as_secs_f64(), "s", Goal::AtMost(2.0), 1),
        row(
            "requests in the busiest second while registering",
            count(registering),
            "count",
            Goal::AtMost(20.0),
            2,
        ),
        row(
            "a cluster's state is right, longest",
            longest(watch.times),
            "s",
            Goal::AtMost(RIGHT.as_secs_f64()),
            times,
        ),
        row(
            "connections a second to a server that is away",
            most,
            "1/s",
            Goal::AtMost(DIALS_PER_SECOND),
            outages,
        ),
        row(
            "requests in the busiest second of all outages",
            count(busiest),
            "count",
            Goal::AtMost(20.0),
            outages,
        ),
    ])
}

async fn register(connection: &mut Connection, slug: &str, form: Value) -> anyhow::Result<Duration> {
    let body =
        json!({ "slug": slug, "name": slug, "environment": "test", "read_only": true, "connection": form });
    Ok(connection.expect(Method::POST, "/api/v1/clusters", Some(&body)).await?.1)
}

fn credentials(cluster: &FakeCluster, password: &str) -> Value {
    json!({
        "endpoint": cluster.bootstrap(), "security_protocol": "SASL_PLAINTEXT", "sasl_username": "pegel",
        "sasl_password": password,
    })
}

async fn stopped(watch: &mut Watch, cluster: &FakeCluster) -> anyhow::Result<()> {
    for server in cluster.servers() {
        server.stop().await?;
    }
    watch.comes_to("open", "down", 0).await.context("all servers stopped")?;
    watch.console("open", AWAY).await?;
    for server in cluster.servers() {
        server.start_again().await?;
    }
    watch.comes_to("open", "up", 4).await.context("all servers started again")?;
    watch.note_busiest(cluster, "open: stopped and started again");
    Ok(())
}

async fn closing(watch: &mut Watch, cluster: &FakeCluster) -> anyhow::Result<()> {
    for server in cluster.servers() {
        server.accept_and_close();
        server.close_connections().await?;
    }
    watch.comes_to("open", "down", 0).await.context("all servers hang up")?;
    watch.count_dials("open", cluster, "hang up").await?;
    cluster.servers().for_each(FakeServer::accept_normally);
    watch.comes_to("open", "up", 4).await.context("all servers listen again")?;
    watch.note_busiest(cluster, "open: hung up and listened again");
    Ok(())
}

async fn frozen(watch: &mut Watch, cluster: &FakeCluster) -> anyhow::Result<()> {
    cluster.servers().for_each(FakeServer::freeze);
    watch.comes_to("open", "down", 0).await.context("all servers frozen")?;
    watch.count_dials("open", cluster, "are frozen").await?;
    cluster.servers().for_each(FakeServer::thaw);
    // What was sent over all that time is read at once now, and says nothing of how fast it was sent.
    time::sleep(UNREAD).await;
    let unread = cluster.seen().len();
    println!("open: {unread} requests lay unread at the frozen servers");
    ensure!(unread as f64 <= UNREAD_PER_SECOND * AWAY.as_secs_f64(), "frozen servers were sent too much");
    cluster.reset_counters();
    watch.comes_to("open", "up", 4).await.context("all servers thawed")?;
    watch.note_busiest(cluster, "open: frozen and thawed");
    Ok(())
}

async fn one_tablet_server(watch: &mut Watch, cluster: &FakeCluster) -> anyhow::Result<()> {
    let one = cluster.tablet_servers().first().context("the cluster has tablet servers")?;
    one.stop().await?;
    watch.comes_to("open", "degraded", 3).await.context("one tablet server stopped")?;
    one.start_again().await?;
    watch.comes_to("open", "up", 4).await.context("one tablet server started again")?;
    watch.note_busiest(cluster, "open: one tablet server stopped and started again");
    Ok(())
}

async fn another_password(watch: &mut Watch, cluster: &FakeCluster) -> anyhow::Result<()> {
    change_password(cluster, "second").await?;
    watch.comes_to("guarded", "unknown", 0).await.context("the password is another")?;
    let reason = watch.connection.get("/api/v1/clusters/guarded").await?;
    ensure!(*at(&reason, "/state/reason") == "authentication_failed", "the reason is missing: {reason}");
    watch.count_dials("guarded", cluster, "refuse the password").await?;
    change_password(cluster, "first").await?;
    watch.comes_to("guarded", "up", 3).await.context("the password is the old one again")?;
    change_password(cluster, "third").await?;
    watch.comes_to("guarded", "unknown", 0).await.context("the password is another one again")?;
    let seen = watch.connection.get("/api/v1/clusters/guarded").await?;
    let body = json!({
        "version": at(&seen, "/version"), "name": "guarded", "environment": "test", "read_only": true,
        "connection": credentials(cluster, "third"),
    });
    watch.connection.expect(Method::PUT, "/api/v1/clusters/guarded", Some(&body)).await?;
    watch.comes_to("guarded", "up", 3).await.context("the new password is saved")?;
    watch.note_busiest(cluster, "guarded: passwords changed");
    Ok(())
}

/// Changes what the servers take. They ask for it on new connections.
async fn change_password(cluster: &FakeCluster, password: &str) -> anyhow::Result<()> {
    cluster.change(|model| model.users.set("pegel", password));
    for server in cluster.servers() {
        server.close_connections().await?;
    }
    Ok(())
}

/// A person who looks at a cluster.
struct Watch {
    connection: Connection,
    /// How long it took each time until what was said was right.
    times: Vec<Duration>,
    /// Connections to one server in one second, of each outage.
    dials: Vec<f64>,
    /// Requests to a whole cluster in the busiest second of each outage.
    busiest: Vec<usize>,
}

impl Watch {
    /// Waits until the cluster's state is this, and the list of its servers says that so many are alive.
    async fn comes_to(&mut self, slug: &str, state: &str, alive: usize) -> anyhow::Result<()> {
        let stopwatch = Stopwatch::start();
        let path = format!("/api/v1/clusters/{slug}");
        until(&mut self.connection, &path, RIGHT, |answer| *at(answer, "/state/state") == state).await?;
        let servers = format!("{path}/operations/servers");
        let is_right = |answer: &Value| count_alive(answer) == alive;
        until(&mut self.connection, &servers, RIGHT, is_right).await?;
        let took = stopwatch.elapsed();
        println!("{slug} is said to be {state} with {alive} servers alive after {:.1} s", took.as_secs_f64());
        self.times.push(took);
        Ok(())
    }

    /// Counts the requests of the busiest second since the last count.
    fn note_busiest(&mut self, cluster: &FakeCluster, what: &str) {
        let seen = cluster.seen();
        let busiest = peak_count(&seen, SECOND);
        println!("{what}: {} requests, {busiest} of them in the busiest second", seen.len());
        cluster.reset_counters();
        self.busiest.push(busiest);
    }

    /// Asks as an open console does.
    async fn console(&mut self, slug: &str, time: Duration) -> anyhow::Result<()> {
        let stopwatch = Stopwatch::start();
        while stopwatch.elapsed() < time {
            for path in ["", "/operations/servers", "/operations/tables?limit=100"] {
                self.connection.get(&format!("/api/v1/clusters/{slug}{path}")).await?;
            }
            time::sleep(ASK_EVERY).await;
        }
        Ok(())
    }

    /// Counts the connections that servers get which are away.
    async fn count_dials(&mut self, slug: &str, cluster: &FakeCluster, what: &str) -> anyhow::Result<()> {
        let counts = || cluster.servers().map(FakeServer::accepted_count).collect::<Vec<u64>>();
        let before = counts();
        let stopwatch = Stopwatch::start();
        self.console(slug, AWAY).await?;
        let seconds = stopwatch.elapsed().as_secs_f64();
        let dials: Vec<u64> = counts().iter().zip(before).map(|(now, before)| now - before).collect();
        let most = dials.iter().copied().max().unwrap_or_default() as f64 / seconds;
        println!(
            "{slug}: servers {what} for {seconds:.0} s and get {dials:?} connections, {most:.2} a second at most"
        );
        ensure!(dials.iter().sum::<u64>() > 0, "nobody looks whether the servers are back");
        self.dials.push(most);
        Ok(())
    }
}

fn count_alive(answer: &Value) -> usize {
    let servers = at(answer, "/data/servers").as_array();
    servers.map_or(0, |servers| servers.iter().filter(|one| *at(one, "/state") == "ALIVE").count())
}
