//! Access tokens for programs. Only a token's hash is stored; it never may more than its owner.

use std::time::Duration;

use jiff::Timestamp;
use pegel_core::access::Role;
use pegel_core::access::pattern::Pattern;
use pegel_core::access::scope::Scope;
use uuid::Uuid;

use crate::error::Error;
use crate::random;
use crate::token::TokenHash;
use crate::tx::Tx;
use crate::value::{Row, Value};

/// The most tokens one call lists.
pub const MAX_PAGE: u32 = 1_000;

const BY_TOKEN: &str =
    "SELECT id, user_id, name, role, grants, scope, created_at, expires_at, last_used_at, revoked_at
    FROM api_token WHERE token_hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)";
const BY_ID: &str =
    "SELECT id, user_id, name, role, grants, scope, created_at, expires_at, last_used_at, revoked_at
    FROM api_token WHERE id = $1";
const OF_USER: &str =
    "SELECT id, user_id, name, role, grants, scope, created_at, expires_at, last_used_at, revoked_at
    FROM api_token WHERE user_id = $1 AND id > $2 ORDER BY id LIMIT $3";
const PAGE: &str =
    "SELECT id, user_id, name, role, grants, scope, created_at, expires_at, last_used_at, revoked_at
    FROM api_token WHERE id > $1 ORDER BY id LIMIT $2";

/// What a token is for and how far it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    /// The owner, whose rights bound the token's.
    pub user_id: Uuid,
    /// What people call it, 1 to 128 characters.
    pub name: String,
    /// The role.
    pub role: Role,
    /// The grants.
    pub grants: Vec<Pattern>,
    /// The clusters and tables.
    pub scope: Scope,
    /// When it ends by itself; `None` for never.
    pub expires_at: Option<Timestamp>,
}

/// A token, without the token itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiToken {
    /// The id.
    pub id: Uuid,
    /// What it was made with.
    pub token: NewToken,
    /// When made.
    pub created_at: Timestamp,
    /// When last used, to the minute or so.
    pub last_used_at: Option<Timestamp>,
    /// When it was ended.
    pub revoked_at: Option<Timestamp>,
}

/// Returns the key under which a token's changes are announced.
pub fn resource_key(id: Uuid) -> String {
    format!("api_token/{id}")
}

/// Makes a token and returns its id.
///
/// # Errors
/// `integrity_violation` if there is no such user.
pub async fn create(tx: &mut Tx<'_>, token: &NewToken, hash: TokenHash) -> Result<Uuid, Error> {
    let sql =
        "INSERT INTO api_token (id, user_id, name, token_hash, role, grants, scope, created_at, expires_at)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let id = random::new_id(tx.now())?;
    let values = [
        id.into(),
        token.user_id.into(),
        token.name.as_str().into(),
        hash.into(),
        token.role.as_str().into(),
        Value::json(&token.grants)?,
        Value::json(&token.scope)?,
        tx.now().into(),
        token.expires_at.into(),
    ];
    tx.execute(sql, &values).await?;
    tx.announce(resource_key(id));
    Ok(id)
}

/// Returns the token of a hash if it is valid now.
///
/// # Errors
/// As any statement.
pub async fn find(tx: &mut Tx<'_>, hash: TokenHash) -> Result<Option<ApiToken>, Error> {
    let row = tx.fetch_optional(BY_TOKEN, &[hash.into(), tx.now().into()]).await?;
    row.as_ref().map(from_row).transpose()
}

/// Returns a token, also one that has ended.
///
/// # Errors
/// `not_found`.
pub async fn get(tx: &mut Tx<'_>, id: Uuid) -> Result<ApiToken, Error> {
    let row = tx.fetch_optional(BY_ID, &[id.into()]).await?;
    from_row(&row.ok_or_else(|| Error::not_found("token", id))?)
}

/// Returns tokens in the order in which they were made (to the millisecond), also ended ones, at most `limit` (up to 1,000).
///
/// `user_id` leaves those of one user.
///
/// # Errors
/// As any statement.
pub async fn list(
    tx: &mut Tx<'_>,
    user_id: Option<Uuid>,
    after: Option<Uuid>,
    limit: u32,
) -> Result<Vec<ApiToken>, Error> {
    let after = after.unwrap_or_else(Uuid::nil);
    let limit = limit.clamp(1, MAX_PAGE);
    let rows = match user_id {
        Some(user_id) => tx.fetch_all(OF_USER, &[user_id.into(), after.into(), limit.into()]).await?,
        None => tx.fetch_all(PAGE, &[after.into(), limit.into()]).await?,
    };
    rows.iter().map(from_row).collect()
}

/// Notes that a token was used, unless that was noted less than `every` ago. Announces nothing.
///
/// # Errors
/// As any statement.
pub async fn touch(tx: &mut Tx<'_>, id: Uuid, every: Duration) -> Result<(), Error> {
    let sql = "UPDATE api_token SET last_used_at = $2
               WHERE id = $1 AND (last_used_at IS NULL OR last_used_at <= $3)";
    let every_ms = i64::try_from(every.as_millis()).unwrap_or(i64::MAX);
    let before_ms = tx.now().as_millisecond().saturating_sub(every_ms);
    tx.execute(sql, &[id.into(), tx.now().into(), before_ms.into()]).await?;
    Ok(())
}

/// Ends a token.
///
/// # Errors
/// `not_found` if there is none that has not been ended.
pub async fn revoke(tx: &mut Tx<'_>, id: Uuid) -> Result<(), Error> {
    let sql = "UPDATE api_token SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";
    if tx.execute(sql, &[id.into(), tx.now().into()]).await? == 0 {
        return Err(Error::not_found("token", id));
    }
    tx.announce(resource_key(id));
    Ok(())
}

fn from_row(row: &Row) -> Result<ApiToken, Error> {
    Ok(ApiToken {
        id: row.parsed("id")?,
        token: NewToken {
            user_id: row.parsed("user_id")?,
            name: row.text("name")?,
            role: row.parsed("role")?,
            grants: row.json("grants")?,
            scope: row.json("scope")?,
            expires_at: row.optional_time("expires_at")?,
        },
        created_at: row.time("created_at")?,
        last_used_at: row.optional_time("last_used_at")?,
        revoked_at: row.optional_time("revoked_at")?,
    })
}
