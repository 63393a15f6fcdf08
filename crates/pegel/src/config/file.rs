//! The configuration file, `pegel.toml`: all sections, read strictly.
//!
//! An unknown key is an error. Messages never quote a line of the file, since it may be the one with the password.

use std::path::{Path, PathBuf};

use pegel_core::error_code::ErrorCode;
use pegel_service::failure::Failure;
use serde::Deserialize;

use crate::config::ConnectionSection;
use crate::private_file;
use crate::settings::{
    ClustersSection, LogSection, LoginSection, MetricsSection, MonitoringSection, RetentionSection, Sections,
    ServerSection, StoreSection,
};

/// The file as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ConfigFile {
    pub(crate) connection: ConnectionSection,
    server: ServerSection,
    store: StoreSection,
    login: LoginSection,
    metrics: MetricsSection,
    log: LogSection,
    retention: RetentionSection,
    clusters: ClustersSection,
    monitoring: MonitoringSection,
}

/// A file that was read, with its text, which places are counted in.
#[derive(Debug)]
pub(crate) struct ReadFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) content: ConfigFile,
}

impl ConfigFile {
    /// Returns what is about the server.
    pub(crate) fn into_sections(self) -> Sections {
        Sections {
            server: self.server,
            store: self.store,
            login: self.login,
            metrics: self.metrics,
            log: self.log,
            retention: self.retention,
            clusters: self.clusters,
            monitoring: self.monitoring,
        }
    }
}

/// Reads the file.
///
/// # Errors
/// `invalid_config`, with the line where it is known.
pub(crate) fn read(path: &Path) -> Result<ReadFile, Failure> {
    let failed = |message: String| Failure::new(ErrorCode::InvalidConfig, message);
    let text = private_file::read_text(path).map_err(|error| {
        failed(format!("cannot read the configuration from {}", path.display())).with_cause(&error)
    })?;
    let content = toml::from_str(&text).map_err(|error| {
        let line = error.span().map(|span| text.bytes().take(span.start).filter(|b| *b == b'\n').count() + 1);
        let place = line.map_or_else(String::new, |line| format!(", line {line}"));
        // Only the message: the whole display quotes the line, which may hold a secret.
        failed(format!("{}{place}: {}", path.display(), error.message().trim().replace('\n', "; ")))
    })?;
    Ok(ReadFile { path: path.to_owned(), text, content })
}
