//! `pegel`: a console for Apache Fluss clusters on the command line.
//!
//! Reads the command line, asks the cluster, prints the answer, and ends with
//! the documented exit code. What is asked lives in `reads`, how it looks in
//! `render`, what can be asked in `cli`.

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;

use crate::cli::Cli;
use crate::console::Console;

mod cli;
mod clock;
mod commands;
mod config;
mod console;
mod demo;
mod env_vars;
mod failure;
mod logging;
mod reads;
mod render;
mod session;

/// Threads of the runtime: one asks, one may decode or wait.
const WORKER_THREADS: usize = 2;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help goes to stdout and may meet a closed pipe, which is nobody's fault.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    let console = Console::new(&cli.output);
    logging::start(cli.output.verbose, std::io::stderr().is_terminal());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(WORKER_THREADS).enable_all().build();
    let code = match runtime {
        Ok(runtime) => {
            let code = runtime.block_on(commands::run(cli, &console));
            // A name that does not resolve may keep its thread busy for long after its deadline.
            runtime.shutdown_background();
            code
        }
        Err(error) => {
            let failure = failure::Failure::internal("cannot start worker threads").with_cause(&error);
            console.failure(&failure, None)
        }
    };
    ExitCode::from(code)
}
