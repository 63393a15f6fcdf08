//! Where this crate keeps files of the user, and the few environment variables it reads.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Returns the cache folder of Pegel: `$XDG_CACHE_HOME/pegel`, else `~/.cache/pegel`.
///
/// # Errors
/// `no_cache_folder` if neither variable says where.
pub(crate) fn cache() -> Result<PathBuf, Error> {
    if let Some(base) = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute()) {
        return Ok(base.join("pegel"));
    }
    env::var_os("HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .map(|home| home.join(".cache").join("pegel"))
        .ok_or(Error::NoCacheFolder)
}

/// Returns the folder that `JAVA_HOME` names, if it is set and not empty.
pub(crate) fn java_home() -> Option<PathBuf> {
    env::var_os("JAVA_HOME").filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Looks a program up in `PATH`.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| is_executable(candidate))
}

/// Tells whether `path` is a file that someone may execute.
pub(crate) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Makes a folder with all above it; what is made can be entered by its owner alone, since
/// servers write their credentials into their logs.
///
/// # Errors
/// `io_failed` with the path.
pub(crate) fn make_folder(path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::DirBuilderExt;
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|source| Error::io("create folder", path, source))
}

/// Makes a folder that only its owner may read, with all above it.
///
/// # Errors
/// `io_failed` with the path.
pub(crate) fn make_private_folder(path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;
    make_folder(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
        .map_err(|source| Error::io("set the mode of", path, source))
}

/// Writes a file that only its owner may read, whole or not at all.
///
/// # Errors
/// `io_failed` with the path.
pub(crate) fn write_private(path: &Path, contents: &[u8]) -> Result<(), Error> {
    use std::io::Write;
    let folder = path.parent().unwrap_or(Path::new("."));
    // A named temporary file is made with mode 0600 and vanishes if a step fails.
    let mut file = tempfile::NamedTempFile::new_in(folder)
        .map_err(|source| Error::io("create a file in", folder, source))?;
    file.write_all(contents).map_err(|source| Error::io("write", path, source))?;
    file.as_file().sync_all().map_err(|source| Error::io("write", path, source))?;
    file.persist(path).map_err(|failed| Error::io("write", path, failed.error))?;
    Ok(())
}

/// Writes a file for everyone to read.
///
/// # Errors
/// `io_failed` with the path.
pub(crate) fn write(path: &Path, contents: &str) -> Result<(), Error> {
    fs::write(path, contents).map_err(|source| Error::io("write", path, source))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::write_private;

    #[test]
    fn a_private_file_is_for_its_owner_alone_and_replaces_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret.json");
        write_private(&path, b"one").unwrap();
        write_private(&path, b"two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    }
}
