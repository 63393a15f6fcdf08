//! People who sign in.

use jiff::Timestamp;
use pegel_core::access::Role;
use pegel_core::access::pattern::Pattern;
use pegel_core::access::permissions::default_grants;
use pegel_core::access::scope::Scope;
use secrecy::{ExposeSecret, SecretString};
use uuid::Uuid;

use crate::error::Error;
use crate::random;
use crate::tx::Tx;
use crate::value::{Row, Value};

/// The most users one call lists.
pub const MAX_PAGE: u32 = 1_000;

const COLUMNS_BY_ID: &str = "SELECT id, name, display_name, role, grants, scope, password_hash, created_at,
    updated_at, disabled_at, must_change_password, version FROM app_user WHERE id = $1";
const COLUMNS_BY_NAME: &str = "SELECT id, name, display_name, role, grants, scope, password_hash, created_at,
    updated_at, disabled_at, must_change_password, version FROM app_user WHERE name_key = $1";
const PAGE: &str = "SELECT id, name, display_name, role, grants, scope, password_hash, created_at,
    updated_at, disabled_at, must_change_password, version FROM app_user WHERE name_key > $1 ORDER BY name_key LIMIT $2";

/// What can be said about a user and changed later.
#[derive(Debug, Clone)]
pub struct Profile {
    /// The name to sign in with; unique without regard to case; 1 to 128 characters.
    pub name: String,
    /// The name shown, up to 256 characters; may be empty.
    pub display_name: String,
    /// The role.
    pub role: Role,
    /// The grants; `None` for whatever the role has by default, now and later.
    pub grants: Option<Vec<Pattern>>,
    /// The clusters and tables.
    pub scope: Scope,
}

/// A user.
#[derive(Debug, Clone)]
pub struct User {
    /// The id.
    pub id: Uuid,
    /// Name, role, grants and scope.
    pub profile: Profile,
    /// What a password is checked against; `None` for a user who has none.
    pub password_hash: Option<SecretString>,
    /// When made.
    pub created_at: Timestamp,
    /// When last changed.
    pub updated_at: Timestamp,
    /// Since when the user may not sign in.
    pub disabled_at: Option<Timestamp>,
    /// Whether the password was given by someone else, so that its owner has to change it first.
    pub must_change_password: bool,
    /// Grows with each change.
    pub version: i64,
}

impl User {
    /// Returns the grants in force.
    pub fn grants(&self) -> Vec<Pattern> {
        self.profile.grants.clone().unwrap_or_else(|| default_grants(self.profile.role))
    }
}

/// Returns the key under which a user's changes are announced.
pub fn resource_key(id: Uuid) -> String {
    format!("user/{id}")
}

/// Makes a user.
///
/// # Errors
/// `conflict` if the name is taken.
pub async fn create(
    tx: &mut Tx<'_>,
    profile: &Profile,
    password_hash: Option<&SecretString>,
) -> Result<User, Error> {
    let sql = "INSERT INTO app_user (id, name, name_key, display_name, role, grants, scope, password_hash,
               created_at, updated_at, version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, 1)
               ON CONFLICT DO NOTHING";
    let id = random::new_id(tx.now())?;
    let values = [
        id.into(),
        profile.name.as_str().into(),
        name_key(&profile.name).into(),
        profile.display_name.as_str().into(),
        profile.role.as_str().into(),
        grants_value(profile)?,
        Value::json(&profile.scope)?,
        password_hash.map(|hash| hash.expose_secret().to_owned()).into(),
        tx.now().into(),
    ];
    if tx.execute(sql, &values).await? == 0 {
        return Err(Error::conflict("user", &profile.name));
    }
    tx.announce_version(resource_key(id), 1);
    get(tx, id).await
}

/// Returns a user.
///
/// # Errors
/// `not_found`.
pub async fn get(tx: &mut Tx<'_>, id: Uuid) -> Result<User, Error> {
    let row = tx.fetch_optional(COLUMNS_BY_ID, &[id.into()]).await?;
    from_row(&row.ok_or_else(|| Error::not_found("user", id))?)
}

/// Returns the user of a name, whatever its case.
///
/// # Errors
/// As any statement.
pub async fn find_by_name(tx: &mut Tx<'_>, name: &str) -> Result<Option<User>, Error> {
    let row = tx.fetch_optional(COLUMNS_BY_NAME, &[name_key(name).into()]).await?;
    row.as_ref().map(from_row).transpose()
}

/// Returns users in the order of their names, after that of `after`, at most `limit` (up to 1,000).
///
/// # Errors
/// As any statement.
pub async fn list(tx: &mut Tx<'_>, after: Option<&str>, limit: u32) -> Result<Vec<User>, Error> {
    let after = after.map(name_key).unwrap_or_default();
    let rows = tx.fetch_all(PAGE, &[after.into(), limit.clamp(1, MAX_PAGE).into()]).await?;
    rows.iter().map(from_row).collect()
}

/// Changes a user's profile if nobody has changed the user since `version`; returns the new version.
///
/// # Errors
/// `conflict` if someone has, or the name is taken; `not_found`.
pub async fn update(tx: &mut Tx<'_>, id: Uuid, version: i64, profile: &Profile) -> Result<i64, Error> {
    if find_by_name(tx, &profile.name).await?.is_some_and(|other| other.id != id) {
        return Err(Error::conflict("user", &profile.name));
    }
    let sql = "UPDATE app_user SET name = $3, name_key = $4, display_name = $5, role = $6, grants = $7,
               scope = $8, updated_at = $9, version = version + 1 WHERE id = $1 AND version = $2";
    let values = [
        id.into(),
        version.into(),
        profile.name.as_str().into(),
        name_key(&profile.name).into(),
        profile.display_name.as_str().into(),
        profile.role.as_str().into(),
        grants_value(profile)?,
        Value::json(&profile.scope)?,
        tx.now().into(),
    ];
    let count = tx.execute(sql, &values).await?;
    changed(tx, id, count, version).await
}

/// Sets or takes away a user's password; returns the new version.
///
/// # Errors
/// `not_found`.
pub async fn set_password_hash(
    tx: &mut Tx<'_>,
    id: Uuid,
    password_hash: Option<&SecretString>,
) -> Result<i64, Error> {
    let sql = "UPDATE app_user SET password_hash = $2, updated_at = $3, version = version + 1 WHERE id = $1
               RETURNING version";
    let hash = password_hash.map(|hash| hash.expose_secret().to_owned());
    let row = tx.fetch_optional(sql, &[id.into(), hash.into(), tx.now().into()]).await?;
    let version = row.ok_or_else(|| Error::not_found("user", id))?.int("version")?;
    tx.announce_version(resource_key(id), version);
    Ok(version)
}

/// Notes whether a user has to change the password first; returns the new version.
///
/// # Errors
/// `not_found`.
pub async fn set_must_change_password(tx: &mut Tx<'_>, id: Uuid, must_change: bool) -> Result<i64, Error> {
    let sql = "UPDATE app_user SET must_change_password = $2, updated_at = $3, version = version + 1
               WHERE id = $1 RETURNING version";
    let row = tx.fetch_optional(sql, &[id.into(), must_change.into(), tx.now().into()]).await?;
    let version = row.ok_or_else(|| Error::not_found("user", id))?.int("version")?;
    tx.announce_version(resource_key(id), version);
    Ok(version)
}

/// Lets a user sign in or not, if nobody has changed the user since `version`; returns the new version.
///
/// # Errors
/// `conflict`, `not_found`.
pub async fn set_disabled(tx: &mut Tx<'_>, id: Uuid, version: i64, is_disabled: bool) -> Result<i64, Error> {
    let sql = "UPDATE app_user SET disabled_at = $3, updated_at = $4, version = version + 1
               WHERE id = $1 AND version = $2";
    let disabled_at = is_disabled.then(|| tx.now());
    let values = [id.into(), version.into(), disabled_at.into(), tx.now().into()];
    let count = tx.execute(sql, &values).await?;
    changed(tx, id, count, version).await
}

/// Removes a user with all sessions and tokens.
///
/// # Errors
/// `not_found`.
pub async fn delete(tx: &mut Tx<'_>, id: Uuid) -> Result<(), Error> {
    if tx.execute("DELETE FROM app_user WHERE id = $1", &[id.into()]).await? == 0 {
        return Err(Error::not_found("user", id));
    }
    tx.announce(resource_key(id));
    Ok(())
}

/// Makes others who call this wait until this transaction has ended, so that two of them cannot each
/// remove one of the last two admins.
///
/// # Errors
/// As any statement.
pub async fn lock_admins(tx: &mut Tx<'_>) -> Result<(), Error> {
    tx.execute("UPDATE app_user SET role = role WHERE role = 'admin'", &[]).await?;
    Ok(())
}

/// Counts the admins who may sign in, so that the last one is not lost.
///
/// # Errors
/// As any statement.
pub async fn count_active_admins(tx: &mut Tx<'_>) -> Result<i64, Error> {
    let sql = "SELECT count(*) AS n FROM app_user WHERE role = 'admin' AND disabled_at IS NULL";
    tx.fetch_one(sql, &[]).await?.int("n")
}

async fn changed(tx: &mut Tx<'_>, id: Uuid, count: u64, version: i64) -> Result<i64, Error> {
    if count == 0 {
        get(tx, id).await?;
        return Err(Error::conflict("user", id));
    }
    tx.announce_version(resource_key(id), version + 1);
    Ok(version + 1)
}

fn name_key(name: &str) -> String {
    name.to_lowercase()
}

fn grants_value(profile: &Profile) -> Result<Value, Error> {
    profile.grants.as_ref().map_or(Ok(Value::Null), Value::json)
}

fn from_row(row: &Row) -> Result<User, Error> {
    Ok(User {
        id: row.parsed("id")?,
        profile: Profile {
            name: row.text("name")?,
            display_name: row.text("display_name")?,
            role: row.parsed("role")?,
            grants: row.optional_json("grants")?,
            scope: row.json("scope")?,
        },
        password_hash: row.optional_text("password_hash")?.map(SecretString::from),
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        disabled_at: row.optional_time("disabled_at")?,
        must_change_password: row.truth("must_change_password")?,
        version: row.int("version")?,
    })
}
