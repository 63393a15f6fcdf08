//! A secret of the settings: the text itself, or the file that holds it.

use std::path::{Path, PathBuf};

use secrecy::SecretString;

use crate::private_file;
use crate::settings::problem::Problems;
use crate::settings::section::Secret;

/// Where a secret is.
#[derive(Debug, Clone)]
pub(crate) enum SecretSource {
    /// Given as it is; it does not print.
    Value(SecretString),
    /// In a file, read when it is needed.
    File(PathBuf),
}

impl SecretSource {
    /// Returns the secret.
    ///
    /// # Errors
    /// What reading the file fails with.
    pub(crate) fn read(&self) -> std::io::Result<SecretString> {
        match self {
            Self::Value(text) => Ok(text.clone()),
            Self::File(path) => private_file::read_secret(path),
        }
    }

    /// Returns the file, if it is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Value(_) => None,
            Self::File(path) => Some(path),
        }
    }
}

/// Takes a secret from one of its two keys; both at once are a problem.
pub(super) fn secret_source(
    section: &'static str,
    (name, value): (&'static str, Option<Secret>),
    (file_name, file): (&'static str, Option<PathBuf>),
    problems: &mut Problems,
) -> Option<SecretSource> {
    match (value, file) {
        (Some(_), Some(_)) => {
            problems.add((section, name), format!("and {file_name} are both given; keep one of them"));
            None
        }
        (Some(value), None) => Some(SecretSource::Value(value.0)),
        (None, Some(path)) => Some(SecretSource::File(path)),
        (None, None) => None,
    }
}
