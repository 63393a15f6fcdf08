//! A private PostgreSQL for a server.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time;

use crate::workspace;

/// How long it may take until there is a database, with what has to be built for it.
const START_BOUND: Duration = Duration::from_secs(900);

/// An empty database. The server it is on ends when this is dropped.
pub(crate) struct Database {
    address: String,
    _server: Child,
}

impl Database {
    /// Starts a server of its own, which the test kit does in a process of its own: these tasks do not wait for what
    /// they are to check to compile.
    ///
    /// # Errors
    /// PostgreSQL is not installed, or does not start.
    pub(crate) async fn start(root: &Path) -> anyhow::Result<Self> {
        let mut command = Command::from(workspace::cargo(root));
        command
            .args(["run", "--quiet", "--locked", "--package", "pegel-testkit", "--bin", "private-postgres"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut server = command.spawn().context("starting PostgreSQL")?;
        let mut said = BufReader::new(server.stdout.take().context("its output is a pipe")?);
        let mut address = String::new();
        time::timeout(START_BOUND, said.read_line(&mut address))
            .await
            .context("PostgreSQL does not start")??;
        ensure!(
            !address.trim().is_empty(),
            "PostgreSQL's initdb is not installed, or the server does not start"
        );
        Ok(Self { address: address.trim().to_owned(), _server: server })
    }

    /// Returns its address as a URL with user and password.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }
}
