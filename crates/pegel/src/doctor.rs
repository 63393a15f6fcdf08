//! `pegel doctor`: looks at everything a server needs and says what to do about what is wrong.
//!
//! It only looks: nothing is made, migrated, written or sent to a cluster, but the tests of connections that the
//! server is asked for.

use std::path::Path;

use pegel_core::error_code::ExitClass;
use pegel_service::failure::Failure;
use serde::Serialize;

use crate::cli::{ConnectionArgs, ServeArgs, ServerArgs};
use crate::console::Console;
use crate::render::grid::{Cell, Column, Grid, Mark};
use crate::server_commands::config_check::load_settings;
use crate::settings::Overrides;

mod clock;
mod files;
mod port;
mod server;
mod store;

/// How one thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Ok,
    /// It works, and should be looked at.
    Warning,
    Failed,
    /// It could not be looked at, or there is nothing to look at.
    Skipped,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    check: &'static str,
    state: State,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Finding {
    fn new(check: &'static str, state: State, message: impl Into<String>) -> Self {
        Self { check, state, message: message.into(), hint: None }
    }

    fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    fn failed(check: &'static str, failure: &Failure) -> Self {
        let hint = failure.hint.clone().unwrap_or_else(|| failure.code.what_to_do().to_owned());
        Self::new(check, State::Failed, failure.one_line()).with_hint(hint)
    }
}

/// What was found, for programs.
#[derive(Debug, Serialize)]
struct Report {
    is_healthy: bool,
    findings: Vec<Finding>,
}

/// Looks at everything, tells it, and returns the exit code.
pub(crate) async fn run(
    args: &ServeArgs,
    connection: &ConnectionArgs,
    server: &ServerArgs,
    console: &Console,
) -> u8 {
    let mut findings = local(args, connection.config.as_deref()).await;
    findings.extend(Box::pin(server::look(server)).await);
    let is_healthy = findings.iter().all(|finding| finding.state != State::Failed);
    let code = if is_healthy { 0 } else { ExitClass::Partial.exit_code() };
    let report = Report { is_healthy, findings };
    console.report(&report, code, || text(&report, console))
}

/// Looks at what a server of this machine needs.
async fn local(args: &ServeArgs, config: Option<&Path>) -> Vec<Finding> {
    let overrides = Overrides { listen: args.listen.clone(), data_dir: args.data_dir.clone() };
    let settings = match load_settings(config, overrides) {
        Ok(settings) => settings,
        Err(failure) => return vec![Finding::failed("settings", &failure)],
    };
    let mut findings = vec![Finding::new("settings", State::Ok, "the settings can be used")];
    for warning in &settings.warnings {
        findings.push(Finding::new("settings", State::Warning, warning.line()));
    }
    findings.extend(files::data_dir(&settings.store));
    findings.push(files::secret_key(&settings.store));
    let (finding, db) = store::look(&settings.store).await;
    findings.push(finding);
    findings.push(clock::look(db.as_ref()).await);
    if let Some(db) = db {
        findings.push(store::keys(&db, &settings.store).await);
        db.close().await;
    }
    findings.push(port::look(&settings).await);
    findings
}

fn text(report: &Report, console: &Console) -> String {
    let mut grid = Grid::new(&[Column::Short("STATE"), Column::Short("CHECK"), Column::Text("FINDING")]);
    for finding in &report.findings {
        let state = match finding.state {
            State::Ok => Mark::Good("ok"),
            State::Warning => Mark::Half("warning"),
            State::Failed => Mark::Bad("failed"),
            State::Skipped => Mark::Neutral("skipped"),
        };
        let hint = finding.hint.as_ref().map_or_else(String::new, |hint| format!(" → {hint}"));
        grid.row(vec![
            Cell::State(state),
            Cell::text(finding.check),
            Cell::text(format!("{}{hint}", finding.message)),
        ]);
    }
    grid.render(console.style())
}
