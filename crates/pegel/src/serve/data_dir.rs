//! The data directory: made for its owner alone, and held by one server at a time.

use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use pegel_core::error_code::ErrorCode;
use pegel_service::failure::Failure;

use crate::private_file;
use crate::settings::store::{Database, Store};

/// The file that is locked; it holds the process id of whoever has it, for people to read.
pub(crate) const LOCK: &str = "pegel.lock";

/// How often, and how far apart, the lock is tried.
const TRIES: u32 = 5;
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// A data directory that is this process's as long as the value lives; the system lets go of it with the process.
#[derive(Debug)]
pub(crate) struct DataDir {
    _lock: File,
}

/// Makes what is missing of the data directory, and takes it where the database lies in it.
///
/// Servers that share a PostgreSQL database may also share a directory with the key.
///
/// # Errors
/// `data_dir_unusable`, `data_dir_in_use`.
pub(crate) fn take(store: &Store) -> Result<Option<DataDir>, Failure> {
    match store.database {
        Database::Sqlite { .. } => {
            make(&store.data_dir)?;
            lock(&store.data_dir).map(Some)
        }
        Database::Postgres { .. } => {
            if let Some(folder) = store.secret_key.path().and_then(Path::parent) {
                make(folder)?;
            }
            Ok(None)
        }
    }
}

fn make(dir: &Path) -> Result<(), Failure> {
    private_file::make_folder(dir).map_err(|error| unusable("cannot make the data directory", dir, &error))
}

fn lock(dir: &Path) -> Result<DataDir, Failure> {
    let path = dir.join(LOCK);
    let opened = File::options().create(true).truncate(false).read(true).write(true).mode(0o600).open(&path);
    let mut file = opened.map_err(|error| unusable("cannot write in the data directory", dir, &error))?;
    match try_lock(&file) {
        Ok(()) => {
            let written = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
            written.map_err(|error| unusable("cannot write in the data directory", dir, &error))?;
            Ok(DataDir { _lock: file })
        }
        Err(TryLockError::WouldBlock) => Err(in_use(dir, holder(&mut file))),
        Err(TryLockError::Error(error)) => Err(unusable("cannot lock the data directory", dir, &error)),
    }
}

/// Tries for a moment: whoever looks whether the lock is free holds it meanwhile.
fn try_lock(file: &File) -> Result<(), TryLockError> {
    for _ in 1..TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(BETWEEN_TRIES),
            other => return other,
        }
    }
    file.try_lock()
}

/// Returns the process id that whoever holds the lock wrote down.
fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn in_use(dir: &Path, holder: Option<u32>) -> Failure {
    let who =
        holder.map_or_else(|| "another server".to_owned(), |pid| format!("another server (process {pid})"));
    let message = format!("{who} works in the data directory {}", dir.display());
    Failure::new(ErrorCode::DataDirInUse, message)
        .with_hint("use or stop that one, or choose another directory with --data-dir")
}

fn unusable(what: &str, dir: &Path, error: &std::io::Error) -> Failure {
    let failure =
        Failure::new(ErrorCode::DataDirUnusable, format!("{what} {}", dir.display())).with_cause(error);
    match error.kind() {
        std::io::ErrorKind::StorageFull => failure.with_hint("the disk is full: make room"),
        std::io::ErrorKind::PermissionDenied => failure.with_hint(format!(
            "give the user that runs Pegel the right to write in {}, or choose another with --data-dir",
            dir.display()
        )),
        _ => failure,
    }
}

/// Returns the process that holds a data directory at this moment, without taking it.
///
/// # Errors
/// What opening the lock's file fails with.
pub(crate) fn held_by(dir: &Path) -> std::io::Result<Held> {
    let mut file = match File::open(dir.join(LOCK)) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Held::Free),
        Err(error) => return Err(error),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(Held::Free),
        Err(TryLockError::WouldBlock) => Ok(Held::By(holder(&mut file))),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether somebody holds a data directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    Free,
    /// Held, with the process id where it is known.
    By(Option<u32>),
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn directory_belongs_to_one_server_until_it_ends() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("a/b");
        make(&data).unwrap();
        assert_eq!(fs::metadata(&data).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(held_by(&data).unwrap(), Held::Free);
        let first = lock(&data).unwrap();
        let failure = lock(&data).unwrap_err();
        assert_eq!(failure.code, ErrorCode::DataDirInUse);
        let me = std::process::id();
        assert!(failure.message.contains(&format!("process {me}")), "{failure:?}");
        assert_eq!(held_by(&data).unwrap(), Held::By(Some(me)));
        drop(first);
        assert_eq!(held_by(&data).unwrap(), Held::Free);
        lock(&data).unwrap();
    }

    #[test]
    fn file_in_the_place_of_the_directory_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        fs::write(&path, "x").unwrap();
        let failure = make(&path).unwrap_err();
        assert_eq!(failure.code, ErrorCode::DataDirUnusable);
        assert!(failure.message.contains("data"), "{failure:?}");
    }
}
