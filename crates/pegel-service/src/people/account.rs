//! One's own affairs: sessions and password. Needs no permission, but a session: a token has no account.

use std::time::Duration;

use pegel_api_types::people::{ChangePassword, SessionView};
use pegel_store::login_throttle::{self, Subject};
use pegel_store::token::TokenHash;
use pegel_store::{audit, sessions, token, users};
use secrecy::SecretString;
use serde_json::json;
use uuid::Uuid;

use crate::caller::{Caller, Credential, Origin};
use crate::error::Error;
use crate::journal;
use crate::people::login::{Admission, is_same};
use crate::people::{People, session_view};

impl People {
    /// Ends the caller's session.
    ///
    /// # Errors
    /// `session_required`, `not_found` if it has ended meanwhile, or as the store.
    pub async fn logout(&self, caller: &Caller) -> Result<(), Error> {
        let (id, _) = session_of(caller)?;
        self.end_session(caller, id, "logout").await
    }

    /// Returns the caller's sessions, the newest first.
    ///
    /// # Errors
    /// `session_required`, or as the store.
    pub async fn list_own_sessions(&self, caller: &Caller) -> Result<Vec<SessionView>, Error> {
        let (current, _) = session_of(caller)?;
        self.sessions_of(caller.user_id, Some(current)).await
    }

    /// Ends one of the caller's sessions.
    ///
    /// # Errors
    /// `session_required`, `not_found`, or as the store.
    pub async fn revoke_own_session(&self, caller: &Caller, id: Uuid) -> Result<(), Error> {
        session_of(caller)?;
        self.end_session(caller, id, "sessions.revoke").await
    }

    /// Ends all of the caller's sessions but this one; returns how many.
    ///
    /// # Errors
    /// `session_required`, or as the store.
    pub async fn revoke_own_other_sessions(&self, caller: &Caller) -> Result<u64, Error> {
        let (current, _) = session_of(caller)?;
        let user_id = caller.user_id;
        let entry = journal::of_caller(caller, "sessions.revoke_all", sessions::resource_key(user_id));
        let count = self.db.write(move |tx| {
            let entry = entry.clone();
            Box::pin(async move {
                let count = sessions::revoke_all(tx, user_id, Some(current)).await?;
                audit::append(tx, &journal::with(entry, "ok", json!({ "count": count }))).await?;
                Ok(count)
            })
        });
        Ok(count.await?)
    }

    /// Changes the caller's password, ends the other sessions and gives this one a new token, which is returned.
    ///
    /// The old token is invalid from then on. Access tokens stay: they are revoked by themselves. Guesses at
    /// the present password are counted like failed logins.
    ///
    /// # Errors
    /// `invalid`, `session_required`, `login_failed` for a wrong present password, `login_locked`,
    /// `login_busy`, `conflict` if the session or user was changed meanwhile, or as the store.
    pub async fn change_password(
        &self,
        caller: &Caller,
        origin: &Origin,
        request: &ChangePassword,
    ) -> Result<SecretString, Error> {
        request.validate().map_err(|problems| Error::Invalid { problems })?;
        let (session_id, old_token) = session_of(caller)?;
        let slot = self.passwords.slot().await?;
        let name = &caller.principal.name;
        let (user, locked_until) = match self.admit(name, &origin.throttle_key()).await? {
            Admission::Locked(until) => return Err(self.locked(until)),
            Admission::Counted { user, name_locked_until } => (user, name_locked_until),
        };
        let user = user.filter(|user| user.id == caller.user_id).ok_or(Error::SignInRequired)?;
        let stored = user.password_hash.clone();
        let (slot, verdict) = self.passwords.verify(slot, request.current_password.clone(), stored).await?;
        if !verdict.is_match {
            self.note_failure(origin, Some(&user), "wrong_present_password", locked_until).await?;
            return Err(Error::LoginFailed);
        }
        let (_, new_hash) = self.passwords.hash(slot, request.new_password.clone()).await?;
        let (secret, new_token) = token::generate("")?;
        let entry = journal::of_caller(caller, "password.change", users::resource_key(user.id));
        self.db
            .write(move |tx| {
                let (user, new_hash, entry) = (user.clone(), new_hash.clone(), entry.clone());
                Box::pin(async move {
                    if !is_same(&users::get(tx, user.id).await?, &user) {
                        return Err(changed("user"));
                    }
                    users::set_password_hash(tx, user.id, Some(&new_hash)).await?;
                    users::set_must_change_password(tx, user.id, false).await?;
                    let ended = sessions::revoke_all(tx, user.id, Some(session_id)).await?;
                    if !sessions::rotate(tx, old_token, new_token, Duration::ZERO).await? {
                        return Err(changed("session"));
                    }
                    login_throttle::clear(tx, Subject::Name(&user.profile.name)).await?;
                    let detail = json!({ "ended_session_count": ended });
                    audit::append(tx, &journal::with(entry, "ok", detail)).await?;
                    Ok(())
                })
            })
            .await?;
        Ok(secret)
    }

    pub(super) async fn sessions_of(
        &self,
        user_id: Uuid,
        current: Option<Uuid>,
    ) -> Result<Vec<SessionView>, Error> {
        let (idle, now) = (self.settings.session_idle, self.db.clock().now());
        let list = self.db.read(move |tx| Box::pin(sessions::list(tx, user_id))).await?;
        let is_alive = |last_seen_at| now < super::later(last_seen_at, idle);
        let alive = list.into_iter().filter(|session| is_alive(session.last_seen_at));
        Ok(alive.map(|session| session_view(session, current)).collect())
    }

    async fn end_session(&self, caller: &Caller, id: Uuid, action: &str) -> Result<(), Error> {
        let user_id = caller.user_id;
        let entry = journal::of_caller(caller, action, format!("session/{id}"));
        self.db
            .write(move |tx| {
                let entry = entry.clone();
                Box::pin(async move {
                    sessions::revoke(tx, user_id, id).await?;
                    audit::append(tx, &entry).await?;
                    Ok(())
                })
            })
            .await?;
        Ok(())
    }
}

/// Returns the caller's session and the hash of the token it was shown by.
pub(super) fn session_of(caller: &Caller) -> Result<(Uuid, TokenHash), Error> {
    match caller.credential {
        Credential::Session { id, token } => Ok((id, token)),
        Credential::Token { .. } | Credential::Local => Err(Error::SessionRequired),
    }
}

fn changed(what: &str) -> pegel_store::Error {
    pegel_store::Error::Conflict { what: what.to_owned() }
}
