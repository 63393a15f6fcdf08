//! The first start: no default credential, a generated one that is shown once.

use pegel_core::access::Role;
use pegel_core::access::decision::PrincipalKind;
use pegel_core::access::scope::Scope;
use pegel_store::users::Profile;
use pegel_store::{audit, users};
use secrecy::SecretString;
use serde_json::json;
use uuid::Uuid;

use crate::error::Error;
use crate::journal;
use crate::people::{People, passwords};

/// The first admin's name.
const ADMIN: &str = "admin";

/// The first admin, to be shown once.
#[derive(Debug, Clone)]
pub struct GeneratedAdmin {
    /// The name to sign in with.
    pub name: String,
    /// The password; it has to be changed at the first login.
    pub password: SecretString,
}

impl People {
    /// Makes the user `admin` with a generated password if there is no user at all.
    ///
    /// Of two starts at once one makes it; the other gets `None`. `start_id` names this start in the audit log.
    ///
    /// # Errors
    /// `cryptography_unavailable`, or as the store.
    pub async fn ensure_admin(&self, start_id: Uuid) -> Result<Option<GeneratedAdmin>, Error> {
        let is_empty =
            self.db.read(|tx| Box::pin(async move { Ok(users::list(tx, None, 1).await?.is_empty()) }));
        if !is_empty.await? {
            return Ok(None);
        }
        let password = passwords::generate()?;
        let (_, hash) = self.passwords.hash(self.passwords.slot().await?, password.clone()).await?;
        let made = self.db.write(move |tx| {
            let hash = hash.clone();
            Box::pin(async move {
                if !users::list(tx, None, 1).await?.is_empty() {
                    return Ok(false);
                }
                let profile = Profile {
                    name: ADMIN.to_owned(),
                    display_name: String::new(),
                    role: Role::Admin,
                    grants: None,
                    scope: Scope::All,
                };
                let user = users::create(tx, &profile, Some(&hash)).await?;
                users::set_must_change_password(tx, user.id, true).await?;
                let entry = journal::of_nobody(PrincipalKind::System, "pegel", start_id, "users.create");
                let entry = audit::Entry { target: users::resource_key(user.id), ..entry };
                let entry = journal::with(entry, "ok", json!({ "name": ADMIN, "reason": "first_start" }));
                audit::append(tx, &entry).await?;
                Ok(true)
            })
        });
        match made.await {
            Ok(true) => Ok(Some(GeneratedAdmin { name: ADMIN.to_owned(), password })),
            // On PostgreSQL the name is what two starts at once meet at.
            Ok(false) | Err(pegel_store::Error::Conflict { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
