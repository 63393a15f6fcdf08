//! Silences and maintenance.

use jiff::Timestamp;
use pegel_core::monitor::quiet::{Maintenance, Recurrence, Silence};
use uuid::Uuid;

use crate::error::Error;
use crate::random;
use crate::tx::Tx;
use crate::value::{Row, Value};

/// The most that are in force or to come, and one call lists.
pub const MAX_PAGE: u32 = 10_000;

const BY_ID: &str = "SELECT id, kind, definition, comment, created_by, created_at, updated_at, version
    FROM quiet_time WHERE id = $1";
const CURRENT: &str = "SELECT id, kind, definition, comment, created_by, created_at, updated_at, version
    FROM quiet_time WHERE (ends_at IS NULL OR ends_at > $1) AND id > $2 ORDER BY id LIMIT $3";

/// What keeps people from being told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Definition {
    /// Somebody's decision.
    Silence(Silence),
    /// Planned work.
    Maintenance(Maintenance),
}

/// A silence or a maintenance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuietTime {
    /// Its id.
    pub id: Uuid,
    /// What it is.
    pub definition: Definition,
    /// Why, up to 1,024 characters.
    pub comment: String,
    /// Who made it.
    pub created_by: String,
    /// When made.
    pub created_at: Timestamp,
    /// When last changed.
    pub updated_at: Timestamp,
    /// Grows with each change.
    pub version: i64,
}

impl Definition {
    fn kind(&self) -> &'static str {
        match self {
            Self::Silence(_) => "silence",
            Self::Maintenance(_) => "maintenance",
        }
    }

    fn written(&self) -> Result<Value, Error> {
        match self {
            Self::Silence(silence) => Value::json(silence),
            Self::Maintenance(maintenance) => Value::json(maintenance),
        }
    }

    /// Returns when it is over for good; `None` if it comes again.
    fn ends_at(&self) -> Option<Timestamp> {
        match self {
            Self::Silence(silence) => Some(silence.ends_at),
            Self::Maintenance(maintenance) => match &maintenance.recurrence {
                Recurrence::Once { ends_at, .. } => Some(*ends_at),
                Recurrence::Recurring { .. } => None,
            },
        }
    }
}

/// Returns the key under which its changes are announced.
pub fn resource_key(id: Uuid) -> String {
    format!("quiet-time/{id}")
}

/// Makes a silence or a maintenance.
///
/// # Errors
/// `too_large` if there are 10,000 already, `integrity_violation` for an endless comment.
pub async fn create(
    tx: &mut Tx<'_>,
    definition: &Definition,
    comment: &str,
    created_by: &str,
) -> Result<QuietTime, Error> {
    let count = "SELECT count(*) AS n FROM quiet_time WHERE ends_at IS NULL OR ends_at > $1";
    if tx.fetch_one(count, &[tx.now().into()]).await?.int("n")? >= i64::from(MAX_PAGE) {
        return Err(Error::TooLarge { what: "the count of silences and maintenances", limit: 10_000 });
    }
    let sql =
        "INSERT INTO quiet_time (id, kind, definition, comment, created_by, ends_at, created_at, updated_at,
               version) VALUES ($1, $2, $3, $4, $5, $6, $7, $7, 1)";
    let id = random::new_id(tx.now())?;
    let values = [
        id.into(),
        definition.kind().into(),
        definition.written()?,
        comment.into(),
        created_by.into(),
        definition.ends_at().into(),
        tx.now().into(),
    ];
    tx.execute(sql, &values).await?;
    tx.announce_version(resource_key(id), 1);
    get(tx, id).await
}

/// Returns one.
///
/// # Errors
/// `not_found`.
pub async fn get(tx: &mut Tx<'_>, id: Uuid) -> Result<QuietTime, Error> {
    let row = tx.fetch_optional(BY_ID, &[id.into()]).await?;
    from_row(&row.ok_or_else(|| Error::not_found("quiet time", id))?)
}

/// Returns those that are not over for good, in the order in which they were made, after `after`.
///
/// # Errors
/// As any statement.
pub async fn current(tx: &mut Tx<'_>, after: Option<Uuid>, limit: u32) -> Result<Vec<QuietTime>, Error> {
    let after = after.map(|id| id.to_string()).unwrap_or_default();
    let values = [tx.now().into(), after.into(), limit.clamp(1, MAX_PAGE).into()];
    tx.fetch_all(CURRENT, &values).await?.iter().map(from_row).collect()
}

/// Changes one if nobody has changed it since `version`; returns the new version. A silence is ended by
/// giving it an end.
///
/// # Errors
/// `conflict` if someone has or it is of the other kind, `not_found`.
pub async fn update(
    tx: &mut Tx<'_>,
    id: Uuid,
    version: i64,
    definition: &Definition,
    comment: &str,
) -> Result<i64, Error> {
    let sql = "UPDATE quiet_time SET definition = $4, comment = $5, ends_at = $6, updated_at = $7,
               version = version + 1 WHERE id = $1 AND version = $2 AND kind = $3";
    let values = [
        id.into(),
        version.into(),
        definition.kind().into(),
        definition.written()?,
        comment.into(),
        definition.ends_at().into(),
        tx.now().into(),
    ];
    if tx.execute(sql, &values).await? == 0 {
        get(tx, id).await?;
        return Err(Error::conflict("quiet time", id));
    }
    tx.announce_version(resource_key(id), version + 1);
    Ok(version + 1)
}

/// Removes one if nobody has changed it since `version`, which ends it at once.
///
/// # Errors
/// `conflict` if someone has, `not_found`.
pub async fn delete(tx: &mut Tx<'_>, id: Uuid, version: i64) -> Result<(), Error> {
    let sql = "DELETE FROM quiet_time WHERE id = $1 AND version = $2";
    if tx.execute(sql, &[id.into(), version.into()]).await? == 0 {
        get(tx, id).await?;
        return Err(Error::conflict("quiet time", id));
    }
    tx.announce(resource_key(id));
    Ok(())
}

/// Removes those that were over for good before a time, at most `limit`; returns how many.
///
/// # Errors
/// As any statement.
pub async fn trim(tx: &mut Tx<'_>, before: Timestamp, limit: u32) -> Result<u64, Error> {
    let sql = "DELETE FROM quiet_time WHERE id IN
               (SELECT id FROM quiet_time WHERE ends_at < $1 ORDER BY ends_at LIMIT $2)";
    tx.execute(sql, &[before.into(), limit.into()]).await
}

fn from_row(row: &Row) -> Result<QuietTime, Error> {
    let definition = match row.text("kind")?.as_str() {
        "silence" => Definition::Silence(row.json("definition")?),
        "maintenance" => Definition::Maintenance(row.json("definition")?),
        _ => return Err(Error::corrupt("kind", "not a kind of quiet time")),
    };
    Ok(QuietTime {
        id: row.parsed("id")?,
        definition,
        comment: row.text("comment")?,
        created_by: row.text("created_by")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        version: row.int("version")?,
    })
}
