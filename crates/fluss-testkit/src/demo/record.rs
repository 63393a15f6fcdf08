//! What a running demo tells the world: `demo.json`.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::paths;
use crate::process::PidRecord;

/// The form of the file; it grows when a field changes its meaning.
pub(super) const VERSION: u32 = 1;

/// The contents of `demo.json`, a file that only its owner may read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DemoRecord {
    /// The form of the file, 1.
    pub version: u32,
    /// The Fluss release that runs.
    pub fluss_version: String,
    /// When the demo became ready.
    pub started_at: jiff::Timestamp,
    /// The folder of the demo.
    pub dir: PathBuf,
    /// The folder of the logs.
    pub logs_dir: PathBuf,
    /// The process that runs the demo; ending it ends all.
    pub supervisor_pid: u32,
    /// The process that writes the steady workload.
    pub workload_pid: u32,
    /// Where clients connect, comma separated.
    pub bootstrap: String,
    /// How clients speak to `bootstrap`: `PLAINTEXT`, `TLS`, `SASL_PLAINTEXT` or `SASL_TLS`.
    pub security_protocol: String,
    /// `PLAIN` with SASL.
    pub sasl_mechanism: Option<String>,
    /// Whether clients come in over TLS.
    pub tls: bool,
    /// The file with the certificate of the authority to trust, with TLS.
    pub ca_path: Option<PathBuf>,
    /// With TLS: where clients without TLS connect, with the same authentication.
    pub plain_bootstrap: Option<String>,
    /// The users, with SASL.
    pub users: Vec<DemoUser>,
    /// `host:port` of ZooKeeper.
    pub zookeeper: String,
    /// The Prometheus endpoints, the coordinator's first.
    pub metric_endpoints: Vec<String>,
    /// ZooKeeper, the coordinator and the tablet servers.
    pub servers: Vec<DemoServer>,
}

/// A user of a demo with SASL.
#[derive(Clone, Serialize, Deserialize)]
pub struct DemoUser {
    /// The name.
    pub name: String,
    /// The password, random and new with each start.
    pub password: String,
    /// What the user may do, in words.
    pub role: String,
}

impl fmt::Debug for DemoUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DemoUser").field("name", &self.name).field("role", &self.role).finish_non_exhaustive()
    }
}

/// A server of a demo.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DemoServer {
    /// `zookeeper`, `coordinator` or `tablet-server-<n>`.
    pub name: String,
    /// The process id when the demo became ready.
    pub pid: u32,
    /// `host:port` for clients.
    pub address: String,
    /// The Prometheus endpoint; ZooKeeper has none.
    pub metrics_url: Option<String>,
    /// The log.
    pub log: PathBuf,
}

impl DemoRecord {
    /// Writes the file with mode 0600, whole or not at all.
    pub(super) fn write(&self, path: &Path) -> Result<(), Error> {
        let mut text =
            serde_json::to_string_pretty(self).map_err(|source| Error::io("write", path, source.into()))?;
        text.push('\n');
        paths::write_private(path, text.as_bytes())
    }
}

/// Reads the `demo.json` of a folder; `None` if no demo is ready there, or if its process is gone.
///
/// # Errors
/// `io_failed`, `demo_file_unusable`.
pub fn read_record(dir: &Path) -> Result<Option<DemoRecord>, Error> {
    let path = dir.join("demo.json");
    let supervisor = PidRecord::read(&dir.join("demo.pid"))?;
    if !supervisor.is_some_and(|record| record.is_alive()) {
        // A demo that was killed could not take its file away.
        return Ok(None);
    }
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::io("read", &path, source)),
    };
    let record: DemoRecord = serde_json::from_slice(&bytes)
        .map_err(|error| Error::DemoFileUnusable { path: path.clone(), detail: error.to_string() })?;
    if record.version != VERSION {
        return Err(Error::DemoFileUnusable { path, detail: format!("unknown version {}", record.version) });
    }
    Ok(Some(record))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{DemoRecord, VERSION, read_record};
    use crate::process::PidRecord;

    fn record(dir: &Path, version: u32) -> DemoRecord {
        DemoRecord {
            version,
            fluss_version: "0".to_owned(),
            started_at: jiff::Timestamp::UNIX_EPOCH,
            dir: dir.to_owned(),
            logs_dir: dir.join("logs"),
            supervisor_pid: std::process::id(),
            workload_pid: 0,
            bootstrap: "127.0.0.1:1".to_owned(),
            security_protocol: "PLAINTEXT".to_owned(),
            sasl_mechanism: None,
            tls: false,
            ca_path: None,
            plain_bootstrap: None,
            users: Vec::new(),
            zookeeper: "127.0.0.1:2".to_owned(),
            metric_endpoints: Vec::new(),
            servers: Vec::new(),
        }
    }

    #[test]
    fn a_record_counts_only_while_its_process_lives() {
        let dir = tempfile::tempdir().unwrap();
        record(dir.path(), VERSION).write(&dir.path().join("demo.json")).unwrap();
        assert!(read_record(dir.path()).unwrap().is_none(), "nobody runs it");
        let me = PidRecord::of("pegel demo", std::process::id()).unwrap();
        me.write(&dir.path().join("demo.pid")).unwrap();
        assert_eq!(read_record(dir.path()).unwrap().unwrap().bootstrap, "127.0.0.1:1");
        fs::remove_file(dir.path().join("demo.json")).unwrap();
        assert!(read_record(dir.path()).unwrap().is_none(), "not ready yet");
    }

    #[test]
    fn a_record_of_another_form_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        PidRecord::of("pegel demo", std::process::id()).unwrap().write(&dir.path().join("demo.pid")).unwrap();
        record(dir.path(), VERSION + 1).write(&dir.path().join("demo.json")).unwrap();
        assert_eq!(read_record(dir.path()).unwrap_err().code(), "demo_file_unusable");
    }
}
