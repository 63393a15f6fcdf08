//! Ends a demo from outside the process that runs it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::demo::DemoFiles;
use crate::error::Error;
use crate::process::{self, PidRecord};

/// How long the supervisor may take to end its servers in order.
const SUPERVISOR_BOUND: Duration = Duration::from_secs(40);

/// How long a process may take after TERM, and again after KILL.
const PROCESS_BOUND: Duration = Duration::from_secs(10);

/// What [`stop_recorded`] found to end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stopped {
    /// The processes that were running, by name.
    pub processes: Vec<String>,
}

/// Ends the demo of a folder: first the process that runs it, then what is left of its children.
///
/// A process is only signalled if it is the very one that was written down, and a server only if its command
/// line names the folder. Nothing running is no error.
///
/// # Errors
/// `io_failed`, `demo_file_unusable`, `will_not_end`.
pub async fn stop_recorded(dir: &Path) -> Result<Stopped, Error> {
    let dir = std::path::absolute(dir).map_err(|source| Error::io("resolve", dir, source))?;
    let files = DemoFiles { dir };
    let mut stopped = Stopped::default();
    let supervisor = PidRecord::read(&files.supervisor())?;
    if let Some(supervisor) = supervisor.filter(|record| record.pid != std::process::id())
        && end(&supervisor, SUPERVISOR_BOUND).await?
    {
        stopped.processes.push(supervisor.name);
    }
    stopped.processes.extend(end_leftovers(&files).await?);
    DemoFiles::remove(&files.record())?;
    forget(&files)?;
    Ok(stopped)
}

/// Ends children that outlived their supervisor and its guardians, ZooKeeper last; returns their names.
pub(super) async fn end_leftovers(files: &DemoFiles) -> Result<Vec<String>, Error> {
    let mut records = child_records(files)?;
    records.retain(|record| record.is_alive() && names_folder(record, &files.dir));
    records.sort_by_key(|record| record.name == "zookeeper");
    for record in records.iter().filter(|record| record.name != "zookeeper") {
        // Ended together, since each takes seconds; whoever stays is seen below.
        process::send("TERM", record.pid).await;
    }
    let mut ended = Vec::new();
    for record in records {
        end(&record, PROCESS_BOUND).await?;
        ended.push(record.name);
    }
    Ok(ended)
}

/// Removes the files that say which processes run.
pub(super) fn forget(files: &DemoFiles) -> Result<(), Error> {
    for record in pid_files(files)? {
        DemoFiles::remove(&record)?;
    }
    DemoFiles::remove(&files.supervisor())
}

/// Ends one process: TERM, bounded wait, KILL; tells whether it was running.
async fn end(record: &PidRecord, grace: Duration) -> Result<bool, Error> {
    if !record.is_alive() {
        return Ok(false);
    }
    process::send("CONT", record.pid).await;
    process::send("TERM", record.pid).await;
    if process::wait_gone(record.pid, grace).await {
        return Ok(true);
    }
    process::send("KILL", record.pid).await;
    if process::wait_gone(record.pid, PROCESS_BOUND).await {
        return Ok(true);
    }
    Err(Error::WillNotEnd { process: record.name.clone(), pid: record.pid })
}

fn names_folder(record: &PidRecord, dir: &Path) -> bool {
    process::command_line(record.pid).is_some_and(|line| line.contains(&*dir.to_string_lossy()))
}

fn child_records(files: &DemoFiles) -> Result<Vec<PidRecord>, Error> {
    pid_files(files)?.iter().filter_map(|path| PidRecord::read(path).transpose()).collect()
}

fn pid_files(files: &DemoFiles) -> Result<Vec<std::path::PathBuf>, Error> {
    let folder = files.pids();
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|source| Error::io("read", &folder, source))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(|source| Error::io("read", &folder, source))?.path();
        if path.extension().is_some_and(|extension| extension == "pid") {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::{Command, Stdio};

    use super::{Stopped, stop_recorded};
    use crate::process::{PidRecord, is_alive};

    #[tokio::test]
    async fn where_no_demo_ran_there_is_nothing_to_stop() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(stop_recorded(dir.path()).await.unwrap(), Stopped::default());
        assert_eq!(stop_recorded(&dir.path().join("never")).await.unwrap(), Stopped::default());
    }

    #[tokio::test]
    async fn only_a_process_whose_command_line_names_the_folder_is_ended() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("pids")).unwrap();
        let spawn = |argument: &str| {
            // The argument is the shell's own name, so that it shows in its command line.
            Command::new("sh").args(["-c", "read -r line", argument]).stdin(Stdio::piped()).spawn().unwrap()
        };
        let mut ours = spawn(&dir.path().join("tablet-server-0").display().to_string());
        let mut foreign = spawn("/somewhere/else");
        for (name, child) in [("tablet-server-0", &ours), ("tablet-server-1", &foreign)] {
            let record = PidRecord::of(name, child.id()).unwrap();
            record.write(&dir.path().join("pids").join(format!("{name}.pid"))).unwrap();
        }
        let (first, second) = (ours.id(), foreign.id());
        let stopped = stop_recorded(dir.path()).await.unwrap();
        assert_eq!(stopped.processes, ["tablet-server-0"]);
        assert!(!is_alive(first));
        assert!(is_alive(second));
        assert_eq!(stop_recorded(dir.path()).await.unwrap(), Stopped::default(), "the records are gone");
        foreign.kill().unwrap();
        foreign.wait().unwrap();
        ours.wait().unwrap();
    }
}
