//! Samples in columns: one row for a target and a stretch of time, instead of one for each sample.
//!
//! The chunk that is open is written anew with each sample, in the transaction of the verdict it causes; it
//! is small. What the columns are is the writer's to know ([`results`] for those of monitors).

pub mod results;

use jiff::Timestamp;
use pegel_core::monitor::span::Span;

use crate::error::Error;
use crate::tx::Tx;
use crate::value::Row;

/// The most chunks one call returns.
pub const MAX_PAGE: u32 = 10_000;

/// The largest chunk, in bytes.
pub const MAX_CHUNK_BYTES: usize = 256 * 1024;

/// The resolution of samples as they were taken.
pub const RAW: i64 = 0;

const IN_RANGE: &str = "SELECT target_id, resolution_ms, begins_at, ends_at, sample_count, is_open, data FROM sample_chunk
    WHERE target_id = $1 AND resolution_ms = $2 AND begins_at < $4 AND ends_at >= $3 ORDER BY begins_at LIMIT $5";
const NEWEST: &str =
    "SELECT target_id, resolution_ms, begins_at, ends_at, sample_count, is_open, data FROM sample_chunk
    WHERE target_id = $1 AND resolution_ms = $2 AND is_open = 1 ORDER BY begins_at DESC LIMIT 1";

/// A stretch of samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Whose, such as `monitor/…` or a series; 1 to 128 characters.
    pub target_id: String,
    /// The distance of rolled-up samples, or [`RAW`].
    pub resolution_ms: i64,
    /// When the first was taken.
    pub begins_at: Timestamp,
    /// When the last was taken.
    pub ends_at: Timestamp,
    /// How many there are.
    pub sample_count: u32,
    /// Whether more may come.
    pub is_open: bool,
    /// The columns.
    pub data: Vec<u8>,
}

/// Keeps a chunk in place of an earlier state of it.
///
/// # Errors
/// `too_large`.
pub async fn put(tx: &mut Tx<'_>, chunk: &Chunk) -> Result<(), Error> {
    if chunk.data.len() > MAX_CHUNK_BYTES {
        return Err(Error::TooLarge { what: "the size of a chunk in bytes", limit: MAX_CHUNK_BYTES });
    }
    let sql =
        "INSERT INTO sample_chunk (target_id, resolution_ms, begins_at, ends_at, sample_count, is_open, data)
               VALUES ($1, $2, $3, $4, $5, $6, $7)
               ON CONFLICT (target_id, resolution_ms, begins_at) DO UPDATE SET ends_at = excluded.ends_at,
               sample_count = excluded.sample_count, is_open = excluded.is_open, data = excluded.data";
    let values = [
        chunk.target_id.as_str().into(),
        chunk.resolution_ms.into(),
        chunk.begins_at.into(),
        chunk.ends_at.into(),
        chunk.sample_count.into(),
        chunk.is_open.into(),
        chunk.data.as_slice().into(),
    ];
    tx.execute(sql, &values).await?;
    Ok(())
}

/// Returns the chunk of a target to which samples are added, if there is one.
///
/// # Errors
/// As any statement.
pub async fn open_chunk(
    tx: &mut Tx<'_>,
    target_id: &str,
    resolution_ms: i64,
) -> Result<Option<Chunk>, Error> {
    let row = tx.fetch_optional(NEWEST, &[target_id.into(), resolution_ms.into()]).await?;
    row.as_ref().map(from_row).transpose()
}

/// Returns the chunks of a target with samples in a stretch of time, oldest first, at most `limit`.
///
/// The first and the last may have samples outside of it.
///
/// # Errors
/// As any statement.
pub async fn range(
    tx: &mut Tx<'_>,
    target_id: &str,
    resolution_ms: i64,
    span: Span,
    limit: u32,
) -> Result<Vec<Chunk>, Error> {
    let values = [
        target_id.into(),
        resolution_ms.into(),
        span.from.into(),
        span.to.into(),
        limit.clamp(1, MAX_PAGE).into(),
    ];
    tx.fetch_all(IN_RANGE, &values).await?.iter().map(from_row).collect()
}

/// Removes chunks of a resolution whose last sample was taken before a time, at most `limit`.
///
/// # Errors
/// As any statement.
pub async fn trim(tx: &mut Tx<'_>, resolution_ms: i64, before: Timestamp, limit: u32) -> Result<u64, Error> {
    let sql = "DELETE FROM sample_chunk WHERE (target_id, resolution_ms, begins_at) IN
               (SELECT target_id, resolution_ms, begins_at FROM sample_chunk
                WHERE resolution_ms = $1 AND ends_at < $2 ORDER BY ends_at LIMIT $3)";
    tx.execute(sql, &[resolution_ms.into(), before.into(), limit.into()]).await
}

/// Removes all chunks of a target, at most `limit`; called until it returns 0 when the target is removed.
///
/// # Errors
/// As any statement.
pub async fn remove(tx: &mut Tx<'_>, target_id: &str, limit: u32) -> Result<u64, Error> {
    let sql = "DELETE FROM sample_chunk WHERE target_id = $1 AND (resolution_ms, begins_at) IN
               (SELECT resolution_ms, begins_at FROM sample_chunk WHERE target_id = $1 LIMIT $2)";
    tx.execute(sql, &[target_id.into(), limit.into()]).await
}

fn from_row(row: &Row) -> Result<Chunk, Error> {
    let count = u32::try_from(row.int("sample_count")?);
    Ok(Chunk {
        target_id: row.text("target_id")?,
        resolution_ms: row.int("resolution_ms")?,
        begins_at: row.time("begins_at")?,
        ends_at: row.time("ends_at")?,
        sample_count: count.map_err(|_| Error::corrupt("sample_count", "not a count"))?,
        is_open: row.truth("is_open")?,
        data: row.blob("data")?,
    })
}
