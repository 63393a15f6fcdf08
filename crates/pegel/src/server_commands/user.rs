//! `pegel user reset-password`: a way back in for whoever runs the machine, when nobody can sign in any more.
//!
//! It works on the store itself and never through a server. Nothing is made that is not there: a mistyped folder
//! must not become a new, empty store.

use std::io::Write;
use std::sync::Arc;

use pegel_service::failure::Failure;
use pegel_service::people::{People, Recovered};
use secrecy::ExposeSecret;
use serde::Serialize;

use crate::cli::{ConnectionArgs, UserCommand};
use crate::clock::{self, SystemClock};
use crate::console::Console;
use crate::render::escape::escape;
use crate::serve::{data_dir, store};
use crate::server_commands::config_check::load_settings;
use crate::settings::{Overrides, Settings};

/// What was done, for programs. The password is not in it.
#[derive(Debug, Serialize)]
struct Done<'a> {
    username: &'a str,
    role: pegel_core::access::Role,
    is_disabled: bool,
    ended_session_count: u64,
}

/// Runs one of the commands.
///
/// # Errors
/// `invalid_config`, `data_dir_in_use`, `not_found`, and those of the store.
pub(crate) async fn run(
    command: UserCommand,
    connection: &ConnectionArgs,
    console: &Console,
) -> Result<u8, Failure> {
    let UserCommand::ResetPassword { name, data_dir } = command;
    let settings = load_settings(connection.config.as_deref(), Overrides { listen: None, data_dir })?;
    let recovered = recover(&settings, &name).await?;
    let user = &recovered.user;
    let password = recovered.password.expose_secret();
    // Straight to stderr and never through the log, as at the first start.
    let _ = writeln!(
        std::io::stderr().lock(),
        "\nSign in as `{}` with the password\n\n    {password}\n\nIt is shown only this once, and has to be changed at \
         the next login.\n",
        user.name
    );
    if user.disabled_at.is_some() {
        console.warn(&format!("{} is disabled and cannot sign in until an admin enables it", user.name));
    }
    let done = Done {
        username: &user.name,
        role: user.role,
        is_disabled: user.disabled_at.is_some(),
        ended_session_count: recovered.ended_session_count,
    };
    Ok(console.plain(&done, || {
        let ended = done.ended_session_count;
        format!("{} has a new password; {ended} sessions were ended.\n", escape(done.username))
    }))
}

async fn recover(settings: &Settings, name: &str) -> Result<Recovered, Failure> {
    // A store that is not there, or that a server has yet to bring up to date, is left alone.
    store::open_unchanged(&settings.store, Arc::new(SystemClock)).await?.close().await;
    let _data_dir = data_dir::take(&settings.store)?;
    let db = store::open(&settings.store, Arc::new(SystemClock)).await?;
    let outcome = match People::new(db.clone(), settings.people) {
        Ok(people) => people.recover_password(clock::execution_id(), name).await,
        Err(error) => Err(error),
    };
    db.close().await;
    outcome.map_err(|error| store::service_failure(&error, &settings.store))
}
