//! The audit log: who did what to what, with what outcome, as a chain nobody can change unseen.
//!
//! A row is appended in the transaction of what it tells of, so neither is kept without the other. Each
//! row holds the hash of the one before it; triggers refuse changes, and [`verify`] finds what was changed
//! behind their back. Old rows leave in whole prefixes, each replaced by an anchor the chain goes on from.
//! Details are stored as given: the caller has redacted them.

mod chain;
mod verify;

use jiff::Timestamp;
use pegel_core::access::decision::PrincipalKind;
use serde_json::Value as Json;

use crate::error::Error;
use crate::tx::Tx;
use crate::value::{Row, Value};

pub use chain::{CHAIN_START, Hash};
pub use verify::{Verification, verify};

/// The most rows one call returns.
pub const MAX_PAGE: u32 = 1_000;

/// The longest detail, in bytes of JSON.
pub const MAX_DETAIL_BYTES: usize = 16 * 1024;

/// The longest other text of a row, in bytes.
pub const MAX_TEXT_BYTES: usize = 1_024;

/// The key under which new rows are announced.
pub const RESOURCE_KEY: &str = "audit";

/// How many anchors are kept; only the newest is needed.
const KEPT_ANCHORS: u32 = 1_000;

/// What is to be remembered.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The request it belongs to.
    pub request_id: String,
    /// What kind of actor.
    pub principal_kind: PrincipalKind,
    /// The actor's id.
    pub principal_id: String,
    /// The actor's name at that time.
    pub principal_name: String,
    /// What was done, such as `tables.drop`.
    pub action: String,
    /// To what, such as `cluster/eu/table/sales.orders`.
    pub target: String,
    /// How it ended, such as `ok`.
    pub outcome: String,
    /// More about it, redacted, up to 16 KiB of JSON.
    pub detail: Json,
}

/// A row of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditRow {
    /// Its place; grows by one.
    pub seq: i64,
    /// When.
    pub at: Timestamp,
    /// What.
    pub entry: Entry,
    /// Its hash, over everything above and the hash of the row before.
    pub hash: Hash,
}

/// What a row became when it was appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sealed {
    /// Its place.
    pub seq: i64,
    /// Its hash.
    pub hash: Hash,
}

/// Which rows to list; `None` leaves all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Rows of this actor.
    pub principal_id: Option<String>,
    /// Rows of this action.
    pub action: Option<String>,
    /// Rows about this target, exactly.
    pub target: Option<String>,
    /// Rows not older.
    pub from: Option<Timestamp>,
    /// Rows older.
    pub until: Option<Timestamp>,
}

/// Appends a row in this transaction. Others who append wait until it has ended.
///
/// # Errors
/// `too_large`, or as any statement.
pub async fn append(tx: &mut Tx<'_>, entry: &Entry) -> Result<Sealed, Error> {
    let detail = match Value::json(&entry.detail)? {
        Value::Text(text) if text.len() <= MAX_DETAIL_BYTES => text,
        _ => {
            return Err(Error::TooLarge {
                what: "the size of an audit detail in bytes",
                limit: MAX_DETAIL_BYTES,
            });
        }
    };
    let texts = [
        &entry.request_id,
        &entry.principal_id,
        &entry.principal_name,
        &entry.action,
        &entry.target,
        &entry.outcome,
    ];
    // PostgreSQL has no text with a zero character, and the chain is the same on both databases.
    if texts.iter().any(|text| text.len() > MAX_TEXT_BYTES || text.contains('\0')) {
        return Err(Error::TooLarge { what: "the size of an audit text in bytes", limit: MAX_TEXT_BYTES });
    }
    let advance = "UPDATE audit_head SET seq = seq + 1 WHERE id = 1 RETURNING seq, hash";
    let head = tx.fetch_one(advance, &[]).await?;
    let (seq, prev_hash) = (head.int("seq")?, Hash(head.array("hash")?));
    let link = chain::Link {
        seq,
        at_ms: tx.now().as_millisecond(),
        request_id: &entry.request_id,
        principal_kind: entry.principal_kind.as_str(),
        principal_id: &entry.principal_id,
        principal_name: &entry.principal_name,
        action: &entry.action,
        target: &entry.target,
        outcome: &entry.outcome,
        detail: &detail,
        prev_hash,
    };
    let hash = link.hash();
    let insert =
        "INSERT INTO audit (seq, at, request_id, principal_kind, principal_id, principal_name, action,
                  target, outcome, detail, prev_hash, hash)
                  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    let values = [
        seq.into(),
        link.at_ms.into(),
        link.request_id.into(),
        link.principal_kind.into(),
        link.principal_id.into(),
        link.principal_name.into(),
        link.action.into(),
        link.target.into(),
        link.outcome.into(),
        link.detail.into(),
        prev_hash.into(),
        hash.into(),
    ];
    tx.execute(insert, &values).await?;
    tx.execute("UPDATE audit_head SET hash = $1 WHERE id = 1", &[hash.into()]).await?;
    tx.announce_version(RESOURCE_KEY, seq);
    Ok(Sealed { seq, hash })
}

/// Returns rows, the newest first, with a `seq` below `before`, at most `limit` (up to 1,000).
///
/// # Errors
/// As any statement.
pub async fn list(
    tx: &mut Tx<'_>,
    filter: &Filter,
    before: Option<i64>,
    limit: u32,
) -> Result<Vec<AuditRow>, Error> {
    let sql =
        "SELECT seq, at, request_id, principal_kind, principal_id, principal_name, action, target, outcome,
               detail, prev_hash, hash FROM audit WHERE seq < $1 AND (CAST($2 AS TEXT) IS NULL OR principal_id = $2)
               AND (CAST($3 AS TEXT) IS NULL OR action = $3) AND (CAST($4 AS TEXT) IS NULL OR target = $4) AND at >= $5 AND at < $6
               ORDER BY seq DESC LIMIT $7";
    let values = [
        before.unwrap_or(i64::MAX).into(),
        filter.principal_id.clone().into(),
        filter.action.clone().into(),
        filter.target.clone().into(),
        filter.from.map_or(i64::MIN, Timestamp::as_millisecond).into(),
        filter.until.map_or(i64::MAX, Timestamp::as_millisecond).into(),
        limit.clamp(1, MAX_PAGE).into(),
    ];
    tx.fetch_all(sql, &values).await?.iter().map(from_row).collect()
}

/// Replaces the oldest rows that are older than `before` by an anchor, at most `limit` of them.
///
/// Only a whole prefix goes: a row that is young enough keeps all that came after it. Returns how many went.
///
/// # Errors
/// As any statement.
pub(crate) async fn trim(tx: &mut Tx<'_>, before: Timestamp, limit: u32) -> Result<u64, Error> {
    let oldest = "SELECT seq, at, hash FROM audit ORDER BY seq LIMIT $1";
    let mut last: Option<(i64, Hash)> = None;
    let (mut count, mut first_at, mut last_at) = (0_i64, i64::MAX, i64::MIN);
    for row in tx.fetch_all(oldest, &[limit.into()]).await? {
        let at = row.int("at")?;
        if at >= before.as_millisecond() {
            break;
        }
        last = Some((row.int("seq")?, Hash(row.array("hash")?)));
        (count, first_at, last_at) = (count + 1, first_at.min(at), last_at.max(at));
    }
    let Some((through, hash)) = last else { return Ok(0) };
    let anchor = "INSERT INTO audit_anchor (through_seq, hash, row_count, first_at, last_at, anchored_at)
                  VALUES ($1, $2, $3, $4, $5, $6)";
    let values =
        [through.into(), hash.into(), count.into(), first_at.into(), last_at.into(), tx.now().into()];
    tx.execute(anchor, &values).await?;
    let removed = tx.execute("DELETE FROM audit WHERE seq <= $1", &[through.into()]).await?;
    let surplus = "DELETE FROM audit_anchor WHERE through_seq <
                   (SELECT MIN(through_seq) FROM (SELECT through_seq FROM audit_anchor
                    ORDER BY through_seq DESC LIMIT $1) AS kept)";
    tx.execute(surplus, &[KEPT_ANCHORS.into()]).await?;
    tx.announce(RESOURCE_KEY);
    Ok(removed)
}

fn from_row(row: &Row) -> Result<AuditRow, Error> {
    let kind = row.text("principal_kind")?;
    let kind = PrincipalKind::ALL.into_iter().find(|known| known.as_str() == kind);
    Ok(AuditRow {
        seq: row.int("seq")?,
        at: row.time("at")?,
        entry: Entry {
            request_id: row.text("request_id")?,
            principal_kind: kind.ok_or_else(|| Error::corrupt("principal_kind", "no such kind"))?,
            principal_id: row.text("principal_id")?,
            principal_name: row.text("principal_name")?,
            action: row.text("action")?,
            target: row.text("target")?,
            outcome: row.text("outcome")?,
            detail: row.json("detail")?,
        },
        hash: Hash(row.array("hash")?),
    })
}
