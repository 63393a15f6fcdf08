//! Runs one command: settings, question, answer, exit code.

use fluss_client::settings::ConnectionSettings;
use fluss_codec::name::TablePath;
use pegel_api_types::operations::acls::{ListAcls, ListAclsInput};
use pegel_api_types::operations::cluster_config::{ListClusterConfig, ListClusterConfigInput};
use pegel_api_types::operations::database::{GetDatabase, GetDatabaseInput};
use pegel_api_types::operations::databases::{ListDatabases, ListDatabasesInput};
use pegel_api_types::operations::offsets::{GetTableOffsets, GetTableOffsetsInput};
use pegel_api_types::operations::partition_spec::PartitionFilter;
use pegel_api_types::operations::partitions::{ListPartitions, ListPartitionsInput};
use pegel_api_types::operations::servers::{ListServers, ListServersInput};
use pegel_api_types::operations::stats::{GetTableStats, GetTableStatsInput};
use pegel_api_types::operations::table::{GetTable, GetTableInput};
use pegel_api_types::operations::tables::{ListTables, ListTablesInput};
use pegel_service::catalog::Execute;
use pegel_service::execution::Extent;
use pegel_service::failure::Failure;

use crate::backend::{Backend, Told};
use crate::cli::{
    AclsArgs, Cli, ClusterCommand, Command, ConnectionArgs, ListArgs, ServerArgs, TablesArgs, TargetArgs,
};
use crate::config;
use crate::console::Console;
use crate::demo;
use crate::remote::cluster::RemoteCluster;
use crate::render::Show;
use crate::server_choice;
use crate::server_commands::{self, Context};

mod errors;

/// Runs a command and returns its exit code.
pub(crate) async fn run(cli: Cli, console: &Console) -> u8 {
    let asker = Asker { connection: &cli.connection, server: &cli.server, console };
    match cli.command {
        Command::Cluster(ClusterCommand::Test { name: None }) => asker.test_connection().await,
        Command::Servers => asker.ask::<ListServers>(Ok(ListServersInput::default()), Extent::Whole).await,
        Command::Databases(list) => asker.ask::<ListDatabases>(Ok(databases(&list)), extent(&list)).await,
        Command::Database { name } => {
            asker.ask::<GetDatabase>(Ok(GetDatabaseInput { database: name }), Extent::Page).await
        }
        Command::Tables(args) => asker.ask::<ListTables>(Ok(tables(&args)), extent(&args.list)).await,
        Command::Table { table } => {
            let (database, table) = names(&table);
            asker.ask::<GetTable>(Ok(GetTableInput { database, table }), Extent::Page).await
        }
        Command::Partitions(args) => {
            let input = partitions(&args.target, &args.list);
            asker.ask::<ListPartitions>(input, extent(&args.list)).await
        }
        Command::Offsets(args) => {
            let (database, table) = names(&args.target.table);
            let input = filter(&args.target).map(|partition_spec_json| GetTableOffsetsInput {
                database,
                table,
                partition_spec_json,
                timestamp: args.at,
            });
            asker.ask::<GetTableOffsets>(input, Extent::Page).await
        }
        Command::Stats(args) => {
            let (database, table) = names(&args.table);
            let input = filter(&args).map(|partition_spec_json| GetTableStatsInput {
                database,
                table,
                partition_spec_json,
            });
            asker.ask::<GetTableStats>(input, Extent::Page).await
        }
        Command::ClusterConfig(list) => {
            let (search, offset, limit) = page(&list);
            let input = ListClusterConfigInput { search, offset, limit };
            asker.ask::<ListClusterConfig>(Ok(input), extent(&list)).await
        }
        Command::Acls(args) => asker.ask::<ListAcls>(Ok(acls(&args)), extent(&args.list)).await,
        command @ (Command::Serve(_)
        | Command::Config(_)
        | Command::Login(_)
        | Command::Logout
        | Command::User(_)
        | Command::Incident(_)
        | Command::Silence(_)
        | Command::Audit(_)
        | Command::Doctor(_)
        | Command::Cluster(_)) => {
            let context = Context {
                connection: &cli.connection,
                server: &cli.server,
                console,
                is_verbose: cli.output.verbose,
            };
            Box::pin(server_commands::run(command, &context)).await
        }
        Command::Demo(args) => Box::pin(demo::run(&args, console)).await,
        Command::Completion { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut crate::cli::command(), "pegel", &mut script);
            console.raw(&String::from_utf8_lossy(&script))
        }
        Command::Errors { code } => errors::explain(code.as_deref(), console),
    }
}

/// Asks the cluster that the options name, and prints the answer.
struct Asker<'a> {
    connection: &'a ConnectionArgs,
    server: &'a ServerArgs,
    console: &'a Console,
}

impl Asker<'_> {
    async fn ask<O: Execute>(&self, input: Result<O::Input, Failure>, extent: Extent) -> u8
    where
        O::Output: Show,
    {
        match input {
            Ok(input) => match Box::pin(self.backend()).await {
                Ok(backend) => show(backend.ask::<O>(input, extent).await, self.console),
                Err(failure) => self.console.failure(&failure, None),
            },
            Err(failure) => self.console.failure(&failure, None),
        }
    }

    async fn test_connection(&self) -> u8 {
        match Box::pin(self.backend()).await {
            Ok(backend) => show(backend.test_connection().await, self.console),
            Err(failure) => self.console.failure(&failure, None),
        }
    }

    /// Returns whom to ask: the cluster itself where its addresses are given or nothing says otherwise, else a
    /// server.
    async fn backend(&self) -> Result<Backend, Failure> {
        let names_cluster = config::names_cluster(self.connection)?;
        if names_cluster && self.server.cluster.is_some() {
            let message = "both a cluster of a server and the addresses of a cluster are given";
            return Err(Failure::invalid(message).with_hint(
                "keep one of --cluster (PEGEL_CLUSTER) and --bootstrap (PEGEL_BOOTSTRAP, endpoint)",
            ));
        }
        if !names_cluster && server_choice::is_server_meant(self.server) {
            let server = server_choice::signed_in(self.server)?;
            let slug = server_choice::cluster(self.server, &server).await?;
            return Ok(Backend::Remote(RemoteCluster::new(server, slug)));
        }
        let loaded = config::load(self.connection)?;
        for warning in &loaded.warnings {
            self.console.warn(warning);
        }
        Backend::local(loaded.settings).await
    }
}

/// Asks the cluster behind `settings`, prints the answer and returns the exit code.
pub(crate) async fn ask_with<O: Execute>(
    settings: ConnectionSettings,
    input: O::Input,
    extent: Extent,
    console: &Console,
) -> u8
where
    O::Output: Show,
{
    match Backend::local(settings).await {
        Ok(backend) => show(backend.ask::<O>(input, extent).await, console),
        Err(failure) => console.failure(&failure, None),
    }
}

/// Prints what came back and returns the exit code.
pub(crate) fn show<T: Show>(told: Told<T>, console: &Console) -> u8 {
    match told {
        Told::Answer(envelope) => console.answer(&envelope),
        Told::Unanswered { failure, envelope } => console.unanswered(&failure, &envelope),
        Told::Failed { failure, execution_id } => console.failure(&failure, execution_id),
    }
}

fn extent(list: &ListArgs) -> Extent {
    if list.all { Extent::Whole } else { Extent::Page }
}

/// Returns search, offset and limit; the page is left to the extent where everything is wanted.
fn page(list: &ListArgs) -> (Option<String>, Option<usize>, Option<usize>) {
    let limit = (!list.all).then_some(list.limit);
    (list.search.clone(), Some(list.offset), limit)
}

fn databases(list: &ListArgs) -> ListDatabasesInput {
    let (search, offset, limit) = page(list);
    ListDatabasesInput { search, offset, limit, refresh: false }
}

fn tables(args: &TablesArgs) -> ListTablesInput {
    let (search, offset, limit) = page(&args.list);
    let (database, runtime) = (args.database.clone(), args.runtime);
    ListTablesInput { database, search, offset, limit, runtime, refresh: false }
}

fn partitions(target: &TargetArgs, list: &ListArgs) -> Result<ListPartitionsInput, Failure> {
    let (database, table) = names(&target.table);
    let (search, offset, limit) = page(list);
    let partition_spec_json = filter(target)?;
    Ok(ListPartitionsInput { database, table, partition_spec_json, search, offset, limit })
}

fn acls(args: &AclsArgs) -> ListAclsInput {
    let (search, offset, limit) = page(&args.list);
    let kind = args.resource_type.map(|kind| kind.0.name());
    let resource = kind.map(|kind| match &args.resource_name {
        Some(name) => format!("{kind}:{name}"),
        None => kind.to_owned(),
    });
    ListAclsInput {
        resource,
        principal: args.principal.as_ref().map(|principal| format!("{}:{}", principal.kind, principal.name)),
        host: args.host.clone(),
        operation: args.operation.map(|operation| operation.0.name().to_owned()),
        permission: None,
        search,
        offset,
        limit,
    }
}

fn names(path: &TablePath) -> (String, String) {
    (path.database().to_owned(), path.table().to_owned())
}

/// Makes a partition filter out of the options, nothing out of none.
fn filter(target: &TargetArgs) -> Result<Option<PartitionFilter>, Failure> {
    let pairs = &target.partition;
    let is_given_before =
        |index: usize, key: &String| pairs.iter().take(index).any(|(other, _)| other == key);
    if let Some((_, (key, _))) =
        pairs.iter().enumerate().find(|(index, (key, _))| is_given_before(*index, key))
    {
        return Err(Failure::invalid(format!("--partition gives {key} twice")));
    }
    if pairs.is_empty() {
        return Ok(None);
    }
    PartitionFilter::new(pairs.clone()).map(Some).map_err(Failure::invalid)
}
