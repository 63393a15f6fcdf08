//! What one program costs against a large catalog: 10,000 tables with 100,000 buckets on the scripted server.
//!
//! The command is measured as its users run it: the release build, in a process of its own, over a socket.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use fluss_testkit::fake_server::FakeCluster;

use crate::bench::child::{self, Run};
use crate::evidence::{Goal, Measurement};
use crate::workspace;

const DATABASES: u32 = 10;
const TABLES_PER_DATABASE: u32 = 1_000;
const BUCKETS_PER_TABLE: u32 = 10;
const TABLES: u64 = 10_000;
/// Runs that count; one more goes before them, so that the program's file is in memory.
const RUNS: u32 = 7;
/// Span over which requests are counted.
const SECOND: Duration = Duration::from_secs(1);

const MIB: f64 = 1024.0 * 1024.0;

/// Runs the suite.
///
/// # Errors
/// The program does not build, or a run does not give the answer it should.
pub(crate) fn run(root: &Path) -> anyhow::Result<Vec<Measurement>> {
    let program = build(root)?;
    let binary_bytes = std::fs::metadata(&program).context("reading the program's size")?.len();
    let runtime = tokio::runtime::Runtime::new().context("starting the scripted server's runtime")?;
    let _entered = runtime.enter();
    let cluster = FakeCluster::builder()
        .tablet_servers(3)
        .generated_tables(DATABASES, TABLES_PER_DATABASE, BUCKETS_PER_TABLE)
        .start()?;
    let bootstrap = cluster.bootstrap();

    let mut runs = Vec::new();
    for number in 0..=RUNS {
        cluster.reset_counters();
        let run = child::measure(&mut list_tables(&program, &bootstrap))?;
        check_answer(&run)?;
        let listing = Listing { run, busiest_second: cluster.coordinator().peak_count(SECOND) };
        let Run { wall, rss_peak_kib, .. } = &listing.run;
        println!(
            "run {number}{}: {:.3} s, {:.1} MiB, {} requests in all, {} in the busiest second",
            if number == 0 { " (not counted)" } else { "" },
            wall.as_secs_f64(),
            kib_to_mib(*rss_peak_kib),
            cluster.total_request_count(),
            listing.busiest_second
        );
        if number > 0 {
            runs.push(listing);
        }
    }
    Ok(measurements(binary_bytes, &runs))
}

/// One run of the command and what the cluster saw of it.
struct Listing {
    run: Run,
    /// Requests of any kind that arrived within the busiest second.
    busiest_second: usize,
}

fn build(root: &Path) -> anyhow::Result<PathBuf> {
    println!("building pegel for release");
    workspace::succeed(workspace::cargo(root).args([
        "build",
        "--release",
        "--locked",
        "--package",
        "pegel",
    ]))?;
    Ok(workspace::metadata(root)?.target_directory.join("release").join("pegel"))
}

fn list_tables(program: &Path, bootstrap: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["tables", "--bootstrap", bootstrap, "--output", "json", "--all"]);
    command
}

/// A fast wrong answer is no result.
fn check_answer(run: &Run) -> anyhow::Result<()> {
    let answer: serde_json::Value = serde_json::from_slice(&run.stdout).context("reading the answer")?;
    let at = |path: &str| answer.pointer(path).unwrap_or(&serde_json::Value::Null);
    let (status, total) = (at("/status"), at("/data/total_count"));
    let items = at("/data/items").as_array().context("the answer holds no list")?;
    ensure!(status == "ok", "the answer's status is {status}");
    ensure!(*total == TABLES, "the answer counts {total} tables");
    ensure!(u64::try_from(items.len())? == TABLES, "the list holds {} tables", items.len());
    ensure!(items.iter().all(|table| table.get("table_id").is_some()), "a table was not described");
    Ok(())
}

fn measurements(binary_bytes: u64, runs: &[Listing]) -> Vec<Measurement> {
    let row = |metric, value, unit, goal| Measurement { metric, value, unit, goal, runs: RUNS };
    let wall = median(runs.iter().map(|listing| listing.run.wall.as_secs_f64()));
    let largest = |values: &dyn Fn(&Listing) -> f64| runs.iter().map(values).fold(f64::NAN, f64::max);
    let peak = largest(&|listing| kib_to_mib(listing.run.rss_peak_kib));
    vec![
        row("list 10,000 tables, wall time, median", wall, "s", Goal::AtMost(5.0)),
        row("list 10,000 tables, peak RSS, largest", peak, "MiB", Goal::AtMost(256.0)),
        row(
            "requests in the busiest second, largest",
            largest(&|listing| listing.busiest_second as f64),
            "count",
            Goal::AtMost(20.0),
        ),
        Measurement {
            metric: "stripped binary",
            value: binary_bytes as f64 / 1e6,
            unit: "MB",
            goal: Goal::AtMost(60.0),
            runs: 1,
        },
    ]
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn kib_to_mib(kib: u64) -> f64 {
    kib as f64 * 1024.0 / MIB
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(stdout: &str, wall_ms: u64) -> Run {
        Run { stdout: stdout.into(), wall: Duration::from_millis(wall_ms), rss_peak_kib: 2048 }
    }

    fn answer(status: &str, total: u64, count: u64) -> anyhow::Result<()> {
        let items: Vec<serde_json::Value> =
            (0..count).map(|id| serde_json::json!({"table_id": id})).collect();
        let answer = serde_json::json!({"status": status, "data": {"total_count": total, "items": items}});
        check_answer(&run(&answer.to_string(), 1))
    }

    #[test]
    fn only_the_whole_catalog_counts() {
        assert!(answer("ok", TABLES, TABLES).is_ok());
        assert!(answer("partial", TABLES, TABLES).is_err());
        assert!(answer("ok", TABLES - 1, TABLES).is_err());
        assert!(answer("ok", TABLES, TABLES - 1).is_err());
        assert!(check_answer(&run("{}", 1)).is_err());
        assert!(check_answer(&run("", 1)).is_err());
    }

    #[test]
    fn the_median_ignores_order_and_is_no_number_without_values() {
        assert!((median([3.0, 1.0, 2.0].into_iter()) - 2.0).abs() < f64::EPSILON);
        assert!(median(std::iter::empty()).is_nan());
    }

    #[test]
    fn the_worst_run_decides() {
        let met = |seconds: [usize; 2]| {
            let runs = seconds.map(|busiest_second| Listing { run: run("", 2_000), busiest_second });
            let rows = measurements(1, &runs);
            let row = rows.iter().find(|row| row.unit == "count").unwrap();
            row.goal.is_met_by(row.value)
        };
        assert!(met([20, 20]));
        assert!(!met([21, 20]));
    }

    #[test]
    fn no_run_meets_no_goal() {
        let rows = measurements(1, &[]);
        assert_eq!(rows.iter().filter(|row| row.goal.is_met_by(row.value)).count(), 1);
    }
}
