//! What the program costs when little happens, and what a large catalog costs it: 10,000 tables with 100,000 buckets
//! on the scripted server.
//!
//! Everything is measured as its users run it: the release build, in a process of its own, over a socket.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fluss_testkit::fake_server::FakeCluster;

use crate::evidence::{Goal, Measurement};
use crate::{web, workspace};

mod command;
pub(super) mod server;

const DATABASES: u32 = 10;
const TABLES_PER_DATABASE: u32 = 1_000;
const BUCKETS_PER_TABLE: u32 = 10;
/// Tables of the large cluster.
pub(super) const TABLES: u64 = 10_000;

const MIB: f64 = 1024.0 * 1024.0;

/// Runs the suite.
///
/// # Errors
/// The program does not build, or does not answer as it should.
pub(crate) fn run(root: &Path) -> anyhow::Result<Vec<Measurement>> {
    let program = build(root)?;
    let binary_bytes = std::fs::metadata(&program).context("reading the program's size")?.len();
    let mut rows = command::measure(&program)?;
    rows.extend(server::measure(&program)?);
    rows.push(Measurement {
        metric: "stripped binary",
        value: binary_bytes as f64 / 1e6,
        unit: "MB",
        goal: Goal::AtMost(60.0),
        runs: 1,
    });
    Ok(rows)
}

/// Builds the program as it is shipped, with the console in it.
pub(super) fn build(root: &Path) -> anyhow::Result<PathBuf> {
    println!("building pegel for release");
    web::console(root)?;
    workspace::succeed(workspace::cargo(root).args([
        "build",
        "--release",
        "--locked",
        "--package",
        "pegel",
    ]))?;
    Ok(workspace::metadata(root)?.target_directory.join("release").join("pegel"))
}

/// Starts the scripted cluster; within a runtime.
pub(super) fn large_cluster() -> anyhow::Result<FakeCluster> {
    let builder = FakeCluster::builder().tablet_servers(3);
    Ok(builder.generated_tables(DATABASES, TABLES_PER_DATABASE, BUCKETS_PER_TABLE).start()?)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    percentile(values, 50)
}

/// The value that `percent` of all values do not exceed.
fn percentile(values: impl Iterator<Item = f64>, percent: usize) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let place = (values.len() * percent).div_ceil(100).saturating_sub(1);
    values.get(place).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ignores_order_and_is_no_number_without_values() {
        assert!((median([3.0, 1.0, 2.0].into_iter()) - 2.0).abs() < f64::EPSILON);
        assert!(median(std::iter::empty()).is_nan());
    }

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let of = |count: u32, percent| percentile((1..=count).rev().map(f64::from), percent);
        assert!((of(100, 95) - 95.0).abs() < f64::EPSILON);
        assert!((of(20, 95) - 19.0).abs() < f64::EPSILON);
        assert!((of(1, 95) - 1.0).abs() < f64::EPSILON);
    }
}
