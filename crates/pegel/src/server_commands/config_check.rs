//! `pegel config check`: everything that is wrong or dubious with the settings, at once.

use std::path::Path;

use fluss_client::settings::ConnectionSettings;
use pegel_core::error_code::ErrorCode;
use pegel_service::failure::Failure;
use serde::Serialize;

use crate::cli::ConnectionArgs;
use crate::config::{self, file};
use crate::console::Console;
use crate::render::escape::escape;
use crate::settings::{Finding, Overrides, Sections, Settings, store};

/// What was found, for programs.
#[derive(Debug, Serialize)]
struct Report {
    is_usable: bool,
    file: Option<String>,
    findings: Vec<Told>,
}

/// One finding.
#[derive(Debug, Serialize)]
struct Told {
    severity: Severity,
    /// File and line, or the variable.
    #[serde(skip_serializing_if = "String::is_empty")]
    place: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    key: String,
    message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Severity {
    Error,
    Warning,
}

/// Loads the server's settings from the file, the variables and the options.
///
/// # Errors
/// `invalid_config` with everything that is wrong.
pub(crate) fn load_settings(config: Option<&Path>, overrides: Overrides) -> Result<Settings, Failure> {
    let (sections, read) = sections(config)?;
    let place = read.as_ref().map(|(path, text)| (path.as_path(), text.as_str()));
    Ok(sections.check(place, overrides, &|name| std::env::var_os(name))?)
}

type Place = Option<(std::path::PathBuf, String)>;

fn sections(config: Option<&Path>) -> Result<(Sections, Place), Failure> {
    let Some(path) = config else { return Ok((Sections::default(), None)) };
    let read = file::read(path)?;
    Ok((read.content.into_sections(), Some((read.path, read.text))))
}

/// Checks the settings and tells what was found; the exit code says whether they can be used.
pub(crate) fn run(args: &ConnectionArgs, console: &Console) -> u8 {
    let findings = findings(args);
    let is_usable = findings.iter().all(|finding| finding.severity == Severity::Warning);
    let file = args.config.as_ref().map(|path| path.display().to_string());
    let report = Report { is_usable, file, findings };
    let code = if is_usable { 0 } else { ErrorCode::InvalidConfig.exit_class().exit_code() };
    console.report(&report, code, || text(&report))
}

fn findings(args: &ConnectionArgs) -> Vec<Told> {
    let (sections, read) = match sections(args.config.as_deref()) {
        Ok(read) => read,
        // What cannot be read holds nothing else to look at.
        Err(failure) => return vec![of_failure("", &failure)],
    };
    let place = read.as_ref().map(|(path, text)| (path.as_path(), text.as_str()));
    let mut told = Vec::new();
    match sections.check(place, Overrides::default(), &|name| std::env::var_os(name)) {
        Ok(settings) => {
            told.extend(settings.warnings.iter().map(|finding| of_finding(finding, Severity::Warning)));
            told.extend(unreadable(&settings));
        }
        Err(found) => {
            told.extend(found.errors.iter().map(|finding| of_finding(finding, Severity::Error)));
            told.extend(found.warnings.iter().map(|finding| of_finding(finding, Severity::Warning)));
        }
    }
    match config::options(args) {
        Ok((options, warnings)) => {
            if let Err(error) = ConnectionSettings::try_from(options) {
                told.push(of_failure("connection", &Failure::from(&error)));
            }
            let warnings = warnings.into_iter();
            told.extend(warnings.map(|message| Told {
                severity: Severity::Warning,
                place: String::new(),
                key: "connection".to_owned(),
                message,
            }));
        }
        Err(failure) => told.push(of_failure("connection", &failure)),
    }
    told
}

/// Tells of secrets in files that cannot be read; the key's file is made by the server when it is missing.
fn unreadable(settings: &Settings) -> Vec<Told> {
    let url = match &settings.store.database {
        store::Database::Sqlite { .. } => None,
        store::Database::Postgres { url } => Some(url),
    };
    let sources = [("store.postgres_url_file", url), ("metrics.token_file", settings.metrics_token.as_ref())];
    let read =
        sources.into_iter().filter_map(|(key, source)| Some((key, source?.path()?, source?.read().err()?)));
    read.map(|(key, path, error)| Told {
        severity: Severity::Error,
        place: String::new(),
        key: key.to_owned(),
        message: format!("cannot read {}: {error}", path.display()),
    })
    .collect()
}

fn of_finding(finding: &Finding, severity: Severity) -> Told {
    Told {
        severity,
        place: finding.place.clone(),
        key: finding.key.clone(),
        message: finding.message.clone(),
    }
}

fn of_failure(key: &str, failure: &Failure) -> Told {
    Told { severity: Severity::Error, place: String::new(), key: key.to_owned(), message: failure.one_line() }
}

fn text(report: &Report) -> String {
    let mut text = String::new();
    for told in &report.findings {
        let severity = if told.severity == Severity::Error { "error" } else { "warning" };
        let words = [&told.place, &told.key, &told.message];
        let words: Vec<_> = words.iter().filter(|word| !word.is_empty()).map(|word| escape(word)).collect();
        text.push_str(&format!("{severity}: {}\n", words.join(": ")));
    }
    let what = report.file.as_deref().unwrap_or("The defaults and variables");
    let verdict = if report.is_usable { "can be used" } else { "cannot be used" };
    text.push_str(&format!("{} {verdict}.\n", escape(what)));
    text
}
