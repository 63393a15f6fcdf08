//! Logs, always on stderr: of commands when asked for, of the server as its settings say.

use tracing::Subscriber;
use tracing_subscriber::EnvFilter;

use crate::env_vars;
use crate::settings::log::{Log, LogFormat};

/// Starts logging to stderr. Without `--verbose` nothing is ever logged.
pub(crate) fn start(is_verbose: bool, has_color: bool) {
    if !is_verbose {
        return;
    }
    let filter = match EnvFilter::try_from_env(env_vars::PEGEL_LOG) {
        Ok(filter) => filter,
        Err(error) => {
            if std::env::var_os(env_vars::PEGEL_LOG).is_some() {
                eprintln!("warning: {} is no filter and is not used: {error}", env_vars::PEGEL_LOG);
            }
            EnvFilter::new("warn,fluss_testkit=debug,pegel=debug")
        }
    };
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(has_color)
        .log_internal_errors(false)
        .finish();
    set(subscriber);
}

/// Starts the server's log. `--verbose` shows more of Pegel itself, whatever the settings say.
pub(crate) fn start_server(log: &Log, is_verbose: bool, has_color: bool) {
    let mut directives = log.filter.clone();
    if is_verbose {
        directives.push_str(
            ",pegel=debug,pegel_api=debug,pegel_service=debug,pegel_store=debug,fluss_client=debug",
        );
    }
    // The settings were checked, so that only the addition could be at fault.
    let filter = EnvFilter::try_new(&directives).unwrap_or_else(|_| EnvFilter::new(&log.filter));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // Without a stderr, as when its terminal has gone, telling of that would end the server.
        .log_internal_errors(false);
    match log.format {
        LogFormat::Text => set(builder.with_ansi(has_color).finish()),
        LogFormat::Json => set(builder.with_ansi(false).json().flatten_event(true).finish()),
    }
}

fn set(subscriber: impl Subscriber + Send + Sync + 'static) {
    // A second start, which only a test could make, keeps the first.
    let _ = tracing::subscriber::set_global_default(subscriber);
}
