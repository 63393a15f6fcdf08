//! `pegel cluster …` at a server: list, show, register, change, remove and test clusters.

use fluss_client::settings::ConnectionOptions;
use http::Method;

use pegel_api_types::clusters::{ClusterView, RegisterCluster, SavedCluster, UpdateCluster};
use pegel_core::error_code::ErrorCode;
use pegel_core::ids::ClusterSlug;
use pegel_service::failure::Failure;
use serde::Serialize;

use crate::backend::Backend;
use crate::cli::{ClusterAddArgs, ClusterCommand, ClusterEditArgs};
use crate::commands::show as show_answer;
use crate::config;
use crate::console::Console;
use crate::remote::cluster::RemoteCluster;
use crate::remote::{Server, query};
use crate::server_commands::Context;
use crate::{server_choice, terminal};

mod edited;
mod text;

/// Runs one of the commands.
///
/// # Errors
/// Those of the server; `invalid` where the options do not say enough.
pub(super) async fn run(command: ClusterCommand, context: &Context<'_>) -> Result<u8, Failure> {
    let console = context.console;
    let server = server_choice::signed_in(context.server)?;
    match command {
        ClusterCommand::Test { name } => {
            let name = match name {
                Some(name) => name,
                None => server_choice::cluster(context.server, &server).await?,
            };
            let backend = Backend::Remote(RemoteCluster::new(server, name));
            Ok(show_answer(backend.test_connection().await, console))
        }
        ClusterCommand::List => {
            let clusters: Vec<ClusterView> = server_choice::all(&server, "/clusters").await?;
            Ok(console.plain(&Listed { items: &clusters }, || text::list(&clusters, server.url(), console)))
        }
        ClusterCommand::Show { name } => {
            let cluster = get(&server, &name).await?;
            Ok(console.plain(&cluster, || text::cluster(&cluster, console)))
        }
        ClusterCommand::Add(args) => add(args, &server, context).await,
        ClusterCommand::Edit(args) => edit(args, &server, context).await,
        ClusterCommand::Remove { name, confirm } => remove(&name, confirm, &server, console).await,
    }
}

/// A list, for programs; lists of answers have their entries in `items`.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    items: &'a [ClusterView],
}

async fn get(server: &Server, name: &ClusterSlug) -> Result<ClusterView, Failure> {
    server.get(&format!("/clusters/{name}")).await
}

async fn add(args: ClusterAddArgs, server: &Server, context: &Context<'_>) -> Result<u8, Failure> {
    let options = options(context)?;
    if options.endpoint.is_none() {
        return Err(Failure::invalid("it is not said where the cluster is")
            .with_hint("name its addresses with --bootstrap HOST:PORT,…"));
    }
    let request = RegisterCluster {
        name: args.display_name.unwrap_or_else(|| args.name.to_string()),
        slug: args.name,
        environment: args.environment,
        read_only: args.read_only,
        connection: edited::new_form(options),
        save_despite_failure: args.save_anyway,
    };
    let saved: SavedCluster =
        server.send(Method::POST, "/clusters", &request).await.map_err(save_anyway_hint)?;
    Ok(tell_saved("Registered", &saved, context.console))
}

async fn edit(args: ClusterEditArgs, server: &Server, context: &Context<'_>) -> Result<u8, Failure> {
    let options = options(context)?;
    let before = get(server, &args.name).await?;
    let Some(connection) = &before.connection else {
        let message = format!("the connection of {} cannot be seen, so that it cannot be changed", args.name);
        return Err(Failure::new(ErrorCode::PermissionDenied, message));
    };
    let request = UpdateCluster {
        version: before.version,
        name: args.display_name.unwrap_or_else(|| before.name.clone()),
        environment: args.environment.unwrap_or(before.environment),
        read_only: args.read_only.unwrap_or(before.read_only),
        connection: edited::form(connection, options),
        save_despite_failure: args.save_anyway,
    };
    let path = format!("/clusters/{}", args.name);
    let saved: SavedCluster = server.send(Method::PUT, &path, &request).await.map_err(save_anyway_hint)?;
    Ok(tell_saved("Changed", &saved, context.console))
}

/// Returns what the options, the variables and the file say about the connection.
fn options(context: &Context<'_>) -> Result<ConnectionOptions, Failure> {
    let (options, warnings) = config::options(context.connection)?;
    for warning in &warnings {
        context.console.warn(warning);
    }
    Ok(options)
}

fn save_anyway_hint(failure: Failure) -> Failure {
    if failure.code == ErrorCode::ConnectionTestFailed {
        return failure.with_hint("correct what the failed step names; --save-anyway saves it all the same");
    }
    failure
}

fn tell_saved(what: &str, saved: &SavedCluster, console: &Console) -> u8 {
    console.plain(saved, || text::saved(what, saved))
}

/// What was removed, for programs.
#[derive(Debug, Serialize)]
struct Removed<'a> {
    removed: &'a ClusterSlug,
}

async fn remove(
    name: &ClusterSlug,
    confirm: Option<String>,
    server: &Server,
    console: &Console,
) -> Result<u8, Failure> {
    let cluster = get(server, name).await?;
    let confirmed = match confirm {
        Some(text) => text,
        None => {
            console.note(&format!(
                "{name} ({}) will be removed from {}, with its stored password. The cluster itself is not touched.\n",
                crate::render::escape::escape(&cluster.name),
                server.url()
            ));
            let instead = format!("confirm with: --confirm {name}");
            terminal::ask("Type the cluster's name to remove it: ", &instead).await?
        }
    };
    if confirmed != name.as_str() {
        return Err(
            Failure::invalid("the name that was typed is not the cluster's").with_hint("nothing was removed")
        );
    }
    let version = query(&[("version", Some(cluster.version.to_string()))]);
    server.order(Method::DELETE, &format!("/clusters/{name}{version}"), None::<&()>).await?;
    Ok(console.plain(&Removed { removed: name }, || format!("Removed {name}.\n")))
}
