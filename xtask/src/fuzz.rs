//! Runs one libFuzzer target of `fuzz/` for a while and keeps what came of it.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use crate::evidence::{self, Goal, Measurement};
use crate::tools::{self, CARGO_FUZZ};

/// Fuzzes `target` for `minutes`.
///
/// Seeds come from `fuzz/corpus`. New inputs go to the user's cache and are read again by the next run; inputs that crash
/// stay in `fuzz/artifacts`.
///
/// # Errors
/// The target is unknown, does not build, or crashed.
pub(crate) fn run(root: &Path, target: &str, minutes: u32) -> anyhow::Result<()> {
    let known = targets(root)?;
    if !known.iter().any(|name| name == target) {
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        bail!("there is no fuzz target named {target:?}; known: {known}");
    }
    let cache = tools::cache_dir(root).join("fuzz");
    let corpus = cache.join("corpus").join(target);
    std::fs::create_dir_all(&corpus).with_context(|| format!("making {}", corpus.display()))?;
    tools::find(root, CARGO_FUZZ)?;
    build(root, &cache, target)?;

    let mut command = cargo_fuzz(root, &cache)?;
    command.args(["run", target]).arg(&corpus);
    let seeds = root.join("fuzz/corpus").join(target);
    if seeds.is_dir() {
        command.arg(&seeds);
    }
    let seconds = u64::from(minutes) * 60;
    command
        .args(["--", &format!("-max_total_time={seconds}"), "-print_final_stats=1"])
        .stderr(Stdio::piped());
    let mut child = command.spawn().context("starting cargo-fuzz")?;
    let mut executions = None;
    let stderr = child.stderr.take().context("the fuzzer's messages are a pipe")?;
    for line in BufReader::new(stderr).split(b'\n') {
        let line = line.context("reading the fuzzer's messages")?;
        let line = String::from_utf8_lossy(&line);
        eprintln!("{line}");
        executions = executed_units(&line).or(executions);
    }
    let status = child.wait().context("waiting for the fuzzer")?;
    let executions = match (executions, status.success()) {
        (Some(count), _) => count,
        (None, true) => bail!("the fuzzer ended without saying how much it ran"),
        (None, false) => bail!("the fuzzer did not run ({status})"),
    };
    evidence::publish(root, &format!("fuzz-{target}"), &rows(executions, status.success()))
}

/// Building apart from running, so that a target that does not compile is not taken for one that crashed.
fn build(root: &Path, cache: &Path, target: &str) -> anyhow::Result<()> {
    let status = cargo_fuzz(root, cache)?.args(["build", target]).status().context("starting cargo-fuzz")?;
    if !status.success() {
        bail!("fuzz target {target} does not build ({status})");
    }
    Ok(())
}

/// `cargo fuzz` needs nightly's sanitizers; rustup's shim passes the toolchain on to what it calls.
fn cargo_fuzz(root: &Path, cache: &Path) -> anyhow::Result<Command> {
    let tool = tools::find(root, CARGO_FUZZ)?;
    let mut path = vec![tool.parent().context("a tool lies in a directory")?.to_path_buf()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let mut command = Command::new("cargo");
    command
        .args(["+nightly", "fuzz"])
        .current_dir(root)
        .env("PATH", std::env::join_paths(path)?)
        .env("CARGO_TARGET_DIR", cache.join("target"))
        // What the stable cargo told this program about itself must not reach nightly's.
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("CARGO");
    Ok(command)
}

fn targets(root: &Path) -> anyhow::Result<Vec<String>> {
    let directory = root.join("fuzz/fuzz_targets");
    if !directory.is_dir() {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&directory).context("reading fuzz/fuzz_targets")? {
        let path = entry?.path();
        let is_source = path.extension().is_some_and(|extension| extension == "rs");
        if let (true, Some(name)) = (is_source, path.file_stem().and_then(|stem| stem.to_str())) {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// The count in libFuzzer's closing line `stat::number_of_executed_units: 12`.
fn executed_units(line: &str) -> Option<u64> {
    line.strip_prefix("stat::number_of_executed_units:")?.trim().parse().ok()
}

fn rows(executions: u64, survived: bool) -> Vec<Measurement> {
    vec![
        Measurement {
            metric: "executions",
            value: executions as f64,
            unit: "count",
            goal: Goal::AtLeast(1.0),
            runs: 1,
        },
        Measurement {
            metric: "crashes",
            value: if survived { 0.0 } else { 1.0 },
            unit: "count",
            goal: Goal::AtMost(0.0),
            runs: 1,
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_line_holds_the_executions() {
        assert_eq!(executed_units("stat::number_of_executed_units: 262144"), Some(262_144));
        assert_eq!(executed_units("stat::average_exec_per_sec:     131072"), None);
    }

    #[test]
    fn a_crash_misses_its_goal() {
        let crashes = |survived| {
            let rows = rows(7, survived);
            let row = rows.iter().find(|row| row.metric == "crashes").unwrap();
            row.goal.is_met_by(row.value)
        };
        assert!(crashes(true));
        assert!(!crashes(false));
    }
}
