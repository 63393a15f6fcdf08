//! From a session's or access token's secret to a caller. What was revoked or disabled is refused at once.

use jiff::Timestamp;
use pegel_core::access::decision::{Principal, PrincipalKind};
use pegel_store::api_tokens::ApiToken;
use pegel_store::sessions::Session;
use pegel_store::token::TokenHash;
use pegel_store::{api_tokens, sessions, users};
use uuid::Uuid;

use crate::caller::{Caller, Credential};
use crate::error::Error;
use crate::people::tokens::is_well_formed;
use crate::people::{People, later, principal_of};

impl People {
    /// Returns the caller of a session's token, and notes that the session was used.
    ///
    /// # Errors
    /// `sign_in_required` for a token that is unknown, expired, idle for too long or revoked, and for a
    /// disabled user; or as the store.
    pub async fn authenticate_session(&self, token: &str, request_id: Uuid) -> Result<Caller, Error> {
        let (session, caller) = self.session_caller(TokenHash::of(token), request_id).await?;
        if self.is_due(self.db.clock().now(), Some(session.last_seen_at)) {
            let (id, every) = (session.id, self.settings.touch_every);
            let touched = self.db.write(move |tx| Box::pin(sessions::touch(tx, id, every))).await;
            note_untouched(touched);
        }
        Ok(caller)
    }

    /// Returns the caller of an access token, narrowed to what its owner may at this moment, and notes that
    /// the token was used.
    ///
    /// # Errors
    /// `sign_in_required` for a token that is malformed, unknown, expired or revoked, and for a disabled
    /// owner; or as the store.
    pub async fn authenticate_api_token(&self, token: &str, request_id: Uuid) -> Result<Caller, Error> {
        if !is_well_formed(token) {
            return Err(Error::SignInRequired);
        }
        let hash = TokenHash::of(token);
        let found = self.db.read(move |tx| Box::pin(api_tokens::find(tx, hash))).await?;
        let stored = found.ok_or(Error::SignInRequired)?;
        let (id, last_used_at) = (stored.id, stored.last_used_at);
        let caller = self.token_caller(stored, request_id).await?;
        if self.is_due(self.db.clock().now(), last_used_at) {
            let every = self.settings.touch_every;
            let touched = self.db.write(move |tx| Box::pin(api_tokens::touch(tx, id, every))).await;
            note_untouched(touched);
        }
        Ok(caller)
    }

    /// Returns the caller with the rights it has now, for what goes on longer than a request.
    ///
    /// That is no use of the session: one that nobody uses otherwise ends in time.
    ///
    /// # Errors
    /// `sign_in_required` once the session, token or user has ended, or the session has a new token; or as
    /// the store.
    pub async fn refresh(&self, caller: &Caller) -> Result<Caller, Error> {
        match caller.credential {
            Credential::Session { token, .. } => Ok(self.session_caller(token, caller.request_id).await?.1),
            Credential::Token { id } => {
                let now = self.db.clock().now();
                let stored = match self.db.read(move |tx| Box::pin(api_tokens::get(tx, id))).await {
                    Err(pegel_store::Error::NotFound { .. }) => return Err(Error::SignInRequired),
                    stored => stored?,
                };
                if stored.revoked_at.is_some() || stored.token.expires_at.is_some_and(|end| end <= now) {
                    return Err(Error::SignInRequired);
                }
                self.token_caller(stored, caller.request_id).await
            }
            Credential::Local => Ok(caller.clone()),
        }
    }

    async fn session_caller(&self, hash: TokenHash, request_id: Uuid) -> Result<(Session, Caller), Error> {
        let found = self.db.read(move |tx| {
            Box::pin(async move {
                let Some(session) = sessions::find(tx, hash).await? else { return Ok(None) };
                let user = users::get(tx, session.user_id).await?;
                Ok(Some((session, user)))
            })
        });
        let Some((session, user)) = found.await? else { return Err(Error::SignInRequired) };
        let is_idle = self.db.clock().now() >= later(session.last_seen_at, self.settings.session_idle);
        if is_idle || user.disabled_at.is_some() {
            return Err(Error::SignInRequired);
        }
        let caller = Caller {
            principal: principal_of(&user),
            user_id: user.id,
            request_id,
            credential: Credential::Session { id: session.id, token: hash },
            must_change_password: user.must_change_password,
        };
        Ok((session, caller))
    }

    async fn token_caller(&self, stored: ApiToken, request_id: Uuid) -> Result<Caller, Error> {
        let owner_id = stored.token.user_id;
        let owner = match self.db.read(move |tx| Box::pin(users::get(tx, owner_id))).await {
            Err(pegel_store::Error::NotFound { .. }) => return Err(Error::SignInRequired),
            owner => owner?,
        };
        if owner.disabled_at.is_some() {
            return Err(Error::SignInRequired);
        }
        let own = Principal {
            kind: PrincipalKind::Token,
            id: stored.id,
            name: format!("{}/{}", owner.profile.name, stored.token.name),
            role: stored.token.role,
            grants: stored.token.grants,
            scope: stored.token.scope,
        };
        Ok(Caller {
            principal: own.within(&principal_of(&owner)),
            user_id: owner.id,
            request_id,
            credential: Credential::Token { id: stored.id },
            // A password has nothing to do with a token; programs go on while people change theirs.
            must_change_password: false,
        })
    }

    fn is_due(&self, now: Timestamp, last: Option<Timestamp>) -> bool {
        last.is_none_or(|last| now >= later(last, self.settings.touch_every))
    }
}

/// People can still look around when the disk is full, so a note that fails is only logged.
fn note_untouched(touched: Result<(), pegel_store::Error>) {
    if let Err(error) = touched {
        tracing::warn!(code = error.code(), "the last use of a session or token could not be noted");
    }
}
