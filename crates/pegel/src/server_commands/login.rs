//! `pegel login`: signs in and keeps the session; sets another password where the server asks for one.

use std::io::Read;
use std::path::Path;

use pegel_service::failure::Failure;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;

use crate::cli::{LoginArgs, ServerArgs};
use crate::console::Console;
use crate::credentials::{Login, Logins};
use crate::remote::Server;
use crate::remote::login::{SignedIn, sign_in};
use crate::server_url::ServerUrl;
use crate::settings::server::DEFAULT_LISTEN;
use crate::{clock, private_file, server_choice, terminal};

/// Longest password that is read from stdin, in bytes.
const MAX_PASSWORD_BYTES: u64 = 4_096;

/// What came of it, for programs.
#[derive(Debug, Serialize)]
struct Report<'a> {
    server: &'a ServerUrl,
    username: &'a str,
    role: pegel_core::access::Role,
    expires_at: Option<jiff::Timestamp>,
    kept_in: &'a Path,
}

/// Signs in at the server that is named, that of the last login, or that of this machine.
///
/// # Errors
/// Those of the server, the terminal and the file of logins.
pub(crate) async fn run(
    args: &LoginArgs,
    server_args: &ServerArgs,
    console: &Console,
) -> Result<u8, Failure> {
    let mut logins = Logins::read()?;
    let url = if server_args.server.is_none() && logins.last().is_none() {
        ServerUrl::of_listener(DEFAULT_LISTEN)
    } else {
        server_choice::url(server_args, &logins)?
    };
    let known_ca = logins.at(&url).and_then(|login| login.server_ca.clone());
    let server_ca = match &server_args.server_ca {
        Some(path) => Some(std::path::absolute(path).map_err(|error| {
            Failure::invalid("the file of authorities cannot be found").with_cause(&error)
        })?),
        None => known_ca,
    };
    let server = Server::new(url.clone(), server_ca.as_deref(), server_args.insecure_http)?;
    console.note(&format!("signing in at {url}\n"));
    let username = match &args.username {
        Some(name) => name.clone(),
        None => terminal::ask("Name: ", "give the name with --username").await?,
    };
    let password = password(args.password_file.as_deref(), "Password: ", "--password-file").await?;
    let mut signed_in = sign_in(server, &username, password.clone()).await?;
    if signed_in.info.must_change_password {
        let new = new_password(args, console).await?;
        signed_in = signed_in.change_password(password, new).await?;
        console.note("the password was changed\n");
    }
    keep(&mut logins, &url, &signed_in, server_ca)?;
    let info = &signed_in.info;
    let report = Report {
        server: &url,
        username: &info.name,
        role: info.role,
        expires_at: info.expires_at,
        kept_in: logins.path(),
    };
    Ok(console.plain(&report, || {
        let end = report.expires_at.map_or_else(String::new, |end| format!(", at most until {end}"));
        format!("Signed in at {url} as {} ({}){end}.\n", report.username, report.role.as_str())
    }))
}

fn keep(
    logins: &mut Logins,
    url: &ServerUrl,
    signed_in: &SignedIn,
    server_ca: Option<std::path::PathBuf>,
) -> Result<(), Failure> {
    let login = Login {
        username: signed_in.info.name.clone(),
        cookie: signed_in.cookie.clone(),
        signed_in_at: clock::now(),
        server_ca,
    };
    logins.keep(url, login)
}

async fn new_password(args: &LoginArgs, console: &Console) -> Result<SecretString, Failure> {
    if let Some(path) = &args.new_password_file {
        return password(Some(path), "", "").await;
    }
    console.note("the server asks for a password that nobody else knows, of at least 12 bytes\n");
    let instead = "give it with --new-password-file";
    let first = terminal::ask_secret("New password: ", instead).await?;
    let second = terminal::ask_secret("Once more: ", instead).await?;
    if first.expose_secret() == second.expose_secret() {
        Ok(first)
    } else {
        Err(Failure::invalid("the two passwords are not the same")
            .with_hint("nothing was changed; sign in again"))
    }
}

/// Returns a password from a file, from stdin for `-`, or from whoever sits at the terminal.
async fn password(path: Option<&Path>, question: &str, option: &str) -> Result<SecretString, Failure> {
    let failed = |error: std::io::Error| Failure::invalid("cannot read the password").with_cause(&error);
    match path {
        Some(path) if path == Path::new("-") => {
            let mut text = String::new();
            std::io::stdin().take(MAX_PASSWORD_BYTES).read_to_string(&mut text).map_err(failed)?;
            Ok(SecretString::from(private_file::without_line_end(text)))
        }
        Some(path) => private_file::read_secret(path).map_err(failed),
        None => terminal::ask_secret(question, &format!("give it with {option} FILE, or - for stdin")).await,
    }
}
