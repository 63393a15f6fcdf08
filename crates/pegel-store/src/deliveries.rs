//! What became of each attempt to tell somebody.

use jiff::Timestamp;
use pegel_core::monitor::verdict::FiringId;
use uuid::Uuid;

use crate::error::Error;
use crate::tx::Tx;
use crate::value::{Row, Value};

/// The most attempts one call lists.
pub const MAX_PAGE: u32 = 1_000;

/// The longest detail, in characters.
pub const MAX_DETAIL_CHARS: usize = 1_000;

/// An attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its id; sorts by time.
    pub id: Uuid,
    /// Of which notice in the outbox.
    pub notice_id: Uuid,
    /// Over which channel.
    pub channel_id: Uuid,
    /// Of which firing.
    pub firing_id: FiringId,
    /// When it began.
    pub attempted_at: Timestamp,
    /// How long it took.
    pub duration_ms: u64,
    /// Its number, from 1.
    pub attempt: u32,
    /// How it ended, such as `delivered`.
    pub result: String,
    /// What the target said, without secrets.
    pub detail: String,
}

/// Whose attempts are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// A channel's.
    Channel(Uuid),
    /// A firing's.
    Firing(FiringId),
}

/// Keeps an attempt; its id is given here.
///
/// # Errors
/// As any statement.
pub async fn append(tx: &mut Tx<'_>, delivery: &Delivery) -> Result<(), Error> {
    let sql = "INSERT INTO delivery_attempt (id, notice_id, channel_id, firing_id, attempted_at, duration_ms,
               attempt, result, detail) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let values = [
        tx.new_id()?.into(),
        delivery.notice_id.into(),
        delivery.channel_id.into(),
        delivery.firing_id.0.into(),
        delivery.attempted_at.into(),
        i64::try_from(delivery.duration_ms).unwrap_or(i64::MAX).into(),
        delivery.attempt.into(),
        cut(&delivery.result, 64),
        cut(&delivery.detail, MAX_DETAIL_CHARS),
    ];
    tx.execute(sql, &values).await.map(drop)
}

/// Returns attempts, the newest first, before `before`, at most `limit` (up to 1,000).
///
/// # Errors
/// As any statement.
pub async fn list(tx: &mut Tx<'_>, of: Of, before: Option<Uuid>, limit: u32) -> Result<Vec<Delivery>, Error> {
    let by_channel = "SELECT id, notice_id, channel_id, firing_id, attempted_at, duration_ms, attempt, result,
                      detail FROM delivery_attempt WHERE channel_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3";
    let by_firing = "SELECT id, notice_id, channel_id, firing_id, attempted_at, duration_ms, attempt, result,
                     detail FROM delivery_attempt WHERE firing_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3";
    let (sql, id) = match of {
        Of::Channel(id) => (by_channel, id),
        Of::Firing(id) => (by_firing, id.0),
    };
    let values = [id.into(), before.unwrap_or(Uuid::max()).into(), limit.clamp(1, MAX_PAGE).into()];
    tx.fetch_all(sql, &values).await?.iter().map(from_row).collect()
}

/// Removes attempts that were made before a time, at most `limit`; returns how many.
///
/// # Errors
/// As any statement.
pub async fn trim(tx: &mut Tx<'_>, before: Timestamp, limit: u32) -> Result<u64, Error> {
    let sql = "DELETE FROM delivery_attempt WHERE id IN
               (SELECT id FROM delivery_attempt WHERE attempted_at < $1 ORDER BY attempted_at LIMIT $2)";
    tx.execute(sql, &[before.into(), limit.into()]).await
}

fn cut(text: &str, chars: usize) -> Value {
    text.chars().take(chars).collect::<String>().into()
}

fn from_row(row: &Row) -> Result<Delivery, Error> {
    Ok(Delivery {
        id: row.parsed("id")?,
        notice_id: row.parsed("notice_id")?,
        channel_id: row.parsed("channel_id")?,
        firing_id: FiringId(row.parsed("firing_id")?),
        attempted_at: row.time("attempted_at")?,
        duration_ms: u64::try_from(row.int("duration_ms")?).unwrap_or(0),
        attempt: u32::try_from(row.int("attempt")?).unwrap_or(u32::MAX),
        result: row.text("result")?,
        detail: row.text("detail")?,
    })
}
