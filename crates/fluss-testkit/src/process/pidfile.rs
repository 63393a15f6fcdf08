//! Process ids on disk, safe against ids that the system gave to another process since.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::paths;
use crate::process::table;

/// A process as it was written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PidRecord {
    pub(crate) name: String,
    pub(crate) pid: u32,
    /// When the process was started, in the system's own words.
    started: String,
}

impl PidRecord {
    /// Describes a running process; `None` if it has ended.
    pub(crate) fn of(name: &str, pid: u32) -> Option<Self> {
        let started = table::identity(pid)?.started;
        Some(Self { name: name.to_owned(), pid, started })
    }

    /// Tells whether the very process that was written down still runs.
    pub(crate) fn is_alive(&self) -> bool {
        table::is_alive(self.pid)
            && table::identity(self.pid).is_some_and(|identity| identity.started == self.started)
    }

    /// Writes the record, whole or not at all.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Error> {
        let text = serde_json::to_vec(self).map_err(|source| Error::io("write", path, source.into()))?;
        paths::write_private(path, &text)
    }

    /// Reads a record; `None` if there is no such file.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, Error> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(Error::io("read", path, source)),
        };
        serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| Error::DemoFileUnusable { path: path.to_owned(), detail: error.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::PidRecord;

    #[test]
    fn a_record_survives_the_disk_and_knows_its_own_process_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pid");
        assert_eq!(PidRecord::read(&path).unwrap(), None);
        let record = PidRecord::of("me", std::process::id()).unwrap();
        record.write(&path).unwrap();
        let read = PidRecord::read(&path).unwrap().unwrap();
        assert_eq!(read, record);
        assert!(read.is_alive());
        let later_process_with_the_same_id = PidRecord { started: "0".to_owned(), ..read };
        assert!(!later_process_with_the_same_id.is_alive());
    }

    #[test]
    fn a_file_that_is_no_record_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pid");
        std::fs::write(&path, "12").unwrap();
        assert_eq!(PidRecord::read(&path).unwrap_err().code(), "demo_file_unusable");
    }
}
