//! The settings of the server: the sections of `pegel.toml` but `[connection]`, overridden by variables and options.
//!
//! Every section says all that is wrong with it at once, and where. `default.toml`, which the binary carries, is
//! their documentation. Nothing is opened or made here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use pegel_core::error_code::ErrorCode;
use pegel_service::failure::Failure;
use pegel_service::people;
use pegel_store::retention::Policy as RetentionPolicy;

use crate::private_file;
use crate::settings::problem::{Key, Problems};
use crate::settings::section::Environment;

mod clusters;
mod default_file;
pub(crate) mod log;
mod login;
pub(crate) mod metrics;
pub(crate) mod monitoring;
mod problem;
mod retention;
mod secret_source;
mod section;
pub(crate) mod server;
pub(crate) mod store;

pub(crate) use clusters::ClustersSection;
pub(crate) use default_file::DEFAULT_FILE;
pub(crate) use log::LogSection;
pub(crate) use login::LoginSection;
pub(crate) use metrics::MetricsSection;
pub(crate) use monitoring::MonitoringSection;
pub(crate) use problem::{Finding, Findings};
pub(crate) use retention::RetentionSection;
pub(crate) use secret_source::SecretSource;
pub(crate) use section::Secret;
pub(crate) use server::ServerSection;
pub(crate) use store::StoreSection;

/// The server's sections of the file, as they are written.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    pub(crate) server: ServerSection,
    pub(crate) store: StoreSection,
    pub(crate) login: LoginSection,
    pub(crate) metrics: MetricsSection,
    pub(crate) log: LogSection,
    pub(crate) retention: RetentionSection,
    pub(crate) clusters: ClustersSection,
    pub(crate) monitoring: MonitoringSection,
}

/// What the command line says about the server.
#[derive(Debug, Default)]
pub(crate) struct Overrides {
    pub(crate) listen: Option<String>,
    pub(crate) data_dir: Option<PathBuf>,
}

/// Checked settings of the server.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) server: server::Server,
    pub(crate) store: store::Store,
    pub(crate) people: people::Settings,
    /// What `/metrics` asks for.
    pub(crate) metrics_token: Option<SecretSource>,
    pub(crate) log: log::Log,
    pub(crate) retention: RetentionPolicy,
    pub(crate) clusters: pegel_service::clusters::Settings,
    pub(crate) monitoring: monitoring::Monitoring,
    /// What is allowed and yet dubious.
    pub(crate) warnings: Vec<Finding>,
}

impl Sections {
    /// Checks what the file, the variables and the options say together.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub(crate) fn check(
        mut self,
        file: Option<(&Path, &str)>,
        overrides: Overrides,
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Settings, Findings> {
        let environment = Environment(variable);
        let mut problems = Problems::default();
        if let Some((path, text)) = file {
            problems.read_lines(path, text);
            self.check_file_mode(path, &mut problems);
            self.rebase(path.parent().unwrap_or(Path::new("")));
        }
        self.override_by(&environment, &mut problems);
        self.server.override_listen(overrides.listen, &mut problems);
        self.store.override_data_dir(overrides.data_dir, &mut problems);
        let settings = Settings {
            server: self.server.validate(&mut problems),
            store: self.store.validate(&environment, &mut problems),
            people: self.login.validate(&mut problems),
            metrics_token: self.metrics.validate(&mut problems),
            log: self.log.validate(&mut problems),
            retention: self.retention.validate(&mut problems),
            clusters: self.clusters.validate(&mut problems),
            monitoring: self.monitoring.validate(&mut problems),
            warnings: Vec::new(),
        };
        settings.check_secret_files(&mut problems);
        let warnings = problems.finish()?;
        Ok(Settings { warnings, ..settings })
    }

    fn rebase(&mut self, base: &Path) {
        self.server.rebase(base);
        self.store.rebase(base);
        self.login.rebase(base);
        self.metrics.rebase(base);
        self.log.rebase(base);
        self.retention.rebase(base);
        self.clusters.rebase(base);
        self.monitoring.rebase(base);
    }

    fn override_by(&mut self, environment: &Environment<'_>, problems: &mut Problems) {
        self.server.override_by(environment, problems);
        self.store.override_by(environment, problems);
        self.login.override_by(environment, problems);
        self.metrics.override_by(environment, problems);
        self.log.override_by(environment, problems);
        self.retention.override_by(environment, problems);
        self.clusters.override_by(environment, problems);
        self.monitoring.override_by(environment, problems);
    }

    /// Warns where the file itself holds a secret that others can read.
    fn check_file_mode(&self, path: &Path, problems: &mut Problems) {
        let secrets = self.store.secrets().into_iter().chain(self.metrics.secrets());
        for key in secrets.filter(|_| private_file::is_open_to_others(path)) {
            problems.warn(
                key,
                format!(
                    "is a secret in a file that other users of this machine can read: chmod 600 {}",
                    path.display()
                ),
            );
        }
    }
}

impl Settings {
    /// Warns of files with a secret that others can read.
    fn check_secret_files(&self, problems: &mut Problems) {
        let url = match &self.store.database {
            store::Database::Sqlite { .. } => None,
            store::Database::Postgres { url } => Some(url),
        };
        let sources: [(Key, Option<&SecretSource>); 3] = [
            (("store", "postgres_url_file"), url),
            (("store", "secret_key_file"), Some(&self.store.secret_key)),
            (("metrics", "token_file"), self.metrics_token.as_ref()),
        ];
        for (key, source) in sources {
            if let Some(path) = source.and_then(SecretSource::path)
                && private_file::is_open_to_others(path)
            {
                let path = path.display();
                problems.warn(
                    key,
                    format!("{path} can be read by other users of this machine: chmod 600 {path}"),
                );
            }
        }
    }
}

impl From<Findings> for Failure {
    fn from(findings: Findings) -> Self {
        let mut failure = Self::new(ErrorCode::InvalidConfig, "the settings of the server cannot be used")
            .with_hint(
                "`pegel config default` prints every key with its range; `pegel config check` checks yours",
            );
        failure.causes = findings.errors.iter().map(Finding::line).collect();
        failure
    }
}

/// Returns each key, as `server.listen`, with its variable.
#[cfg(test)]
pub(crate) fn every_key() -> impl Iterator<Item = (String, &'static str)> {
    let sections = [
        (ServerSection::TABLE, ServerSection::KEYS),
        (StoreSection::TABLE, StoreSection::KEYS),
        (LoginSection::TABLE, LoginSection::KEYS),
        (MetricsSection::TABLE, MetricsSection::KEYS),
        (LogSection::TABLE, LogSection::KEYS),
        (RetentionSection::TABLE, RetentionSection::KEYS),
        (ClustersSection::TABLE, ClustersSection::KEYS),
        (MonitoringSection::TABLE, MonitoringSection::KEYS),
    ];
    sections.into_iter().flat_map(|(section, keys)| {
        keys.iter().map(move |(key, variable)| (format!("{section}.{key}"), *variable))
    })
}

#[cfg(test)]
mod tests;
