//! Heartbeats' keys and the pings that came under them.
//!
//! A key is kept as its hash only, and looked up by it, so that how long that takes says nothing of the key.

use jiff::Timestamp;
use pegel_core::monitor::heartbeat::{Kind, Ping};
use uuid::Uuid;

use crate::error::Error;
use crate::monitors;
use crate::tx::Tx;
use crate::value::Row;

/// The most pings one call lists.
pub const MAX_PAGE: u32 = 1_000;

/// How much of a ping's body is kept, in bytes.
pub const MAX_BODY_BYTES: usize = 10 * 1024;

/// The most keys of one heartbeat: the one in use, and those that are being replaced.
pub const MAX_KEYS: i64 = 10;

/// A ping as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// What it says.
    pub ping: Ping,
    /// From where, up to 64 characters.
    pub remote: String,
    /// Its body, of which the beginning is kept.
    pub body: Vec<u8>,
}

/// A ping that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its id; sorts by time.
    pub id: Uuid,
    /// When it came.
    pub received_at: Timestamp,
    /// What came; the body may be cut.
    pub received: Received,
    /// How long the body was, in bytes.
    pub body_bytes: i64,
}

/// Gives a heartbeat a key, by the hash of it.
///
/// # Errors
/// `conflict` if the key is in use, `too_large` if the heartbeat has ten, `integrity_violation` if there is no
/// such monitor.
pub async fn add_key(tx: &mut Tx<'_>, monitor_id: Uuid, key_hash: [u8; 32]) -> Result<(), Error> {
    let count = "SELECT count(*) AS n FROM heartbeat_key WHERE monitor_id = $1";
    if tx.fetch_one(count, &[monitor_id.into()]).await?.int("n")? >= MAX_KEYS {
        return Err(Error::TooLarge { what: "the count of a heartbeat's keys", limit: 10 });
    }
    let sql = "INSERT INTO heartbeat_key (key_hash, monitor_id, created_at) VALUES ($1, $2, $3)
               ON CONFLICT DO NOTHING";
    if tx.execute(sql, &[key_hash.as_slice().into(), monitor_id.into(), tx.now().into()]).await? == 0 {
        return Err(Error::conflict("key of heartbeat", monitor_id));
    }
    tx.announce(monitors::resource_key(monitor_id));
    Ok(())
}

/// Takes all keys of a heartbeat that are not the given one.
///
/// # Errors
/// As any statement.
pub async fn remove_other_keys(tx: &mut Tx<'_>, monitor_id: Uuid, kept: [u8; 32]) -> Result<u64, Error> {
    let sql = "DELETE FROM heartbeat_key WHERE monitor_id = $1 AND key_hash <> $2";
    let removed = tx.execute(sql, &[monitor_id.into(), kept.as_slice().into()]).await?;
    if removed > 0 {
        tx.announce(monitors::resource_key(monitor_id));
    }
    Ok(removed)
}

/// Returns the heartbeat that a key belongs to, by the hash of it.
///
/// # Errors
/// As any statement.
pub async fn find_by_key(tx: &mut Tx<'_>, key_hash: [u8; 32]) -> Result<Option<Uuid>, Error> {
    let sql = "SELECT monitor_id FROM heartbeat_key WHERE key_hash = $1";
    let row = tx.fetch_optional(sql, &[key_hash.as_slice().into()]).await?;
    row.map(|row| row.parsed("monitor_id")).transpose()
}

/// Keeps a ping that came at a time. What it leads to is kept in the same transaction, and only then is it
/// answered. Returns whether it is new: one with this id that is there already changes nothing.
///
/// # Errors
/// `integrity_violation` if there is no such monitor.
pub async fn append(
    tx: &mut Tx<'_>,
    id: Uuid,
    monitor_id: Uuid,
    received: &Received,
    received_at: Timestamp,
) -> Result<bool, Error> {
    let sql =
        "INSERT INTO heartbeat_ping (id, monitor_id, received_at, kind, exit_code, run_id, source_id, remote,
               body, body_bytes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (id) DO NOTHING";
    let (kind, exit_code) = match received.ping.kind {
        Kind::Ok => ("ok", None),
        Kind::Fail => ("fail", None),
        Kind::Exit(code) => ("exit", Some(code)),
        Kind::Start => ("start", None),
        Kind::Log => ("log", None),
    };
    let remote: String = received.remote.chars().take(64).collect();
    let values = [
        id.into(),
        monitor_id.into(),
        received_at.into(),
        kind.into(),
        exit_code.into(),
        received.ping.run_id.clone().into(),
        received.ping.source_id.clone().into(),
        remote.into(),
        received.body.get(..MAX_BODY_BYTES).unwrap_or(&received.body).into(),
        i64::try_from(received.body.len()).unwrap_or(i64::MAX).into(),
    ];
    Ok(tx.execute(sql, &values).await? > 0)
}

/// Returns the hashes of all keys and whose they are, at most `limit` (up to 100,000).
///
/// # Errors
/// As any statement.
pub async fn all_keys(tx: &mut Tx<'_>, limit: u32) -> Result<Vec<(Vec<u8>, Uuid)>, Error> {
    let sql = "SELECT key_hash, monitor_id FROM heartbeat_key ORDER BY created_at DESC LIMIT $1";
    let rows = tx.fetch_all(sql, &[limit.clamp(1, 100_000).into()]).await?;
    rows.iter().map(|row| Ok((row.blob("key_hash")?, row.parsed("monitor_id")?))).collect()
}

/// Returns a heartbeat's pings, the newest first, before `before`, at most `limit` (up to 1,000).
///
/// # Errors
/// As any statement.
pub async fn list(
    tx: &mut Tx<'_>,
    monitor_id: Uuid,
    before: Option<Uuid>,
    limit: u32,
) -> Result<Vec<Stored>, Error> {
    let sql = "SELECT id, received_at, kind, exit_code, run_id, source_id, remote, body, body_bytes
               FROM heartbeat_ping WHERE monitor_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3";
    let before = before.unwrap_or(Uuid::max());
    let values = [monitor_id.into(), before.into(), limit.clamp(1, MAX_PAGE).into()];
    tx.fetch_all(sql, &values).await?.iter().map(from_row).collect()
}

/// Removes pings that came before a time, at most `limit`; returns how many.
///
/// # Errors
/// As any statement.
pub async fn trim(tx: &mut Tx<'_>, before: Timestamp, limit: u32) -> Result<u64, Error> {
    let sql = "DELETE FROM heartbeat_ping WHERE id IN
               (SELECT id FROM heartbeat_ping WHERE received_at < $1 ORDER BY received_at LIMIT $2)";
    tx.execute(sql, &[before.into(), limit.into()]).await
}

fn from_row(row: &Row) -> Result<Stored, Error> {
    let kind = match (row.text("kind")?.as_str(), row.optional_int("exit_code")?) {
        ("ok", _) => Kind::Ok,
        ("fail", _) => Kind::Fail,
        ("exit", Some(code)) => Kind::Exit(code),
        ("start", _) => Kind::Start,
        ("log", _) => Kind::Log,
        _ => return Err(Error::corrupt("kind", "not a kind of ping")),
    };
    let ping =
        Ping { kind, run_id: row.optional_text("run_id")?, source_id: row.optional_text("source_id")? };
    Ok(Stored {
        id: row.parsed("id")?,
        received_at: row.time("received_at")?,
        received: Received { ping, remote: row.text("remote")?, body: row.blob("body")? },
        body_bytes: row.int("body_bytes")?,
    })
}
