//! The change feed: what changed, in the order in which it became visible.
//!
//! A change is written in the transaction it announces. Numbers are given at the transaction's end
//! under the lock of one row, so no reader ever sees a later number before an earlier one. The feed
//! carries keys and versions, never data: whoever reads it fetches under its own rights. It is kept
//! for a bounded time; a reader that fell behind is told to begin anew.

use jiff::Timestamp;

use crate::error::Error;
use crate::tx::{MAX_ANNOUNCEMENTS, Tx};
use crate::value::{Row, Value};

/// The channel on which PostgreSQL tells other instances.
pub(crate) const CHANNEL: &str = "pegel_change";

/// The statement that reads the newest number.
pub(crate) const HEAD_SQL: &str = "SELECT seq FROM change_head WHERE id = 1";

/// The most changes one call returns.
pub const MAX_PAGE: u32 = 1_000;

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its place in the feed; grows, may have gaps.
    pub seq: i64,
    /// What changed, such as `cluster/orders-eu`.
    pub resource_key: String,
    /// The version the resource has now, so that a reader who has it need not fetch; `None` if it counts
    /// none or is gone.
    pub version: Option<i64>,
    /// When, by the store's clock.
    pub changed_at: Timestamp,
}

/// What a reader of the feed gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changes {
    /// The next changes, oldest first; none if the reader has seen all.
    Page(Vec<Change>),
    /// Some of what the reader missed is no longer kept: fetch everything, then go on after `head`.
    Resync {
        /// The newest number.
        head: i64,
    },
}

/// Returns the newest number.
pub(crate) async fn head(tx: &mut Tx<'_>) -> Result<i64, Error> {
    tx.fetch_one(HEAD_SQL, &[]).await?.int("seq")
}

/// Returns the changes after a number.
pub(crate) async fn after(tx: &mut Tx<'_>, seq: i64, limit: u32) -> Result<Changes, Error> {
    let row = tx.fetch_one("SELECT seq, deleted_through FROM change_head WHERE id = 1", &[]).await?;
    let head = row.int("seq")?;
    // A number from the future belongs to a database that was since replaced by its backup.
    if seq < row.int("deleted_through")? || seq > head {
        return Ok(Changes::Resync { head });
    }
    let sql = "SELECT seq, resource_key, version, changed_at FROM change
               WHERE seq > $1 ORDER BY seq LIMIT $2";
    let rows = tx.fetch_all(sql, &[seq.into(), limit.clamp(1, MAX_PAGE).into()]).await?;
    let change = |row: &Row| {
        Ok(Change {
            seq: row.int("seq")?,
            resource_key: row.text("resource_key")?,
            version: row.optional_int("version")?,
            changed_at: row.time("changed_at")?,
        })
    };
    Ok(Changes::Page(rows.iter().map(change).collect::<Result<_, Error>>()?))
}

/// Writes what the transaction announced; returns the newest number, 0 if nothing was announced.
pub(crate) async fn record(tx: &mut Tx<'_>) -> Result<i64, Error> {
    let announced = tx.take_announced();
    if announced.is_empty() {
        return Ok(0);
    }
    if announced.len() > MAX_ANNOUNCEMENTS {
        return Err(Error::TooLarge { what: "the count of announced changes", limit: MAX_ANNOUNCEMENTS });
    }
    let count = i64::try_from(announced.len()).unwrap_or(i64::MAX);
    let advance = "UPDATE change_head SET seq = seq + $1 WHERE id = 1 RETURNING seq";
    let newest = tx.fetch_one(advance, &[count.into()]).await?.int("seq")?;
    let insert = "INSERT INTO change (seq, resource_key, version, changed_at) VALUES ($1, $2, $3, $4)";
    for (seq, announcement) in (newest - count + 1..).zip(announced) {
        let version = Value::from(announcement.version);
        let values = [seq.into(), announcement.resource_key.into(), version, tx.now().into()];
        tx.execute(insert, &values).await?;
    }
    if tx.is_postgres() {
        // Delivered with the commit, and not at all without it.
        tx.execute("SELECT pg_notify($1, $2)", &[CHANNEL.into(), newest.to_string().into()]).await?;
    }
    Ok(newest)
}

/// Removes changes that are older than `before` or beyond the newest `keep`, at most `limit` of them.
///
/// Returns how many were removed.
pub(crate) async fn trim(tx: &mut Tx<'_>, before: Timestamp, keep: i64, limit: u32) -> Result<u64, Error> {
    // Numbers are dense but times may go back with the clock: what is removed is a prefix.
    let oldest = "SELECT seq, changed_at FROM change ORDER BY seq LIMIT $1";
    let head = head(tx).await?;
    let mut through = None;
    for row in tx.fetch_all(oldest, &[limit.into()]).await? {
        let seq = row.int("seq")?;
        if row.time("changed_at")? >= before && seq > head.saturating_sub(keep) {
            break;
        }
        through = Some(seq);
    }
    let Some(through) = through else { return Ok(0) };
    tx.execute("UPDATE change_head SET deleted_through = $1 WHERE id = 1", &[through.into()]).await?;
    tx.execute("DELETE FROM change WHERE seq <= $1", &[through.into()]).await
}
