//! What a real cluster is made of: a JDK, and the released Fluss jars in the user's cache.
//!
//! Nothing is bundled: the jars come from wherever the user's Maven takes them, once, into
//! `${XDG_CACHE_HOME:-~/.cache}/pegel/fluss/<version>/`. A fetch goes to a folder beside it and is
//! renamed when complete, under a file lock, so that two first starts at once do no harm and a
//! broken one leaves nothing half done.

mod jdk;
mod maven;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::paths;
use crate::progress::Progress;

pub use jdk::Jdk;

/// The Fluss release that is started.
pub const FLUSS_VERSION: &str = "0.9.1-incubating";

/// The file written last into a complete folder: names and sizes of all jars.
const MANIFEST: &str = "jars.json";

/// The jars without which nothing starts, by the beginning of their names.
const NEEDED: [&str; 5] =
    ["fluss-server-", "fluss-client-", "fluss-metrics-prometheus-", "slf4j-api-", "slf4j-simple-"];

/// A JDK and the jars of one Fluss release, all checked to be there.
#[derive(Debug, Clone)]
pub struct Artifacts {
    jdk: Jdk,
    jars: Vec<PathBuf>,
    folder: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    jars: Vec<ManifestEntry>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ManifestEntry {
    name: String,
    size_bytes: u64,
}

impl Artifacts {
    /// Finds the JDK and the jars, fetching the jars if the cache has none. Blocks, up to minutes on a first run.
    ///
    /// # Errors
    /// `jdk_not_found`, `jdk_too_old`, `maven_not_found`, `download_failed`, `jars_incomplete`,
    /// `no_cache_folder`, `io_failed`.
    pub fn ensure(progress: &Progress) -> Result<Self, Error> {
        Self::ensure_in(&paths::cache()?, progress)
    }

    /// As [`Artifacts::ensure`], for callers inside a tokio runtime.
    ///
    /// Dropping the future lets a running fetch go on in the background; its result stays in the cache.
    ///
    /// # Errors
    /// Those of [`Artifacts::ensure`].
    pub async fn ensure_async(progress: Progress) -> Result<Self, Error> {
        tokio::task::spawn_blocking(move || Self::ensure(&progress))
            .await
            .map_err(|failed| Error::io("wait for", Path::new("the jars"), std::io::Error::other(failed)))?
    }

    /// As [`Artifacts::ensure`], for tests: `None`, with the reason printed, if this machine cannot run a cluster.
    ///
    /// # Errors
    /// Those of [`Artifacts::ensure`] if the variable `PEGEL_TEST_REQUIRE` names `fluss`, so that a test that
    /// must not be skipped fails.
    pub fn for_tests() -> Result<Option<Self>, Error> {
        let required = std::env::var("PEGEL_TEST_REQUIRE").unwrap_or_default();
        match Self::ensure(&Progress::silent()) {
            Ok(artifacts) => Ok(Some(artifacts)),
            Err(error) if error.is_missing_prerequisite() && !names_fluss(&required) => {
                eprintln!("skipped, no real cluster here: {error}");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn ensure_in(cache: &Path, progress: &Progress) -> Result<Self, Error> {
        let jdk = Jdk::find()?;
        let home = cache.join("fluss");
        let folder = home.join(FLUSS_VERSION);
        if let Some(jars) = complete(&folder) {
            return Ok(Self { jdk, jars, folder });
        }
        paths::make_folder(&home)?;
        let _lock = lock(&home.join(format!("{FLUSS_VERSION}.lock")))?;
        // Another process may have fetched while this one waited for the lock.
        if let Some(jars) = complete(&folder) {
            return Ok(Self { jdk, jars, folder });
        }
        progress.say(format!("fetching Fluss {FLUSS_VERSION} with Maven into {} (once)", folder.display()));
        fetch(&home, &folder)?;
        let jars = complete(&folder)
            .ok_or_else(|| Error::JarsIncomplete { folder: folder.clone(), missing: MANIFEST.to_owned() })?;
        Ok(Self { jdk, jars, folder })
    }

    /// Returns the JDK.
    pub fn jdk(&self) -> &Jdk {
        &self.jdk
    }

    /// Returns the folder of the jars and of what is compiled against them.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the classpath of coordinator, tablet servers and ZooKeeper.
    pub fn server_classpath(&self) -> OsString {
        self.classpath_without("fluss-client-")
    }

    /// Returns the classpath of programs that use the official Java client.
    pub fn client_classpath(&self) -> OsString {
        // Server and client jar bundle the same classes; only one may be on a path.
        self.classpath_without("fluss-server-")
    }

    fn classpath_without(&self, prefix: &str) -> OsString {
        let mut path = OsString::new();
        for jar in self.jars.iter().filter(|jar| !file_name(jar).starts_with(prefix)) {
            if !path.is_empty() {
                path.push(":");
            }
            path.push(jar);
        }
        path
    }
}

fn names_fluss(required: &str) -> bool {
    required.split([',', ' ']).any(|name| name == "fluss")
}

/// Takes the lock of a file, waiting for another holder; it ends with the returned handle.
pub(crate) fn lock(path: &Path) -> Result<fs::File, Error> {
    let file = fs::File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(|source| Error::io("open", path, source))?;
    file.lock().map_err(|source| Error::io("lock", path, source))?;
    Ok(file)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns the jars of a folder if its manifest is there and every jar has the size it says.
fn complete(folder: &Path) -> Option<Vec<PathBuf>> {
    let manifest: Manifest = serde_json::from_slice(&fs::read(folder.join(MANIFEST)).ok()?).ok()?;
    manifest
        .jars
        .iter()
        .map(|entry| {
            let path = folder.join(&entry.name);
            let size = fs::metadata(&path).ok()?.len();
            (size == entry.size_bytes).then_some(path)
        })
        .collect()
}

/// Fetches into a new folder beside `folder` and puts it in its place when it is complete.
fn fetch(home: &Path, folder: &Path) -> Result<(), Error> {
    let work = tempfile::Builder::new()
        .prefix("fetching-")
        .tempdir_in(home)
        .map_err(|source| Error::io("create a folder in", home, source))?;
    let jars = work.path().join("jars");
    paths::make_folder(&jars)?;
    maven::copy_jars(work.path(), &jars)?;
    write_manifest(&jars)?;
    if folder.exists() {
        // Only an incomplete one is ever replaced.
        fs::remove_dir_all(folder).map_err(|source| Error::io("remove", folder, source))?;
    }
    fs::rename(&jars, folder).map_err(|source| Error::io("rename to", folder, source))
}

fn write_manifest(jars: &Path) -> Result<(), Error> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(jars).map_err(|source| Error::io("read", jars, source))? {
        let entry = entry.map_err(|source| Error::io("read", jars, source))?;
        let size_bytes = entry.metadata().map_err(|source| Error::io("read", &entry.path(), source))?.len();
        entries.push(ManifestEntry { name: entry.file_name().to_string_lossy().into_owned(), size_bytes });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    for prefix in NEEDED {
        let found = entries.iter().any(|entry| entry.name.starts_with(prefix) && entry.size_bytes > 0);
        if !found {
            return Err(Error::JarsIncomplete { folder: jars.to_owned(), missing: format!("{prefix}*.jar") });
        }
    }
    let text = serde_json::to_string_pretty(&Manifest { jars: entries })
        .map_err(|source| Error::io("write", jars, source.into()))?;
    paths::write(&jars.join(MANIFEST), &text)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{MANIFEST, NEEDED, complete, names_fluss, write_manifest};

    fn fill(folder: &Path) {
        for prefix in NEEDED {
            fs::write(folder.join(format!("{prefix}1.jar")), "bytes").unwrap();
        }
    }

    #[test]
    fn a_folder_without_its_manifest_is_not_complete() {
        let folder = tempfile::tempdir().unwrap();
        fill(folder.path());
        assert_eq!(complete(folder.path()), None);
        write_manifest(folder.path()).unwrap();
        assert_eq!(complete(folder.path()).map(|jars| jars.len()), Some(NEEDED.len()));
    }

    #[test]
    fn a_jar_that_shrank_or_vanished_makes_the_folder_incomplete() {
        let folder = tempfile::tempdir().unwrap();
        fill(folder.path());
        write_manifest(folder.path()).unwrap();
        fs::write(folder.path().join("fluss-server-1.jar"), "byt").unwrap();
        assert_eq!(complete(folder.path()), None);
        fs::remove_file(folder.path().join("fluss-server-1.jar")).unwrap();
        assert_eq!(complete(folder.path()), None);
    }

    #[test]
    fn a_required_cluster_is_named_among_others() {
        assert!(names_fluss("fluss") && names_fluss("postgres,fluss") && names_fluss("fluss postgres"));
        assert!(!names_fluss("") && !names_fluss("postgres") && !names_fluss("fluss-main"));
    }

    #[test]
    fn a_fetch_that_lacks_a_needed_jar_gets_no_manifest() {
        let folder = tempfile::tempdir().unwrap();
        fill(folder.path());
        fs::remove_file(folder.path().join("fluss-metrics-prometheus-1.jar")).unwrap();
        let error = write_manifest(folder.path()).unwrap_err();
        assert_eq!(error.code(), "jars_incomplete");
        assert!(error.to_string().contains("fluss-metrics-prometheus-*.jar"), "{error}");
        assert!(!folder.path().join(MANIFEST).exists());
    }
}
