//! A lost password: whoever runs the machine gives a user a new one.
//!
//! There is nobody to sign in and so no handle to ask for. Whoever can write to the store can do all of this
//! without Pegel; nothing that is reached over a network may call it.

use pegel_api_types::people::UserView;
use pegel_core::access::decision::PrincipalKind;
use pegel_store::audit::Entry;
use pegel_store::{audit, users};
use secrecy::SecretString;
use serde_json::json;
use uuid::Uuid;

use crate::error::Error;
use crate::journal;
use crate::people::users::set_generated;
use crate::people::{People, user_view};

/// A user with a new password, to be shown once.
#[derive(Debug, Clone)]
pub struct Recovered {
    /// The user. A disabled one still cannot sign in.
    pub user: UserView,
    /// The password; it has to be changed at the next login.
    pub password: SecretString,
    /// How many sessions were ended.
    pub ended_session_count: u64,
}

impl People {
    /// Gives the user of this name a generated password. Ends all of the user's sessions and forgets failed
    /// logins; access tokens stay. `run_id` names this run in the audit log.
    ///
    /// # Errors
    /// `not_found`, `cryptography_unavailable`, or as the store.
    pub async fn recover_password(&self, run_id: Uuid, name: &str) -> Result<Recovered, Error> {
        let (password, hash) = self.generated().await?;
        let wanted = name.to_owned();
        let done = self.db.write(move |tx| {
            let (wanted, hash) = (wanted.clone(), hash.clone());
            Box::pin(async move {
                let Some(user) = users::find_by_name(tx, &wanted).await? else {
                    return Err(pegel_store::Error::NotFound { what: format!("user {wanted}") });
                };
                let ended = set_generated(tx, &user, &hash).await?;
                let entry = journal::of_nobody(PrincipalKind::System, "pegel", run_id, "password.reset");
                let entry = Entry { target: users::resource_key(user.id), ..entry };
                let detail = json!({ "reason": "recovery", "ended_session_count": ended });
                audit::append(tx, &journal::with(entry, "ok", detail)).await?;
                Ok((users::get(tx, user.id).await?, ended))
            })
        });
        let (user, ended_session_count) = done.await?;
        Ok(Recovered { user: user_view(&user), password, ended_session_count })
    }
}
