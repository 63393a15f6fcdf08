//! Options and commands about a Pegel server: running one, asking one.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use pegel_core::ids::{ClusterSlug, Environment};

use super::values::environment;
use crate::env_vars;

/// Which server to ask, and how to show who asks.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct ServerArgs {
    /// Pegel server to ask, as https://host:port/path [default: the one of the last login].
    #[arg(long, global = true, value_name = "URL", env = env_vars::PEGEL_SERVER, hide_env_values = true)]
    pub(crate) server: Option<String>,
    /// Cluster to ask the server about [default: the only one there is].
    #[arg(long, global = true, value_name = "NAME", env = env_vars::PEGEL_CLUSTER, hide_env_values = true)]
    pub(crate) cluster: Option<ClusterSlug>,
    /// File that holds an access token; or give it in PEGEL_TOKEN [default: the stored login].
    #[arg(long, global = true, value_name = "FILE", env = env_vars::PEGEL_TOKEN_FILE, hide_env_values = true)]
    pub(crate) token_file: Option<PathBuf>,
    /// PEM file with the authorities to trust for the server [default: those of the system].
    #[arg(long, global = true, value_name = "FILE", env = env_vars::PEGEL_SERVER_CA, hide_env_values = true)]
    pub(crate) server_ca: Option<PathBuf>,
    /// Send passwords and tokens unencrypted to a server on another machine; for isolated testing only.
    #[arg(long, global = true)]
    pub(crate) insecure_http: bool,
}

/// How to run a server.
#[derive(Debug, Default, Args)]
pub(crate) struct ServeArgs {
    /// IP address and port to listen on [default: 127.0.0.1:8420].
    #[arg(long, value_name = "IP:PORT")]
    pub(crate) listen: Option<String>,
    /// Folder of the database, the secret key and the lock.
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
}

/// What can be asked about the configuration file.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Tell everything that is wrong or dubious with the settings, with file and line.
    Check,
    /// Print every setting with its default, unit and range, as a file to begin with.
    Default,
}

/// How to sign in.
#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    /// Name to sign in with [default: asked for].
    #[arg(long, value_name = "NAME")]
    pub(crate) username: Option<String>,
    /// File that holds the password, `-` for stdin [default: asked for without showing it].
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,
    /// File that holds the password to set where the server asks for another one [default: asked for].
    #[arg(long, value_name = "FILE")]
    pub(crate) new_password_file: Option<PathBuf>,
}

/// What can be asked about clusters, of a server or on the spot.
#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    /// Try each bootstrap address step by step, then the coordinator and every tablet server.
    Test {
        /// Registered cluster to test from the server; without it the connection options say which.
        name: Option<ClusterSlug>,
    },
    /// List the clusters that the server knows.
    List,
    /// Show how the server reaches a cluster; secrets are never shown.
    Show {
        /// Name of the cluster.
        name: ClusterSlug,
    },
    /// Register a cluster with the server; the connection options say how to reach it.
    Add(ClusterAddArgs),
    /// Change a registered cluster; what is not given stays as it is.
    Edit(ClusterEditArgs),
    /// Remove a cluster from the server; the cluster itself is not touched.
    Remove {
        /// Name of the cluster.
        name: ClusterSlug,
        /// The cluster's name once more, in place of the question for it.
        #[arg(long, value_name = "NAME")]
        confirm: Option<String>,
    },
}

/// Which cluster to register.
#[derive(Debug, Args)]
pub(crate) struct ClusterAddArgs {
    /// Name in addresses and commands; it can never be changed.
    pub(crate) name: ClusterSlug,
    /// Name for people [default: the name].
    #[arg(long, value_name = "TEXT")]
    pub(crate) display_name: Option<String>,
    /// What the cluster is for: production, staging, development or test.
    #[arg(long, value_name = "ENVIRONMENT", value_parser = environment)]
    pub(crate) environment: Environment,
    /// Never send a change to the cluster.
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Register the cluster although the test of its connection fails.
    #[arg(long)]
    pub(crate) save_anyway: bool,
}

/// What to change about a registered cluster.
#[derive(Debug, Args)]
pub(crate) struct ClusterEditArgs {
    /// Name of the cluster.
    pub(crate) name: ClusterSlug,
    /// Name for people.
    #[arg(long, value_name = "TEXT")]
    pub(crate) display_name: Option<String>,
    /// What the cluster is for: production, staging, development or test.
    #[arg(long, value_name = "ENVIRONMENT", value_parser = environment)]
    pub(crate) environment: Option<Environment>,
    /// Whether no change may ever be sent to the cluster.
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) read_only: Option<bool>,
    /// Save although the test of the connection fails.
    #[arg(long)]
    pub(crate) save_anyway: bool,
}

/// What can be done about users on the machine of the server.
#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Give a user a new password in the store itself, while no server works with it; for when nobody can sign in.
    ResetPassword {
        /// Name of the user, as admin.
        name: String,
        /// Folder of the database [default: the one that the settings name].
        #[arg(long, value_name = "DIR")]
        data_dir: Option<PathBuf>,
    },
}

/// What can be asked about the audit log.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// List what was done and refused, the newest first.
    List(AuditListArgs),
    /// Check that no row of the audit log was changed or removed.
    Verify {
        /// Read the store that the settings name instead of asking a server; nothing is changed.
        #[arg(long)]
        offline: bool,
        /// Read the store in this folder.
        #[arg(long, value_name = "DIR")]
        data_dir: Option<PathBuf>,
    },
}

/// Which audit rows to list.
#[derive(Debug, Args)]
pub(crate) struct AuditListArgs {
    /// Show only rows of this action, such as users.create.
    #[arg(long, value_name = "ACTION")]
    pub(crate) action: Option<String>,
    /// Show only rows about exactly this, such as cluster/eu.
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Show only rows before those of an earlier answer, which says how.
    #[arg(long, value_name = "CURSOR")]
    pub(crate) before: Option<String>,
    /// Show at most this many rows, 1 to 1000.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) limit: u32,
}
