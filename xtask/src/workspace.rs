//! What cargo and git say about this checkout: its root, its packages, its files, its commit.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};
use serde::Deserialize;

/// Returns the root of the checkout.
///
/// Cargo names the manifest at run time; what was compiled in could belong to another checkout that shares the
/// build directory.
///
/// # Errors
/// The directory above this crate cannot be named.
pub(crate) fn root() -> anyhow::Result<PathBuf> {
    let manifest_dir = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest_dir.parent().map(Path::to_path_buf).context("this crate lies in the workspace root")
}

/// Returns a command for the cargo that runs this program, started in `root`.
pub(crate) fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.current_dir(root);
    command
}

/// What `cargo metadata` says about the workspace's own packages.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    /// The workspace's packages, without those from outside.
    pub(crate) packages: Vec<Package>,
    /// Where cargo builds.
    pub(crate) target_directory: PathBuf,
}

/// One package of the workspace.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    /// Its name.
    pub(crate) name: String,
    /// Its `Cargo.toml`.
    pub(crate) manifest_path: PathBuf,
    /// What it declares, of any kind and for any platform.
    pub(crate) dependencies: Vec<Dependency>,
}

/// One declared dependency.
#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    /// The package's own name, whatever it is called where it is used.
    pub(crate) name: String,
    /// `None` for an ordinary dependency, else `dev` or `build`.
    pub(crate) kind: Option<String>,
}

/// Asks cargo for the workspace's packages; needs no network.
///
/// # Errors
/// Cargo refuses a manifest, or its answer cannot be read.
pub(crate) fn metadata(root: &Path) -> anyhow::Result<Metadata> {
    let answer = output(cargo(root).args(["metadata", "--no-deps", "--format-version", "1"]))?;
    serde_json::from_str(&answer).context("reading the answer of cargo metadata")
}

/// Returns the files git tracks or would track, relative to `root`, without those deleted from the working tree.
///
/// # Errors
/// This is no git checkout.
pub(crate) fn files(root: &Path) -> anyhow::Result<Vec<String>> {
    let list = output(git(root).args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"]))?;
    Ok(list
        .split('\0')
        .filter(|path| !path.is_empty() && root.join(path).is_file())
        .map(str::to_owned)
        .collect())
}

/// Returns the commit's short name, with `+changes` where the working tree differs from it.
///
/// # Errors
/// This is no git checkout, or it has no commit.
pub(crate) fn commit(root: &Path) -> anyhow::Result<String> {
    let name = output(git(root).args(["rev-parse", "--short=12", "HEAD"]))?;
    let changes = output(git(root).args(["status", "--porcelain"]))?;
    Ok(format!("{}{}", name.trim(), if changes.trim().is_empty() { "" } else { "+changes" }))
}

fn git(root: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(root);
    command
}

/// Runs a command to its end and returns what it printed.
///
/// # Errors
/// It cannot be started, fails, or prints something that is not UTF-8.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("starting {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed ({}): {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    String::from_utf8(output.stdout)
        .with_context(|| format!("{command:?} printed something that is not UTF-8"))
}

/// Runs a command with this program's own output.
///
/// # Errors
/// It cannot be started, or fails.
pub(crate) fn succeed(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("starting {command:?}"))?;
    if !status.success() {
        bail!("{} failed ({status})", command.get_program().to_string_lossy());
    }
    Ok(())
}
