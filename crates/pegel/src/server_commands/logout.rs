//! `pegel logout`: ends the session at the server, and forgets it here whatever the server says.

use http::Method;
use pegel_core::error_code::ErrorCode;
use pegel_service::failure::Failure;
use serde::Serialize;

use crate::cli::ServerArgs;
use crate::console::Console;
use crate::credentials::Logins;
use crate::remote::{Credential, Server};
use crate::server_choice;
use crate::server_url::ServerUrl;

/// What came of it, for programs.
#[derive(Debug, Serialize)]
struct Report<'a> {
    server: &'a ServerUrl,
    /// Whether the server has ended the session; it was forgotten here in any case.
    is_ended: bool,
}

/// Signs out.
///
/// # Errors
/// `sign_in_required` when nobody has signed in there; those of the server, after which the session is forgotten
/// here and may go on there; `credentials_unusable`.
pub(crate) async fn run(args: &ServerArgs, console: &Console) -> Result<u8, Failure> {
    let mut logins = Logins::read()?;
    let url = server_choice::url(args, &logins)?;
    let Some(login) = logins.at(&url).cloned() else {
        let message = format!("nobody has signed in at {url} from here");
        return Err(
            Failure::new(ErrorCode::SignInRequired, message).with_hint("there is nothing to sign out of")
        );
    };
    let ca = args.server_ca.as_ref().or(login.server_ca.as_ref());
    let server = Server::new(url.clone(), ca.map(std::path::PathBuf::as_path), args.insecure_http);
    let ended = match server {
        Ok(server) => {
            let server = server.asked_by(Credential::Session(login.cookie));
            server.order(Method::DELETE, "/session", None::<&()>).await
        }
        Err(failure) => Err(failure),
    };
    logins.forget(&url)?;
    let is_ended = match ended {
        Ok(()) => true,
        // It has ended already, which is what was wanted.
        Err(failure) if failure.code == ErrorCode::SignInRequired => true,
        Err(failure) => {
            return Err(failure.with_hint(format!(
                "the login was forgotten here; the session may go on at {url}: end it there among your sessions"
            )));
        }
    };
    let report = Report { server: &url, is_ended };
    Ok(console.plain(&report, || format!("Signed out at {url}.\n")))
}
