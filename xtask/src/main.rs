//! Pegel's own build tasks: the checks of continuous integration, generated files, measured suites and fuzzing.
//!
//! `./x` in the repository root makes the machine ready and then calls this program (`cargo xtask <task>`).
//! Nothing here is part of the product, and nothing of the product may depend on it.

mod bench;
mod chaos;
mod ci;
mod clock;
pub mod codegen;
mod evidence;
mod fuzz;
mod program;
mod suites;
mod tidy;
mod tools;
mod web;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Build tasks of the Pegel repository.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Runs everything a change must pass
    Ci(ci::Options),
    /// Checks the rules no compiler knows: arrows between crates, manifests, file sizes, forbidden words
    Tidy,
    /// Rewrites generated files
    Codegen {
        /// Only compare with what is committed
        #[arg(long)]
        check: bool,
    },
    /// Builds the web console where its sources are newer, so that the program carries it
    Console,
    /// Measures a suite against its goals
    Bench {
        /// Name of the suite
        suite: String,
    },
    /// Runs a fault suite
    Chaos {
        /// Name of the suite
        suite: String,
        /// How often each database's process is killed
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        rounds: Option<u32>,
    },
    /// Runs a suite against other programs
    Interop {
        /// Name of the suite
        suite: String,
    },
    /// Fuzzes one target
    Fuzz {
        /// Name of a file in `fuzz/fuzz_targets`, without its extension
        target: String,
        /// How long
        #[arg(value_parser = clap::value_parser!(u32).range(1..=30))]
        minutes: u32,
    },
    /// Writes docs/evidence.md from the newest results
    Evidence,
}

fn main() -> ExitCode {
    match run(Cli::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> anyhow::Result<()> {
    let root = workspace::root()?;
    match task {
        Task::Ci(options) => ci::run(&root, &options),
        Task::Tidy => tidy::run(&root),
        Task::Codegen { check } => codegen::run(check),
        Task::Console => web::console(&root),
        Task::Bench { suite } => suites::run(&root, suites::Kind::Bench, &suite, None),
        Task::Chaos { suite, rounds } => suites::run(&root, suites::Kind::Chaos, &suite, rounds),
        Task::Interop { suite } => suites::run(&root, suites::Kind::Interop, &suite, None),
        Task::Fuzz { target, minutes } => fuzz::run(&root, &target, minutes),
        Task::Evidence => evidence::write_page(&root),
    }
}
