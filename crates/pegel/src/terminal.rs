//! Asking a person at the terminal, also for what must not be seen.
//!
//! The terminal itself is asked, not stdin, which may be a pipe. What is typed is read on a thread that may outlive
//! the question: when a signal comes, the terminal is put back in order and the program can end.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};

use pegel_service::failure::Failure;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use secrecy::SecretString;

/// Longest line that is read, in bytes.
const MAX_LINE_BYTES: u64 = 4_096;

/// Asks for a line.
///
/// # Errors
/// `invalid` when there is no terminal, or nothing was typed.
pub(crate) async fn ask(question: &str, instead: &str) -> Result<String, Failure> {
    let terminal = open(question, instead)?;
    read(terminal).await
}

/// Asks for a secret, which is not shown while it is typed.
///
/// # Errors
/// As [`ask`].
pub(crate) async fn ask_secret(question: &str, instead: &str) -> Result<SecretString, Failure> {
    let terminal = open(question, instead)?;
    let silent = Silence::begin(&terminal)?;
    let answer = read(terminal).await;
    drop(silent);
    answer.map(SecretString::from)
}

fn open(question: &str, instead: &str) -> Result<File, Failure> {
    let missing = |error: &std::io::Error| {
        Failure::invalid("there is no terminal to ask at").with_cause(error).with_hint(instead.to_owned())
    };
    let mut terminal =
        File::options().read(true).write(true).open("/dev/tty").map_err(|error| missing(&error))?;
    terminal.write_all(question.as_bytes()).map_err(|error| missing(&error))?;
    Ok(terminal)
}

async fn read(terminal: File) -> Result<String, Failure> {
    let typed = tokio::task::spawn_blocking(move || {
        let mut line = String::new();
        BufReader::new(terminal.take(MAX_LINE_BYTES)).read_line(&mut line).map(|_| line)
    });
    let line = tokio::select! {
        typed = typed => typed,
        _ = tokio::signal::ctrl_c() => {
            // The question's line was not ended by whoever was asked.
            let _ = std::io::stderr().write_all(b"\n");
            return Err(Failure::invalid("stopped before an answer was given"));
        }
    };
    let line = line
        .map_err(|error| Failure::internal("cannot read from the terminal").with_cause(&error))?
        .map_err(|error| Failure::invalid("cannot read from the terminal").with_cause(&error))?;
    let line = crate::private_file::without_line_end(line);
    if line.is_empty() { Err(Failure::invalid("nothing was typed")) } else { Ok(line) }
}

/// A terminal that does not show what is typed, until the value is dropped.
struct Silence {
    terminal: File,
    before: Termios,
}

impl Silence {
    fn begin(terminal: &File) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| {
            Failure::internal("cannot keep the terminal from showing what is typed").with_cause(&error)
        };
        let terminal = terminal.try_clone().map_err(failed)?;
        let before = tcgetattr(&terminal).map_err(|error| failed(error.into()))?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        silent.local_modes.insert(LocalModes::ECHONL);
        tcsetattr(&terminal, OptionalActions::Flush, &silent).map_err(|error| failed(error.into()))?;
        Ok(Self { terminal, before })
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        // There is nobody to tell, and nothing else to try.
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.before);
    }
}
