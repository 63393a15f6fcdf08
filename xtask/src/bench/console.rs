//! The web console on a real server: how light and fast it is with 10,000 tables, and whether it tells the truth about
//! a real cluster whose servers die.
//!
//! The tests in `web/e2e-demo` do the work in a browser; here is what they need, and what their figures have to be.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use fluss_testkit::fake_server::{FakeCluster, NewTable};
use fluss_testkit::ports::FreePorts;
use hyper::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::bench::idle;
use crate::evidence::{Goal, Measurement};
use crate::program::folder::Folder;
use crate::program::http::{Connection, Credential};
use crate::program::serve::Plan;
use crate::workspace;

/// What the tests measure, each with its unit, its goal, and how often it is looked at.
const METRICS: &[(&str, &str, Goal, u32)] = &[
    ("first page, script and style, gzip, KiB", "KiB", Goal::AtMost(150.0), 1),
    ("first draw, median, ms", "ms", Goal::AtMost(1_000.0), 10),
    ("list of 10,000 tables seen from the browser, p95, ms", "ms", Goal::AtMost(50.0), 100),
    ("search in 10,000 tables, last key to drawn rows, p95, ms", "ms", Goal::AtMost(400.0), 20),
    ("elements of a list of 1,000 rows, most less least while scrolling", "count", Goal::AtMost(50.0), 200),
    ("elements of a list of 1,000 rows, most", "count", Goal::AtMost(2_000.0), 200),
    ("frames lost while scrolling, %", "%", Goal::AtMost(5.0), 5),
    ("pages with axe violations, light", "count", Goal::AtMost(0.0), 2),
    ("pages with axe violations, dark", "count", Goal::AtMost(0.0), 2),
    ("lines for a terminal that fail", "count", Goal::AtMost(0.0), 2),
    ("tablet-server-1 killed: the cluster's page tells, s", "s", Goal::AtMost(15.0), 2),
    ("coordinator killed: the cluster's page tells, s", "s", Goal::AtMost(15.0), 2),
    ("Pegel killed: the page tells, s", "s", Goal::AtMost(15.0), 2),
    ("Pegel started again: the page tells, s", "s", Goal::AtMost(15.0), 2),
];

/// A text that does harm wherever it is not shown as mere text.
const ODD: &str = "<img src=x onerror=alert(1)> \u{202e}abc\u{202c} 🐟 \"o'k\" مرحبا";

/// Runs the suite.
///
/// # Errors
/// The program does not build, a test fails, or a figure is missing.
pub(crate) fn run(root: &Path) -> anyhow::Result<Vec<Measurement>> {
    let program = idle::build(root)?;
    let folder = Folder::new("bench-console")?;
    let tests = Tests { root, program: &program, measures: folder.path().join("measures.jsonl") };
    let runtime = tokio::runtime::Runtime::new().context("starting the scripted clusters' runtime")?;
    runtime.block_on(scripted(&tests, folder.path()))?;
    // One after the other: a small machine has no room for two clusters.
    for (name, options) in [("plain", &[][..]), ("sasl", &["--sasl"][..])] {
        let demo = Demo::start(&program, folder.path().join(name), options)?;
        let places = [("PEGEL_DEMO", demo.folder.display().to_string())];
        tests.run(&["walk", "pages", "keyboard", "first-run"], &places)?;
        // Last, since the demo does not know the servers that are started again.
        tests.run(&["faults"], &places)?;
    }
    measurements(&std::fs::read_to_string(&tests.measures).context("reading what the tests measured")?)
}

/// How the tests in the browser are started.
struct Tests<'a> {
    root: &'a Path,
    program: &'a Path,
    measures: PathBuf,
}

impl Tests<'_> {
    fn run(&self, files: &[&str], environment: &[(&str, String)]) -> anyhow::Result<()> {
        let mut command = Command::new("npx");
        command
            .current_dir(self.root.join("web"))
            .args(["vitest", "run", "--config", "vitest.demo.config.ts"])
            .args(files)
            .env("PEGEL_PROGRAM", self.program)
            .env("PEGEL_MEASURES", &self.measures)
            .envs(environment.iter().map(|(name, value)| (*name, value)));
        workspace::succeed(&mut command)
    }
}

/// A demo that is stopped when its owner is gone.
struct Demo {
    program: PathBuf,
    folder: PathBuf,
}

impl Demo {
    fn start(program: &Path, folder: PathBuf, options: &[&str]) -> anyhow::Result<Self> {
        // The demo takes a range of ports; one that is free now begins it.
        let ports = FreePorts::claim(1)?;
        let base = ports.ports().first().context("no free port")?.saturating_sub(1_000).to_string();
        let demo = Self { program: program.to_owned(), folder };
        let mut command = demo.command();
        workspace::succeed(command.args(["--detach", "--port-base", &base]).args(options))?;
        Ok(demo)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["demo", "--dir"]).arg(&self.folder).stdin(Stdio::null());
        command
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        if let Err(error) = workspace::succeed(self.command().arg("--stop")) {
            println!("the demo is not stopped: {error:#}");
        }
    }
}

/// The tests on clusters that are scripted: one of 10,000 tables, and one that is odd.
async fn scripted(tests: &Tests<'_>, folder: &Path) -> anyhow::Result<()> {
    let large = idle::large_cluster()?;
    let odd = odd_cluster()?;
    let plan = Plan::new(tests.program, &folder.join("scripted"))?;
    let mut server = plan.start().await?;
    let mut admin = server.first_admin().await?;
    for (slug, cluster) in [("large", &large), ("odd", &odd)] {
        idle::server::register(&mut admin, slug, &cluster.bootstrap()).await?;
    }
    idle::server::until_listed(&mut admin, "large", idle::TABLES).await?;
    let person = new_person(&mut admin, plan.authority()).await?;
    let place = json!({
        "url": format!("http://{}", plan.authority()), "name": person.0, "password": person.1,
    });
    let done =
        tokio::task::block_in_place(|| tests.run(&["scripted"], &[("PEGEL_SCRIPTED", place.to_string())]));
    server.stop().await?;
    done
}

fn odd_cluster() -> anyhow::Result<FakeCluster> {
    let schema = json!({
        "version": 1,
        "columns": [
            { "name": "id", "data_type": { "type": "BIGINT", "nullable": false }, "id": 0 },
            { "name": ODD, "data_type": { "type": "DECIMAL", "precision": 38, "scale": 18 }, "comment": ODD, "id": 1 },
        ],
        "highest_field_id": 1,
    });
    let table = json!({
        "version": 1, "schema": schema, "comment": ODD, "partition_key": [], "bucket_key": [], "bucket_count": 1, "properties": {},
        "custom_properties": { ODD: ODD },
    });
    let table = NewTable::raw("odd", "odd", table.to_string().into(), schema.to_string().into());
    let builder = FakeCluster::builder().tablet_servers(3).table(table);
    let cluster = builder.model(|model| {
        if let Some(bucket) = model.table_mut("odd", "odd").and_then(|table| table.bucket_mut(None, 0)) {
            bucket.latest = i64::MAX;
        }
    });
    Ok(cluster.start()?)
}

/// Makes an admin who has chosen a password; returns name and password.
async fn new_person(admin: &mut Connection, authority: &str) -> anyhow::Result<(&'static str, String)> {
    const NAME: &str = "measured";
    let user = json!({ "name": NAME, "display_name": NAME, "role": "admin", "grants": null, "scope": "all" });
    let (made, _) = admin.expect(Method::POST, "/api/v1/users", Some(&user)).await?;
    let first = made.get("password").and_then(Value::as_str).context("the password is not shown")?;
    let password = format!("{first}-changed");
    let mut connection = Connection::open(authority).await?;
    let login = json!({ "name": NAME, "password": first });
    let answer = connection.send(Method::POST, "/api/v1/session", Some(&login)).await?;
    connection.credential = Credential::Cookie(answer.cookie.context("the login gave no cookie")?);
    let change = json!({ "current_password": first, "new_password": password });
    connection.expect(Method::POST, "/api/v1/account/password", Some(&change)).await?;
    Ok((NAME, password))
}

#[derive(Debug, Deserialize)]
struct Measured {
    metric: String,
    value: f64,
}

/// The rows of all metrics; of one that was measured on both demos the greater value counts.
fn measurements(lines: &str) -> anyhow::Result<Vec<Measurement>> {
    let measured: Vec<Measured> =
        lines.lines().map(serde_json::from_str).collect::<Result<_, _>>().context("reading a figure")?;
    if let Some(unknown) = measured.iter().find(|one| METRICS.iter().all(|metric| metric.0 != one.metric)) {
        bail!("nobody knows the goal of {:?}", unknown.metric);
    }
    METRICS
        .iter()
        .map(|(metric, unit, goal, runs)| {
            let values = measured.iter().filter(|one| one.metric == *metric).map(|one| one.value);
            let value = values.reduce(f64::max).with_context(|| format!("{metric} was not measured"))?;
            Ok(Measurement { metric, value, unit, goal: *goal, runs: *runs })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(metric: &str, value: f64) -> String {
        json!({ "metric": metric, "value": value }).to_string()
    }

    fn all() -> Vec<String> {
        METRICS.iter().map(|metric| line(metric.0, 1.0)).collect()
    }

    #[test]
    fn the_greater_of_two_values_counts() {
        let mut lines = all();
        let (metric, ..) = METRICS[0];
        lines.push(line(metric, 3.0));
        lines.push(line(metric, 2.0));
        let rows = measurements(&lines.join("\n")).unwrap();
        assert_eq!(rows.len(), METRICS.len());
        assert!((rows[0].value - 3.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_figure_that_is_missing_or_unknown_is_an_error() {
        let error = |lines: &[String]| measurements(&lines.join("\n")).unwrap_err().to_string();
        assert_eq!(error(&all()[1..]), format!("{} was not measured", METRICS[0].0));
        let mut lines = all();
        lines.push(line("speed", 1.0));
        assert_eq!(error(&lines), "nobody knows the goal of \"speed\"");
    }
}
