//! The web console's own checks, run by its own tools. A checkout without `web/` has none.

use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use crate::workspace;

/// Installs what the console's lock file names, unless it is there already.
///
/// # Errors
/// npm fails.
pub(crate) fn install(root: &Path) -> anyhow::Result<()> {
    let folder = root.join("web");
    // npm writes its own copy of the lock file last.
    let installed = modified(&folder.join("node_modules/.package-lock.json"));
    if installed.is_some() && installed >= modified(&folder.join("package-lock.json")) {
        return Ok(());
    }
    npm(root, &["ci"])
}

/// Checks types, format and rules.
///
/// # Errors
/// A check fails.
pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    npm(root, &["run", "--silent", "check"])
}

/// Runs the unit tests.
///
/// # Errors
/// A test fails.
pub(crate) fn test(root: &Path) -> anyhow::Result<()> {
    npm(root, &["test", "--silent"])
}

/// Builds the console, so that the server that is built next carries it.
///
/// # Errors
/// The build fails.
pub(crate) fn build(root: &Path) -> anyhow::Result<()> {
    npm(root, &["run", "--silent", "build"])
}

/// Builds the console unless what is built is newer than everything it is made of.
///
/// # Errors
/// npm or the build fails.
pub(crate) fn console(root: &Path) -> anyhow::Result<()> {
    let built = modified(&root.join("web/dist/index.html"));
    let sources = workspace::files(root)?;
    let newest =
        sources.iter().filter(|path| path.starts_with("web/")).filter_map(|path| modified(&root.join(path)));
    if built.is_some() && built >= newest.max() {
        return Ok(());
    }
    install(root)?;
    build(root)
}

/// Runs the tests in a browser.
///
/// # Errors
/// A test fails.
pub(crate) fn browser(root: &Path) -> anyhow::Result<()> {
    npm(root, &["run", "--silent", "e2e"])
}

fn modified(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file).and_then(|file| file.modified()).ok()
}

fn npm(root: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    if !root.join("web/package.json").exists() {
        return Ok(());
    }
    workspace::succeed(Command::new("npm").current_dir(root.join("web")).args(arguments))
}
