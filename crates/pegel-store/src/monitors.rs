//! Monitors as people write them, and the state that their samples lead to.
//!
//! The state is a row of its own: it changes with every sample, and only the instance that holds the
//! monitor's lease changes it. What a step causes is to be kept in the same transaction
//! ([`crate::incidents`], [`crate::outbox`]).

use jiff::Timestamp;
use pegel_core::ids::ClusterSlug;
use pegel_core::monitor::kind::MonitorKind;
use pegel_core::monitor::labels::Labels;
use pegel_core::monitor::{heartbeat, verdict};
use serde_json::Value as Json;
use uuid::Uuid;

use crate::error::Error;
use crate::random;
use crate::tx::Tx;
use crate::value::{Row, Value};

/// The most monitors one call lists.
pub const MAX_PAGE: u32 = 1_000;

/// The most monitors one instance holds.
pub const MAX_HELD: u32 = 20_000;

/// The longest target, in bytes of JSON.
pub const MAX_TARGET_BYTES: usize = 64 * 1024;

const BY_ID: &str = "SELECT id, cluster_slug, name, kind, target, rule, heartbeat_rule, labels, created_at,
    updated_at, version FROM monitor WHERE id = $1";
const PAGE: &str = "SELECT id, cluster_slug, name, kind, target, rule, heartbeat_rule, labels, created_at,
    updated_at, version FROM monitor WHERE id > $1 ORDER BY id LIMIT $2";

/// What can be said about a monitor and changed later.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The name shown, 1 to 256 characters.
    pub name: String,
    /// What it looks at and how, without secrets, up to 64 KiB.
    pub target: Json,
    /// How samples are judged.
    pub rule: verdict::Rule,
    /// What a heartbeat promises; `None` for other kinds.
    pub heartbeat_rule: Option<heartbeat::Rule>,
    /// Its labels.
    pub labels: Labels,
}

/// A monitor.
#[derive(Debug, Clone, PartialEq)]
pub struct Monitor {
    /// Its id.
    pub id: Uuid,
    /// The cluster it belongs to, with which it goes; `None` for one of its own.
    pub cluster: Option<ClusterSlug>,
    /// What it looks at.
    pub kind: MonitorKind,
    /// What can be changed.
    pub settings: Settings,
    /// When made.
    pub created_at: Timestamp,
    /// When last changed.
    pub updated_at: Timestamp,
    /// Grows with each change. A sample taken under an older version is not to be judged.
    pub version: i64,
}

/// What is known about a monitor.
#[derive(Debug, Clone, PartialEq)]
pub struct MonitorState {
    /// Which one.
    pub monitor_id: Uuid,
    /// What its samples say.
    pub verdict: verdict::State,
    /// What its pings say; `None` for other kinds.
    pub heartbeat: Option<heartbeat::State>,
    /// Grows with each change.
    pub revision: i64,
    /// When it has to be looked at if nothing happens before.
    pub wake_at: Option<Timestamp>,
    /// The number of the last blackout that it has been told of.
    pub blackout_seq: i64,
    /// What its last sample saw.
    pub evidence: Option<Json>,
}

/// Returns the key under which a monitor's changes are announced; its secrets have it as their owner.
pub fn resource_key(id: Uuid) -> String {
    format!("monitor/{id}")
}

/// Makes a monitor, and its state as of now.
///
/// # Errors
/// `integrity_violation` if there is no such cluster, `too_large`.
pub async fn create(
    tx: &mut Tx<'_>,
    cluster: Option<&ClusterSlug>,
    kind: MonitorKind,
    settings: &Settings,
) -> Result<Monitor, Error> {
    let sql = "INSERT INTO monitor (id, cluster_slug, name, kind, target, rule, heartbeat_rule, labels,
               created_at, updated_at, version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, 1)";
    let id = random::new_id(tx.now())?;
    let values = [
        id.into(),
        cluster.map(ClusterSlug::as_str).into(),
        settings.name.as_str().into(),
        kind.as_str().into(),
        target_value(settings)?,
        Value::json(&settings.rule)?,
        optional_json(settings.heartbeat_rule.as_ref())?,
        Value::json(&settings.labels)?,
        tx.now().into(),
    ];
    tx.execute(sql, &values).await?;
    let verdict = verdict::State::new(tx.now());
    let heartbeat = settings.heartbeat_rule.as_ref().map(|_| heartbeat::State::default());
    let wake_at = verdict.wake_at(&settings.rule);
    let sql = "INSERT INTO monitor_state (monitor_id, verdict, heartbeat, revision, changed_at, wake_at)
               VALUES ($1, $2, $3, 1, $4, $5)";
    let values = [
        id.into(),
        Value::json(&verdict)?,
        optional_json(heartbeat.as_ref())?,
        tx.now().into(),
        wake_at.into(),
    ];
    tx.execute(sql, &values).await?;
    tx.announce_version(resource_key(id), 1);
    get(tx, id).await
}

/// Returns a monitor.
///
/// # Errors
/// `not_found`.
pub async fn get(tx: &mut Tx<'_>, id: Uuid) -> Result<Monitor, Error> {
    let row = tx.fetch_optional(BY_ID, &[id.into()]).await?;
    from_row(&row.ok_or_else(|| Error::not_found("monitor", id))?)
}

/// Returns monitors in the order in which they were made, after `after`, at most `limit` (up to 1,000).
///
/// # Errors
/// As any statement.
pub async fn list(tx: &mut Tx<'_>, after: Option<Uuid>, limit: u32) -> Result<Vec<Monitor>, Error> {
    let after = after.map(|id| id.to_string()).unwrap_or_default();
    let rows = tx.fetch_all(PAGE, &[after.into(), limit.clamp(1, MAX_PAGE).into()]).await?;
    rows.iter().map(from_row).collect()
}

/// Changes a monitor's settings if nobody has changed it since `version`; returns the new version.
///
/// # Errors
/// `conflict` if someone has, `not_found`, `too_large`.
pub async fn update(tx: &mut Tx<'_>, id: Uuid, version: i64, settings: &Settings) -> Result<i64, Error> {
    let sql = "UPDATE monitor SET name = $3, target = $4, rule = $5, heartbeat_rule = $6, labels = $7,
               updated_at = $8, version = version + 1 WHERE id = $1 AND version = $2";
    let values = [
        id.into(),
        version.into(),
        settings.name.as_str().into(),
        target_value(settings)?,
        Value::json(&settings.rule)?,
        optional_json(settings.heartbeat_rule.as_ref())?,
        Value::json(&settings.labels)?,
        tx.now().into(),
    ];
    if tx.execute(sql, &values).await? == 0 {
        get(tx, id).await?;
        return Err(Error::conflict("monitor", id));
    }
    tx.announce_version(resource_key(id), version + 1);
    Ok(version + 1)
}

/// Removes a monitor with its state, pings and secrets if nobody has changed it since `version`.
///
/// What fires is to be closed before, in the same transaction; incidents stay.
///
/// # Errors
/// `conflict` if someone has, `not_found`.
pub async fn delete(tx: &mut Tx<'_>, id: Uuid, version: i64) -> Result<(), Error> {
    let sql = "DELETE FROM monitor WHERE id = $1 AND version = $2";
    if tx.execute(sql, &[id.into(), version.into()]).await? == 0 {
        get(tx, id).await?;
        return Err(Error::conflict("monitor", id));
    }
    crate::secrets::remove_all(tx, &resource_key(id)).await?;
    tx.announce(resource_key(id));
    Ok(())
}

/// Returns what is known about a monitor.
///
/// # Errors
/// `not_found`.
pub async fn state(tx: &mut Tx<'_>, id: Uuid) -> Result<MonitorState, Error> {
    let sql = "SELECT monitor_id, verdict, heartbeat, revision, wake_at, blackout_seq, evidence
               FROM monitor_state WHERE monitor_id = $1";
    let row = tx.fetch_optional(sql, &[id.into()]).await?;
    state_from_row(&row.ok_or_else(|| Error::not_found("monitor", id))?)
}

/// Returns what is known about a monitor, and lets nobody else change it until the transaction ends.
///
/// # Errors
/// `not_found`.
pub async fn state_to_change(tx: &mut Tx<'_>, id: Uuid) -> Result<MonitorState, Error> {
    // SQLite has one writer anyway; this is for PostgreSQL, where it takes the row.
    let sql = "UPDATE monitor_state SET revision = revision WHERE monitor_id = $1";
    tx.execute(sql, &[id.into()]).await?;
    state(tx, id).await
}

/// Tells whether an instance holds a monitor now.
///
/// # Errors
/// As any statement.
pub async fn is_held(tx: &mut Tx<'_>, id: Uuid, owner: &str) -> Result<bool, Error> {
    let sql = "SELECT count(*) AS n FROM monitor_state WHERE monitor_id = $1 AND lease_owner = $2
               AND lease_until > $3";
    Ok(tx.fetch_one(sql, &[id.into(), owner.into(), tx.now().into()]).await?.int("n")? > 0)
}

/// Keeps a new state if nobody has changed it since it was read. The revision grows by one.
///
/// Only changes that people see are announced, which is the caller's to say.
///
/// # Errors
/// `conflict` if someone has, `not_found`.
pub async fn put_state(tx: &mut Tx<'_>, state: &MonitorState, is_visible: bool) -> Result<(), Error> {
    let sql = "UPDATE monitor_state SET verdict = $3, heartbeat = $4, wake_at = $5, changed_at = $6,
               blackout_seq = $7, evidence = $8, revision = revision + 1 WHERE monitor_id = $1 AND revision = $2";
    let values = [
        state.monitor_id.into(),
        state.revision.into(),
        Value::json(&state.verdict)?,
        optional_json(state.heartbeat.as_ref())?,
        state.wake_at.into(),
        tx.now().into(),
        state.blackout_seq.into(),
        optional_json(state.evidence.as_ref())?,
    ];
    if tx.execute(sql, &values).await? == 0 {
        self::state(tx, state.monitor_id).await?;
        return Err(Error::conflict("the state of monitor", state.monitor_id));
    }
    if is_visible {
        tx.announce(resource_key(state.monitor_id));
    }
    Ok(())
}

/// Returns the monitors an instance holds that have to be looked at by now, the longest due first, at most
/// `limit` (up to 20,000).
///
/// # Errors
/// As any statement.
pub async fn due(tx: &mut Tx<'_>, owner: &str, limit: u32) -> Result<Vec<Uuid>, Error> {
    let sql = "SELECT monitor_id FROM monitor_state WHERE wake_at <= $1 AND lease_owner = $2
               ORDER BY wake_at, monitor_id LIMIT $3";
    let values = [tx.now().into(), owner.into(), limit.clamp(1, MAX_HELD).into()];
    let rows = tx.fetch_all(sql, &values).await?;
    rows.iter().map(|row| row.parsed("monitor_id")).collect()
}

/// Returns when the next of the monitors an instance holds has to be looked at; `None` if none has.
///
/// # Errors
/// As any statement.
pub async fn next_wake(tx: &mut Tx<'_>, owner: &str) -> Result<Option<Timestamp>, Error> {
    let sql = "SELECT min(wake_at) AS wake_at FROM monitor_state WHERE lease_owner = $1";
    tx.fetch_one(sql, &[owner.into()]).await?.optional_time("wake_at")
}

/// Claims monitors that nobody holds, or holds no longer, for an instance until a time; renews those it
/// holds. Returns all that it holds now, at most `limit` (up to 20,000).
///
/// # Errors
/// As any statement.
pub async fn claim(tx: &mut Tx<'_>, owner: &str, until: Timestamp, limit: u32) -> Result<Vec<Uuid>, Error> {
    let limit = limit.clamp(1, MAX_HELD);
    let renew = "UPDATE monitor_state SET lease_until = $2 WHERE lease_owner = $1";
    let held = tx.execute(renew, &[owner.into(), until.into()]).await?;
    let free = u64::from(limit).saturating_sub(held);
    // Said twice, since another instance may have been faster between reading and taking.
    let take = "UPDATE monitor_state SET lease_owner = $1, lease_until = $2
                WHERE (lease_owner IS NULL OR lease_until <= $3) AND monitor_id IN
                (SELECT monitor_id FROM monitor_state WHERE lease_owner IS NULL OR lease_until <= $3
                 ORDER BY monitor_id LIMIT $4)";
    if free > 0 {
        let free = i64::try_from(free).unwrap_or(i64::MAX);
        tx.execute(take, &[owner.into(), until.into(), tx.now().into(), free.into()]).await?;
    }
    let all = "SELECT monitor_id FROM monitor_state WHERE lease_owner = $1 ORDER BY monitor_id LIMIT $2";
    let rows = tx.fetch_all(all, &[owner.into(), limit.into()]).await?;
    rows.iter().map(|row| row.parsed("monitor_id")).collect()
}

/// Gives back all that an instance holds, so that others need not wait.
///
/// # Errors
/// As any statement.
pub async fn release(tx: &mut Tx<'_>, owner: &str) -> Result<u64, Error> {
    let sql = "UPDATE monitor_state SET lease_owner = NULL, lease_until = NULL WHERE lease_owner = $1";
    tx.execute(sql, &[owner.into()]).await
}

fn target_value(settings: &Settings) -> Result<Value, Error> {
    match Value::json(&settings.target)? {
        Value::Text(text) if text.len() > MAX_TARGET_BYTES => {
            Err(Error::TooLarge { what: "the size of a monitor's target in bytes", limit: MAX_TARGET_BYTES })
        }
        value => Ok(value),
    }
}

fn optional_json<T: serde::Serialize>(value: Option<&T>) -> Result<Value, Error> {
    value.map_or(Ok(Value::Null), Value::json)
}

fn from_row(row: &Row) -> Result<Monitor, Error> {
    Ok(Monitor {
        id: row.parsed("id")?,
        cluster: row.optional_parsed("cluster_slug")?,
        kind: row.parsed("kind")?,
        settings: Settings {
            name: row.text("name")?,
            target: row.json("target")?,
            rule: row.json("rule")?,
            heartbeat_rule: row.optional_json("heartbeat_rule")?,
            labels: row.json("labels")?,
        },
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        version: row.int("version")?,
    })
}

fn state_from_row(row: &Row) -> Result<MonitorState, Error> {
    Ok(MonitorState {
        monitor_id: row.parsed("monitor_id")?,
        verdict: row.json("verdict")?,
        heartbeat: row.optional_json("heartbeat")?,
        revision: row.int("revision")?,
        wake_at: row.optional_time("wake_at")?,
        blackout_seq: row.int("blackout_seq")?,
        evidence: row.optional_json("evidence")?,
    })
}
