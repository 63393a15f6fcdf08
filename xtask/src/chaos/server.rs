//! What a server does when it is killed, when its disk fills, when it is stopped under load or while a request hangs,
//! and when a cluster goes and comes.
//!
//! Everything goes through the real process and its HTTP API. The build is the one with assertions and checks of
//! overflow: faults are looked for here, not speed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::Value;
use tokio::time;

use crate::clock::Stopwatch;
use crate::evidence::{Goal, Measurement};
use crate::program::http::Connection;
use crate::workspace;

mod disk;
mod hang;
mod kill;
mod kill_writers;
mod outage;
mod restart;

/// Servers killed on each database when nobody asks for another number.
const ROUNDS: u32 = 100;
/// How often something is looked at that should come to pass.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Runs the suite.
///
/// # Errors
/// The program does not build, or the server does something that it must never do.
pub(crate) fn run(root: &Path, rounds: Option<u32>) -> anyhow::Result<Vec<Measurement>> {
    let program = build(root)?;
    let runtime = tokio::runtime::Runtime::new().context("starting the scripted clusters' runtime")?;
    runtime.block_on(async {
        let mut rows = hang::measure(&program).await.context("requests that hang")?;
        rows.extend(restart::measure(&program).await.context("restarts under load")?);
        rows.extend(outage::measure(&program).await.context("clusters that go and come")?);
        rows.extend(disk::measure(&program).await.context("a full disk")?);
        rows.extend(
            kill::measure(root, &program, rounds.unwrap_or(ROUNDS))
                .await
                .context("servers that are killed")?,
        );
        Ok(rows)
    })
}

fn build(root: &Path) -> anyhow::Result<PathBuf> {
    println!("building pegel");
    workspace::succeed(workspace::cargo(root).args(["build", "--locked", "--package", "pegel"]))?;
    Ok(workspace::metadata(root)?.target_directory.join("debug").join("pegel"))
}

fn row(metric: &'static str, value: f64, unit: &'static str, goal: Goal, runs: u32) -> Measurement {
    Measurement { metric, value, unit, goal, runs }
}

/// Returns a part of an answer; null if it has none.
fn at<'a>(answer: &'a Value, pointer: &str) -> &'a Value {
    answer.pointer(pointer).unwrap_or(&Value::Null)
}

/// Asks again and again until the answer is as wanted, and returns how long that took.
///
/// # Errors
/// A request fails, or the time is over.
async fn until(
    connection: &mut Connection,
    path: &str,
    bound: Duration,
    is_met: impl Fn(&Value) -> bool,
) -> anyhow::Result<Duration> {
    let stopwatch = Stopwatch::start();
    loop {
        let answer = connection.get(path).await?;
        if is_met(&answer) {
            return Ok(stopwatch.elapsed());
        }
        if stopwatch.elapsed() > bound {
            bail!("after {:.0} s {path} still says {answer}", bound.as_secs_f64());
        }
        time::sleep(LOOK_EVERY).await;
    }
}

/// The longest of some times, in seconds.
fn longest(times: impl IntoIterator<Item = Duration>) -> f64 {
    times.into_iter().max().unwrap_or_default().as_secs_f64()
}
