//! Sessions of people who have signed in. Only the hash of a session's token is stored.

use std::time::Duration;

use jiff::Timestamp;
use uuid::Uuid;

use crate::error::Error;
use crate::random;
use crate::token::TokenHash;
use crate::tx::Tx;
use crate::value::Row;

/// The most sessions one call lists.
pub const MAX_PAGE: u32 = 1_000;

/// The longest stored name of a browser, in characters; the rest is cut.
const MAX_USER_AGENT_CHARS: usize = 512;

/// The longest stored source address, in characters; the rest is cut.
const MAX_SOURCE_CHARS: usize = 64;

const BY_TOKEN: &str =
    "SELECT id, user_id, source, user_agent, created_at, rotated_at, last_seen_at, expires_at,
    revoked_at FROM session WHERE (token_hash = $1 OR (previous_hash = $1 AND previous_until > $2))
    AND expires_at > $2 AND revoked_at IS NULL";
const OF_USER: &str = "SELECT id, user_id, source, user_agent, created_at, rotated_at, last_seen_at, expires_at,
    revoked_at FROM session WHERE user_id = $1 AND expires_at > $2 AND revoked_at IS NULL ORDER BY id DESC LIMIT $3";

/// A session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The id.
    pub id: Uuid,
    /// Whose.
    pub user_id: Uuid,
    /// The address it was begun from.
    pub source: String,
    /// The browser it was begun with.
    pub user_agent: String,
    /// When begun.
    pub created_at: Timestamp,
    /// When its token was last exchanged.
    pub rotated_at: Timestamp,
    /// When last used, to the minute or so.
    pub last_seen_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Timestamp,
    /// When it was ended before.
    pub revoked_at: Option<Timestamp>,
}

/// Returns the key under which changes of a user's sessions are announced.
pub fn resource_key(user_id: Uuid) -> String {
    format!("sessions/{user_id}")
}

/// Begins a session and returns its id.
///
/// # Errors
/// `integrity_violation` if there is no such user.
pub async fn create(
    tx: &mut Tx<'_>,
    user_id: Uuid,
    token: TokenHash,
    source: &str,
    user_agent: &str,
    expires_at: Timestamp,
) -> Result<Uuid, Error> {
    let sql = "INSERT INTO session (id, user_id, token_hash, source, user_agent, created_at, rotated_at,
               last_seen_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $6, $6, $7)";
    let id = random::new_id(tx.now())?;
    let source: String = source.chars().take(MAX_SOURCE_CHARS).collect();
    let user_agent: String = user_agent.chars().take(MAX_USER_AGENT_CHARS).collect();
    let values = [
        id.into(),
        user_id.into(),
        token.into(),
        source.into(),
        user_agent.into(),
        tx.now().into(),
        expires_at.into(),
    ];
    tx.execute(sql, &values).await?;
    tx.announce(resource_key(user_id));
    Ok(id)
}

/// Returns the session of a token that is valid now. An exchanged token is valid until its grace is over.
///
/// # Errors
/// As any statement.
pub async fn find(tx: &mut Tx<'_>, token: TokenHash) -> Result<Option<Session>, Error> {
    let row = tx.fetch_optional(BY_TOKEN, &[token.into(), tx.now().into()]).await?;
    row.as_ref().map(from_row).transpose()
}

/// Exchanges a session's token; the old one stays valid for `grace`, for requests that are under way.
///
/// Only the present token can be exchanged, so of two requests at once one wins; tells whether this did.
///
/// # Errors
/// As any statement.
pub async fn rotate(tx: &mut Tx<'_>, old: TokenHash, new: TokenHash, grace: Duration) -> Result<bool, Error> {
    let sql = "UPDATE session SET token_hash = $2, previous_hash = $1, previous_until = $3, rotated_at = $4,
               last_seen_at = $4 WHERE token_hash = $1 AND expires_at > $4 AND revoked_at IS NULL";
    let grace_ms = i64::try_from(grace.as_millis()).unwrap_or(i64::MAX);
    let until_ms = tx.now().as_millisecond().saturating_add(grace_ms);
    let values = [old.into(), new.into(), until_ms.into(), tx.now().into()];
    Ok(tx.execute(sql, &values).await? > 0)
}

/// Notes that a session was used, unless that was noted less than `every` ago. Announces nothing.
///
/// # Errors
/// As any statement.
pub async fn touch(tx: &mut Tx<'_>, id: Uuid, every: Duration) -> Result<(), Error> {
    let sql = "UPDATE session SET last_seen_at = $2 WHERE id = $1 AND last_seen_at <= $3";
    let every_ms = i64::try_from(every.as_millis()).unwrap_or(i64::MAX);
    let before_ms = tx.now().as_millisecond().saturating_sub(every_ms);
    tx.execute(sql, &[id.into(), tx.now().into(), before_ms.into()]).await?;
    Ok(())
}

/// Returns a user's sessions that are valid now, the newest first (to the millisecond), at most 1,000.
///
/// # Errors
/// As any statement.
pub async fn list(tx: &mut Tx<'_>, user_id: Uuid) -> Result<Vec<Session>, Error> {
    let rows = tx.fetch_all(OF_USER, &[user_id.into(), tx.now().into(), MAX_PAGE.into()]).await?;
    rows.iter().map(from_row).collect()
}

/// Ends a user's session.
///
/// # Errors
/// `not_found` if the user has no such session that is still valid.
pub async fn revoke(tx: &mut Tx<'_>, user_id: Uuid, id: Uuid) -> Result<(), Error> {
    let sql = "UPDATE session SET revoked_at = $3 WHERE id = $1 AND user_id = $2 AND revoked_at IS NULL";
    if tx.execute(sql, &[id.into(), user_id.into(), tx.now().into()]).await? == 0 {
        return Err(Error::not_found("session", id));
    }
    tx.announce(resource_key(user_id));
    Ok(())
}

/// Ends all sessions of a user but one that may stay; returns how many.
///
/// # Errors
/// As any statement.
pub async fn revoke_all(tx: &mut Tx<'_>, user_id: Uuid, except: Option<Uuid>) -> Result<u64, Error> {
    let sql = "UPDATE session SET revoked_at = $3 WHERE user_id = $1 AND id <> $2 AND revoked_at IS NULL";
    let except = except.unwrap_or_else(Uuid::nil);
    let count = tx.execute(sql, &[user_id.into(), except.into(), tx.now().into()]).await?;
    if count > 0 {
        tx.announce(resource_key(user_id));
    }
    Ok(count)
}

fn from_row(row: &Row) -> Result<Session, Error> {
    Ok(Session {
        id: row.parsed("id")?,
        user_id: row.parsed("user_id")?,
        source: row.text("source")?,
        user_agent: row.text("user_agent")?,
        created_at: row.time("created_at")?,
        rotated_at: row.time("rotated_at")?,
        last_seen_at: row.time("last_seen_at")?,
        expires_at: row.time("expires_at")?,
        revoked_at: row.optional_time("revoked_at")?,
    })
}
