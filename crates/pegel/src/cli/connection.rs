//! Options that say how to reach the cluster.

use std::path::PathBuf;

use clap::Args;

use crate::env_vars;

/// How to reach the cluster. An option beats its variable, a variable beats the file.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct ConnectionArgs {
    /// Comma list of coordinator or tablet server addresses [default: localhost:9123].
    #[arg(long, global = true, value_name = "HOST:PORT,…", env = env_vars::PEGEL_BOOTSTRAP, hide_env_values = true)]
    pub(crate) bootstrap: Option<String>,
    /// PLAINTEXT, TLS, SASL_PLAINTEXT or SASL_TLS [default: PLAINTEXT].
    #[arg(long, global = true, value_name = "PROTOCOL", env = env_vars::PEGEL_SECURITY_PROTOCOL, hide_env_values = true)]
    pub(crate) security_protocol: Option<String>,
    /// SASL mechanism; PLAIN is the only one [default: PLAIN].
    #[arg(long, global = true, value_name = "MECHANISM", env = env_vars::PEGEL_SASL_MECHANISM, hide_env_values = true)]
    pub(crate) sasl_mechanism: Option<String>,
    /// SASL user name.
    #[arg(long, global = true, value_name = "NAME", env = env_vars::PEGEL_SASL_USERNAME, hide_env_values = true)]
    pub(crate) sasl_username: Option<String>,
    /// File that holds the SASL password; or give it in PEGEL_SASL_PASSWORD.
    #[arg(long, global = true, value_name = "FILE", env = env_vars::PEGEL_SASL_PASSWORD_FILE, hide_env_values = true)]
    pub(crate) sasl_password_file: Option<PathBuf>,
    /// PEM file with the authorities to trust [default: those of the system].
    #[arg(long, global = true, value_name = "FILE", env = env_vars::PEGEL_TLS_CA_CERT, hide_env_values = true)]
    pub(crate) tls_ca_cert: Option<PathBuf>,
    /// PEM file with the client certificate chain.
    #[arg(long, global = true, value_name = "FILE", env = env_vars::PEGEL_TLS_CLIENT_CERT, hide_env_values = true)]
    pub(crate) tls_client_cert: Option<PathBuf>,
    /// PEM file with the client certificate's private key.
    #[arg(long, global = true, value_name = "FILE", env = env_vars::PEGEL_TLS_CLIENT_KEY, hide_env_values = true)]
    pub(crate) tls_client_key: Option<PathBuf>,
    /// Name to expect in every server's certificate instead of the dialled host.
    #[arg(long, global = true, value_name = "NAME", env = env_vars::PEGEL_TLS_SERVER_NAME, hide_env_values = true)]
    pub(crate) tls_server_name: Option<String>,
    /// Do not verify certificates; for isolated testing only.
    #[arg(
        long, global = true, env = env_vars::PEGEL_TLS_SKIP_VERIFY, hide_env_values = true,
        num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "true|false"
    )]
    pub(crate) tls_skip_verify: Option<bool>,
    /// Limit of one dial in seconds, 1 to 300 [default: 10].
    #[arg(long, global = true, value_name = "N", env = env_vars::PEGEL_DIAL_TIMEOUT_SECONDS, hide_env_values = true)]
    pub(crate) dial_timeout_seconds: Option<u64>,
    /// Limit of one read in seconds, its repetitions included, 1 to 300 [default: 15].
    #[arg(long, global = true, value_name = "N", env = env_vars::PEGEL_REQUEST_TIMEOUT_SECONDS, hide_env_values = true)]
    pub(crate) request_timeout_seconds: Option<u64>,
    /// Attempts of a safe read, 1 to 3 [default: 2].
    #[arg(long, global = true, value_name = "N", env = env_vars::PEGEL_READ_MAX_ATTEMPTS, hide_env_values = true)]
    pub(crate) read_max_attempts: Option<u32>,
    /// TOML file with a [connection] section; options and variables override it.
    #[arg(long, global = true, value_name = "FILE", env = env_vars::PEGEL_CONFIG, hide_env_values = true)]
    pub(crate) config: Option<PathBuf>,
}
