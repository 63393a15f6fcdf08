//! `pegel audit`: what was done and refused, and whether the log of it is as it was written.

use std::path::Path;
use std::sync::Arc;

use pegel_api_types::page::Page;
use pegel_api_types::people::{AuditEntryView, AuditVerification};
use pegel_core::error_code::ErrorCode;
use pegel_service::failure::Failure;
use pegel_store::audit::{Verification, verify};

use crate::cli::{AuditCommand, AuditListArgs, ConnectionArgs, ServerArgs};
use crate::clock::SystemClock;
use crate::console::Console;
use crate::remote::query;
use crate::render::escape::escape;
use crate::render::grid::{Cell, Column, Grid};
use crate::serve::store;
use crate::server_choice;
use crate::server_commands::config_check::load_settings;
use crate::settings::Overrides;

/// Runs one of the commands.
///
/// # Errors
/// Those of the server, or of the store.
pub(crate) async fn run(
    command: &AuditCommand,
    connection: &ConnectionArgs,
    server: &ServerArgs,
    console: &Console,
) -> Result<u8, Failure> {
    match command {
        AuditCommand::List(args) => list(args, server, console).await,
        AuditCommand::Verify { offline, data_dir } => {
            let verification = if *offline || data_dir.is_some() {
                let overrides = Overrides { listen: None, data_dir: data_dir.clone() };
                verify_store(connection.config.as_deref(), overrides).await?
            } else {
                server_choice::signed_in(server)?.get("/audit/verify").await?
            };
            Ok(tell(&verification, console))
        }
    }
}

async fn list(args: &AuditListArgs, server: &ServerArgs, console: &Console) -> Result<u8, Failure> {
    let server = server_choice::signed_in(server)?;
    let query = query(&[
        ("action", args.action.clone()),
        ("target", args.target.clone()),
        ("before", args.before.clone()),
        ("limit", Some(args.limit.to_string())),
    ]);
    let page: Page<AuditEntryView> = server.get(&format!("/audit{query}")).await?;
    Ok(console.plain(&page, || table(&page, console)))
}

fn table(page: &Page<AuditEntryView>, console: &Console) -> String {
    let mut grid = Grid::new(&[
        Column::Number("SEQ"),
        Column::Short("AT"),
        Column::Text("WHO"),
        Column::Short("ACTION"),
        Column::Text("TARGET"),
        Column::Short("OUTCOME"),
    ]);
    for row in &page.items {
        grid.row(vec![
            Cell::number(row.seq),
            Cell::text(row.at.to_string()),
            Cell::text(&row.principal_name),
            Cell::text(&row.action),
            Cell::text(&row.target),
            Cell::text(&row.outcome),
        ]);
    }
    let mut text = grid.render(console.style());
    if let Some(cursor) = &page.next_cursor {
        text.push_str(&format!("\nThere are older rows: --before {}\n", escape(cursor)));
    }
    text
}

/// Walks the log of the store that the settings name, beside a server that works with it or without one.
async fn verify_store(config: Option<&Path>, overrides: Overrides) -> Result<AuditVerification, Failure> {
    let settings = load_settings(config, overrides)?;
    let db = store::open_unchanged(&settings.store, Arc::new(SystemClock)).await?;
    let verification = verify(&db, 1).await;
    db.close().await;
    let verification = verification.map_err(|error| store::failure(&error, &settings.store))?;
    Ok(match verification {
        Verification::Whole { from_seq, through_seq, row_count, head } => {
            AuditVerification::Whole { from_seq, through_seq, row_count, head: head.to_string() }
        }
        Verification::Broken { seq, reason } => AuditVerification::Broken { seq, reason: reason.to_owned() },
    })
}

fn tell(verification: &AuditVerification, console: &Console) -> u8 {
    match verification {
        AuditVerification::Whole { from_seq, through_seq, row_count, head } => {
            console.plain(verification, || {
                format!(
                    "The audit log is whole: {row_count} rows from {from_seq} to {through_seq}.\nIts head is {head}; \
                     kept elsewhere it proves the log as it is now.\n"
                )
            })
        }
        AuditVerification::Broken { seq, reason } => {
            let code = ErrorCode::AuditBroken;
            console.note(&format!(
                "error[{code}]: the audit log is broken at row {seq}: {}\n  hint: {}\n",
                escape(reason),
                code.what_to_do()
            ));
            console.report(verification, code.exit_class().exit_code(), String::new)
        }
    }
}
