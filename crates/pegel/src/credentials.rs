//! Stored logins: one for each server, in a file for its owner alone.
//!
//! A login is a session of the server's: it ends there by itself, and `pegel logout` ends it at once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use pegel_core::error_code::ErrorCode;
use pegel_service::failure::Failure;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize, Serializer};

use crate::env_vars;
use crate::private_file;
use crate::server_url::ServerUrl;

/// The form of the file; it grows when a field changes its meaning.
const VERSION: u32 = 1;

/// The file in the user's folder of settings.
const FILE: &str = "pegel/credentials.json";

/// Stored logins, as they were when the file was read.
#[derive(Debug)]
pub(crate) struct Logins {
    path: PathBuf,
    content: Content,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: u32,
    /// The server of the last login, which is asked unless another is named.
    #[serde(default)]
    last: Option<ServerUrl>,
    #[serde(default)]
    logins: BTreeMap<ServerUrl, Login>,
}

/// One login.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Login {
    pub(crate) username: String,
    /// The session's cookie as it was set, as `name=value`.
    #[serde(serialize_with = "exposed")]
    pub(crate) cookie: SecretString,
    pub(crate) signed_in_at: Timestamp,
    /// The authorities that were trusted, so that later commands need not name them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) server_ca: Option<PathBuf>,
}

fn exposed<S: Serializer>(secret: &SecretString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(secret.expose_secret())
}

impl Logins {
    /// Reads the user's file; none is no login.
    ///
    /// # Errors
    /// `credentials_unusable`.
    pub(crate) fn read() -> Result<Self, Failure> {
        Self::read_from(&place()?)
    }

    /// Returns no login at all.
    pub(crate) fn none() -> Self {
        Self::empty(Path::new(""))
    }

    fn empty(path: &Path) -> Self {
        let content = Content { version: VERSION, last: None, logins: BTreeMap::new() };
        Self { path: path.to_owned(), content }
    }

    fn read_from(path: &Path) -> Result<Self, Failure> {
        let unusable = || {
            let message = format!("the stored logins in {} cannot be used", path.display());
            Failure::new(ErrorCode::CredentialsUnusable, message)
        };
        let text = match private_file::read_text(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::empty(path)),
            Err(error) => return Err(unusable().with_cause(&error)),
        };
        if private_file::is_open_to_others(path) {
            return Err(unusable().with_hint(format!(
                "others can read it: chmod 600 {}, and sign in anew if somebody may have",
                path.display()
            )));
        }
        // The whole error could quote the text.
        let content: Content = serde_json::from_str(&text).map_err(|error| {
            unusable().with_hint(format!(
                "line {} is not of the expected form; remove the file and sign in again",
                error.line()
            ))
        })?;
        if content.version != VERSION {
            return Err(
                unusable().with_hint("another version of Pegel wrote it; remove it and sign in again")
            );
        }
        Ok(Self { path: path.to_owned(), content })
    }

    /// Returns the server of the last login.
    pub(crate) fn last(&self) -> Option<&ServerUrl> {
        self.content.last.as_ref()
    }

    /// Returns the login at a server.
    pub(crate) fn at(&self, url: &ServerUrl) -> Option<&Login> {
        self.content.logins.get(url)
    }

    /// Returns the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps a login in place of an earlier one at the same server.
    ///
    /// # Errors
    /// `credentials_unusable`; then the file is as it was.
    pub(crate) fn keep(&mut self, url: &ServerUrl, login: Login) -> Result<(), Failure> {
        self.content.logins.insert(url.clone(), login);
        self.content.last = Some(url.clone());
        self.write()
    }

    /// Forgets the login at a server; another one is not put in its place.
    ///
    /// # Errors
    /// `credentials_unusable`; then the file is as it was.
    pub(crate) fn forget(&mut self, url: &ServerUrl) -> Result<(), Failure> {
        self.content.logins.remove(url);
        if self.content.last.as_ref() == Some(url) {
            self.content.last = None;
        }
        self.write()
    }

    fn write(&self) -> Result<(), Failure> {
        let unusable = |error: &dyn std::error::Error| {
            let message = format!("cannot keep the login in {}", self.path.display());
            Failure::new(ErrorCode::CredentialsUnusable, message).with_cause(error)
        };
        let mut text = serde_json::to_vec_pretty(&self.content).map_err(|error| unusable(&error))?;
        text.push(b'\n');
        let folder = self.path.parent().unwrap_or(Path::new("."));
        private_file::make_folder(folder).map_err(|error| unusable(&error))?;
        private_file::replace(&self.path, &text).map_err(|error| unusable(&error))
    }
}

/// Returns where stored logins lie.
fn place() -> Result<PathBuf, Failure> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = folder(env_vars::XDG_CONFIG_HOME).or_else(|| Some(folder(env_vars::HOME)?.join(".config")));
    base.map(|base| base.join(FILE)).ok_or_else(|| {
        Failure::new(
            ErrorCode::CredentialsUnusable,
            "neither HOME nor XDG_CONFIG_HOME says where logins are kept",
        )
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn login(cookie: &str) -> Login {
        Login {
            username: "ann".to_owned(),
            cookie: SecretString::from(cookie),
            signed_in_at: Timestamp::UNIX_EPOCH,
            server_ca: None,
        }
    }

    fn url(text: &str) -> ServerUrl {
        text.parse().unwrap()
    }

    #[test]
    fn logins_are_kept_by_server_for_their_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/pegel/credentials.json");
        let mut logins = Logins::read_from(&path).unwrap();
        assert!(logins.last().is_none());
        logins.keep(&url("http://127.0.0.1:1"), login("first")).unwrap();
        logins.keep(&url("https://Pegel.example:443/"), login("two")).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let mut again = Logins::read_from(&path).unwrap();
        assert_eq!(again.last(), Some(&url("https://pegel.example")));
        assert_eq!(again.at(&url("http://127.0.0.1:1")).unwrap().cookie.expose_secret(), "first");
        again.forget(&url("https://pegel.example")).unwrap();
        let last = Logins::read_from(&path).unwrap();
        assert!(last.last().is_none() && last.at(&url("https://pegel.example")).is_none());
        assert!(last.at(&url("http://127.0.0.1:1")).is_some());
        assert!(!format!("{last:?}").contains("first"));
    }

    #[test]
    fn file_that_others_can_read_or_nobody_understands_is_refused_without_quoting_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("credentials.json");
        let mut logins = Logins::read_from(&path).unwrap();
        logins.keep(&url("http://127.0.0.1:1"), login("81726354")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let failure = Logins::read_from(&path).unwrap_err();
        assert_eq!(failure.code, ErrorCode::CredentialsUnusable);
        assert!(failure.hint.unwrap().contains("chmod 600"));
        for text in ["", "81726354", "{\"version\":1,\"x\":\"81726354\"}", "{\"version\":2}"] {
            private_file::replace(&path, text.as_bytes()).unwrap();
            let failure = Logins::read_from(&path).unwrap_err();
            assert!(!format!("{failure:?}").contains("81726354"), "{failure:?}");
        }
    }
}
