//! Kills a writing process 200 times on each database and looks for what was lost.
//!
//! The test does the work and fails on the first lost write or broken audit chain; this suite runs it
//! often enough to mean something, and keeps what it counted.

use std::path::Path;

use anyhow::{Context as _, ensure};

use crate::evidence::{Goal, Measurement};
use crate::workspace;

/// Processes killed on each database when nobody asks for another number.
const RUNS: u32 = 200;

/// Runs the suite.
///
/// # Errors
/// The test fails or does not say what it counted.
pub(crate) fn run(root: &Path, rounds: Option<u32>) -> anyhow::Result<Vec<Measurement>> {
    let runs = rounds.unwrap_or(RUNS);
    let mut command = workspace::cargo(root);
    command
        .args(["test", "--locked", "--package", "pegel-store", "--test", "it", "kill::", "--", "--nocapture"])
        .env("PEGEL_STORE_KILL_RUNS", runs.to_string())
        .env("PEGEL_TEST_REQUIRE", "postgres");
    let printed = workspace::output(&mut command)?;
    let counts: Vec<Count> = printed.lines().filter_map(counted).collect();
    ensure!(counts.len() == 2, "expected one line for each database, found {}", counts.len());
    measurements(&counts, runs)
}

/// What one database went through.
struct Count {
    database: String,
    killed: u32,
    acknowledged: u64,
}

/// Reads `killed 200 processes on sqlite, 41119 acknowledged writes, none lost`.
fn counted(line: &str) -> Option<Count> {
    let rest = line.split_once("killed ")?.1;
    let (killed, rest) = rest.split_once(" processes on ")?;
    let (database, rest) = rest.split_once(", ")?;
    let (acknowledged, _) = rest.split_once(" acknowledged writes, none lost")?;
    Some(Count {
        database: database.to_owned(),
        killed: killed.parse().ok()?,
        acknowledged: acknowledged.parse().ok()?,
    })
}

fn measurements(counts: &[Count], runs: u32) -> anyhow::Result<Vec<Measurement>> {
    let of = |name: &str| {
        counts.iter().find(|count| count.database == name).with_context(|| format!("no count for {name}"))
    };
    let row = |metric, value: f64, goal| Measurement { metric, value, unit: "count", goal, runs };
    let (sqlite, postgres) = (of("sqlite")?, of("postgres")?);
    Ok(vec![
        row(
            "processes killed while writing, SQLite",
            f64::from(sqlite.killed),
            Goal::AtLeast(f64::from(runs)),
        ),
        row(
            "acknowledged writes, none lost, SQLite",
            sqlite.acknowledged as f64,
            Goal::AtLeast(5.0 * f64::from(runs)),
        ),
        row(
            "processes killed while writing, PostgreSQL",
            f64::from(postgres.killed),
            Goal::AtLeast(f64::from(runs)),
        ),
        row(
            "acknowledged writes, none lost, PostgreSQL",
            postgres.acknowledged as f64,
            Goal::AtLeast(5.0 * f64::from(runs)),
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_lines_are_read_and_others_are_not() {
        let lines = "test kill::x ... killed 200 processes on sqlite, 41119 acknowledged writes, none lost\n\
                     killed 200 processes on postgres, 9 acknowledged writes, 2 lost\nok";
        let counts: Vec<Count> = lines.lines().filter_map(counted).collect();
        assert_eq!(counts.len(), 1);
        assert_eq!((counts[0].killed, counts[0].acknowledged), (200, 41_119));
        assert!(measurements(&counts, RUNS).is_err(), "a database is missing");
    }
}
