//! Signing in.
//!
//! Order of things: cheap look at the locks, a place at the hasher, then the attempt is counted *before* the
//! password is checked, so that guesses sent at once are not more than guesses sent one by one. Whether a
//! name exists changes neither the work nor the answer. A name that nobody has is not written to the
//! audit log: people type passwords there.

use std::time::Duration;

use jiff::Timestamp;
use pegel_api_types::people::{LoginRequest, UserView};
use pegel_core::access::decision::PrincipalKind;
use pegel_store::login_throttle::{self, Subject};
use pegel_store::tx::Tx;
use pegel_store::users::User;
use pegel_store::{audit, sessions, token, users};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use uuid::Uuid;

use crate::caller::Origin;
use crate::error::Error;
use crate::journal;
use crate::people::passwords::Slot;
use crate::people::{People, later, principal_of, user_view};

/// The most sessions of one user; one more ends the oldest.
const MAX_SESSIONS: usize = 100;

/// What signing in gives.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// The session's token, for the cookie. Always a new one, whatever the client had before.
    pub token: SecretString,
    /// The session.
    pub session_id: Uuid,
    /// When it ends, used or not.
    pub expires_at: Timestamp,
    /// Who has signed in.
    pub user: UserView,
}

/// What the store says before a password is checked.
#[derive(Debug)]
pub(super) enum Admission {
    /// Wait.
    Locked(Timestamp),
    /// Go on; the attempt is counted, and from now on the name may be locked.
    Counted { user: Option<Box<User>>, name_locked_until: Option<Timestamp> },
}

impl People {
    /// Signs in: name and password for a session.
    ///
    /// Dropping the future leaves the attempt counted as failed, or a session whose token nobody has.
    ///
    /// # Errors
    /// `invalid`, `login_failed`, `login_locked`, `login_busy`, `cryptography_unavailable`, or as the store.
    pub async fn login(&self, origin: &Origin, request: &LoginRequest) -> Result<NewSession, Error> {
        request.validate().map_err(|problems| Error::Invalid { problems })?;
        let source = origin.throttle_key();
        if let Some(until) = self.locked_until(&request.name, &source).await? {
            return Err(self.locked(until));
        }
        let slot = self.passwords.slot().await?;
        let (user, name_locked_until) = match self.admit(&request.name, &source).await? {
            Admission::Locked(until) => return Err(self.locked(until)),
            Admission::Counted { user, name_locked_until } => (user, name_locked_until),
        };
        let stored = user.as_ref().and_then(|user| user.password_hash.clone());
        let (slot, verdict) = self.passwords.verify(slot, request.password.clone(), stored).await?;
        let reason = match &user {
            None => Some("unknown_name"),
            Some(_) if !verdict.is_match => Some("wrong_password"),
            Some(user) if user.disabled_at.is_some() => Some("disabled"),
            Some(_) => None,
        };
        if let (Some(user), None) = (&user, reason) {
            let new_hash = self.upgraded(slot, &request.password, verdict.is_outdated).await?;
            if let Some(session) = self.begin_session(origin, user, new_hash).await? {
                return Ok(session);
            }
        }
        let reason = reason.unwrap_or("changed_meanwhile");
        self.note_failure(origin, user.as_deref(), reason, name_locked_until).await?;
        Err(Error::LoginFailed)
    }

    async fn upgraded(
        &self,
        slot: Slot,
        password: &SecretString,
        is_outdated: bool,
    ) -> Result<Option<SecretString>, Error> {
        if !is_outdated {
            return Ok(None);
        }
        Ok(Some(self.passwords.hash(slot, password.clone()).await?.1))
    }

    async fn locked_until(&self, name: &str, source: &str) -> Result<Option<Timestamp>, Error> {
        let (name, source) = (name.to_owned(), source.to_owned());
        let until = self.db.read(move |tx| {
            let (name, source) = (name.clone(), source.clone());
            Box::pin(async move { locked_until(tx, &name, &source).await })
        });
        Ok(until.await?)
    }

    /// Counts an attempt against the name and returns its user, unless name or source are locked.
    pub(super) async fn admit(&self, name: &str, source: &str) -> Result<Admission, Error> {
        let (name, source, policy) = (name.to_owned(), source.to_owned(), self.settings.name_throttle);
        let admission = self.db.write(move |tx| {
            let (name, source) = (name.clone(), source.clone());
            Box::pin(async move {
                login_throttle::hold(tx, Subject::Name(&name)).await?;
                if let Some(until) = locked_until(tx, &name, &source).await? {
                    return Ok(Admission::Locked(until));
                }
                let name_locked_until =
                    login_throttle::record_failure(tx, Subject::Name(&name), &policy).await?;
                let user = users::find_by_name(tx, &name).await?.map(Box::new);
                Ok(Admission::Counted { user, name_locked_until })
            })
        });
        Ok(admission.await?)
    }

    /// Returns the answer to someone who has to wait until then.
    pub(super) fn locked(&self, until: Timestamp) -> Error {
        let wait_ms = until.as_millisecond().saturating_sub(self.db.clock().now().as_millisecond());
        // Rounded up, so that nobody is told to come back too early.
        let seconds = u64::try_from(wait_ms.saturating_add(999) / 1_000).unwrap_or(1).max(1);
        Error::LoginLocked { retry_after: Duration::from_secs(seconds) }
    }

    /// Begins a session unless the user has changed since the password was checked.
    async fn begin_session(
        &self,
        origin: &Origin,
        user: &User,
        new_hash: Option<SecretString>,
    ) -> Result<Option<NewSession>, Error> {
        let (secret, hash) = token::generate("")?;
        let (origin, checked, absolute) = (origin.clone(), user.clone(), self.settings.session_absolute);
        let begun = self.db.write(move |tx| {
            let (origin, checked, new_hash) = (origin.clone(), checked.clone(), new_hash.clone());
            Box::pin(async move {
                let present = users::find_by_name(tx, &checked.profile.name).await?;
                let Some(user) = present.filter(|present| is_same(present, &checked)) else {
                    return Ok(None);
                };
                if let Some(new_hash) = &new_hash {
                    users::set_password_hash(tx, user.id, Some(new_hash)).await?;
                }
                login_throttle::clear(tx, Subject::Name(&user.profile.name)).await?;
                let (source, agent) = (origin.source.to_string(), origin.clean_user_agent());
                let expires_at = later(tx.now(), absolute);
                let id = sessions::create(tx, user.id, hash, &source, &agent, expires_at).await?;
                let others = sessions::list(tx, user.id).await?.into_iter().filter(|other| other.id != id);
                for oldest in others.skip(MAX_SESSIONS - 1) {
                    sessions::revoke(tx, user.id, oldest.id).await?;
                }
                let target = format!("session/{id}");
                let entry = journal::of_principal(&principal_of(&user), origin.request_id, "login", target);
                let detail = json!({ "source": source, "hash_upgraded": new_hash.is_some() });
                audit::append(tx, &journal::with(entry, "ok", detail)).await?;
                Ok(Some((id, expires_at, users::get(tx, user.id).await?)))
            })
        });
        Ok(begun.await?.map(|(session_id, expires_at, user)| NewSession {
            token: secret,
            session_id,
            expires_at,
            user: user_view(&user),
        }))
    }

    /// Counts a failure against the source and writes to the audit log, also what was locked by it.
    pub(super) async fn note_failure(
        &self,
        origin: &Origin,
        user: Option<&User>,
        reason: &'static str,
        name_locked_until: Option<Timestamp>,
    ) -> Result<(), Error> {
        let entry = match user {
            Some(user) => {
                let target = users::resource_key(user.id);
                journal::of_principal(&principal_of(user), origin.request_id, "login", target)
            }
            None => journal::of_nobody(PrincipalKind::User, "", origin.request_id, "login"),
        };
        let (address, key) = (origin.source.to_string(), origin.throttle_key());
        let policy = self.settings.source_throttle;
        self.db
            .write(move |tx| {
                let (entry, address, key) = (entry.clone(), address.clone(), key.clone());
                Box::pin(async move {
                    let detail = json!({ "source": address, "reason": reason });
                    audit::append(tx, &journal::with(entry.clone(), "failed", detail)).await?;
                    let source_locked_until =
                        login_throttle::record_failure(tx, Subject::Source(&key), &policy).await?;
                    let locks = [("name", name_locked_until), ("source", source_locked_until)];
                    for (by, until) in locks.into_iter().filter_map(|(by, until)| Some((by, until?))) {
                        let detail = json!({ "source": address, "by": by, "until": until.to_string() });
                        audit::append(tx, &journal::with(entry.clone(), "locked", detail)).await?;
                    }
                    Ok(())
                })
            })
            .await?;
        Ok(())
    }
}

async fn locked_until(
    tx: &mut Tx<'_>,
    name: &str,
    source: &str,
) -> Result<Option<Timestamp>, pegel_store::Error> {
    let name = login_throttle::locked_until(tx, Subject::Name(name)).await?;
    let source = login_throttle::locked_until(tx, Subject::Source(source)).await?;
    Ok(name.max(source))
}

/// Returns whether a user may still sign in with the password that was checked.
pub(super) fn is_same(present: &User, checked: &User) -> bool {
    let hash = |user: &User| user.password_hash.as_ref().map(|hash| hash.expose_secret().to_owned());
    present.id == checked.id && present.disabled_at.is_none() && hash(present) == hash(checked)
}
