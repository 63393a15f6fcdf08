//! `pegel demo`: a cluster to try things on, and what Pegel sees of it.
//!
//! The cluster itself is the test kit's; here it is told to people, kept in the
//! background when asked for, and stopped.

use std::path::Path;

use fluss_client::settings::ConnectionSettings;
use fluss_testkit::demo::{Demo, DemoOptions, DemoRecord, stop_recorded};
use fluss_testkit::{Error as TestkitError, Progress};
use pegel_api_types::operations::databases::{ListDatabases, ListDatabasesInput};
use pegel_api_types::operations::servers::{ListServers, ListServersInput};
use pegel_api_types::operations::tables::{ListTables, ListTablesInput};
use pegel_core::error_code::ErrorCode;
use pegel_service::execution::Extent;
use pegel_service::failure::Failure;
use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::{ConnectionArgs, DemoArgs, Format};
use crate::commands::ask_with;
use crate::config;
use crate::console::Console;
use crate::env_vars;

mod access;
mod background;
mod server;

use access::Access;
use server::{DemoServer, SignIn};

/// Starts the demo in the foreground or the background, or stops it.
pub(crate) async fn run(args: &DemoArgs, console: &Console) -> u8 {
    let result = if args.stop {
        stop(&args.dir, console).await
    } else if args.supervised {
        Box::pin(background::supervise(args, console)).await
    } else if args.detach {
        Box::pin(background::detach(args, console)).await
    } else {
        Box::pin(foreground(args, console)).await
    };
    result.unwrap_or_else(|failure| console.failure(&failure, None))
}

/// What a demo is, for programs.
#[derive(Debug, Serialize)]
struct DemoView<'a> {
    dir: &'a Path,
    fluss_version: &'a str,
    supervisor_pid: u32,
    bootstrap: &'a str,
    /// Configuration of each user for `pegel --config`; the first one may do everything.
    access: &'a [Access],
    metric_endpoints: &'a [String],
    zookeeper: &'a str,
    /// Where the Pegel server is and how to sign in there; an access token is in `demo.json`.
    sign_in: Option<SignIn>,
}

async fn foreground(args: &DemoArgs, console: &Console) -> Result<u8, Failure> {
    let mut end = EndSignals::listen()?;
    let tell = |line: &str| eprintln!("{line}");
    let started = tokio::select! {
        started = Box::pin(start(args, Progress::new(tell), &tell)) => started,
        // Dropping the start ends everything that it has started so far.
        () = end.wait() => return Err(Failure::new(ErrorCode::DemoFailed, "stopped before the demo was ready")),
    };
    let (demo, server) = started?;
    let introduced = introduce(demo.record(), console).await;
    if introduced.is_ok() && console.format() == Format::Table {
        console.note("\nThe demo runs until you press Ctrl-C.\n");
    }
    let until = async {
        if introduced.is_ok() {
            end.wait().await;
            console.note("stopping\n");
        }
    };
    let stopped = Box::pin(run_until(demo, server, until, &tell)).await;
    introduced?;
    stopped.map(|()| 0)
}

/// Starts the cluster and then the server that knows it.
///
/// If the future is dropped all that was started is ended.
async fn start(
    args: &DemoArgs,
    progress: Progress,
    tell: &dyn Fn(&str),
) -> Result<(Demo, DemoServer), Failure> {
    let demo = Demo::start(options(args), progress).await.map_err(|error| failure(&error))?;
    match server::start(demo.record(), tell).await {
        Ok(server) => Ok((demo, server)),
        Err(failure) => {
            demo.stop().await.map_err(|error| self::failure(&error))?;
            Err(failure)
        }
    }
}

/// Runs until `stop` is done, then ends the server and the cluster in order. A server that ends by itself is told.
async fn run_until(
    demo: Demo,
    mut server: DemoServer,
    stop: impl Future<Output = ()>,
    tell: &dyn Fn(&str),
) -> Result<(), Failure> {
    let mut server_stopped = Ok(());
    let ended = demo
        .run_until(async {
            let mut stop = std::pin::pin!(stop);
            tokio::select! {
                () = &mut stop => {}
                () = server.wait_for_end() => {
                    tell("the Pegel server ended by itself; the demo goes on without it");
                    stop.await;
                }
            }
            server_stopped = server.stop().await;
        })
        .await;
    ended.map_err(|error| failure(&error)).and(server_stopped)
}

async fn stop(dir: &Path, console: &Console) -> Result<u8, Failure> {
    let stopped = stop_recorded(dir).await.map_err(|error| failure(&error))?;
    access::remove(dir)?;
    server::forget(dir)?;
    let code = console.plain(&serde_json::json!({ "dir": dir, "stopped": stopped.processes }), || {
        if stopped.processes.is_empty() {
            format!("No demo is running in {}.\n", dir.display())
        } else {
            format!("Stopped {}.\n", stopped.processes.join(", "))
        }
    });
    Ok(code)
}

fn options(args: &DemoArgs) -> DemoOptions {
    DemoOptions { sasl: args.sasl, tls: args.tls, port_base: args.port_base, ..DemoOptions::new(&args.dir) }
}

/// Shows what Pegel sees of the demo and how to ask more.
async fn introduce(record: &DemoRecord, console: &Console) -> Result<u8, Failure> {
    let access = access::write(record)?;
    let view = DemoView {
        dir: &record.dir,
        fluss_version: &record.fluss_version,
        supervisor_pid: record.supervisor_pid,
        bootstrap: &record.bootstrap,
        access: &access,
        metric_endpoints: &record.metric_endpoints,
        zookeeper: &record.zookeeper,
        sign_in: server::sign_in_of(&record.dir),
    };
    if console.format() == Format::Json {
        return Ok(console.plain(&view, String::new));
    }
    if let Some(first) = access.first() {
        show_cluster(&first.config_file, console).await?;
    }
    Ok(console.raw(&how_to_ask(&view)))
}

/// Asks the demo as anybody would: servers, databases, tables.
async fn show_cluster(config_file: &Path, console: &Console) -> Result<(), Failure> {
    let settings = settings(config_file)?;
    console.raw("\n");
    let (servers, databases) = (ListServersInput::default(), ListDatabasesInput::default());
    Box::pin(ask_with::<ListServers>(settings.clone(), servers, Extent::Whole, console)).await;
    console.raw("\n");
    Box::pin(ask_with::<ListDatabases>(settings.clone(), databases, Extent::Page, console)).await;
    console.raw("\n");
    let tables = ListTablesInput { runtime: true, ..ListTablesInput::default() };
    Box::pin(ask_with::<ListTables>(settings, tables, Extent::Page, console)).await;
    Ok(())
}

fn settings(config_file: &Path) -> Result<ConnectionSettings, Failure> {
    let args = ConnectionArgs { config: Some(config_file.to_owned()), ..ConnectionArgs::default() };
    config::load(&args).map(|loaded| loaded.settings)
}

fn how_to_ask(view: &DemoView<'_>) -> String {
    let program = program();
    let mut text = String::from("\nAsk it yourself:\n");
    let mut add = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    if let Some(first) = view.access.first() {
        let config = shell_word(&first.config_file);
        for command in
            ["cluster test", "tables --runtime", "table shop.orders", "offsets shop.orders", "cluster-config"]
        {
            add(format!("  {program} --config {config} {command}"));
        }
    }
    for access in view.access.iter().filter(|access| access.user.is_some()).skip(1) {
        let config = shell_word(&access.config_file);
        add(format!(
            "  {program} --config {config} tables   # {}: {}",
            access.user.as_deref().unwrap_or("?"),
            access.role
        ));
    }
    if let Some(sign_in) = &view.sign_in {
        let password_file = shell_word(&sign_in.password_file);
        add("\nAsk the Pegel server, which knows it as the cluster demo:".to_owned());
        add(format!(
            "  {program} login --server {} --username {} --password-file {password_file}",
            sign_in.url, sign_in.username
        ));
        add(format!("  {program} tables --cluster {}", server::CLUSTER));
        add(format!("\nPegel: {}", sign_in.url));
        add(format!("Sign in as {} with the password in {password_file}", sign_in.username));
        add(format!("Bootstrap addresses: {}", view.bootstrap));
    } else {
        add(format!("\nBootstrap addresses: {}", view.bootstrap));
    }
    add(format!("Metrics: {}", view.metric_endpoints.join(" ")));
    add(format!("Data, logs and credentials: {}", view.dir.display()));
    text
}

/// Returns how a person calls this program, since a wrapper may have started it.
fn program() -> String {
    std::env::var(env_vars::PEGEL_PROGRAM).unwrap_or_else(|_| "pegel".to_owned())
}

/// Quotes a path where a shell would take it apart.
fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | ':' | '@' | '+');
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// The signals that ask to end.
struct EndSignals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

impl EndSignals {
    fn listen() -> Result<Self, Failure> {
        let listen = |kind| {
            signal(kind).map_err(|error| Failure::internal("cannot listen for signals").with_cause(&error))
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    async fn wait(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}

/// Tells a failure of the test kit; its last lines of output become causes.
fn failure(error: &TestkitError) -> Failure {
    let code = match error.code() {
        "demo_folder_foreign" | "invalid_setting" => ErrorCode::Invalid,
        _ => ErrorCode::DemoFailed,
    };
    let text = error.to_string();
    let mut lines = text.lines().map(str::to_owned);
    let mut failure = Failure::new(code, lines.next().unwrap_or_default());
    failure.causes.extend(lines.filter(|line| !line.trim().is_empty()));
    match std::error::Error::source(error) {
        Some(source) => failure.with_cause(source),
        None => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_for_the_shell_where_they_must_be() {
        assert_eq!(shell_word(Path::new("/a/b-c_1.toml")), "/a/b-c_1.toml");
        assert_eq!(shell_word(Path::new("/a b/it's")), r"'/a b/it'\''s'");
    }

    #[test]
    fn lines_of_a_log_become_causes() {
        let error = TestkitError::DownloadFailed { output: "one\n\ntwo".to_owned() };
        let failure = failure(&error);
        assert_eq!(failure.code, ErrorCode::DemoFailed);
        assert_eq!(failure.causes, ["one", "two"]);
        let foreign = TestkitError::DemoFolderForeign { dir: "x".into() };
        assert_eq!(super::failure(&foreign).code, ErrorCode::Invalid);
    }
}
