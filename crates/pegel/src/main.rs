//! `pegel`: a console for Apache Fluss clusters on the command line.
//!
//! Reads the command line, asks the cluster, prints the answer, and ends with
//! the documented exit code. What can be asked lives in `cli`, who answers in
//! `backend`, how it looks in `render`.

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::FromArgMatches;

use crate::cli::Cli;
use crate::console::Console;

mod backend;
mod cli;
mod clock;
mod commands;
mod config;
mod console;
mod credentials;
mod demo;
mod doctor;
mod env_vars;
mod logging;
mod private_file;
mod remote;
mod render;
mod serve;
mod server_choice;
mod server_commands;
mod server_url;
mod settings;
mod terminal;

/// Threads of a command's runtime: one asks, one may decode or wait. A server has one for each processor.
const COMMAND_THREADS: usize = 2;

fn main() -> ExitCode {
    let parsed = cli::command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            // Help goes to stdout and may meet a closed pipe, which is nobody's fault.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    let console = Console::new(&cli.output);
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    if !matches!(cli.command, cli::Command::Serve(_)) {
        logging::start(cli.output.verbose, std::io::stderr().is_terminal());
        runtime.worker_threads(COMMAND_THREADS);
    }
    let runtime = runtime.enable_all().build();
    let code = match runtime {
        Ok(runtime) => {
            let code = runtime.block_on(commands::run(cli, &console));
            // A name that does not resolve may keep its thread busy for long after its deadline.
            runtime.shutdown_background();
            code
        }
        Err(error) => {
            let failure =
                pegel_service::failure::Failure::internal("cannot start worker threads").with_cause(&error);
            console.failure(&failure, None)
        }
    };
    ExitCode::from(code)
}
