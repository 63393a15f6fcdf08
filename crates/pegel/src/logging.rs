//! Logs, only when asked for, always on stderr.

use tracing_subscriber::EnvFilter;

use crate::env_vars;

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
        .finish();
    // A second start, which only a test could make, keeps the first.
    let _ = tracing::subscriber::set_global_default(subscriber);
}
