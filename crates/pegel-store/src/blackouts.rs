//! Stretches of time in which nobody was watching: not at all, or not over the network.

use jiff::Timestamp;
use pegel_core::monitor::span::Span;

use crate::error::Error;
use crate::tx::Tx;
use crate::value::Row;

/// The most one call returns.
pub const MAX_PAGE: u32 = 1_000;

/// What was not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// No instance was running.
    Own,
    /// Instances were running, but reached nothing.
    Egress,
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Egress => "egress",
        }
    }
}

/// A blackout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blackout {
    /// Its number; grows.
    pub seq: i64,
    /// What was not there.
    pub kind: Kind,
    /// When.
    pub span: Span,
}

/// The key under which blackouts are announced.
pub const RESOURCE_KEY: &str = "blackouts";

/// Keeps a blackout that is over; returns its number. [`crate::installation::id`] was called before.
///
/// # Errors
/// As any statement.
pub async fn append(tx: &mut Tx<'_>, kind: Kind, span: Span) -> Result<i64, Error> {
    let next = "UPDATE installation SET blackout_seq = blackout_seq + 1 WHERE id = 1 RETURNING blackout_seq";
    let seq = tx.fetch_one(next, &[]).await?.int("blackout_seq")?;
    let sql = "INSERT INTO blackout (seq, kind, begins_at, ends_at) VALUES ($1, $2, $3, $4)";
    tx.execute(sql, &[seq.into(), kind.as_str().into(), span.from.into(), span.to.into()]).await?;
    tx.announce(RESOURCE_KEY);
    Ok(seq)
}

/// Returns the blackouts after a number, oldest first, at most 1,000.
///
/// # Errors
/// As any statement.
pub async fn after(tx: &mut Tx<'_>, seq: i64) -> Result<Vec<Blackout>, Error> {
    let sql = "SELECT seq, kind, begins_at, ends_at FROM blackout WHERE seq > $1 ORDER BY seq LIMIT $2";
    tx.fetch_all(sql, &[seq.into(), MAX_PAGE.into()]).await?.iter().map(from_row).collect()
}

/// Returns the blackouts that touch a stretch of time, oldest first, at most 1,000.
///
/// # Errors
/// As any statement.
pub async fn within(tx: &mut Tx<'_>, span: Span) -> Result<Vec<Blackout>, Error> {
    let sql = "SELECT seq, kind, begins_at, ends_at FROM blackout WHERE begins_at < $2 AND ends_at > $1
               ORDER BY seq LIMIT $3";
    let values = [span.from.into(), span.to.into(), MAX_PAGE.into()];
    tx.fetch_all(sql, &values).await?.iter().map(from_row).collect()
}

/// Removes blackouts that were over before a time, at most `limit`; returns how many.
///
/// # Errors
/// As any statement.
pub async fn trim(tx: &mut Tx<'_>, before: Timestamp, limit: u32) -> Result<u64, Error> {
    let sql = "DELETE FROM blackout WHERE seq IN
               (SELECT seq FROM blackout WHERE ends_at < $1 ORDER BY ends_at LIMIT $2)";
    tx.execute(sql, &[before.into(), limit.into()]).await
}

fn from_row(row: &Row) -> Result<Blackout, Error> {
    let kind = match row.text("kind")?.as_str() {
        "own" => Kind::Own,
        "egress" => Kind::Egress,
        _ => return Err(Error::corrupt("kind", "not a kind of blackout")),
    };
    Ok(Blackout { seq: row.int("seq")?, kind, span: Span::new(row.time("begins_at")?, row.time("ends_at")?) })
}
