//! What one command costs against a large catalog: it is run as its users run it, in a process of its own.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};

use crate::bench::idle::{MIB, TABLES, large_cluster, median};
use crate::evidence::{Goal, Measurement};
use crate::program::child::{self, Run};

/// Runs that count; one more goes before them, so that the program's file is in memory.
const RUNS: u32 = 7;
/// Span over which requests are counted.
const SECOND: Duration = Duration::from_secs(1);

/// Measures.
///
/// # Errors
/// A run does not give the answer it should.
pub(super) fn measure(program: &Path) -> anyhow::Result<Vec<Measurement>> {
    let runtime = tokio::runtime::Runtime::new().context("starting the scripted server's runtime")?;
    let _entered = runtime.enter();
    let cluster = large_cluster()?;
    let bootstrap = cluster.bootstrap();

    let mut runs = Vec::new();
    for number in 0..=RUNS {
        cluster.reset_counters();
        let run = child::measure(&mut list_tables(program, &bootstrap))?;
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
    Ok(measurements(&runs))
}

/// One run of the command and what the cluster saw of it.
struct Listing {
    run: Run,
    /// Requests of any kind that arrived within the busiest second.
    busiest_second: usize,
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

fn measurements(runs: &[Listing]) -> Vec<Measurement> {
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
    ]
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
    fn the_worst_run_decides() {
        let met = |seconds: [usize; 2]| {
            let runs = seconds.map(|busiest_second| Listing { run: run("", 2_000), busiest_second });
            let rows = measurements(&runs);
            let row = rows.iter().find(|row| row.unit == "count").unwrap();
            row.goal.is_met_by(row.value)
        };
        assert!(met([20, 20]));
        assert!(!met([21, 20]));
    }

    #[test]
    fn no_run_meets_no_goal() {
        let rows = measurements(&[]);
        assert_eq!(rows.iter().filter(|row| row.goal.is_met_by(row.value)).count(), 0);
    }
}
