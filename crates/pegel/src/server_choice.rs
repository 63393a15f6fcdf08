//! Which server a command asks, as whom, and about which cluster.

use pegel_api_types::clusters::ClusterView;
use pegel_api_types::page::Page;
use pegel_core::error_code::ErrorCode;
use pegel_core::ids::ClusterSlug;
use pegel_service::failure::Failure;
use secrecy::SecretString;

use crate::cli::ServerArgs;
use crate::credentials::Logins;
use crate::env_vars;
use crate::private_file;
use crate::remote::{Credential, Server, query};
use crate::server_url::ServerUrl;

/// How many names of clusters a message lists.
const NAMES_TOLD: usize = 10;

/// Returns whether the command line, the environment or a stored login says that a server is to be asked.
pub(crate) fn is_server_meant(args: &ServerArgs) -> bool {
    let is_named = args.server.is_some() || args.cluster.is_some();
    // Logins that cannot be read say nothing; whoever needs them is told why.
    is_named || Logins::read().is_ok_and(|logins| logins.last().is_some())
}

/// Returns the address of the server to ask.
///
/// # Errors
/// `invalid` when none is named and nobody has signed in anywhere.
pub(crate) fn url(args: &ServerArgs, logins: &Logins) -> Result<ServerUrl, Failure> {
    match &args.server {
        Some(text) => text.parse().map_err(|reason: String| {
            Failure::invalid(format!("the address of the server cannot be used: {reason}"))
                .with_hint(format!("correct --server or {}", env_vars::PEGEL_SERVER))
        }),
        None => logins.last().cloned().ok_or_else(|| {
            Failure::invalid("no server is named").with_hint(
                "name one with --server, or sign in once with: pegel login --server http://127.0.0.1:8420",
            )
        }),
    }
}

/// Returns the server to ask, as whoever has signed in there or owns the access token.
///
/// # Errors
/// As [`url`]; `sign_in_required` when nobody has signed in; those of [`Server::new`].
pub(crate) fn signed_in(args: &ServerArgs) -> Result<Server, Failure> {
    let token = token(args)?;
    let logins = match Logins::read() {
        // Who names the server and shows a token needs no stored login.
        Err(_) if token.is_some() && args.server.is_some() => Logins::none(),
        read => read?,
    };
    let url = url(args, &logins)?;
    let login = logins.at(&url);
    let ca = args.server_ca.as_deref().or_else(|| login?.server_ca.as_deref());
    let server = Server::new(url.clone(), ca, args.insecure_http)?;
    let credential = match (token, login) {
        (Some(token), _) => Credential::Token(token),
        (None, Some(login)) => Credential::Session(login.cookie.clone()),
        (None, None) => {
            let message = format!("nobody has signed in at {url} from here");
            return Err(Failure::new(ErrorCode::SignInRequired, message).with_hint(format!(
                "sign in with: pegel login --server {url}; or give a token in {}",
                env_vars::PEGEL_TOKEN
            )));
        }
    };
    Ok(server.asked_by(credential))
}

/// Returns the access token of the options or the environment; the file comes first.
fn token(args: &ServerArgs) -> Result<Option<SecretString>, Failure> {
    if let Some(path) = &args.token_file {
        let token = private_file::read_secret(path).map_err(|error| {
            Failure::invalid(format!("cannot read an access token from {}", path.display()))
                .with_cause(&error)
        });
        return token.map(Some);
    }
    match std::env::var(env_vars::PEGEL_TOKEN) {
        Ok(token) => Ok(Some(SecretString::from(token.trim())).filter(|_| !token.trim().is_empty())),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => {
            Err(Failure::invalid(format!("{} is not UTF-8 text", env_vars::PEGEL_TOKEN)))
        }
    }
}

/// Returns the cluster to ask about: the one that is named, or the only one there is.
///
/// # Errors
/// `invalid` when it is not clear which; those of the server.
pub(crate) async fn cluster(args: &ServerArgs, server: &Server) -> Result<ClusterSlug, Failure> {
    if let Some(cluster) = &args.cluster {
        return Ok(cluster.clone());
    }
    let page: Page<ClusterView> = server.get(&format!("/clusters?limit={}", NAMES_TOLD + 1)).await?;
    match page.items.as_slice() {
        [only] => Ok(only.slug.clone()),
        [] => Err(Failure::invalid(format!("{} knows no cluster that you may see", server.url())).with_hint(
            "register one with: pegel cluster add; or name a cluster's addresses with --bootstrap",
        )),
        many => {
            let mut names: Vec<&str> =
                many.iter().take(NAMES_TOLD).map(|cluster| cluster.slug.as_str()).collect();
            if many.len() > NAMES_TOLD {
                names.push("…");
            }
            Err(Failure::invalid(format!("{} knows several clusters: {}", server.url(), names.join(", ")))
                .with_hint(format!("name one with --cluster or {}", env_vars::PEGEL_CLUSTER)))
        }
    }
}

/// Asks for all items of a collection, page by page, up to a bound.
///
/// # Errors
/// Those of the server; `server_answer_unusable` when the pages do not end.
pub(crate) async fn all<T: serde::de::DeserializeOwned>(
    server: &Server,
    path: &str,
) -> Result<Vec<T>, Failure> {
    /// Most pages of a thousand items.
    const MAX_PAGES: usize = 100;
    let mut items = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let query = query(&[("limit", Some("1000".to_owned())), ("cursor", cursor)]);
        let page: Page<T> = server.get(&format!("{path}{query}")).await?;
        items.extend(page.items);
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(items);
        }
    }
    let message = format!("{} lists without end", server.url());
    Err(Failure::new(ErrorCode::ServerAnswerUnusable, message))
}
