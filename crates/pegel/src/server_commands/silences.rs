//! `pegel silence …`: keep people from being told for a while.

use http::Method;
use jiff::Timestamp;
use pegel_api_types::alerting::quiet_times::{SilenceForm, SilenceView};
use pegel_service::failure::Failure;
use serde::Serialize;
use uuid::Uuid;

use crate::cli::{SilenceAddArgs, SilenceCommand, matcher_text};
use crate::clock;
use crate::console::Console;
use crate::remote::{Server, query};
use crate::render::grid::{Cell, Column, Grid, Mark};
use crate::server_choice;
use crate::server_commands::Context;

/// Runs one of the commands.
///
/// # Errors
/// Those of the server.
pub(super) async fn run(command: SilenceCommand, context: &Context<'_>) -> Result<u8, Failure> {
    let (server, console) = (server_choice::signed_in(context.server)?, context.console);
    match command {
        SilenceCommand::List => {
            let silences: Vec<SilenceView> = server_choice::all(&server, "/silences").await?;
            Ok(console.plain(&Listed { items: &silences }, || table(&silences, console)))
        }
        SilenceCommand::Add(args) => add(args, &server, console).await,
        SilenceCommand::Remove { id } => remove(id, &server, console).await,
    }
}

#[derive(Debug, Serialize)]
struct Listed<'a> {
    items: &'a [SilenceView],
}

async fn add(args: SilenceAddArgs, server: &Server, console: &Console) -> Result<u8, Failure> {
    let starts_at = args.from.unwrap_or_else(clock::now);
    let after = args.duration.and_then(|duration| starts_at.checked_add(duration).ok());
    let Some(ends_at) = args.until.or(after) else {
        return Err(Failure::invalid("a silence does not reach beyond the end of time"));
    };
    // Without a begin of its own it begins when the server hears of it, whatever this machine's clock says.
    let form = SilenceForm { matchers: args.matchers, starts_at: args.from, ends_at, comment: args.comment };
    let made: SilenceView = server.send(Method::POST, "/silences", &form).await?;
    Ok(console.plain(&made, || format!("Silence {} lasts until {}.\n", made.id, made.ends_at)))
}

/// What was removed, for programs.
#[derive(Debug, Serialize)]
struct Removed {
    removed: Uuid,
}

async fn remove(id: Uuid, server: &Server, console: &Console) -> Result<u8, Failure> {
    let silence: SilenceView = server.get(&format!("/silences/{id}")).await?;
    let version = query(&[("version", Some(silence.version.to_string()))]);
    server.order(Method::DELETE, &format!("/silences/{id}{version}"), None::<&()>).await?;
    Ok(console.plain(&Removed { removed: id }, || format!("Removed silence {id}.\n")))
}

fn table(silences: &[SilenceView], console: &Console) -> String {
    if silences.is_empty() {
        return "There is no silence.\n".to_owned();
    }
    let mut grid = Grid::new(&[
        Column::Short("SILENCE"),
        Column::Short("STATE"),
        Column::Text("MATCHES"),
        Column::Short("FROM"),
        Column::Short("UNTIL"),
        Column::Text("BY"),
        Column::Text("COMMENT"),
    ]);
    let second = |at: Timestamp| at.strftime("%Y-%m-%d %H:%M:%SZ").to_string();
    for silence in silences {
        let matchers: Vec<String> = silence.matchers.iter().map(matcher_text).collect();
        grid.row(vec![
            Cell::text(silence.id.to_string()),
            Cell::State(if silence.is_active { Mark::Half("active") } else { Mark::Neutral("to come") }),
            Cell::text(matchers.join(" ")),
            Cell::text(second(silence.starts_at)),
            Cell::text(second(silence.ends_at)),
            Cell::text(&silence.created_by),
            Cell::text(&silence.comment),
        ]);
    }
    grid.render(console.style())
}
