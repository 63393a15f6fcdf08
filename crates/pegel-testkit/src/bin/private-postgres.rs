//! Serves an empty database of a private PostgreSQL to a program that is no test: prints its address and ends when its
//! input does.

use std::io::Read as _;
use std::process::ExitCode;

use pegel_testkit::postgres;
use tokio::runtime::Runtime;

fn main() -> ExitCode {
    let runtime = Runtime::new().expect("a runtime starts where tests run");
    let Some(address) = runtime.block_on(postgres::new_database()) else { return ExitCode::FAILURE };
    println!("{address}");
    // Whoever started this holds the other end, and holds it no longer than it lives.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    ExitCode::SUCCESS
}
