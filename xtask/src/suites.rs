//! The suites that measure or break something, by name. Each takes at most half an hour and leaves its rows behind.

use std::path::Path;

use anyhow::bail;

use crate::evidence::{self, Measurement};
use crate::{bench, chaos};

/// What a suite does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Measures against goals.
    Bench,
    /// Injects faults.
    Chaos,
    /// Runs against other programs.
    Interop,
}

impl Kind {
    /// The word on the command line and in file names.
    fn name(self) -> &'static str {
        match self {
            Self::Bench => "bench",
            Self::Chaos => "chaos",
            Self::Interop => "interop",
        }
    }
}

struct Suite {
    kind: Kind,
    name: &'static str,
    /// Runs it, with as many rounds as are asked for where it has rounds.
    run: fn(&Path, Option<u32>) -> anyhow::Result<Vec<Measurement>>,
}

const SUITES: &[Suite] = &[
    Suite { kind: Kind::Bench, name: "console", run: |root, _| bench::console::run(root) },
    Suite { kind: Kind::Bench, name: "idle", run: |root, _| bench::idle::run(root) },
    Suite { kind: Kind::Chaos, name: "server", run: chaos::server::run },
    Suite { kind: Kind::Chaos, name: "store", run: chaos::store::run },
];

/// Runs a suite and publishes what it measured.
///
/// # Errors
/// There is no such suite, it does not run to its end, or a row misses its goal.
pub(crate) fn run(root: &Path, kind: Kind, name: &str, rounds: Option<u32>) -> anyhow::Result<()> {
    let suite = find(SUITES, kind, name)?;
    let measurements = (suite.run)(root, rounds)?;
    evidence::publish(root, &format!("{}-{}", kind.name(), suite.name), &measurements)
}

fn find<'a>(suites: &'a [Suite], kind: Kind, name: &str) -> anyhow::Result<&'a Suite> {
    let of_kind: Vec<&Suite> = suites.iter().filter(|suite| suite.kind == kind).collect();
    if let Some(suite) = of_kind.iter().find(|suite| suite.name == name) {
        return Ok(suite);
    }
    let known: Vec<&str> = of_kind.iter().map(|suite| suite.name).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    bail!("there is no {} suite named {name:?}; known: {known}", kind.name());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_is_found_by_kind_and_name() {
        assert_eq!(find(SUITES, Kind::Bench, "idle").unwrap().name, "idle");
    }

    #[test]
    fn an_unknown_suite_lists_the_known_ones() {
        let error = |kind| find(SUITES, kind, "speed").err().unwrap().to_string();
        assert_eq!(error(Kind::Bench), "there is no bench suite named \"speed\"; known: console, idle");
        assert_eq!(error(Kind::Chaos), "there is no chaos suite named \"speed\"; known: server, store");
        assert_eq!(error(Kind::Interop), "there is no interop suite named \"speed\"; known: none");
    }

    #[test]
    fn a_suite_of_another_kind_is_not_found() {
        assert!(find(SUITES, Kind::Chaos, "idle").is_err());
    }
}
