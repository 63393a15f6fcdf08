//! Access tokens for programs.
//!
//! A token is `pgl_`, 64 random hexadecimal digits and 8 that are a checksum of the rest, so that a scanner
//! finds leaked ones without false alarms and a mistyped one is refused without asking the store.

use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use pegel_api_types::people::{CreateToken, NewTokenView, ShownOnce, TokenView};
use pegel_api_types::problem::FieldProblem;
use pegel_store::api_tokens::NewToken;
use pegel_store::audit::Entry;
use pegel_store::token::{self, TokenHash};
use pegel_store::{api_tokens, audit, users};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use uuid::Uuid;

use crate::caller::Caller;
use crate::error::Error;
use crate::journal;
use crate::people::account::session_of;
use crate::people::users::check_user;
use crate::people::{People, later, token_view};
use crate::policy::permission::{TokensRead, TokensWrite, UsersRead, UsersWrite};
use crate::policy::{Authorized, rights};

/// What every token begins with.
const PREFIX: &str = "pgl_";

/// Hexadecimal digits of the checksum.
const CHECKSUM_CHARS: usize = 8;

/// A token's length, in characters.
const TOKEN_CHARS: usize = PREFIX.len() + 64 + CHECKSUM_CHARS;

/// The most tokens of one user that have not ended.
const MAX_TOKENS: usize = 100;

const DAY: Duration = Duration::from_secs(24 * 3_600);

impl People {
    /// Makes a token of the caller's with a part of the caller's rights. It is shown once.
    ///
    /// # Errors
    /// `invalid`, also when the caller has 100 tokens already; `session_required`, since a token makes no
    /// tokens; `rights_exceeded`; or as the store.
    pub async fn create_token(
        &self,
        may: &Authorized<TokensWrite>,
        request: &CreateToken,
    ) -> Result<NewTokenView, Error> {
        request.validate().map_err(|problems| Error::Invalid { problems })?;
        let caller = may.caller();
        session_of(caller)?;
        rights::check(caller.principal(), request.role, &request.grants, &request.scope)?;
        let (secret, hash) = generate()?;
        let life = DAY.saturating_mul(request.expires_in_days);
        let new = NewToken {
            user_id: caller.user_id(),
            name: request.name.clone(),
            role: request.role,
            grants: request.grants.clone(),
            scope: request.scope.clone(),
            expires_at: None,
        };
        let entry = journal::of_caller(caller, "tokens.create", String::new());
        let made = self.db.write(move |tx| {
            let (mut new, entry) = (new.clone(), entry.clone());
            Box::pin(async move {
                let now = tx.now();
                let own = api_tokens::list(tx, Some(new.user_id), None, api_tokens::MAX_PAGE).await?;
                let is_alive = |end: Option<jiff::Timestamp>| end.is_none_or(|end| end > now);
                let alive =
                    own.iter().filter(|token| token.revoked_at.is_none() && is_alive(token.token.expires_at));
                if alive.count() >= MAX_TOKENS {
                    return Ok(None);
                }
                new.expires_at = Some(later(now, life));
                let id = api_tokens::create(tx, &new, hash).await?;
                let entry = Entry { target: api_tokens::resource_key(id), ..entry };
                let detail =
                    json!({ "name": new.name, "role": new.role, "life_days": life.as_secs() / 86_400 });
                audit::append(tx, &journal::with(entry, "ok", detail)).await?;
                Ok(Some(api_tokens::get(tx, id).await?))
            })
        });
        let stored = made.await?.ok_or_else(|| Error::Invalid {
            problems: vec![FieldProblem::new("", "range", "there are 100 tokens already: revoke some")],
        })?;
        Ok(NewTokenView { token: token_view(stored), secret: ShownOnce::new(secret) })
    }

    /// Returns the caller's tokens in the order they were made, after `after`, at most `limit` (up to 1,000).
    ///
    /// # Errors
    /// As the store.
    pub async fn list_own_tokens(
        &self,
        may: &Authorized<TokensRead>,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<TokenView>, Error> {
        self.tokens(Some(may.caller().user_id()), after, limit).await
    }

    /// Returns everybody's tokens, or one user's.
    ///
    /// # Errors
    /// As the store.
    pub async fn list_tokens(
        &self,
        _may: &Authorized<UsersRead>,
        user_id: Option<Uuid>,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<TokenView>, Error> {
        self.tokens(user_id, after, limit).await
    }

    /// Ends one of the caller's own tokens. Needs no permission: a leak must be stopped by whoever sees it.
    ///
    /// # Errors
    /// `session_required`; `not_found`, also for the token of somebody else; or as the store.
    pub async fn revoke_own_token(&self, caller: &Caller, id: Uuid) -> Result<(), Error> {
        session_of(caller)?;
        let owner = caller.user_id();
        let entry = journal::of_caller(caller, "tokens.revoke", api_tokens::resource_key(id));
        let done = self.db.write(move |tx| {
            let entry = entry.clone();
            Box::pin(async move {
                if api_tokens::get(tx, id).await?.token.user_id != owner {
                    return Ok(Err(Error::not_found("token", id)));
                }
                api_tokens::revoke(tx, id).await?;
                audit::append(tx, &entry).await?;
                Ok(Ok(()))
            })
        });
        done.await?
    }

    /// Ends anybody's token.
    ///
    /// # Errors
    /// `rights_exceeded` if the owner may more than the caller, `not_found`, or as the store.
    pub async fn revoke_token(&self, may: &Authorized<UsersWrite>, id: Uuid) -> Result<(), Error> {
        let entry = journal::of_caller(may.caller(), "tokens.revoke", api_tokens::resource_key(id));
        let ruler = may.caller().principal().clone();
        let done = self.db.write(move |tx| {
            let (ruler, entry) = (ruler.clone(), entry.clone());
            Box::pin(async move {
                let owner = api_tokens::get(tx, id).await?.token.user_id;
                if let Err(refused) = check_user(&ruler, &users::get(tx, owner).await?) {
                    return Ok(Err(refused));
                }
                api_tokens::revoke(tx, id).await?;
                let detail = json!({ "user_id": owner });
                audit::append(tx, &journal::with(entry, "ok", detail)).await?;
                Ok(Ok(()))
            })
        });
        done.await?
    }

    async fn tokens(
        &self,
        user_id: Option<Uuid>,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<TokenView>, Error> {
        let list = self.db.read(move |tx| Box::pin(api_tokens::list(tx, user_id, after, limit))).await?;
        Ok(list.into_iter().map(token_view).collect())
    }
}

/// Makes a token and the hash it is stored by.
fn generate() -> Result<(SecretString, TokenHash), Error> {
    let (random, _) = token::generate(PREFIX)?;
    let body = random.expose_secret();
    let token = format!("{body}{}", checksum(body));
    let hash = TokenHash::of(&token);
    Ok((SecretString::from(token), hash))
}

/// Returns whether a text has the form of a token and its checksum is right.
pub(super) fn is_well_formed(token: &str) -> bool {
    let is_shaped = token.len() == TOKEN_CHARS && token.starts_with(PREFIX);
    let parts = token.split_at_checked(TOKEN_CHARS - CHECKSUM_CHARS);
    is_shaped && parts.is_some_and(|(body, sum)| checksum(body) == sum)
}

/// Returns the first eight hexadecimal digits of the SHA-256 of a token's beginning.
fn checksum(body: &str) -> String {
    let digest = digest(&SHA256, body.as_bytes());
    digest.as_ref().iter().take(CHECKSUM_CHARS / 2).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_a_prefix_and_a_checksum() {
        let (secret, hash) = generate().unwrap();
        let token = secret.expose_secret();
        assert!(is_well_formed(token) && TokenHash::of(token) == hash);
        let last = if token.ends_with('0') { "1" } else { "0" };
        let mistyped = format!("{}{last}", &token[..TOKEN_CHARS - 1]);
        for other in ["", "pgl_", &token[..TOKEN_CHARS - 1], &mistyped, &token.replacen("pgl_", "abc_", 1)] {
            assert!(!is_well_formed(other), "{other}");
        }
        assert!(!is_well_formed(&"ä".repeat(TOKEN_CHARS / 2)));
    }
}
