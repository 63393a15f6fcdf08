//! Cargo plug-ins the tasks call: found on PATH or in the user's cache, else built there once.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::workspace;

/// A cargo plug-in with the version that is built where none is found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool {
    /// Package and program name.
    pub(crate) name: &'static str,
    /// Version to build.
    pub(crate) version: &'static str,
}

/// Checks licences, sources and duplicates of dependencies.
pub(crate) const CARGO_DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2" };
/// Drives libFuzzer.
pub(crate) const CARGO_FUZZ: Tool = Tool { name: "cargo-fuzz", version: "0.13.1" };

/// Returns the path of a tool; builds it first where it is missing.
///
/// # Errors
/// It is missing and either may not be installed (`PEGEL_NO_INSTALL=1`) or does not build.
pub(crate) fn find(root: &Path, tool: Tool) -> anyhow::Result<PathBuf> {
    let cached = cache_dir(root).join("tools");
    let mut places: Vec<PathBuf> = vec![cached.join("bin")];
    places.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    if let Some(found) = places.iter().map(|place| place.join(tool.name)).find(|path| path.is_file()) {
        return Ok(found);
    }
    let Tool { name, version } = tool;
    if std::env::var_os("PEGEL_NO_INSTALL").as_deref() == Some(OsStr::new("1")) {
        bail!("{name} is missing: cargo install {name} --version {version} --locked");
    }
    println!("building {name} {version} once into {}", cached.display());
    workspace::succeed(
        workspace::cargo(root)
            .args(["install", name, "--version", version, "--locked", "--quiet", "--root"])
            .arg(&cached)
            // Its objects would only fill the build directory.
            .env("CARGO_TARGET_DIR", cached.join("build")),
    )
    .with_context(|| format!("building {name}"))?;
    // A rest that cannot be removed does no harm.
    let _ = std::fs::remove_dir_all(cached.join("build"));
    Ok(cached.join("bin").join(name))
}

/// Returns Pegel's directory in the user's cache, or one in the checkout where there is no home.
pub(crate) fn cache_dir(root: &Path) -> PathBuf {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("XDG_CACHE_HOME")
        .or_else(|| named("HOME").map(|home| home.join(".cache")))
        .map_or_else(|| root.join("target"), |cache| cache.join("pegel"))
}
