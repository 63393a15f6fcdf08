//! The port: free, or taken by the Pegel that belongs there, or by somebody else.

use crate::doctor::{Finding, State};
use crate::remote::Server;
use crate::serve::data_dir::{Held, held_by};
use crate::serve::listen;
use crate::server_url::ServerUrl;
use crate::settings::Settings;

const CHECK: &str = "port";

/// Looks who listens on the server's address.
pub(super) async fn look(settings: &Settings) -> Finding {
    let address = settings.server.listen;
    match listen::bind(address).await {
        Ok(_) => Finding::new(CHECK, State::Ok, format!("{address} is free: no server runs there")),
        Err(_) if is_pegel(settings).await => {
            let who = match held_by(&settings.store.data_dir) {
                Ok(Held::By(Some(pid))) => format!(" with this data directory (process {pid})"),
                Ok(Held::By(None)) => " with this data directory".to_owned(),
                // One that works with PostgreSQL holds no directory.
                _ => String::new(),
            };
            Finding::new(CHECK, State::Ok, format!("a Pegel server answers on {address}{who}"))
        }
        Err(failure) => Finding::failed(CHECK, &failure),
    }
}

async fn is_pegel(settings: &Settings) -> bool {
    let url = ServerUrl::of_listener(settings.server.listen);
    // Nothing secret is sent.
    let Ok(server) = Server::new(url, None, true) else { return false };
    server.is_pegel().await
}
