//! Runs one command: settings, question, answer, exit code.

use clap::CommandFactory;
use fluss_client::admin::{AclFilter, Principal};
use fluss_client::settings::ConnectionSettings;
use pegel_core::limits::PageRequest;

use crate::cli::{AclsArgs, Cli, ClusterCommand, Command, ConnectionArgs, ListArgs};
use crate::config;
use crate::console::Console;
use crate::demo;
use crate::failure::Failure;
use crate::reads;
use crate::render::Show;
use crate::session::{Answer, Session};

mod errors;

/// Runs a command and returns its exit code.
pub(crate) async fn run(cli: Cli, console: &Console) -> u8 {
    let asker = Asker { connection: &cli.connection, console };
    match cli.command {
        Command::Cluster(ClusterCommand::Test) => {
            asker
                .ask("cluster_test", async |session| Box::pin(reads::cluster_test::read(session)).await)
                .await
        }
        Command::Servers => asker.ask("servers", reads::servers::read).await,
        Command::Databases(list) => {
            asker
                .ask_page("databases", &list, async |session, page| {
                    reads::databases::read(session, page).await
                })
                .await
        }
        Command::Database { name } => {
            asker.ask("database", async |session| reads::database::read(session, &name).await).await
        }
        Command::Tables(args) => {
            let read = async |session: &Session, page: &PageRequest| {
                Box::pin(reads::tables::read(session, args.database.as_deref(), page, args.runtime)).await
            };
            asker.ask_page("tables", &args.list, read).await
        }
        Command::Table { table } => {
            asker.ask("table", async |session| Box::pin(reads::table::read(session, &table)).await).await
        }
        Command::Partitions(args) => {
            let target = &args.target;
            let read = async |session: &Session, page: &PageRequest| {
                Box::pin(reads::partitions::read(session, &target.table, &target.partition, page)).await
            };
            asker.ask_page("partitions", &args.list, read).await
        }
        Command::Offsets(args) => {
            let target = &args.target;
            let read = async |session: &Session| {
                Box::pin(reads::offsets::read(session, &target.table, &target.partition, args.at)).await
            };
            asker.ask("offsets", read).await
        }
        Command::Stats(args) => {
            let read = async |session: &Session| {
                Box::pin(reads::stats::read(session, &args.table, &args.partition)).await
            };
            asker.ask("stats", read).await
        }
        Command::ClusterConfig(list) => {
            let read = async |session: &Session, page: &PageRequest| {
                reads::cluster_config::read(session, page).await
            };
            asker.ask_page("cluster_config", &list, read).await
        }
        Command::Acls(args) => {
            let filter = acl_filter(&args);
            let read =
                async |session: &Session, page: &PageRequest| reads::acls::read(session, &filter, page).await;
            asker.ask_page("acls", &args.list, read).await
        }
        Command::Demo(args) => Box::pin(demo::run(&args, console)).await,
        Command::Completion { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "pegel", &mut script);
            console.raw(&String::from_utf8_lossy(&script))
        }
        Command::Errors { code } => errors::explain(code.as_deref(), console),
    }
}

/// Asks the cluster that the options name, and prints the answer.
struct Asker<'a> {
    connection: &'a ConnectionArgs,
    console: &'a Console,
}

impl Asker<'_> {
    async fn ask<T: Show>(
        &self,
        check: &'static str,
        read: impl AsyncFnOnce(&Session) -> Result<Answer<T>, Failure>,
    ) -> u8 {
        match self.settings() {
            Ok(settings) => ask_with(settings, check, self.console, read).await,
            Err(code) => code,
        }
    }

    async fn ask_page<T: Show>(
        &self,
        check: &'static str,
        list: &ListArgs,
        read: impl AsyncFnOnce(&Session, &PageRequest) -> Result<Answer<T>, Failure>,
    ) -> u8 {
        let search = list.search.as_deref();
        let page = if list.all {
            PageRequest::whole(search)
        } else {
            PageRequest::new(search, list.offset, Some(list.limit))
        };
        match page {
            Ok(page) => self.ask(check, async |session| read(session, &page).await).await,
            Err(error) => self.console.failure(&Failure::invalid(error.to_string()), None),
        }
    }

    /// Returns the settings, or the exit code of what is wrong with them.
    fn settings(&self) -> Result<ConnectionSettings, u8> {
        match config::load(self.connection) {
            Ok(loaded) => {
                for warning in &loaded.warnings {
                    self.console.warn(warning);
                }
                Ok(loaded.settings)
            }
            Err(failure) => Err(self.console.failure(&failure, None)),
        }
    }
}

/// Asks the cluster behind `settings`, prints the answer and returns the exit code.
pub(crate) async fn ask_with<T: Show>(
    settings: ConnectionSettings,
    check: &'static str,
    console: &Console,
    read: impl AsyncFnOnce(&Session) -> Result<Answer<T>, Failure>,
) -> u8 {
    let session = match Session::open(settings) {
        Ok(session) => session,
        Err(failure) => return console.failure(&failure, None),
    };
    match read(&session).await {
        Ok(answer) => console.answer(&session.seal(answer)),
        Err(failure) => match session.seal_failure::<()>(&failure, check) {
            Some(envelope) => console.unanswered(&failure, &envelope),
            None => console.failure(&failure, Some(session.execution_id())),
        },
    }
}

fn acl_filter(args: &AclsArgs) -> AclFilter {
    AclFilter {
        resource_type: args.resource_type.map(|kind| kind.0),
        resource_name: args.resource_name.clone(),
        principal: args
            .principal
            .as_ref()
            .map(|principal| Principal { kind: principal.kind.clone(), name: principal.name.clone() }),
        host: args.host.clone(),
        operation: args.operation.map(|operation| operation.0),
    }
}
