//! `pegel incident …`: what fired, and what was done about it.

use http::Method;
use pegel_api_types::alerting::incidents::{CommentIncident, IncidentEventView, IncidentView};
use pegel_api_types::page::Page;
use pegel_service::failure::Failure;
use serde::Serialize;
use uuid::Uuid;

use crate::cli::{IncidentCommand, IncidentListArgs};
use crate::console::Console;
use crate::remote::{Server, query};
use crate::render::escape::escape;
use crate::render::grid::{Cell, Column, Grid, Mark};
use crate::render::paper::Paper;
use crate::server_choice;
use crate::server_commands::Context;

/// Runs one of the commands.
///
/// # Errors
/// Those of the server.
pub(super) async fn run(command: IncidentCommand, context: &Context<'_>) -> Result<u8, Failure> {
    let (server, console) = (server_choice::signed_in(context.server)?, context.console);
    match command {
        IncidentCommand::List(args) => list(args, &server, context).await,
        IncidentCommand::Show { id } => show(id, &server, console).await,
        IncidentCommand::Comment { id, text } => {
            let path = format!("/incidents/{id}/comments");
            let incident: IncidentView = server.send(Method::POST, &path, &CommentIncident { text }).await?;
            Ok(console.plain(&incident, || format!("Noted in incident {id}.\n")))
        }
    }
}

async fn list(args: IncidentListArgs, server: &Server, context: &Context<'_>) -> Result<u8, Failure> {
    let query = query(&[
        ("only_open", args.open.then(|| "true".to_owned())),
        ("cluster", context.server.cluster.as_ref().map(ToString::to_string)),
        ("cursor", args.before),
        ("limit", Some(args.limit.to_string())),
    ]);
    let page: Page<IncidentView> = server.get(&format!("/incidents{query}")).await?;
    Ok(context.console.plain(&page, || table(&page, args.open, context.console)))
}

/// An incident and what happened in it, for programs.
#[derive(Debug, Serialize)]
struct Told<'a> {
    incident: &'a IncidentView,
    events: &'a [IncidentEventView],
}

async fn show(id: Uuid, server: &Server, console: &Console) -> Result<u8, Failure> {
    let incident: IncidentView = server.get(&format!("/incidents/{id}")).await?;
    let events: Vec<IncidentEventView> =
        server_choice::all(server, &format!("/incidents/{id}/events")).await?;
    let told = Told { incident: &incident, events: &events };
    Ok(console.plain(&told, || story(&incident, &events, console)))
}

fn mark(incident: &IncidentView) -> Mark {
    match (incident.closed_at, incident.acknowledged_at) {
        (Some(_), _) => Mark::Good("closed"),
        (None, Some(_)) => Mark::Half("acknowledged"),
        (None, None) => Mark::Bad("open"),
    }
}

fn table(page: &Page<IncidentView>, only_open: bool, console: &Console) -> String {
    if page.items.is_empty() {
        return if only_open { "No incident is open.\n" } else { "There is no incident.\n" }.to_owned();
    }
    let mut grid = Grid::new(&[
        Column::Short("INCIDENT"),
        Column::Short("STATE"),
        Column::Short("SEVERITY"),
        Column::Text("MONITOR"),
        Column::Short("CLUSTER"),
        Column::Short("SINCE"),
        Column::Short("CLOSED"),
    ]);
    for incident in &page.items {
        grid.row(vec![
            Cell::text(incident.id.to_string()),
            Cell::State(mark(incident)),
            Cell::text(incident.severity.as_str()),
            Cell::text(&incident.monitor_name),
            incident.cluster.as_ref().map_or(Cell::Nothing, Cell::text),
            Cell::text(incident.since.to_string()),
            incident.closed_at.map_or(Cell::Nothing, |at| Cell::text(at.to_string())),
        ]);
    }
    let mut text = grid.render(console.style());
    if let Some(cursor) = &page.next_cursor {
        text.push_str(&format!("\nThere are older incidents: --before {}\n", escape(cursor)));
    }
    text
}

fn story(incident: &IncidentView, events: &[IncidentEventView], console: &Console) -> String {
    let mut paper = Paper::new(console.style());
    paper.title(&format!("{} ({})", escape(&incident.monitor_name), incident.severity));
    let time = |at: Option<jiff::Timestamp>| at.map(|at| at.to_string());
    let labels: Vec<String> = incident.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
    paper.facts(&[
        ("state", Some(mark(incident).text())),
        ("cluster", incident.cluster.clone()),
        ("labels", (!labels.is_empty()).then(|| labels.join(" "))),
        ("since", time(Some(incident.since))),
        ("certain", time(Some(incident.fired_at))),
        ("people told", time(incident.announced_at)),
        ("acknowledged", time(incident.acknowledged_at)),
        ("well again", time(incident.ended_at)),
        ("closed", time(incident.closed_at)),
    ]);
    if !events.is_empty() {
        let mut grid = Grid::new(&[
            Column::Short("AT"),
            Column::Short("WHAT"),
            Column::Text("WHO"),
            Column::Text("DETAIL"),
        ]);
        for event in events {
            let said = ["/text", "/evidence/summary", "/detail"]
                .iter()
                .find_map(|place| event.detail.pointer(place)?.as_str());
            grid.row(vec![
                Cell::text(event.happened_at.to_string()),
                Cell::text(&event.kind),
                if event.actor.is_empty() { Cell::Nothing } else { Cell::text(&event.actor) },
                said.map_or_else(|| Cell::text(event.detail.to_string()), Cell::text),
            ]);
        }
        paper.blank();
        paper.grid(&grid);
    }
    paper.into_text()
}
