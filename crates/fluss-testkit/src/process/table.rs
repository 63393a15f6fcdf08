//! Looks into the system's process table: `/proc` where there is one, else `ps`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// What tells one process from a later one that got the same id, and whether it still runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    /// When it was started, in the system's own words (clock ticks since boot, or a date).
    pub(crate) started: String,
    /// A zombie has ended and only waits to be collected.
    zombie: bool,
}

/// Tells whether a process of that id exists and is not a zombie.
pub fn is_alive(pid: u32) -> bool {
    identity(pid).is_some_and(|identity| !identity.zombie)
}

/// Returns who a process is; `None` if there is none of that id.
pub(crate) fn identity(pid: u32) -> Option<Identity> {
    if has_proc() {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The fields follow the command name, which is in brackets and may hold anything.
        let (_, rest) = stat.rsplit_once(')')?;
        let mut fields = rest.split_whitespace();
        let state = fields.next()?;
        // The state is field 3 and the start time field 22; 18 lie between them.
        let started = fields.nth(18)?.to_owned();
        return Some(Identity { started, zombie: is_zombie(state) });
    }
    let line = ps(pid, "stat=,lstart=")?;
    let (state, started) = line.split_once(char::is_whitespace)?;
    Some(Identity { started: started.trim().to_owned(), zombie: is_zombie(state) })
}

/// Returns a process's command line, arguments joined by blanks; `None` if it is gone.
pub(crate) fn command_line(pid: u32) -> Option<String> {
    if !has_proc() {
        return ps(pid, "command=");
    }
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words: Vec<_> =
        bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty()).map(String::from_utf8_lossy).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

fn has_proc() -> bool {
    Path::new("/proc/self/stat").exists()
}

/// Tells whether every thread of a process is stopped; where that cannot be known, it is taken for true.
pub(super) fn is_stopped(pid: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return true };
    threads.flatten().all(|thread| {
        let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        let state = stat.rsplit_once(')').map_or("", |(_, rest)| rest.trim_start());
        // A thread that has gone meanwhile does nothing any more either.
        state.is_empty() || state.starts_with(['T', 't', 'Z', 'X'])
    })
}

fn is_zombie(state: &str) -> bool {
    state.starts_with(['Z', 'X', 'x'])
}

fn ps(pid: u32, columns: &str) -> Option<String> {
    let output = Command::new("ps")
        .args(["-o", columns, "-p", &pid.to_string()])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::{command_line, identity, is_alive};

    #[test]
    fn this_process_is_alive_and_keeps_its_identity() {
        let me = std::process::id();
        assert!(is_alive(me));
        assert!(identity(me).is_some());
        assert_eq!(identity(me), identity(me));
        assert!(command_line(me).is_some());
    }

    #[test]
    fn a_zombie_is_not_alive_and_a_collected_process_is_unknown() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let pid = child.id();
        assert!(is_alive(pid));
        child.kill().unwrap();
        // Nothing has collected it yet, so it stays in the table until wait.
        while is_alive(pid) {
            std::thread::yield_now();
        }
        assert!(identity(pid).is_some(), "still there as a zombie");
        child.wait().unwrap();
        assert_eq!(identity(pid), None);
    }
}
