//! Data directories of servers.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// A folder that is gone when its owner is.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes an empty folder; `name` tells apart those of one run.
    pub(crate) fn new(name: &str) -> anyhow::Result<Self> {
        let path = std::env::temp_dir().join(format!("pegel-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).context("making a data directory")?;
        Ok(Self(path))
    }

    /// Returns where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
