//! Incidents and what happened in each, in the order in which it did.
//!
//! An incident has the id of its firing. It outlives its monitor.

use jiff::Timestamp;
use pegel_core::monitor::labels::Labels;
use pegel_core::monitor::severity::Severity;
use pegel_core::monitor::verdict::{Cause, Ending, Firing, FiringId};
use serde_json::Value as Json;
use uuid::Uuid;

use crate::error::Error;
use crate::monitors::Monitor;
use crate::random;
use crate::tx::Tx;
use crate::value::{Row, Value};

/// The most incidents or events one call lists.
pub const MAX_PAGE: u32 = 1_000;

/// The most events of one incident; what comes after them is only in the log.
pub const MAX_EVENTS: i64 = 10_000;

/// The longest detail of an event, in bytes of JSON.
pub const MAX_DETAIL_BYTES: usize = 64 * 1024;

const BY_ID: &str =
    "SELECT id, monitor_id, cluster_slug, monitor_name, labels, cause, severity, since, fired_at,
    announced_at, acknowledged_at, ended_at, closed_at, ending, version FROM incident WHERE id = $1";
const PAGE: &str =
    "SELECT id, monitor_id, cluster_slug, monitor_name, labels, cause, severity, since, fired_at,
    announced_at, acknowledged_at, ended_at, closed_at, ending, version FROM incident
    WHERE id < $1 AND ($2 = 0 OR closed_at IS NULL) ORDER BY id DESC LIMIT $3";

/// An incident.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incident {
    /// The id of its firing.
    pub id: FiringId,
    /// The monitor that fired, which may be gone.
    pub monitor_id: Uuid,
    /// The monitor's cluster.
    pub cluster_slug: Option<String>,
    /// The monitor's name at that time.
    pub monitor_name: String,
    /// The monitor's labels at that time.
    pub labels: Labels,
    /// Why it fired.
    pub cause: Cause,
    /// How bad it is.
    pub severity: Severity,
    /// Since when it was so.
    pub since: Timestamp,
    /// When that was certain.
    pub fired_at: Timestamp,
    /// When people were told.
    pub announced_at: Option<Timestamp>,
    /// When somebody took it on.
    pub acknowledged_at: Option<Timestamp>,
    /// Since when it is over.
    pub ended_at: Option<Timestamp>,
    /// When that was certain.
    pub closed_at: Option<Timestamp>,
    /// Why it is over.
    pub ending: Option<Ending>,
    /// Grows with each change.
    pub version: i64,
}

/// Something that happened in an incident.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its id; sorts by time.
    pub id: Uuid,
    /// When.
    pub happened_at: Timestamp,
    /// What, such as `opened` or `delivered`.
    pub kind: String,
    /// Who did it; empty for Pegel itself.
    pub actor: String,
    /// What else there is to say.
    pub detail: Json,
}

/// Returns the key under which an incident's changes are announced.
pub fn resource_key(id: FiringId) -> String {
    format!("incident/{}", id.0)
}

/// Opens an incident.
///
/// # Errors
/// `integrity_violation` if there is one with this id.
pub async fn open(tx: &mut Tx<'_>, monitor: &Monitor, firing: &Firing) -> Result<(), Error> {
    let sql =
        "INSERT INTO incident (id, monitor_id, cluster_slug, monitor_name, labels, cause, severity, since,
               fired_at, announced_at, version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 1)";
    let values = [
        firing.id.0.into(),
        monitor.id.into(),
        monitor.cluster.as_ref().map(|slug| slug.as_str().to_owned()).into(),
        monitor.settings.name.as_str().into(),
        Value::json(&monitor.settings.labels)?,
        cause_text(firing.cause).into(),
        firing.severity.as_str().into(),
        firing.since.into(),
        firing.fired_at.into(),
        firing.announced_at.into(),
    ];
    tx.execute(sql, &values).await?;
    tx.announce_version(resource_key(firing.id), 1);
    Ok(())
}

/// Returns an incident, if there is one, and lets nobody else change it until the transaction ends.
///
/// # Errors
/// As any statement.
pub async fn get_to_change(tx: &mut Tx<'_>, id: FiringId) -> Result<Option<Incident>, Error> {
    // SQLite has one writer anyway; this is for PostgreSQL, where it takes the row.
    let sql = "UPDATE incident SET version = version WHERE id = $1";
    if tx.execute(sql, &[id.0.into()]).await? == 0 {
        return Ok(None);
    }
    get(tx, id).await.map(Some)
}

/// Notes that people were told of an incident, or that somebody has taken it on.
///
/// # Errors
/// `not_found`.
pub async fn mark(tx: &mut Tx<'_>, firing: &Firing) -> Result<(), Error> {
    let sql =
        "UPDATE incident SET announced_at = $2, acknowledged_at = $3, version = version + 1 WHERE id = $1";
    let values = [firing.id.0.into(), firing.announced_at.into(), firing.acknowledged_at.into()];
    changed(tx, sql, &values, firing.id).await
}

/// Closes an incident; one that is closed stays as it was.
///
/// # Errors
/// `not_found`.
pub async fn close(
    tx: &mut Tx<'_>,
    firing: &Firing,
    ended_at: Timestamp,
    ending: Ending,
) -> Result<(), Error> {
    let sql = "UPDATE incident SET announced_at = $2, acknowledged_at = $3, ended_at = $4, closed_at = $5,
               ending = $6, version = version + 1 WHERE id = $1 AND closed_at IS NULL";
    let values = [
        firing.id.0.into(),
        firing.announced_at.into(),
        firing.acknowledged_at.into(),
        ended_at.into(),
        tx.now().into(),
        ending_text(ending).into(),
    ];
    if tx.execute(sql, &values).await? == 0 {
        get(tx, firing.id).await?;
    } else {
        tx.announce(resource_key(firing.id));
    }
    Ok(())
}

async fn changed(tx: &mut Tx<'_>, sql: &'static str, values: &[Value], id: FiringId) -> Result<(), Error> {
    if tx.execute(sql, values).await? == 0 {
        return Err(Error::not_found("incident", id.0));
    }
    tx.announce(resource_key(id));
    Ok(())
}

/// Returns an incident.
///
/// # Errors
/// `not_found`.
pub async fn get(tx: &mut Tx<'_>, id: FiringId) -> Result<Incident, Error> {
    let row = tx.fetch_optional(BY_ID, &[id.0.into()]).await?;
    from_row(&row.ok_or_else(|| Error::not_found("incident", id.0))?)
}

/// Returns incidents, the newest first, before `before`, at most `limit` (up to 1,000).
///
/// # Errors
/// As any statement.
pub async fn list(
    tx: &mut Tx<'_>,
    before: Option<FiringId>,
    only_open: bool,
    limit: u32,
) -> Result<Vec<Incident>, Error> {
    let before = before.map_or(Uuid::max(), |id| id.0);
    let rows =
        tx.fetch_all(PAGE, &[before.into(), only_open.into(), limit.clamp(1, MAX_PAGE).into()]).await?;
    rows.iter().map(from_row).collect()
}

/// Notes what happened in an incident; beyond 10,000 events nothing.
///
/// # Errors
/// `integrity_violation` if there is no such incident, `too_large`.
pub async fn note(
    tx: &mut Tx<'_>,
    id: FiringId,
    kind: &str,
    actor: &str,
    detail: &Json,
) -> Result<(), Error> {
    let detail = match Value::json(detail)? {
        Value::Text(text) if text.len() > MAX_DETAIL_BYTES => {
            return Err(Error::TooLarge { what: "the size of an event in bytes", limit: MAX_DETAIL_BYTES });
        }
        value => value,
    };
    let before = "SELECT count(*) AS n, max(id) AS last FROM incident_event WHERE incident_id = $1";
    let before = tx.fetch_one(before, &[id.0.into()]).await?;
    if before.int("n")? >= MAX_EVENTS {
        return Ok(());
    }
    let sql = "INSERT INTO incident_event (id, incident_id, happened_at, kind, actor, detail)
               VALUES ($1, $2, $3, $4, $5, $6)";
    // Behind what happened before, also within one millisecond and after the clock went back.
    let event_id = random::new_id_after(tx.now(), before.optional_parsed("last")?)?;
    let values = [event_id.into(), id.0.into(), tx.now().into(), kind.into(), actor.into(), detail];
    tx.execute(sql, &values).await?;
    tx.announce(resource_key(id));
    Ok(())
}

/// Returns what happened in an incident, oldest first, after `after`, at most `limit` (up to 1,000).
///
/// # Errors
/// As any statement.
pub async fn timeline(
    tx: &mut Tx<'_>,
    id: FiringId,
    after: Option<Uuid>,
    limit: u32,
) -> Result<Vec<Event>, Error> {
    let sql = "SELECT id, happened_at, kind, actor, detail FROM incident_event
               WHERE incident_id = $1 AND id > $2 ORDER BY id LIMIT $3";
    let after = after.map(|id| id.to_string()).unwrap_or_default();
    let rows = tx.fetch_all(sql, &[id.0.into(), after.into(), limit.clamp(1, MAX_PAGE).into()]).await?;
    let event = |row: &Row| {
        Ok(Event {
            id: row.parsed("id")?,
            happened_at: row.time("happened_at")?,
            kind: row.text("kind")?,
            actor: row.text("actor")?,
            detail: row.json("detail")?,
        })
    };
    rows.iter().map(event).collect()
}

/// Removes incidents, with what happened in them, that were closed before a time, at most `limit`.
///
/// # Errors
/// As any statement.
pub async fn trim(tx: &mut Tx<'_>, before: Timestamp, limit: u32) -> Result<u64, Error> {
    let sql = "DELETE FROM incident WHERE id IN
               (SELECT id FROM incident WHERE closed_at < $1 ORDER BY closed_at LIMIT $2)";
    tx.execute(sql, &[before.into(), limit.into()]).await
}

fn from_row(row: &Row) -> Result<Incident, Error> {
    Ok(Incident {
        id: FiringId(row.parsed("id")?),
        monitor_id: row.parsed("monitor_id")?,
        cluster_slug: row.optional_text("cluster_slug")?,
        monitor_name: row.text("monitor_name")?,
        labels: row.json("labels")?,
        cause: cause_of(&row.text("cause")?)?,
        severity: row.parsed("severity")?,
        since: row.time("since")?,
        fired_at: row.time("fired_at")?,
        announced_at: row.optional_time("announced_at")?,
        acknowledged_at: row.optional_time("acknowledged_at")?,
        ended_at: row.optional_time("ended_at")?,
        closed_at: row.optional_time("closed_at")?,
        ending: row.optional_text("ending")?.map(|text| ending_of(&text)).transpose()?,
        version: row.int("version")?,
    })
}

const CAUSES: [(Cause, &str); 2] = [(Cause::Bad, "bad"), (Cause::NoData, "no_data")];

const ENDINGS: [(Ending, &str); 4] = [
    (Ending::Recovered, "recovered"),
    (Ending::DataBack, "data_back"),
    (Ending::Paused, "paused"),
    (Ending::Deleted, "deleted"),
];

fn cause_text(cause: Cause) -> &'static str {
    CAUSES.iter().find(|(known, _)| *known == cause).map_or("bad", |(_, text)| text)
}

fn cause_of(text: &str) -> Result<Cause, Error> {
    let known = CAUSES.iter().find(|(_, known)| *known == text);
    known.map(|(cause, _)| *cause).ok_or_else(|| Error::corrupt("cause", "not a cause"))
}

fn ending_text(ending: Ending) -> &'static str {
    ENDINGS.iter().find(|(known, _)| *known == ending).map_or("recovered", |(_, text)| text)
}

fn ending_of(text: &str) -> Result<Ending, Error> {
    let known = ENDINGS.iter().find(|(_, known)| *known == text);
    known.map(|(ending, _)| *ending).ok_or_else(|| Error::corrupt("ending", "not an ending"))
}
