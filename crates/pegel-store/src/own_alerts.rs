//! What Pegel has to say about itself, such as that a channel is broken. Each has a firing of its own, so that
//! its end is told to those who heard of its beginning.

use jiff::Timestamp;
use pegel_core::monitor::verdict::FiringId;

use crate::error::Error;
use crate::tx::Tx;
use crate::value::Row;

/// The most that are open at the same time, and one call lists.
pub const MAX_PAGE: u32 = 1_000;

/// One that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnAlert {
    /// What, such as `channel_broken`.
    pub kind: String,
    /// Of what, such as the id of a channel.
    pub subject: String,
    /// Its firing.
    pub firing_id: FiringId,
    /// Since when.
    pub since: Timestamp,
}

/// Opens one, unless it is open; returns it only if it was not.
///
/// # Errors
/// As any statement.
pub async fn open(tx: &mut Tx<'_>, kind: &str, subject: &str) -> Result<Option<OwnAlert>, Error> {
    let sql = "INSERT INTO own_alert (kind, subject, firing_id, since) VALUES ($1, $2, $3, $4)
               ON CONFLICT DO NOTHING";
    let (firing_id, since) = (FiringId(tx.new_id()?), tx.now());
    let is_new = tx.execute(sql, &[kind.into(), subject.into(), firing_id.0.into(), since.into()]).await? > 0;
    let opened = || OwnAlert { kind: kind.to_owned(), subject: subject.to_owned(), firing_id, since };
    Ok(is_new.then(opened))
}

/// Closes one; returns it if it was open.
///
/// # Errors
/// As any statement.
pub async fn close(tx: &mut Tx<'_>, kind: &str, subject: &str) -> Result<Option<OwnAlert>, Error> {
    let sql = "DELETE FROM own_alert WHERE kind = $1 AND subject = $2
               RETURNING kind, subject, firing_id, since";
    let row = tx.fetch_optional(sql, &[kind.into(), subject.into()]).await?;
    row.as_ref().map(from_row).transpose()
}

/// Returns those that are open, oldest first.
///
/// # Errors
/// As any statement.
pub async fn list(tx: &mut Tx<'_>) -> Result<Vec<OwnAlert>, Error> {
    let sql = "SELECT kind, subject, firing_id, since FROM own_alert ORDER BY since, kind, subject LIMIT $1";
    tx.fetch_all(sql, &[MAX_PAGE.into()]).await?.iter().map(from_row).collect()
}

fn from_row(row: &Row) -> Result<OwnAlert, Error> {
    Ok(OwnAlert {
        kind: row.text("kind")?,
        subject: row.text("subject")?,
        firing_id: FiringId(row.parsed("firing_id")?),
        since: row.time("since")?,
    })
}
