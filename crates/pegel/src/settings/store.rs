//! `[store]`: which database, where the data lies, and the key of stored secrets.

use std::path::{Path, PathBuf};

use pegel_store::StoreConfig;
use pegel_store::secret_box::SecretBox;
use secrecy::{ExposeSecret, SecretString};

use crate::env_vars;
use crate::settings::problem::{Key, Problems};
use crate::settings::secret_source::{SecretSource, secret_source};
use crate::settings::section::{Environment, Secret, section};

/// The database's file in the data directory.
const DATABASE: &str = "pegel.sqlite";

/// The key's file in the data directory.
const KEY: &str = "secret.key";

section! {
    /// Which database, and where.
    StoreSection as "store" {
        kind: String = PEGEL_STORE_KIND,
        data_dir: PathBuf = PEGEL_STORE_DATA_DIR,
        postgres_url: Secret = PEGEL_STORE_POSTGRES_URL,
        postgres_url_file: PathBuf = PEGEL_STORE_POSTGRES_URL_FILE,
        secret_key: Secret = PEGEL_STORE_SECRET_KEY,
        secret_key_file: PathBuf = PEGEL_STORE_SECRET_KEY_FILE,
    }
}

/// Checked settings of `[store]`.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    pub(crate) database: Database,
    /// Holds the database, the key and the lock, as far as they lie in files.
    pub(crate) data_dir: PathBuf,
    pub(crate) secret_key: SecretSource,
}

/// Which database.
#[derive(Debug, Clone)]
pub(crate) enum Database {
    Sqlite { path: PathBuf },
    Postgres { url: SecretSource },
}

impl Database {
    /// Returns the kind as it is written in the settings.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Sqlite { .. } => "sqlite",
            Self::Postgres { .. } => "postgres",
        }
    }

    /// Returns what the store opens.
    pub(crate) fn store_config(&self) -> std::io::Result<StoreConfig> {
        Ok(match self {
            Self::Sqlite { path } => StoreConfig::Sqlite { path: path.clone() },
            Self::Postgres { url } => StoreConfig::Postgres { url: url.read()? },
        })
    }
}

impl StoreSection {
    /// Lets an option override the folder.
    pub(super) fn override_data_dir(&mut self, given: Option<PathBuf>, problems: &mut Problems) {
        if given.is_some() {
            problems.comes_from((Self::TABLE, "data_dir"), "--data-dir");
            self.data_dir = given;
        }
    }

    /// Returns the keys that hold a secret as it is.
    pub(super) fn secrets(&self) -> Vec<Key> {
        let held = [("postgres_url", &self.postgres_url), ("secret_key", &self.secret_key)];
        held.into_iter().filter(|(_, secret)| secret.is_some()).map(|(name, _)| (Self::TABLE, name)).collect()
    }

    /// Checks everything and fills in defaults.
    pub(super) fn validate(self, environment: &Environment<'_>, problems: &mut Problems) -> Store {
        let data_dir = self.data_dir.or_else(|| default_data_dir(environment)).unwrap_or_else(|| {
            let message = "is needed: neither HOME nor XDG_DATA_HOME says where data belongs";
            problems.add((Self::TABLE, "data_dir"), message);
            PathBuf::new()
        });
        let url = secret_source(
            Self::TABLE,
            ("postgres_url", self.postgres_url),
            ("postgres_url_file", self.postgres_url_file),
            problems,
        );
        let database = database(self.kind.as_deref(), url, &data_dir, problems);
        let secret_key = secret_source(
            Self::TABLE,
            ("secret_key", self.secret_key),
            ("secret_key_file", self.secret_key_file),
            problems,
        );
        if let Some(SecretSource::Value(text)) = &secret_key
            && SecretBox::from_text(text).is_err()
        {
            problems.add((Self::TABLE, "secret_key"), "a secret key is 64 hexadecimal digits");
        }
        let secret_key = secret_key.unwrap_or_else(|| SecretSource::File(data_dir.join(KEY)));
        Store { database, data_dir, secret_key }
    }
}

fn database(
    kind: Option<&str>,
    url: Option<SecretSource>,
    data_dir: &Path,
    problems: &mut Problems,
) -> Database {
    let sqlite = Database::Sqlite { path: data_dir.join(DATABASE) };
    let key = (StoreSection::TABLE, "kind");
    match (kind.unwrap_or("sqlite"), url) {
        ("sqlite", None) => sqlite,
        ("sqlite", Some(_)) => {
            problems.add(key, "is sqlite, so that the URL of PostgreSQL has no effect");
            sqlite
        }
        ("postgres", Some(url)) => {
            check_url(&url, problems);
            Database::Postgres { url }
        }
        ("postgres", None) => {
            problems.add(key, "is postgres, which needs postgres_url_file or postgres_url");
            sqlite
        }
        _ => {
            problems.add(key, "write sqlite or postgres");
            sqlite
        }
    }
}

fn check_url(url: &SecretSource, problems: &mut Problems) {
    if let SecretSource::Value(text) = url
        && !is_postgres_url(text)
    {
        let form = "write it as postgres://user:password@host:port/database";
        problems.add((StoreSection::TABLE, "postgres_url"), form);
    }
}

fn is_postgres_url(text: &SecretString) -> bool {
    let text = text.expose_secret();
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

/// Returns where data belongs: what systemd made for the service, else the user's own place for data.
fn default_data_dir(environment: &Environment<'_>) -> Option<PathBuf> {
    let folder = |name: &str| {
        let text = environment.text(name)?.ok()?;
        // systemd joins several directories by colons; the first one is the service's own.
        let first = text.split(':').next().unwrap_or_default().to_owned();
        Some(PathBuf::from(first)).filter(|path| path.is_absolute())
    };
    folder(env_vars::STATE_DIRECTORY)
        .or_else(|| folder(env_vars::XDG_DATA_HOME).map(|base| base.join("pegel")))
        .or_else(|| folder(env_vars::HOME).map(|home| home.join(Path::new(".local/share/pegel"))))
}
