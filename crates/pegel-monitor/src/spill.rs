//! Where pings go while the store takes none: a file beside it, to which is only appended.
//!
//! A ping counts as kept once its line is on disk. The lines come into the store in their order, and each at most
//! once, since each has the id under which it would have been kept at first. The file is for its owner only and
//! bounded.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use pegel_core::monitor::heartbeat::Ping;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use uuid::Uuid;

/// The largest spill file, in bytes.
pub const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Up to where pings are taken whose key nobody knows just now.
pub const MAX_UNKNOWN_BYTES: u64 = MAX_BYTES / 4;

/// A ping that waits for the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) id: Uuid,
    pub(crate) key_hash: Vec<u8>,
    pub(crate) received_at: Timestamp,
    pub(crate) ping: Ping,
    pub(crate) remote: String,
    pub(crate) body: Vec<u8>,
}

/// The file. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Spill {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    file: PathBuf,
    /// What is being read, apart from what is being written.
    reading: PathBuf,
    is_pending: AtomicBool,
    writing: Mutex<()>,
}

impl Spill {
    /// Takes the files of a folder, which exists.
    pub(crate) fn new(folder: &Path) -> Self {
        let file = folder.join("pings.spill");
        let reading = folder.join("pings.spill.reading");
        let is_pending = AtomicBool::new(file.exists() || reading.exists());
        Self { inner: Arc::new(Inner { file, reading, is_pending, writing: Mutex::new(()) }) }
    }

    /// Tells whether pings wait; those that come must wait behind them.
    pub(crate) fn is_pending(&self) -> bool {
        self.inner.is_pending.load(Ordering::SeqCst)
    }

    /// Keeps a ping; it is on disk when this returns.
    pub(crate) async fn append(&self, entry: &Entry, max_bytes: u64) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        let _writing = self.inner.writing.lock().await;
        let path = self.inner.file.clone();
        let written = spawn_blocking(move || append_line(&path, &line, max_bytes)).await;
        written.map_err(io::Error::other)??;
        self.inner.is_pending.store(true, Ordering::SeqCst);
        Ok(())
    }

    /// Returns what waits, oldest first; nothing means that nothing waits any more.
    ///
    /// The same is returned until [`Self::done`] says that it is in the store.
    pub(crate) async fn take(&self) -> io::Result<Vec<Entry>> {
        let _writing = self.inner.writing.lock().await;
        let (file, reading) = (self.inner.file.clone(), self.inner.reading.clone());
        let entries = spawn_blocking(move || read(&file, &reading)).await.map_err(io::Error::other)??;
        if entries.is_empty() {
            self.inner.is_pending.store(false, Ordering::SeqCst);
        }
        Ok(entries)
    }

    /// Forgets what [`Self::take`] returned.
    pub(crate) async fn done(&self) -> io::Result<()> {
        let reading = self.inner.reading.clone();
        let removed = spawn_blocking(move || fs::remove_file(reading)).await.map_err(io::Error::other)?;
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

fn append_line(path: &Path, line: &[u8], max_bytes: u64) -> io::Result<()> {
    let is_new = !path.exists();
    let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    let length = file.metadata()?.len();
    let added = u64::try_from(line.len()).unwrap_or(u64::MAX);
    if length.saturating_add(added) > max_bytes {
        return Err(io::Error::new(io::ErrorKind::StorageFull, "the spill file is full"));
    }
    if let Err(error) = file.write_all(line).and_then(|()| file.sync_data()) {
        // Half a line would swallow the next one.
        file.set_len(length)?;
        return Err(error);
    }
    if is_new && let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

fn read(file: &Path, reading: &Path) -> io::Result<Vec<Entry>> {
    if !reading.exists() {
        match fs::rename(file, reading) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            renamed => renamed?,
        }
    }
    let mut entries = Vec::new();
    let mut reader = BufReader::new(File::open(reading)?);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        // A line without an end was never answered.
        match serde_json::from_slice(&line) {
            Ok(entry) if line.ends_with(b"\n") => entries.push(entry),
            _ => tracing::warn!("a line of the spill file cannot be read"),
        }
        line.clear();
    }
    if entries.is_empty() {
        fs::remove_file(reading)?;
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use pegel_core::monitor::heartbeat::Kind;

    use super::*;

    fn entry(id: u128) -> Entry {
        Entry {
            id: Uuid::from_u128(id),
            key_hash: vec![7; 32],
            received_at: Timestamp::UNIX_EPOCH,
            ping: Ping { kind: Kind::Ok, run_id: None, source_id: None },
            remote: "127.0.0.1".to_owned(),
            body: b"\xff\n".to_vec(),
        }
    }

    #[tokio::test]
    async fn what_waits_is_read_in_its_order_until_it_is_done_also_after_a_crash() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::new(folder.path());
        assert!(!spill.is_pending());
        spill.append(&entry(1), MAX_BYTES).await.unwrap();
        spill.append(&entry(2), MAX_BYTES).await.unwrap();
        assert_eq!(spill.take().await.unwrap(), [entry(1), entry(2)]);
        spill.append(&entry(3), MAX_BYTES).await.unwrap();
        let again = Spill::new(folder.path());
        assert!(again.is_pending());
        assert_eq!(again.take().await.unwrap(), [entry(1), entry(2)], "not done yet");
        again.done().await.unwrap();
        assert_eq!(again.take().await.unwrap(), [entry(3)]);
        again.done().await.unwrap();
        assert_eq!((again.take().await.unwrap().len(), again.is_pending()), (0, false));
    }

    #[tokio::test]
    async fn the_file_is_for_its_owner_and_bounded_and_half_a_line_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::new(folder.path());
        spill.append(&entry(1), MAX_BYTES).await.unwrap();
        let path = folder.path().join("pings.spill");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let full = spill.append(&entry(2), 300).await.unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"id\"").unwrap();
        assert_eq!(spill.take().await.unwrap(), [entry(1)]);
    }
}
