//! `[metrics]`: who may read `/metrics`.

use std::io;
use std::path::PathBuf;

use secrecy::{ExposeSecret, SecretString};

use crate::settings::problem::{Key, Problems};
use crate::settings::secret_source::{SecretSource, secret_source};
use crate::settings::section::{Secret, section};

section! {
    /// Who may read Pegel's own metrics.
    MetricsSection as "metrics" {
        token: Secret = PEGEL_METRICS_TOKEN,
        token_file: PathBuf = PEGEL_METRICS_TOKEN_FILE,
    }
}

/// Shortest token, in bytes: a shorter one could be guessed.
const MIN_TOKEN_BYTES: usize = 16;

/// Reads the token that `/metrics` asks for.
///
/// # Errors
/// What reading its file fails with; `InvalidData` for one that could be guessed.
pub(crate) fn read_token(source: &SecretSource) -> io::Result<SecretString> {
    let token = source.read()?;
    if token.expose_secret().len() < MIN_TOKEN_BYTES {
        let reason = format!("the token has fewer than {MIN_TOKEN_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    Ok(token)
}

impl MetricsSection {
    /// Returns the keys that hold a secret as it is.
    pub(super) fn secrets(&self) -> Option<Key> {
        self.token.as_ref().map(|_| (Self::TABLE, "token"))
    }

    /// Checks everything; without a token only clients of a loopback listener may read.
    pub(super) fn validate(self, problems: &mut Problems) -> Option<SecretSource> {
        let token =
            secret_source(Self::TABLE, ("token", self.token), ("token_file", self.token_file), problems);
        if let Some(SecretSource::Value(text)) = &token
            && text.expose_secret().len() < MIN_TOKEN_BYTES
        {
            problems.add((Self::TABLE, "token"), format!("has fewer than {MIN_TOKEN_BYTES} bytes"));
        }
        token
    }
}
