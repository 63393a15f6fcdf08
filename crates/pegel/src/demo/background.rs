//! A demo that goes on when the command has ended.
//!
//! `--detach` starts this program once more, in a session of its own, and waits
//! until the demo is ready or has failed. The child tells its progress through
//! a pipe and writes it to `demo.log` as well.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fluss_testkit::Progress;
use fluss_testkit::demo::{DemoRecord, read_record};
use pegel_core::error_code::ErrorCode;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::interval;

use crate::cli::DemoArgs;
use crate::console::Console;
use crate::demo::{EndSignals, failure, introduce, run_until, server, start};
use crate::render::failure::lines;
use pegel_service::failure::Failure;

/// How often the parent looks whether the demo is ready.
const WATCH: Duration = Duration::from_millis(200);
/// Lines of a failed child that are told.
const MAX_LINES: usize = 40;

/// Starts the demo in the background and returns when it is ready.
pub(super) async fn detach(args: &DemoArgs, console: &Console) -> Result<u8, Failure> {
    let mut end = EndSignals::listen()?;
    let mut child = spawn(args)?;
    let pid = child.id();
    let outcome = tokio::select! {
        outcome = wait_until_ready(&mut child, &args.dir, pid, console) => outcome,
        () = end.wait() => Err(Failure::new(ErrorCode::DemoFailed, "stopped before the demo was ready")),
    };
    match outcome {
        Ok(record) => {
            let code = introduce(&record, console).await?;
            console.note(&format!(
                "\nThe demo runs in the background; stop it with: {} demo --stop --dir {}\n",
                super::program(),
                super::shell_word(&record.dir)
            ));
            Ok(code)
        }
        Err(failure) => {
            end_child(&mut child).await;
            Err(failure)
        }
    }
}

/// Runs the demo as the background process, until a signal ends it.
pub(super) async fn supervise(args: &DemoArgs, console: &Console) -> Result<u8, Failure> {
    let mut end = EndSignals::listen()?;
    let log = Arc::new(Mutex::new(Log { path: args.dir.join("demo.log"), file: None }));
    let sink = Arc::clone(&log);
    let tell = move |line: &str| {
        // The parent may have gone; the log stays.
        let _ = writeln!(std::io::stderr(), "{line}");
        sink.lock().unwrap_or_else(PoisonError::into_inner).write(line);
    };
    let result = async {
        let (demo, server) = tokio::select! {
            started = Box::pin(start(args, Progress::new(tell.clone()), &tell)) => started?,
            () = end.wait() => return Ok(()),
        };
        Box::pin(run_until(demo, server, end.wait(), &tell)).await
    };
    if let Err(failure) = Box::pin(result).await {
        log.lock().unwrap_or_else(PoisonError::into_inner).write(&lines(&failure, false, false));
        return Err(failure);
    }
    console.note("stopped\n");
    Ok(0)
}

/// The log, opened at the first line: before that the folder may be somebody else's.
struct Log {
    path: std::path::PathBuf,
    file: Option<File>,
}

impl Log {
    fn write(&mut self, line: &str) {
        if self.file.is_none() && self.path.parent().is_some_and(|dir| dir.join("demo.lock").exists()) {
            self.file = File::create(&self.path).ok();
        }
        if let Some(file) = &mut self.file {
            let _ = writeln!(file, "{line}");
        }
    }
}

/// Starts this program once more, cut loose from the terminal.
fn spawn(args: &DemoArgs) -> Result<Child, Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(ErrorCode::DemoFailed, "cannot start the background process").with_cause(&error)
    };
    let program = std::env::current_exe().map_err(failed)?;
    // `setsid` makes a session of its own, which the end of the terminal does not reach; where it is
    // missing a process group of its own at least keeps Ctrl-C away.
    let mut with_session = Command::new("setsid");
    with_session.arg(&program);
    match dress(&mut with_session, args).spawn() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let mut plain = Command::new(&program);
            plain.process_group(0);
            dress(&mut plain, args).spawn().map_err(failed)
        }
        other => other.map_err(failed),
    }
}

fn dress<'a>(command: &'a mut Command, args: &DemoArgs) -> &'a mut Command {
    command.args(["demo", "--supervised", "--dir"]).arg(&args.dir);
    command.arg("--port-base").arg(args.port_base.to_string());
    for (flag, is_set) in [("--sasl", args.sasl), ("--tls", args.tls)] {
        if is_set {
            command.arg(flag);
        }
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped())
}

/// Passes the child's progress on until its demo is ready.
async fn wait_until_ready(
    child: &mut Child,
    dir: &Path,
    pid: Option<u32>,
    console: &Console,
) -> Result<DemoRecord, Failure> {
    let stderr =
        child.stderr.take().ok_or_else(|| Failure::internal("the background process has no stderr"))?;
    let mut output = BufReader::new(stderr).lines();
    let mut watch = interval(WATCH);
    let mut told: Vec<String> = Vec::new();
    let mut is_open = true;
    loop {
        tokio::select! {
            line = output.next_line(), if is_open => match line {
                Ok(Some(line)) => {
                    // A failure is told once, at the end.
                    if told.is_empty() && !line.starts_with("error[") {
                        console.note(&format!("{}\n", crate::render::escape::escape(&line)));
                    } else if told.len() < MAX_LINES {
                        told.push(line);
                    }
                }
                Ok(None) | Err(_) => is_open = false,
            },
            _ = watch.tick() => {
                if let Some(record) = read_record(dir).map_err(|error| failure(&error))?
                    && Some(record.supervisor_pid) == pid
                    && server::sign_in_of(&record.dir).is_some()
                {
                    return Ok(record);
                }
                if !is_open && let Ok(Some(status)) = child.try_wait() {
                    return Err(child_failure(&told, status));
                }
            }
        }
    }
}

/// Rebuilds the failure that the child has told.
fn child_failure(told: &[String], status: std::process::ExitStatus) -> Failure {
    let mut lines = told.iter().map(|line| line.trim());
    let first = lines.next().and_then(|line| line.strip_prefix("error["));
    let Some((code, message)) = first.and_then(|line| line.split_once("]: ")) else {
        return Failure::new(ErrorCode::DemoFailed, format!("the background process ended with {status}"));
    };
    let mut failure = Failure::new(code.parse().unwrap_or(ErrorCode::DemoFailed), message);
    for line in lines {
        match (line.strip_prefix("caused by: "), line.strip_prefix("hint: ")) {
            (Some(cause), _) => failure.causes.push(cause.to_owned()),
            (None, Some(hint)) => failure.hint = Some(hint.to_owned()),
            (None, None) => {}
        }
    }
    failure
}

/// Ends a child whose demo did not become ready, and waits until it has gone with all that it started.
async fn end_child(child: &mut Child) {
    let Some(pid) = child.id() else { return };
    // There is no safe call to send TERM from here, and `kill` is everywhere.
    let asked = Command::new("kill").args(["-TERM", &pid.to_string()]).stderr(Stdio::null()).status().await;
    if asked.is_err() {
        let _ = child.start_kill();
    }
    let _ = child.wait().await;
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn failure_of_the_child_is_told_as_its_own() {
        let told = [
            "error[demo_failed]: port 9123 for the coordinator is taken",
            "  caused by: something",
            "  hint: choose other ports",
        ];
        let told: Vec<String> = told.iter().map(|line| (*line).to_owned()).collect();
        let status = std::process::ExitStatus::from_raw(256);
        let failure = child_failure(&told, status);
        assert_eq!(failure.message, "port 9123 for the coordinator is taken");
        assert_eq!((failure.causes.len(), failure.hint.as_deref()), (1, Some("choose other ports")));
        let silent = child_failure(&[], status);
        assert!(silent.message.contains("exit status: 1"), "{silent:?}");
    }

    #[test]
    fn log_is_not_written_into_a_folder_of_somebody_else() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log { path: dir.path().join("demo.log"), file: None };
        log.write("one");
        assert!(!log.path.exists());
        std::fs::write(dir.path().join("demo.lock"), "").unwrap();
        log.write("two");
        assert_eq!(std::fs::read_to_string(&log.path).unwrap(), "two\n");
    }
}
