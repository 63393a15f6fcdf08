//! Killing a server at random moments while clients write: what it said was done is there when it is back.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use hyper::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::time;

use super::kill_writers::{Acknowledged, Writers};
use super::{at, row};
use crate::evidence::{Goal, Measurement};
use crate::program::folder::Folder;
use crate::program::http::{Connection, Credential};
use crate::program::postgres::Database;
use crate::program::serve::{Plan, Server};

/// The longest that writers work after their first answer.
const WORK_MS: u64 = 400;
/// How long a killed server may take until it is ready again.
const READY_S: f64 = 5.0;
/// Clusters that stay between two rounds: each of them is looked at all the time.
const KEPT_CLUSTERS: usize = 20;
/// Rounds after which progress is told.
const TELL_EVERY: u32 = 20;

/// Measures on both databases.
///
/// # Errors
/// Something was lost or is half there.
pub(super) async fn measure(root: &Path, program: &Path, rounds: u32) -> anyhow::Result<Vec<Measurement>> {
    let folder = Folder::new("chaos-kill-sqlite")?;
    let plan = Plan::new(program, folder.path())?;
    let sqlite = kill_and_look(&plan, "SQLite", rounds).await.context("on SQLite")?;
    let database = Database::start(root).await?;
    let other = Folder::new("chaos-kill-postgres")?;
    let plan = Plan::new(program, other.path())?;
    let plan = plan.with("PEGEL_STORE_KIND", "postgres").with("PEGEL_STORE_POSTGRES_URL", database.address());
    let postgres = kill_and_look(&plan, "PostgreSQL", rounds).await.context("on PostgreSQL")?;
    let killed = Goal::AtLeast(f64::from(rounds));
    let writes = Goal::AtLeast(5.0 * f64::from(rounds));
    Ok(vec![
        row("servers killed under writes, SQLite", f64::from(sqlite.killed), "count", killed, rounds),
        row("answered writes, none lost, SQLite", sqlite.writes as f64, "count", writes, rounds),
        row("ready after a kill, longest, SQLite", sqlite.ready_after, "s", Goal::AtMost(READY_S), rounds),
        row("servers killed under writes, PostgreSQL", f64::from(postgres.killed), "count", killed, rounds),
        row("answered writes, none lost, PostgreSQL", postgres.writes as f64, "count", writes, rounds),
        row(
            "ready after a kill, longest, PostgreSQL",
            postgres.ready_after,
            "s",
            Goal::AtMost(READY_S),
            rounds,
        ),
    ])
}

/// What one database went through.
#[derive(Default)]
struct Toll {
    killed: u32,
    writes: u64,
    /// Longest time until ready after a kill, in seconds.
    ready_after: f64,
}

async fn kill_and_look(plan: &Plan, database: &str, rounds: u32) -> anyhow::Result<Toll> {
    let mut server = plan.start().await?;
    let admin = server.first_admin().await?.credential;
    let (mut toll, mut known) = (Toll::default(), Known::default());
    for round in 0..rounds {
        let acknowledged = write_and_kill(server, plan, &admin, round).await?;
        toll.killed += 1;
        toll.writes += acknowledged.count;
        server = plan.start().await.with_context(|| format!("after kill {round}"))?;
        toll.ready_after = toll.ready_after.max(server.ready_after().as_secs_f64());
        let looked = known.look(plan, &admin, &acknowledged).await;
        looked.with_context(|| format!("after kill {round}; the server said: {}", server.messages()))?;
        if (round + 1) % TELL_EVERY == 0 {
            println!(
                "{database}: {} servers killed, {} writes answered, none lost",
                toll.killed, toll.writes
            );
        }
    }
    let mut connection = Connection::open_with(plan.authority(), admin).await?;
    known.look_at_all(&mut connection).await.context("at the end")?;
    server.stop().await?;
    let rows = verify_audit(plan).await?;
    println!(
        "killed {} servers on {database}, {} answered writes, none lost; {} users and {} clusters read at the end; \
         ready after {:.2} s at most; pegel audit verify: {rows}",
        toll.killed,
        toll.writes,
        known.users.len(),
        known.clusters.len(),
        toll.ready_after
    );
    Ok(toll)
}

async fn write_and_kill(
    server: Server,
    plan: &Plan,
    admin: &Credential,
    round: u32,
) -> anyhow::Result<Acknowledged> {
    let writers = Writers::begin(plan.authority(), admin, round).await?;
    writers.first().await?;
    time::sleep(Duration::from_micros(chance(WORK_MS * 1_000))).await;
    server.kill().await?;
    writers.end().await
}

/// A number below `end`, different each time.
fn chance(end: u64) -> u64 {
    RandomState::new().build_hasher().finish() % end
}

/// Runs `pegel audit verify` on the store of a server that has ended, and returns what it printed.
async fn verify_audit(plan: &Plan) -> anyhow::Result<String> {
    let mut command = plan.command(&["audit", "verify", "--data-dir"]);
    let output = command.arg(plan.data_dir()).output().await?;
    let (said, complained) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "pegel audit verify ended with {}: {said}{complained}", output.status);
    Ok(said.trim().replace('\n', " "))
}

/// What is there, as far as was seen.
#[derive(Default)]
struct Known {
    /// Names of users by id.
    users: BTreeMap<String, String>,
    clusters: BTreeSet<String>,
}

impl Known {
    /// Looks for what was acknowledged since the last look, and at whatever else is listed now.
    async fn look(&mut self, plan: &Plan, admin: &Credential, done: &Acknowledged) -> anyhow::Result<()> {
        let connection = &mut Connection::open_with(plan.authority(), admin.clone()).await?;
        let users = list(connection, "users").await?;
        let listed: BTreeSet<&str> = users.iter().filter_map(|user| at(user, "/id").as_str()).collect();
        for id in self.users.keys().chain(done.users.keys()) {
            ensure!(listed.contains(id.as_str()), "the user {id} was made and is not listed");
        }
        for user in &users {
            let (id, name) = (text(user, "/id")?, text(user, "/name")?);
            if self.users.insert(id.clone(), name).is_none() {
                let read = connection.get(&format!("/api/v1/users/{id}")).await?;
                ensure!(read == *user, "a user is listed as {user} and read as {read}");
            }
        }
        self.look_at_clusters(connection, done).await?;
        look_at_tokens(connection, plan, done).await?;
        if let Some((id, (name, password))) = done.users.last_key_value() {
            sign_in(plan, name, password).await?;
            let entries =
                connection.get(&format!("/api/v1/audit?action=users.create&target=user/{id}")).await?;
            let count = at(&entries, "/items").as_array().map_or(0, Vec::len);
            ensure!(count == 1, "the user {id} has {count} audit rows of being made");
        }
        let chain = connection.get("/api/v1/audit/verify").await?;
        ensure!(*at(&chain, "/state") == "whole", "the audit chain is not whole: {chain}");
        Ok(())
    }

    async fn look_at_clusters(
        &mut self,
        connection: &mut Connection,
        done: &Acknowledged,
    ) -> anyhow::Result<()> {
        let clusters = list(connection, "clusters").await?;
        let listed: BTreeSet<&str> = clusters.iter().filter_map(|one| at(one, "/slug").as_str()).collect();
        for slug in self.clusters.iter().chain(&done.clusters) {
            ensure!(listed.contains(slug.as_str()), "the cluster {slug} was registered and is not listed");
        }
        for slug in &done.removed {
            ensure!(!listed.contains(slug.as_str()), "the cluster {slug} was removed and is listed");
        }
        for cluster in &clusters {
            let slug = text(cluster, "/slug")?;
            let read = connection.get(&format!("/api/v1/clusters/{slug}")).await?;
            ensure!(
                read.get("version") == cluster.get("version") && at(&read, "/unusable").is_null(),
                "a cluster is listed as {cluster} and read as {read}"
            );
            ensure!(*at(&read, "/connection/has_sasl_password") == true, "{slug} has lost its password");
            if self.clusters.len() < KEPT_CLUSTERS || self.clusters.contains(&slug) {
                self.clusters.insert(slug);
            } else {
                let path = format!("/api/v1/clusters/{slug}?version={}", at(&read, "/version"));
                connection.expect(Method::DELETE, &path, None).await?;
            }
        }
        Ok(())
    }

    /// Reads everything there ever was once more.
    async fn look_at_all(&self, connection: &mut Connection) -> anyhow::Result<()> {
        for (id, name) in &self.users {
            let read = connection.get(&format!("/api/v1/users/{id}")).await?;
            ensure!(*at(&read, "/name") == name.as_str(), "the user {id} is {read}");
        }
        for slug in &self.clusters {
            connection.get(&format!("/api/v1/clusters/{slug}")).await?;
        }
        Ok(())
    }
}

/// Checks that the last token counts, and revokes all, since there may be a hundred only.
async fn look_at_tokens(connection: &mut Connection, plan: &Plan, done: &Acknowledged) -> anyhow::Result<()> {
    let tokens = list(connection, "account/tokens").await?;
    for (id, secret) in &done.tokens {
        let is_listed = tokens.iter().any(|token| *at(token, "/id") == id.as_str());
        ensure!(is_listed, "the token {id} was made and is not listed");
        let mut other = Connection::open_with(plan.authority(), Credential::Token(secret.clone())).await?;
        let answer = other.send(Method::GET, "/api/v1/session", None).await?;
        ensure!(answer.status == StatusCode::OK, "the token {id} does not count: {}", answer.text());
    }
    for token in tokens.iter().filter(|token| at(token, "/revoked_at").is_null()) {
        let path = format!("/api/v1/account/tokens/{}", text(token, "/id")?);
        connection.expect(Method::DELETE, &path, None).await?;
    }
    Ok(())
}

async fn sign_in(plan: &Plan, name: &str, password: &str) -> anyhow::Result<()> {
    let mut connection = Connection::open(plan.authority()).await?;
    let login = json!({ "name": name, "password": password });
    let answer = connection.send(Method::POST, "/api/v1/session", Some(&login)).await?;
    ensure!(answer.status.is_success(), "{name} was made and cannot sign in: {}", answer.text());
    Ok(())
}

/// Reads a list to its end.
async fn list(connection: &mut Connection, what: &str) -> anyhow::Result<Vec<Value>> {
    let mut items = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = connection.get(&format!("/api/v1/{what}?limit=1000{cursor}")).await?;
        items.extend(at(&page, "/items").as_array().context("a page has items")?.iter().cloned());
        match at(&page, "/next_cursor").as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(items),
        }
    }
}

fn text(answer: &Value, pointer: &str) -> anyhow::Result<String> {
    Ok(at(answer, pointer).as_str().with_context(|| format!("{answer} has no {pointer}"))?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_stays_below_its_end() {
        let drawn: BTreeSet<u64> = (0..50).map(|_| chance(1_000)).collect();
        assert!(drawn.len() > 1 && drawn.iter().all(|one| *one < 1_000));
    }
}
