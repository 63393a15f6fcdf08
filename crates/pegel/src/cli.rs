//! The command line: what can be asked, with which options.
//!
//! Only shapes and parsing live here. Nothing is read, dialled or printed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use fluss_codec::name::TablePath;

mod alerting;
mod connection;
mod help;
mod server;
mod values;

#[cfg(test)]
mod reference;

pub(crate) use alerting::{IncidentCommand, IncidentListArgs, SilenceAddArgs, SilenceCommand, matcher_text};
pub(crate) use connection::ConnectionArgs;
pub(crate) use help::command;
#[cfg(test)]
pub(crate) use reference::check_page;
pub(crate) use server::{
    AuditCommand, AuditListArgs, ClusterAddArgs, ClusterCommand, ClusterEditArgs, ConfigCommand, LoginArgs,
    ServeArgs, ServerArgs, UserCommand,
};
pub(crate) use values::{OperationName, PrincipalName, ResourceTypeName};
use values::{operation, partition_pair, principal, resource_type, time_with_zone};

use crate::env_vars;

/// Shown under `--help`.
const AFTER_HELP: &str = "\
Exit codes: 0 answered, also with an empty list; 1 internal error; 2 invalid command line or settings; \
3 a part is missing or works with faults; 4 cluster unavailable; 5 refused (authentication, permission); \
6 not found; 7 unsupported, or access control switched off.

Data goes to stdout, everything else to stderr. `pegel errors` explains error codes.";

/// Console for Apache Fluss clusters.
#[derive(Debug, Parser)]
#[command(name = "pegel", version, about, after_help = AFTER_HELP, arg_required_else_help = true)]
#[command(propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// How to reach the cluster.
    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
    /// Which server to ask instead.
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// How to print.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// How answers are printed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Format of answers.
    #[arg(long, short = 'o', global = true, value_enum, default_value_t = Format::Table, env = env_vars::PEGEL_OUTPUT, hide_env_values = true)]
    pub(crate) output: Format,
    /// When to use colour; NO_COLOR is honoured.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN", env = env_vars::PEGEL_COLOR, hide_env_values = true)]
    pub(crate) color: Color,
    /// Print the answer alone: no heading, no warnings, no hints.
    #[arg(long, short = 'q', global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Log what the client does, and print servers' error texts in full, both on stderr.
    #[arg(long, short = 'v', global = true)]
    pub(crate) verbose: bool,
}

/// Format of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for people.
    Table,
    /// One JSON document, also for errors.
    Json,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Even into a pipe.
    Always,
    /// Not at all.
    Never,
}

/// What can be asked.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check a cluster as a whole, or see to the clusters of a server.
    #[command(subcommand, arg_required_else_help = true)]
    Cluster(ClusterCommand),
    /// List the coordinator and the tablet servers, and whether each answers.
    Servers,
    /// List databases.
    Databases(ListArgs),
    /// Show one database: comment, properties, times, number of tables.
    Database {
        /// Name of the database.
        name: String,
    },
    /// List tables, of one database or of all.
    Tables(TablesArgs),
    /// Show one table: columns, keys, buckets, properties.
    Table {
        /// The table, as `database.table`.
        table: TablePath,
    },
    /// List the partitions of a table.
    Partitions(PartitionsArgs),
    /// Show the offsets of each bucket of a table: earliest and latest, or at a time.
    Offsets(OffsetsArgs),
    /// Show the number of rows of each bucket of a table.
    Stats(TargetArgs),
    /// Show the configuration of the cluster with the source of each value; secrets are hidden.
    ClusterConfig(ListArgs),
    /// List access-control entries.
    Acls(AclsArgs),
    /// Run the server.
    Serve(ServeArgs),
    /// Check or print the server's settings.
    #[command(subcommand, arg_required_else_help = true)]
    Config(ConfigCommand),
    /// Sign in at a server; later commands ask it.
    Login(LoginArgs),
    /// Sign out: end the session at the server and forget it here.
    Logout,
    /// See to the users of a server on its own machine.
    #[command(subcommand, arg_required_else_help = true)]
    User(UserCommand),
    /// See what fired, and write down what was done about it.
    #[command(subcommand, arg_required_else_help = true)]
    Incident(IncidentCommand),
    /// Keep people from being told for a while.
    #[command(subcommand, arg_required_else_help = true)]
    Silence(SilenceCommand),
    /// See what was done and refused at a server.
    #[command(subcommand, arg_required_else_help = true)]
    Audit(AuditCommand),
    /// Look at everything a server needs, and say what to do about what is wrong.
    Doctor(ServeArgs),
    /// Start a demo cluster on this machine, or stop it.
    Demo(DemoArgs),
    /// Print a completion script for a shell.
    Completion {
        /// The shell.
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Explain an error code, or list all of them.
    Errors {
        /// The code, as in the brackets of an error message.
        code: Option<String>,
    },
}

/// Which part of a list to show.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Show only entries that contain this text, without regard to case.
    #[arg(long, value_name = "TEXT")]
    pub(crate) search: Option<String>,
    /// Skip this many entries.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: usize,
    /// Show at most this many entries, 1 to 1000.
    #[arg(long, value_name = "N", default_value_t = pegel_core::limits::DEFAULT_PAGE_LIMIT)]
    pub(crate) limit: usize,
    /// Show everything that matches, however much it is.
    #[arg(long, conflicts_with_all = ["offset", "limit"])]
    pub(crate) all: bool,
}

/// Which tables to list.
#[derive(Debug, Args)]
pub(crate) struct TablesArgs {
    /// List only the tables of this database.
    #[arg(long, value_name = "NAME")]
    pub(crate) database: Option<String>,
    /// Also read row counts and offset ranges, for at most the first 100 tables shown.
    #[arg(long)]
    pub(crate) runtime: bool,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

/// Which table, and which of its partitions.
#[derive(Debug, Args)]
pub(crate) struct TargetArgs {
    /// The table, as `database.table`.
    pub(crate) table: TablePath,
    /// Only partitions with this value; may be given once per partition key.
    #[arg(long = "partition", value_name = "KEY=VALUE", value_parser = partition_pair)]
    pub(crate) partition: Vec<(String, String)>,
}

/// Which partitions to list.
#[derive(Debug, Args)]
pub(crate) struct PartitionsArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

/// Which offsets to read.
#[derive(Debug, Args)]
pub(crate) struct OffsetsArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Show the first offset at or after this time instead of the earliest; RFC 3339 with a zone.
    #[arg(long, value_name = "TIME", value_parser = time_with_zone)]
    pub(crate) at: Option<jiff::Timestamp>,
}

/// Which access-control entries to list.
#[derive(Debug, Args)]
pub(crate) struct AclsArgs {
    /// Kind of resource: cluster, database or table.
    #[arg(long, value_name = "TYPE", value_parser = resource_type)]
    pub(crate) resource_type: Option<ResourceTypeName>,
    /// Name of the resource, matched exactly; needs --resource-type.
    #[arg(long, value_name = "NAME", requires = "resource_type")]
    pub(crate) resource_name: Option<String>,
    /// Principal, as `User:alice`.
    #[arg(long, value_name = "TYPE:NAME", value_parser = principal)]
    pub(crate) principal: Option<PrincipalName>,
    /// Operation: all, read, write, create, drop, alter or describe.
    #[arg(long, value_name = "OPERATION", value_parser = operation)]
    pub(crate) operation: Option<OperationName>,
    /// Host, matched exactly.
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

/// What kind of demo cluster to start.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Ask for user name and password, and switch access rules on.
    #[arg(long)]
    pub(crate) sasl: bool,
    /// Encrypt connections.
    #[arg(long)]
    pub(crate) tls: bool,
    /// Keep the cluster running in the background.
    #[arg(long)]
    pub(crate) detach: bool,
    /// Stop the cluster that runs in the background.
    #[arg(long, conflicts_with_all = ["sasl", "tls", "detach", "port_base"])]
    pub(crate) stop: bool,
    /// Directory for data, logs and credentials.
    #[arg(long, value_name = "DIR", default_value = ".demo")]
    pub(crate) dir: PathBuf,
    /// The coordinator's port on 127.0.0.1; all others follow from it.
    #[arg(long, value_name = "PORT", default_value_t = fluss_testkit::demo::DEFAULT_PORT_BASE, value_parser = clap::value_parser!(u16).range(1024..=65_000))]
    pub(crate) port_base: u16,
    /// Run as the background process of --detach.
    #[arg(long, hide = true, conflicts_with_all = ["stop", "detach"])]
    pub(crate) supervised: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn refuse(line: &str, part: &str) {
        let error = Cli::try_parse_from(line.split(' ')).unwrap_err();
        let text = error.to_string();
        assert_eq!(error.exit_code(), 2, "{line}");
        assert!(text.contains(part), "{line}: {text}");
    }

    #[test]
    fn command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn global_options_stand_before_or_after_the_command() {
        for line in ["pegel --bootstrap a:1 -o json servers", "pegel servers --bootstrap a:1 -o json"] {
            let cli = Cli::try_parse_from(line.split(' ')).unwrap();
            assert_eq!(cli.connection.bootstrap.as_deref(), Some("a:1"), "{line}");
            assert_eq!(cli.output.output, Format::Json, "{line}");
        }
    }

    #[test]
    fn password_cannot_be_given_on_the_command_line() {
        refuse("pegel servers --sasl-password x", "unexpected argument");
        let help = Cli::command().render_long_help().to_string();
        assert!(!help.contains("--sasl-password "), "{help}");
    }

    #[test]
    fn malformed_arguments_are_usage_errors_that_name_the_rule() {
        refuse("pegel table orders", "database.table");
        refuse("pegel offsets shop.orders --at 2026-01-01T00:00:00", "zone");
        refuse("pegel offsets shop.orders --at yesterday", "RFC 3339");
        refuse("pegel offsets shop.orders --partition region", "KEY=VALUE");
        refuse("pegel acls --principal alice", "User:alice");
        refuse("pegel acls --resource-type topic", "cluster, database or table");
        refuse("pegel acls --operation fly", "describe");
        refuse("pegel acls --resource-name shop", "--resource-type");
        refuse("pegel demo --stop --sasl", "cannot be used with");
        refuse("pegel nothing", "unrecognized subcommand");
    }

    #[test]
    fn times_may_have_any_zone() {
        let line = "pegel offsets shop.orders --at 2026-01-01T09:00:00+09:00";
        let cli = Cli::try_parse_from(line.split(' ')).unwrap();
        let Command::Offsets(args) = cli.command else { panic!("not offsets") };
        assert_eq!(args.at.unwrap().to_string(), "2026-01-01T00:00:00Z");
    }
}
