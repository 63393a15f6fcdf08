//! Removes what has become too old, a little at a time.
//!
//! Each step is a transaction of its own of at most [`BATCH`] rows, so writers wait for milliseconds at
//! most; a run has a bound too, and what is left goes with the next. Removing audit rows is itself audited.

use std::time::Duration;

use jiff::Timestamp;
use pegel_core::access::decision::PrincipalKind;
use serde_json::json;
use uuid::Uuid;

use crate::audit::{self, Entry};
use crate::change;
use crate::db::Db;
use crate::error::Error;
use crate::tx::{BoxFuture, Tx};
use crate::{blackouts, deliveries, incidents, outbox, pings, quiet_times};

/// The most rows one transaction removes.
pub const BATCH: u32 = 500;

/// The most transactions one run makes for one table.
pub const MAX_BATCHES: u32 = 200;

/// How long things are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Ended sessions, from their end on.
    pub sessions: Duration,
    /// Ended access tokens, from their end on.
    pub api_tokens: Duration,
    /// Failed attempts to sign in, from the last one on, and never before their lock is over.
    pub login_throttle: Duration,
    /// Changes.
    pub changes: Duration,
    /// The most changes, whatever their age.
    pub max_changes: i64,
    /// Pings of heartbeats.
    pub heartbeat_pings: Duration,
    /// Notices, from their end on, and never while their incident is open; also each attempt to send them.
    pub outbox: Duration,
    /// Silences and maintenances, from their end on.
    pub quiet_times: Duration,
    /// Incidents, from their end on; also the times in which nobody was watching.
    pub incidents: Duration,
    /// Audit rows; `None` for ever.
    pub audit: Option<Duration>,
}

impl Default for Policy {
    /// Sessions 30 days, tokens a year, attempts a day, changes 3 days or 100,000, pings and notices 30 days,
    /// quiet times 90 days, incidents 400 days, audit rows for ever.
    fn default() -> Self {
        let days = |count: u64| Duration::from_secs(count * 24 * 3_600);
        Self {
            sessions: days(30),
            api_tokens: days(365),
            login_throttle: days(1),
            changes: days(3),
            max_changes: 100_000,
            heartbeat_pings: days(30),
            outbox: days(30),
            quiet_times: days(90),
            incidents: days(400),
            audit: None,
        }
    }
}

/// How many rows a run removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Sessions.
    pub session_count: u64,
    /// Access tokens.
    pub api_token_count: u64,
    /// Subjects of failed attempts.
    pub login_throttle_count: u64,
    /// Changes.
    pub change_count: u64,
    /// Pings of heartbeats.
    pub heartbeat_ping_count: u64,
    /// Notices.
    pub outbox_count: u64,
    /// Attempts to send notices.
    pub delivery_attempt_count: u64,
    /// Times in which nobody was watching.
    pub blackout_count: u64,
    /// Silences and maintenances.
    pub quiet_time_count: u64,
    /// Incidents.
    pub incident_count: u64,
    /// Audit rows.
    pub audit_count: u64,
}

/// Removes what is too old by the store's clock. Dropping the future stops after the batch that is running.
///
/// # Errors
/// As [`Db::write`]; what was removed before stays removed.
pub async fn run(db: &Db, policy: &Policy) -> Result<Report, Error> {
    let now = db.clock().now();
    let before = |kept: Duration| now.checked_sub(kept).unwrap_or(Timestamp::MIN);
    let (sessions, tokens, throttle) =
        (before(policy.sessions), before(policy.api_tokens), before(policy.login_throttle));
    let (changes, max_changes) = (before(policy.changes), policy.max_changes);
    let (pings, outbox) = (before(policy.heartbeat_pings), before(policy.outbox));
    let (quiet_times, incidents) = (before(policy.quiet_times), before(policy.incidents));
    let mut report = Report {
        session_count: batches(db, move |tx| Box::pin(remove_sessions(tx, sessions))).await?,
        api_token_count: batches(db, move |tx| Box::pin(remove_tokens(tx, tokens))).await?,
        login_throttle_count: batches(db, move |tx| Box::pin(remove_throttles(tx, throttle))).await?,
        change_count: batches(db, move |tx| Box::pin(change::trim(tx, changes, max_changes, BATCH))).await?,
        heartbeat_ping_count: batches(db, move |tx| Box::pin(pings::trim(tx, pings, BATCH))).await?,
        outbox_count: batches(db, move |tx| Box::pin(outbox::trim(tx, outbox, BATCH))).await?,
        delivery_attempt_count: batches(db, move |tx| Box::pin(deliveries::trim(tx, outbox, BATCH))).await?,
        blackout_count: batches(db, move |tx| Box::pin(blackouts::trim(tx, incidents, BATCH))).await?,
        quiet_time_count: batches(db, move |tx| Box::pin(quiet_times::trim(tx, quiet_times, BATCH))).await?,
        incident_count: batches(db, move |tx| Box::pin(incidents::trim(tx, incidents, BATCH))).await?,
        audit_count: 0,
    };
    if let Some(kept) = policy.audit {
        let audited = before(kept);
        report.audit_count = batches(db, move |tx| Box::pin(audit::trim(tx, audited, BATCH))).await?;
        if report.audit_count > 0 {
            let entry = removal(report.audit_count, audited);
            db.write(move |tx| {
                let entry = entry.clone();
                Box::pin(async move { audit::append(tx, &entry).await })
            })
            .await?;
        }
    }
    Ok(report)
}

/// Runs one kind of batch until it removes less than a whole one.
async fn batches<F>(db: &Db, batch: F) -> Result<u64, Error>
where
    F: for<'t> Fn(&'t mut Tx<'_>) -> BoxFuture<'t, Result<u64, Error>> + Clone + Send + Sync + 'static,
{
    let mut total = 0;
    for _ in 0..MAX_BATCHES {
        let removed = db.write(batch.clone()).await?;
        total += removed;
        if removed < u64::from(BATCH) {
            break;
        }
    }
    Ok(total)
}

async fn remove_sessions(tx: &mut Tx<'_>, before: Timestamp) -> Result<u64, Error> {
    let sql = "DELETE FROM session WHERE id IN (SELECT id FROM session
               WHERE expires_at < $1 OR revoked_at < $1 ORDER BY id LIMIT $2)";
    tx.execute(sql, &[before.into(), BATCH.into()]).await
}

async fn remove_tokens(tx: &mut Tx<'_>, before: Timestamp) -> Result<u64, Error> {
    let sql = "DELETE FROM api_token WHERE id IN (SELECT id FROM api_token
               WHERE expires_at < $1 OR revoked_at < $1 ORDER BY id LIMIT $2)";
    tx.execute(sql, &[before.into(), BATCH.into()]).await
}

async fn remove_throttles(tx: &mut Tx<'_>, before: Timestamp) -> Result<u64, Error> {
    let sql = "DELETE FROM login_throttle WHERE (kind, subject) IN (SELECT kind, subject FROM login_throttle
               WHERE last_failure_at < $1 AND (locked_until IS NULL OR locked_until < $2)
               ORDER BY last_failure_at LIMIT $3)";
    tx.execute(sql, &[before.into(), tx.now().into(), BATCH.into()]).await
}

fn removal(count: u64, before: Timestamp) -> Entry {
    Entry {
        request_id: String::new(),
        principal_kind: PrincipalKind::System,
        principal_id: Uuid::nil().to_string(),
        principal_name: "retention".to_owned(),
        action: "audit.trim".to_owned(),
        target: audit::RESOURCE_KEY.to_owned(),
        outcome: "ok".to_owned(),
        detail: json!({ "row_count": count, "older_than": before.to_string() }),
    }
}
