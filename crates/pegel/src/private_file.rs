//! Files that hold secrets: read within a bound, written for their owner alone, whole or not at all.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use uuid::Uuid;

/// Largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Reads a text file of at most 1 MiB.
///
/// # Errors
/// What the system says; `InvalidData` for a larger file and for one that is not UTF-8.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    let invalid = |message: String| io::Error::new(io::ErrorKind::InvalidData, message);
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_BYTES {
        return Err(invalid(format!("the file is larger than {MAX_BYTES} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| invalid("the file is not UTF-8 text".to_owned()))
}

/// Reads a secret; one line end after it, as editors leave it, is not part of it.
///
/// # Errors
/// As [`read_text`]; `InvalidData` for an empty secret.
pub(crate) fn read_secret(path: &Path) -> io::Result<SecretString> {
    let text = without_line_end(read_text(path)?);
    if text.is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the file is empty"));
    }
    Ok(SecretString::from(text))
}

/// Removes one line end.
pub(crate) fn without_line_end(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    text
}

/// Returns whether anyone but the owner may read or write a file; no file is no danger.
pub(crate) fn is_open_to_others(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

/// Makes a folder for its owner alone, with all above it; one that is there stays as it is.
///
/// # Errors
/// What the system says.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes a file for its owner alone in place of an earlier one.
///
/// # Errors
/// What the system says; then the earlier file is as it was.
pub(crate) fn replace(path: &Path, contents: &[u8]) -> io::Result<()> {
    let beside = beside(path);
    let mut options = File::options();
    let opened = options.write(true).create_new(true).mode(0o600).open(&beside);
    let written = opened.and_then(|mut file| {
        file.write_all(contents)?;
        file.sync_all()
    });
    let outcome = written.and_then(|()| fs::rename(&beside, path));
    if outcome.is_err() {
        // The first error is the one that says something.
        let _ = fs::remove_file(&beside);
    }
    outcome
}

/// Returns a new name in the same folder.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", Uuid::now_v7()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn line_end_after_a_secret_is_not_part_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p");
        for (content, expected) in [("pw\n", "pw"), ("pw\r\n", "pw"), ("pw", "pw"), ("p w \n\n", "p w \n")] {
            fs::write(&path, content).unwrap();
            assert_eq!(read_secret(&path).unwrap().expose_secret(), expected);
        }
        fs::write(&path, "\n").unwrap();
        assert!(read_secret(&path).unwrap_err().to_string().contains("empty"));
    }

    #[test]
    fn replaced_file_is_for_its_owner_alone_and_nothing_is_left_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("credentials.json");
        replace(&path, b"one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(is_open_to_others(&path));
        replace(&path, b"two").unwrap();
        assert!(!is_open_to_others(&path));
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(replace(&dir.path().join("absent/file"), b"x").is_err());
    }

    #[test]
    fn endless_file_is_not_read_to_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("large");
        fs::write(&path, vec![b'x'; 1 << 21]).unwrap();
        assert_eq!(read_text(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
