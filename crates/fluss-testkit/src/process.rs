//! Child processes that cannot outlive the process that started them.
//!
//! Each child runs under a tiny shell script, its guardian, whose standard input is a pipe held by
//! this process. When this process ends for whatever reason, SIGKILL included, the kernel closes the
//! pipe; the guardian then sends TERM to the child, waits for a bounded time and sends KILL. The
//! guardian prints the child's own process id first, so signals reach the child and not the shell.
//!
//! Guardians have a process group of their own: an interrupt typed at the terminal reaches only
//! this process, which can then stop its children in order.

mod pidfile;
mod table;

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::AsyncBufReadExt;
use tokio::process::{Child, ChildStdin, Command};
use tokio::time;

use crate::clock::Deadline;
use crate::error::Error;

pub(crate) use pidfile::PidRecord;
pub use table::is_alive;
pub(crate) use table::{Identity, command_line, identity};

/// The guardian. `$1` log file, `$2` grace in tenths of a second, the rest is the child's command.
///
/// The child reads the pipe as its standard input, where it finds nothing but the end. The watcher is
/// a process of its own, so that it works even if someone kills the shell that waits for the child.
/// `kill -0` on a child already gone is harmless: the shell reaps it only after the watcher is ended.
const GUARDIAN: &str = r#"
exec 3<&0
log=$1
grace=$2
shift 2
"$@" <&3 3<&- >>"$log" 2>&1 &
child=$!
echo "$child"
exec >/dev/null 2>&1
(
  read -r _ <&3
  kill -TERM "$child" || exit 0
  while [ "$grace" -gt 0 ] && kill -0 "$child"; do
    sleep 0.1
    grace=$((grace - 1))
  done
  kill -KILL "$child"
) &
watcher=$!
wait "$child"
status=$?
kill -KILL "$watcher"
exit "$status"
"#;

/// How long a killed process may take to vanish.
const KILL_BOUND: Duration = Duration::from_secs(10);

/// How often a process is looked at while waiting for it.
const POLL: Duration = Duration::from_millis(20);

/// How much of a log's end is read for its last lines.
const TAIL_BYTES: u64 = 64 * 1024;

/// What to run, and where its output goes.
#[derive(Debug, Clone)]
pub struct ProcessSpec {
    /// The name used in messages.
    pub name: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The working folder.
    pub folder: PathBuf,
    /// The file that standard output and standard error are appended to.
    pub log: PathBuf,
    /// How long the guardian waits between TERM and KILL when this process is gone.
    pub grace: Duration,
    /// A file to write the process id to, for whoever has to end the child without this process.
    pub pid_file: Option<PathBuf>,
}

/// How often, and how far apart, a frozen child is looked at until it stands still.
const FREEZE_POLLS: u32 = 1_000;
const FREEZE_PAUSE: Duration = Duration::from_millis(1);

/// A running child with its guardian.
///
/// Dropping it has the guardian end the child: TERM, bounded wait, KILL, in the background.
#[derive(Debug)]
pub struct Guarded {
    name: String,
    pid: u32,
    identity: Option<Identity>,
    log: PathBuf,
    guardian: Child,
    /// Held open for as long as the child may live; never written to.
    _lifeline: ChildStdin,
}

impl Guarded {
    /// Starts the child.
    ///
    /// # Errors
    /// `spawn_failed` if the shell does not start or reports no process id. That the child's own program
    /// exists is seen only later, as its early end. `io_failed` if the process id cannot be written.
    pub async fn spawn(spec: ProcessSpec) -> Result<Self, Error> {
        let failed = |source| Error::SpawnFailed { process: spec.name.clone(), source };
        let tenths = spec.grace.as_millis() / 100;
        let mut guardian = Command::new("sh")
            .arg("-c")
            .arg(GUARDIAN)
            .arg("guardian")
            .arg(&spec.log)
            .arg(tenths.to_string())
            .arg(&spec.program)
            .args(&spec.arguments)
            .current_dir(&spec.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let missing = || failed(std::io::Error::other("the guardian has no pipes"));
        let lifeline = guardian.stdin.take().ok_or_else(missing)?;
        let output = guardian.stdout.take().ok_or_else(missing)?;
        let mut line = String::new();
        tokio::io::BufReader::new(output).read_line(&mut line).await.map_err(failed)?;
        let pid = line
            .trim()
            .parse()
            .map_err(|_| failed(std::io::Error::other("the guardian reported no process id")))?;
        let identity = identity(pid);
        if let (Some(path), Some(record)) = (&spec.pid_file, PidRecord::of(&spec.name, pid)) {
            // On failure the pipe is closed, and the guardian ends the child.
            record.write(path)?;
        }
        Ok(Self { name: spec.name, pid, identity, log: spec.log, guardian, _lifeline: lifeline })
    }

    /// Returns the name used in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the process id of the child itself.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns the file of the child's output.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// Returns the end of the child's output.
    pub fn last_lines(&self, count: usize) -> String {
        log_tail(&self.log, count)
    }

    /// Tells whether the child runs; a frozen one does, a zombie does not.
    pub fn is_alive(&self) -> bool {
        // A later process with the same id has another identity, and is not to be signalled.
        self.identity.is_some() && is_alive(self.pid) && identity(self.pid) == self.identity
    }

    /// Asks the child to end (SIGTERM) and returns at once.
    ///
    /// # Errors
    /// `not_running`, `signal_failed`.
    pub async fn terminate(&self) -> Result<(), Error> {
        self.signal("TERM").await
    }

    /// Freezes the child (SIGSTOP) and waits until each of its threads stands still: its
    /// sockets stay open, nothing answers.
    ///
    /// # Errors
    /// `not_running`, `signal_failed`.
    pub async fn freeze(&self) -> Result<(), Error> {
        self.signal("STOP").await?;
        // A thread that runs on another processor goes on for a moment after the signal was sent.
        for _ in 0..FREEZE_POLLS {
            if table::is_stopped(self.pid) {
                break;
            }
            time::sleep(FREEZE_PAUSE).await;
        }
        Ok(())
    }

    /// Lets a frozen child go on (SIGCONT).
    ///
    /// # Errors
    /// `not_running`, `signal_failed`.
    pub async fn thaw(&self) -> Result<(), Error> {
        self.signal("CONT").await
    }

    /// Ends the child at once (SIGKILL) and waits until it is gone.
    ///
    /// # Errors
    /// `not_running`, `signal_failed`, `will_not_end`.
    pub async fn kill(&mut self) -> Result<(), Error> {
        self.signal("KILL").await?;
        match self.wait(KILL_BOUND).await? {
            Some(_) => Ok(()),
            None => Err(Error::WillNotEnd { process: self.name.clone(), pid: self.pid }),
        }
    }

    /// Ends the child: TERM, up to `grace`, then KILL. Does nothing if it has ended already.
    ///
    /// # Errors
    /// `signal_failed`, `will_not_end`.
    pub async fn stop(&mut self, grace: Duration) -> Result<(), Error> {
        match self.terminate().await {
            Err(Error::NotRunning { .. }) => return Ok(()),
            other => other?,
        }
        // A frozen process acts on TERM only once it goes on.
        self.thaw_if_running().await?;
        if self.wait(grace).await?.is_some() {
            return Ok(());
        }
        match self.kill().await {
            Err(Error::NotRunning { .. }) => Ok(()),
            other => other,
        }
    }

    /// Waits for the child's end; `None` if it still runs after `bound`.
    ///
    /// # Errors
    /// `io_failed` if the guardian cannot be waited for.
    pub async fn wait(&mut self, bound: Duration) -> Result<Option<ExitStatus>, Error> {
        match time::timeout(bound, self.guardian.wait()).await {
            Ok(Ok(status)) => Ok(Some(status)),
            Ok(Err(source)) => Err(Error::io("wait for", Path::new(&self.name), source)),
            Err(_) => Ok(None),
        }
    }

    async fn thaw_if_running(&self) -> Result<(), Error> {
        match self.thaw().await {
            Err(Error::NotRunning { .. }) => Ok(()),
            other => other,
        }
    }

    async fn signal(&self, signal: &'static str) -> Result<(), Error> {
        if !self.is_alive() {
            return Err(Error::NotRunning { process: self.name.clone() });
        }
        if send(signal, self.pid).await {
            return Ok(());
        }
        if self.is_alive() {
            return Err(Error::SignalFailed { signal, process: self.name.clone(), pid: self.pid });
        }
        Err(Error::NotRunning { process: self.name.clone() })
    }
}

/// Sends a signal with the shell's own `kill`; tells whether it was delivered.
pub(crate) async fn send(signal: &'static str, pid: u32) -> bool {
    Command::new("sh")
        .args(kill_arguments(signal, &[pid]))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .await
        .is_ok_and(|status| status.success())
}

/// Kills processes at once without a runtime, for destructors.
pub(crate) fn kill_now(pids: &[u32]) {
    if pids.is_empty() {
        return;
    }
    // A process that is already gone makes kill complain; that is what was wanted.
    let outcome = std::process::Command::new("sh")
        .args(kill_arguments("KILL", pids))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if let Err(error) = outcome {
        tracing::warn!(%error, "could not run sh to kill child processes");
    }
}

fn kill_arguments(signal: &str, pids: &[u32]) -> Vec<String> {
    let mut arguments = vec!["-c".to_owned(), "kill -s \"$@\"".to_owned(), "kill".to_owned()];
    arguments.push(signal.to_owned());
    arguments.extend(pids.iter().map(u32::to_string));
    arguments
}

/// Waits until a process that is not ours is gone; tells whether it is.
pub(crate) async fn wait_gone(pid: u32, bound: Duration) -> bool {
    let deadline = Deadline::after(bound);
    while is_alive(pid) {
        if deadline.passed() {
            return false;
        }
        time::sleep(POLL).await;
    }
    true
}

/// Waits, without a runtime, until processes are gone or the bound has passed.
pub(crate) fn wait_gone_blocking(pids: &[u32], bound: Duration) {
    let deadline = Deadline::after(bound);
    while pids.iter().any(|pid| is_alive(*pid)) && !deadline.passed() {
        std::thread::sleep(POLL);
    }
}

/// Returns the last lines of a log file, or a word why there are none.
///
/// The frames of Java stack traces are left out: the exceptions and their causes say more in fewer lines.
pub(crate) fn log_tail(path: &Path, count: usize) -> String {
    use std::io::{Seek, SeekFrom};
    let read = || -> std::io::Result<String> {
        let mut file = fs::File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
        let mut lines = VecDeque::new();
        for line in BufReader::new(file).split(b'\n') {
            let line = line?;
            if line.starts_with(b"\tat ") || line.starts_with(b"\t... ") {
                continue;
            }
            lines.push_back(String::from_utf8_lossy(&line).into_owned());
            if lines.len() > count {
                lines.pop_front();
            }
        }
        Ok(Vec::from(lines).join("\n"))
    };
    match read() {
        Ok(text) if text.trim().is_empty() => "(the log is empty)".to_owned(),
        Ok(text) => text,
        Err(error) => format!("(the log cannot be read: {error})"),
    }
}

/// Returns the last `count` lines that are not blank.
pub(crate) fn last_lines(text: &str, count: usize) -> String {
    let mut lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).rev().take(count).collect();
    lines.reverse();
    lines.join("\n")
}

/// Makes arguments from anything that is a word of a command line.
pub(crate) fn words<I, W>(words: I) -> Vec<OsString>
where
    I: IntoIterator<Item = W>,
    W: AsRef<OsStr>,
{
    words.into_iter().map(|word| word.as_ref().to_owned()).collect()
}
