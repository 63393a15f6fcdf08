//! Channels: where people are told. Their secrets are in [`crate::secrets`], under [`resource_key`].

use jiff::Timestamp;
use pegel_core::monitor::delivery::ChannelKind;
use serde_json::Value as Json;
use uuid::Uuid;

use crate::error::Error;
use crate::random;
use crate::tx::Tx;
use crate::value::{Row, Value};

/// The most channels there may be, and one call lists.
pub const MAX_CHANNELS: u32 = 1_000;

/// The longest settings, in bytes of JSON.
pub const MAX_SETTINGS_BYTES: usize = 64 * 1024;

const BY_ID: &str =
    "SELECT id, name, kind, settings, is_enabled, failing_since, broken_at, broken_reason, created_at,
    updated_at, version FROM channel WHERE id = $1";
const ALL: &str =
    "SELECT id, name, kind, settings, is_enabled, failing_since, broken_at, broken_reason, created_at,
    updated_at, version FROM channel ORDER BY name, id LIMIT $1";

/// What can be said about a channel and changed later.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The name shown, unique, 1 to 256 characters.
    pub name: String,
    /// What its kind needs, without secrets, up to 64 KiB.
    pub settings: Json,
    /// Whether it is in use.
    pub is_enabled: bool,
}

/// A channel.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// Its id.
    pub id: Uuid,
    /// What it speaks.
    pub kind: ChannelKind,
    /// What can be changed.
    pub settings: Settings,
    /// Since when every attempt has failed; `None` if the last one did not.
    pub failing_since: Option<Timestamp>,
    /// Since when it can deliver nothing at all, and why.
    pub broken: Option<(Timestamp, String)>,
    /// When made.
    pub created_at: Timestamp,
    /// When last changed.
    pub updated_at: Timestamp,
    /// Grows with each change that a person makes.
    pub version: i64,
}

/// How a channel fares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// It has delivered.
    Working,
    /// It has not, and may yet.
    Failing,
    /// It never will until somebody changes it.
    Broken {
        /// Why, without secrets, up to 1,000 characters.
        reason: String,
    },
}

/// Returns the key under which a channel's changes are announced; its secrets have it as their owner.
pub fn resource_key(id: Uuid) -> String {
    format!("channel/{id}")
}

/// Makes a channel.
///
/// # Errors
/// `conflict` if the name is taken, `too_large`.
pub async fn create(tx: &mut Tx<'_>, kind: ChannelKind, settings: &Settings) -> Result<Channel, Error> {
    let count = "SELECT count(*) AS n FROM channel";
    if tx.fetch_one(count, &[]).await?.int("n")? >= i64::from(MAX_CHANNELS) {
        return Err(Error::TooLarge { what: "the count of channels", limit: 1_000 });
    }
    let sql = "INSERT INTO channel (id, name, kind, settings, is_enabled, created_at, updated_at, version)
               VALUES ($1, $2, $3, $4, $5, $6, $6, 1) ON CONFLICT DO NOTHING";
    let id = random::new_id(tx.now())?;
    let values = [
        id.into(),
        settings.name.as_str().into(),
        kind.as_str().into(),
        settings_value(settings)?,
        settings.is_enabled.into(),
        tx.now().into(),
    ];
    if tx.execute(sql, &values).await? == 0 {
        return Err(Error::conflict("channel", &settings.name));
    }
    tx.announce_version(resource_key(id), 1);
    get(tx, id).await
}

/// Returns a channel.
///
/// # Errors
/// `not_found`.
pub async fn get(tx: &mut Tx<'_>, id: Uuid) -> Result<Channel, Error> {
    let row = tx.fetch_optional(BY_ID, &[id.into()]).await?;
    from_row(&row.ok_or_else(|| Error::not_found("channel", id))?)
}

/// Returns all channels in the order of their names.
///
/// # Errors
/// As any statement.
pub async fn list(tx: &mut Tx<'_>) -> Result<Vec<Channel>, Error> {
    tx.fetch_all(ALL, &[MAX_CHANNELS.into()]).await?.iter().map(from_row).collect()
}

/// Changes a channel if nobody has changed it since `version`; returns the new version. It counts as working
/// again, until it is tried.
///
/// Notices that are queued keep the settings that they were queued with.
///
/// # Errors
/// `conflict` if someone has or the name is taken, `not_found`, `too_large`.
pub async fn update(tx: &mut Tx<'_>, id: Uuid, version: i64, settings: &Settings) -> Result<i64, Error> {
    let taken = "SELECT count(*) AS n FROM channel WHERE name = $1 AND id <> $2";
    let is_taken = tx.fetch_one(taken, &[settings.name.as_str().into(), id.into()]).await?.int("n")? > 0;
    let sql =
        "UPDATE channel SET name = $3, settings = $4, is_enabled = $5, updated_at = $6, failing_since = NULL,
               broken_at = NULL, broken_reason = NULL, version = version + 1 WHERE id = $1 AND version = $2";
    let values = [
        id.into(),
        version.into(),
        settings.name.as_str().into(),
        settings_value(settings)?,
        settings.is_enabled.into(),
        tx.now().into(),
    ];
    if is_taken || tx.execute(sql, &values).await? == 0 {
        get(tx, id).await?;
        return Err(Error::conflict("channel", &settings.name));
    }
    tx.announce_version(resource_key(id), version + 1);
    Ok(version + 1)
}

/// Removes a channel and its secrets if nobody has changed it since `version`.
///
/// # Errors
/// `conflict` if someone has, `not_found`.
pub async fn delete(tx: &mut Tx<'_>, id: Uuid, version: i64) -> Result<(), Error> {
    let sql = "DELETE FROM channel WHERE id = $1 AND version = $2";
    if tx.execute(sql, &[id.into(), version.into()]).await? == 0 {
        get(tx, id).await?;
        return Err(Error::conflict("channel", id));
    }
    crate::secrets::remove_all(tx, &resource_key(id)).await?;
    tx.announce(resource_key(id));
    Ok(())
}

/// Notes how a channel fares; announces it only when that has changed.
///
/// # Errors
/// As any statement. A channel that is gone is none.
pub async fn set_health(tx: &mut Tx<'_>, id: Uuid, health: &Health) -> Result<(), Error> {
    let id_value = Value::from(id);
    let touched = match health {
        Health::Working => {
            let sql = "UPDATE channel SET failing_since = NULL, broken_at = NULL, broken_reason = NULL
                       WHERE id = $1 AND (failing_since IS NOT NULL OR broken_at IS NOT NULL)";
            tx.execute(sql, &[id_value]).await?
        }
        Health::Failing => {
            let sql = "UPDATE channel SET failing_since = $2 WHERE id = $1 AND failing_since IS NULL";
            tx.execute(sql, &[id_value, tx.now().into()]).await?
        }
        Health::Broken { reason } => {
            let sql = "UPDATE channel SET failing_since = COALESCE(failing_since, $2), broken_at = $2,
                       broken_reason = $3 WHERE id = $1 AND broken_at IS NULL";
            let reason: String = reason.chars().take(1_000).collect();
            tx.execute(sql, &[id_value, tx.now().into(), reason.into()]).await?
        }
    };
    if touched > 0 {
        tx.announce(resource_key(id));
    }
    Ok(())
}

fn settings_value(settings: &Settings) -> Result<Value, Error> {
    match Value::json(&settings.settings)? {
        Value::Text(text) if text.len() > MAX_SETTINGS_BYTES => Err(Error::TooLarge {
            what: "the size of a channel's settings in bytes",
            limit: MAX_SETTINGS_BYTES,
        }),
        value => Ok(value),
    }
}

fn from_row(row: &Row) -> Result<Channel, Error> {
    let broken_reason = row.optional_text("broken_reason")?.unwrap_or_default();
    Ok(Channel {
        id: row.parsed("id")?,
        kind: row.parsed("kind")?,
        settings: Settings {
            name: row.text("name")?,
            settings: row.json("settings")?,
            is_enabled: row.truth("is_enabled")?,
        },
        failing_since: row.optional_time("failing_since")?,
        broken: row.optional_time("broken_at")?.map(|at| (at, broken_reason)),
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        version: row.int("version")?,
    })
}
