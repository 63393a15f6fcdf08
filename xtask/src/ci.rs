//! Everything a change must pass, step by step, each timed.
//!
//! A failed step does not stop the following ones: one run shows all that is wrong. It measures no speed and builds
//! nothing for release; that is the business of the suites.

use std::path::Path;
use std::time::Duration;

use anyhow::bail;
use clap::{Args, ValueEnum};

use crate::clock::{self, Stopwatch};
use crate::tools::{self, CARGO_DENY};
use crate::{codegen, tidy, web, workspace};

/// How the caller found the machine.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// When the caller began to prepare the machine, in seconds since 1970; that time counts too
    #[arg(long, value_name = "SECONDS")]
    started_at: Option<i64>,
    /// Whether something was built before
    #[arg(long, value_enum, default_value_t = Build::Warm)]
    build: Build,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Build {
    Warm,
    Cold,
}

impl Build {
    /// How long a whole run may take on two cores.
    fn budget(self) -> Duration {
        Duration::from_mins(match self {
            Self::Warm => 30,
            Self::Cold => 75,
        })
    }
}

struct Step {
    name: &'static str,
    run: fn(&Path) -> anyhow::Result<()>,
}

const STEPS: &[Step] = &[
    Step { name: "format", run: format },
    Step { name: "tidy", run: tidy::run },
    Step { name: "generated files", run: |_| codegen::run(true) },
    Step { name: "licences, bans, sources", run: deny },
    Step { name: "web: packages", run: web::install },
    Step { name: "web: checks", run: web::check },
    Step { name: "web: unit tests", run: web::test },
    Step { name: "web: build", run: web::build },
    Step { name: "clippy", run: clippy },
    Step { name: "build tests", run: build_tests },
    Step { name: "tests", run: tests },
    Step { name: "web: browser tests", run: web::browser },
    Step { name: "documentation", run: documentation },
];

struct Outcome {
    name: &'static str,
    took: Duration,
    error: Option<anyhow::Error>,
}

/// Runs every step, then prints how long each took and whether the run kept its budget.
///
/// # Errors
/// At least one step failed. A run over its budget is shown but is no error: it says as much about the machine.
pub(crate) fn run(root: &Path, options: &Options) -> anyhow::Result<()> {
    let mut outcomes = Vec::new();
    if let Some(started_at) = options.started_at {
        let seconds = clock::now().as_second().saturating_sub(started_at);
        let took = Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
        outcomes.push(Outcome { name: "preparation", took, error: None });
    }
    for (index, step) in STEPS.iter().enumerate() {
        println!("== {}/{} {}", index + 1, STEPS.len(), step.name);
        let stopwatch = Stopwatch::start();
        let error = (step.run)(root).err();
        if let Some(error) = &error {
            println!("{}: {error:#}", step.name);
        }
        outcomes.push(Outcome { name: step.name, took: stopwatch.elapsed(), error });
    }
    println!("\n{}", summary(&outcomes, options.build));
    let failed: Vec<&str> =
        outcomes.iter().filter(|step| step.error.is_some()).map(|step| step.name).collect();
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

fn summary(outcomes: &[Outcome], build: Build) -> String {
    let mut lines: Vec<String> = outcomes
        .iter()
        .map(|step| {
            let result = if step.error.is_some() { "FAILED" } else { "ok" };
            format!("{:<24} {result:<6} {:>8}", step.name, minutes(step.took))
        })
        .collect();
    let total: Duration = outcomes.iter().map(|step| step.took).sum();
    let budget = build.budget();
    let kept = if total <= budget { "within" } else { "OVER" };
    let warmth = if build == Build::Warm { "warm" } else { "cold" };
    lines.push(format!(
        "{:<24} {:<6} {:>8}  {kept} the budget of {} for a {warmth} run",
        "total",
        "",
        minutes(total),
        minutes(budget)
    ));
    lines.join("\n")
}

/// A time as minutes and seconds, such as `3:07`.
fn minutes(time: Duration) -> String {
    format!("{}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}

fn format(root: &Path) -> anyhow::Result<()> {
    workspace::succeed(workspace::cargo(root).args(["fmt", "--all", "--check"]))
}

fn deny(root: &Path) -> anyhow::Result<()> {
    let mut command = std::process::Command::new(tools::find(root, CARGO_DENY)?);
    workspace::succeed(command.current_dir(root).args([
        "--log-level",
        "warn",
        "check",
        "bans",
        "licenses",
        "sources",
    ]))
}

fn clippy(root: &Path) -> anyhow::Result<()> {
    workspace::succeed(
        workspace::cargo(root)
            .args(["clippy", "--workspace", "--all-targets", "--locked", "--quiet", "--"])
            .args(["-D", "warnings"]),
    )
}

fn build_tests(root: &Path) -> anyhow::Result<()> {
    workspace::succeed(workspace::cargo(root).args([
        "test",
        "--workspace",
        "--locked",
        "--quiet",
        "--no-run",
    ]))
}

/// Cargo runs one test binary after the other, so that two of them never start real clusters side by side.
fn tests(root: &Path) -> anyhow::Result<()> {
    let mut command = workspace::cargo(root);
    if std::env::var_os("PEGEL_TEST_REQUIRE").is_none() {
        command.env("PEGEL_TEST_REQUIRE", "fluss,postgres");
    }
    workspace::succeed(command.args(["test", "--workspace", "--locked", "--no-fail-fast"]))
}

/// Libraries only: a program's comments are texts for its command line, not links.
fn documentation(root: &Path) -> anyhow::Result<()> {
    workspace::succeed(
        workspace::cargo(root)
            .args(["doc", "--workspace", "--lib", "--no-deps", "--locked", "--quiet"])
            .env("RUSTDOCFLAGS", "-D warnings"),
    )
}

#[cfg(test)]
mod tests_of_summary {
    use super::*;

    fn outcome(name: &'static str, seconds: u64, error: Option<anyhow::Error>) -> Outcome {
        Outcome { name, took: Duration::from_secs(seconds), error }
    }

    #[test]
    fn a_summary_shows_failures_and_the_budget() {
        let outcomes = [outcome("tidy", 2, None), outcome("clippy", 65, Some(anyhow::anyhow!("no")))];
        let text = summary(&outcomes, Build::Warm);
        assert_eq!(
            text.lines()
                .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
                .collect::<Vec<_>>(),
            ["tidy ok 0:02", "clippy FAILED 1:05", "total 1:07 within the budget of 30:00 for a warm run"]
        );
    }

    #[test]
    fn a_run_over_its_budget_says_so() {
        let outcomes = [outcome("tests", 30 * 60 + 1, None)];
        assert!(summary(&outcomes, Build::Warm).contains("OVER the budget of 30:00"));
        assert!(summary(&outcomes, Build::Cold).contains("within the budget of 75:00 for a cold run"));
    }
}
