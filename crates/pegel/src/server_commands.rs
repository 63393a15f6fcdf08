//! Commands about a server: running one, its settings, signing in, its users, clusters, incidents, silences, audit log.

use pegel_service::failure::Failure;

use crate::cli::{Command, ConfigCommand, ConnectionArgs, ServeArgs, ServerArgs};
use crate::console::Console;
use crate::settings::{DEFAULT_FILE, Overrides};
use crate::{doctor, serve};

mod audit;
mod clusters;
pub(crate) mod config_check;
mod incidents;
mod login;
mod logout;
mod silences;
mod user;

/// What every command can look at.
pub(crate) struct Context<'a> {
    pub(crate) connection: &'a ConnectionArgs,
    pub(crate) server: &'a ServerArgs,
    pub(crate) console: &'a Console,
    pub(crate) is_verbose: bool,
}

/// Runs a command of this kind and returns its exit code.
pub(crate) async fn run(command: Command, context: &Context<'_>) -> u8 {
    let Context { connection, server, console, .. } = *context;
    let outcome = match command {
        Command::Serve(args) => Box::pin(run_server(args, context)).await,
        Command::Config(ConfigCommand::Check) => Ok(config_check::run(connection, console)),
        Command::Config(ConfigCommand::Default) => Ok(console.raw(DEFAULT_FILE)),
        Command::Login(args) => Box::pin(login::run(&args, server, console)).await,
        Command::Logout => Box::pin(logout::run(server, console)).await,
        Command::User(command) => Box::pin(user::run(command, connection, console)).await,
        Command::Incident(command) => Box::pin(incidents::run(command, context)).await,
        Command::Silence(command) => Box::pin(silences::run(command, context)).await,
        Command::Audit(command) => Box::pin(audit::run(&command, connection, server, console)).await,
        Command::Doctor(args) => Ok(Box::pin(doctor::run(&args, connection, server, console)).await),
        Command::Cluster(command) => Box::pin(clusters::run(command, context)).await,
        _ => Err(Failure::internal("the command is of another kind")),
    };
    outcome.unwrap_or_else(|failure| console.failure(&failure, None))
}

async fn run_server(args: ServeArgs, context: &Context<'_>) -> Result<u8, Failure> {
    let overrides = Overrides { listen: args.listen, data_dir: args.data_dir };
    let settings = config_check::load_settings(context.connection.config.as_deref(), overrides)?;
    serve::run(settings, context.is_verbose, context.console).await
}
