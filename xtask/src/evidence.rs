//! What a suite measured: rows in `target/evidence/<kind>-<suite>.json`, and the page made of the newest of each.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};

use crate::{clock, workspace};

const DIRECTORY: &str = "target/evidence";
const PAGE: &str = "docs/evidence.md";
const PAGE_HEAD: &str = "\
# Evidence

Newest results of the measured suites. Written by `cargo xtask evidence`; not edited by hand. `./x bench`, `./x chaos`,
`./x interop` and `./x fuzz` measure again.
";

/// Where a value should lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Goal {
    /// This or less.
    AtMost(f64),
    /// This or more.
    AtLeast(f64),
}

impl Goal {
    /// Whether a value reaches it; what is not a number does not.
    pub(crate) fn is_met_by(self, value: f64) -> bool {
        match self {
            Self::AtMost(limit) => value <= limit,
            Self::AtLeast(limit) => value >= limit,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtMost(limit) => format!("≤ {limit}"),
            Self::AtLeast(limit) => format!("≥ {limit}"),
        }
    }
}

/// One value of a suite, before it is known where and when it was measured.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measurement {
    /// What was measured, in words.
    pub(crate) metric: &'static str,
    /// The value, in `unit`.
    pub(crate) value: f64,
    /// Unit of the value and the goal.
    pub(crate) unit: &'static str,
    /// Where it should lie.
    pub(crate) goal: Goal,
    /// How many runs stand behind the value.
    pub(crate) runs: u32,
}

/// One row of evidence, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Row {
    metric: String,
    value: f64,
    unit: String,
    /// The program it is compared with, if any.
    peer: Option<String>,
    goal: String,
    met: bool,
    runs: u32,
    machine: String,
    commit: String,
    date: String,
}

/// Keeps what a suite measured and prints it as a table.
///
/// # Errors
/// The rows cannot be written, or one misses its goal.
pub(crate) fn publish(root: &Path, name: &str, measurements: &[Measurement]) -> anyhow::Result<()> {
    let (machine, commit, date) = (machine(), workspace::commit(root)?, clock::now().to_string());
    let rows: Vec<Row> = measurements
        .iter()
        .map(|measured| Row {
            metric: measured.metric.to_owned(),
            value: round(measured.value),
            unit: measured.unit.to_owned(),
            peer: None,
            goal: measured.goal.text(),
            met: measured.goal.is_met_by(measured.value),
            runs: measured.runs,
            machine: machine.clone(),
            commit: commit.clone(),
            date: date.clone(),
        })
        .collect();
    let directory = root.join(DIRECTORY);
    std::fs::create_dir_all(&directory).with_context(|| format!("making {DIRECTORY}"))?;
    let file = directory.join(format!("{name}.json"));
    std::fs::write(&file, serde_json::to_string_pretty(&rows)? + "\n")
        .with_context(|| format!("writing {}", file.display()))?;
    println!("{}", section(name, &rows));
    println!("kept in {DIRECTORY}/{name}.json");
    let missed: Vec<&str> = rows.iter().filter(|row| !row.met).map(|row| row.metric.as_str()).collect();
    if !missed.is_empty() {
        bail!("{name} misses its goal: {}", missed.join(", "));
    }
    Ok(())
}

/// Writes the page of evidence. A suite that has not run in this checkout, or not since the page was written, keeps
/// its section.
///
/// # Errors
/// A file cannot be read or written.
pub(crate) fn write_page(root: &Path) -> anyhow::Result<()> {
    let page = root.join(PAGE);
    let old = if page.is_file() { std::fs::read_to_string(&page)? } else { String::new() };
    let mut new = Vec::new();
    let directory = root.join(DIRECTORY);
    if directory.is_dir() {
        for entry in std::fs::read_dir(&directory).with_context(|| format!("reading {DIRECTORY}"))? {
            let path = entry?.path();
            let Some(name) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
            if path.extension().is_some_and(|extension| extension == "json") {
                let text = std::fs::read_to_string(&path)?;
                let rows: Vec<Row> =
                    serde_json::from_str(&text).with_context(|| format!("reading {}", path.display()))?;
                new.push((name.to_owned(), section(name, &rows)));
            }
        }
    }
    std::fs::write(&page, merge(&old, new)).with_context(|| format!("writing {PAGE}"))?;
    println!("wrote {PAGE}");
    Ok(())
}

/// The page with the newer section of each suite, by name.
fn merge(old: &str, new: Vec<(String, String)>) -> String {
    let mut sections: std::collections::BTreeMap<String, String> = old
        .split("\n## ")
        .skip(1)
        .map(|rest| {
            let name = rest.lines().next().unwrap_or_default().trim().to_owned();
            (name, format!("## {}", rest.trim_end()))
        })
        .collect();
    for (name, text) in new {
        let is_older = sections.get(&name).is_some_and(|kept| measured_at(kept) > measured_at(&text));
        if !is_older {
            sections.insert(name, text.trim_end().to_owned());
        }
    }
    let mut page = PAGE_HEAD.to_owned();
    for text in sections.values() {
        page.push('\n');
        page.push_str(text);
        page.push('\n');
    }
    page
}

/// The time in a section's second paragraph; times in one format and zone compare as text.
fn measured_at(section: &str) -> &str {
    section
        .lines()
        .find_map(|line| line.strip_prefix("Measured "))
        .and_then(|rest| rest.split_whitespace().next())
        .unwrap_or_default()
}

/// A suite's rows as Markdown, which reads well on a terminal too.
fn section(name: &str, rows: &[Row]) -> String {
    let header = ["metric", "value", "unit", "peer", "goal", "met", "runs"].map(str::to_owned);
    let mut table = vec![header];
    for row in rows {
        table.push([
            row.metric.clone(),
            row.value.to_string(),
            row.unit.clone(),
            row.peer.clone().unwrap_or_else(|| "–".to_owned()),
            row.goal.clone(),
            if row.met { "yes" } else { "NO" }.to_owned(),
            row.runs.to_string(),
        ]);
    }
    let mut text = format!("## {name}\n\n");
    if let Some(row) = rows.first() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "Measured {} at {} on {}.\n", row.date, row.commit, row.machine);
    }
    let width = |column: usize| {
        table.iter().filter_map(|cells| cells.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    for (index, cells) in table.iter().enumerate() {
        let padded: Vec<String> =
            cells.iter().enumerate().map(|(column, cell)| format!("{cell:<w$}", w = width(column))).collect();
        let _ = writeln!(text, "| {} |", padded.join(" | "));
        if index == 0 {
            let rule: Vec<String> = (0..cells.len()).map(|column| "-".repeat(width(column).max(3))).collect();
            let _ = writeln!(text, "| {} |", rule.join(" | "));
        }
    }
    text
}

/// Three decimals: more would only show noise.
fn round(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// Cores, processor, memory and kernel, as far as Linux tells.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let field = |text: &str, key: &str| {
        text.lines()
            .find_map(|line| Some(line.strip_prefix(key)?.trim_start_matches([' ', '\t', ':']).to_owned()))
    };
    let processor =
        field(&read("/proc/cpuinfo"), "model name").unwrap_or_else(|| "unknown processor".to_owned());
    let memory_kib = field(&read("/proc/meminfo"), "MemTotal")
        .and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok())
        .unwrap_or_default();
    let kernel = read("/proc/sys/kernel/osrelease");
    format!("{cores} × {processor}, {} GiB, Linux {}", memory_kib / (1024 * 1024), kernel.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(metric: &str, date: &str) -> Row {
        Row {
            metric: metric.into(),
            value: 1.5,
            unit: "s".into(),
            peer: None,
            goal: "≤ 3".into(),
            met: true,
            runs: 5,
            machine: "2 × x".into(),
            commit: "abc".into(),
            date: date.into(),
        }
    }

    #[test]
    fn a_goal_is_met_up_to_its_limit_and_never_by_no_number() {
        let goal = Goal::AtMost(3.0);
        assert!(goal.is_met_by(3.0));
        assert!(!goal.is_met_by(3.1));
        assert!(!goal.is_met_by(f64::NAN));
        assert_eq!(goal.text(), "≤ 3");
        let goal = Goal::AtLeast(3.0);
        assert!(goal.is_met_by(3.0));
        assert!(!goal.is_met_by(2.9));
        assert!(!goal.is_met_by(f64::NAN));
        assert_eq!(goal.text(), "≥ 3");
    }

    #[test]
    fn a_section_is_a_table_under_its_measurement() {
        let text = section("bench-idle", &[row("wall time", "2026-01-02T03:04:05Z")]);
        let expected = [
            "## bench-idle",
            "",
            "Measured 2026-01-02T03:04:05Z at abc on 2 × x.",
            "",
            "| metric    | value | unit | peer | goal | met | runs |",
            "| --------- | ----- | ---- | ---- | ---- | --- | ---- |",
            "| wall time | 1.5   | s    | –    | ≤ 3  | yes | 5    |",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_page_keeps_the_newer_section_of_each_suite() {
        let new = |name: &str, metric: &str, date: &str| {
            let text = section(name, &[row(metric, date)]);
            vec![(name.to_owned(), text)]
        };
        let first = merge("", new("b", "first", "2026-01-02T00:00:00Z"));
        let both = merge(&first, new("a", "other", "2026-01-01T00:00:00Z"));
        assert!(both.starts_with(PAGE_HEAD));
        assert!(both.find("## a").unwrap() < both.find("## b").unwrap());
        let older = merge(&both, new("b", "stale", "2026-01-01T00:00:00Z"));
        assert_eq!(older, both);
        let newer = merge(&both, new("b", "second", "2026-01-03T00:00:00Z"));
        assert!(newer.contains("second") && !newer.contains("first") && newer.contains("other"));
    }
}
