//! Notices on their way: queued in the transaction of what they tell, claimed by lease, sent in order.
//!
//! What may go out and what has become pointless is decided by `pegel_core::monitor::delivery`; here it is
//! kept. A lease that ran out means that nobody knows whether the notice arrived.

use jiff::Timestamp;
use pegel_core::monitor::delivery::ChannelKind;
use pegel_core::monitor::delivery::lane::{self, Attempt, Entry, Placing, Progress};
use pegel_core::monitor::verdict::{FiringId, Notice};
use serde_json::Value as Json;
use uuid::Uuid;

use crate::error::Error;
use crate::random;
use crate::tx::Tx;
use crate::value::{Row, Value};

/// The most notices one call claims: what one message may say in a storm.
pub const MAX_CLAIM: u32 = 1_000;

/// The most channels one call returns.
pub const MAX_CHANNELS: u32 = 1_000;

/// The most notices in one lane that are looked at; a lane has a trigger, a resolve and a few between.
pub const MAX_LANE: u32 = 1_000;

/// The longest payload, in bytes of JSON.
pub const MAX_PAYLOAD_BYTES: usize = 256 * 1024;

/// The longest error that is kept, in characters.
pub const MAX_ERROR_CHARS: usize = 1_000;

const LANE: &str = "SELECT id, notice, progress, may_have_arrived FROM outbox
    WHERE channel_id = $1 AND firing_id = $2 ORDER BY id LIMIT $3";

/// A notice to be queued.
#[derive(Debug, Clone, PartialEq)]
pub struct Queued {
    /// Over which channel.
    pub channel_id: Uuid,
    /// What that speaks.
    pub channel_kind: ChannelKind,
    /// Of which firing.
    pub firing_id: FiringId,
    /// Of which monitor.
    pub monitor_id: Uuid,
    /// The key under which it is sent, the same over all attempts.
    pub delivery_key: String,
    /// What it says.
    pub notice: Notice,
    /// Everything the channel's message is made of, so that no later edit changes it.
    pub payload: Json,
    /// What it may be merged with where people read it, such as the slug of a cluster, up to 128 characters.
    pub merge_group: String,
    /// Not before then.
    pub next_at: Timestamp,
}

/// A trigger that may have been sent, and with it what everything after it has to know.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    /// Over which channel.
    pub channel_id: Uuid,
    /// What that speaks.
    pub channel_kind: ChannelKind,
    /// Of which monitor.
    pub monitor_id: Uuid,
    /// The key under which it is sent.
    pub delivery_key: String,
    /// What the trigger's message was made of.
    pub payload: Json,
    /// What it may be merged with.
    pub merge_group: String,
}

/// A notice that was claimed.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    /// Its id, constant over attempts.
    pub id: Uuid,
    /// Over which channel.
    pub channel_id: Uuid,
    /// Of which firing.
    pub firing_id: FiringId,
    /// Of which monitor.
    pub monitor_id: Uuid,
    /// The key under which it is sent.
    pub delivery_key: String,
    /// What it says.
    pub notice: Notice,
    /// What the message is made of.
    pub payload: Json,
    /// The number of this attempt, from 1.
    pub attempt: u32,
    /// When it was queued.
    pub queued_at: Timestamp,
    /// What it may be merged with.
    pub merge_group: String,
}

/// What to keep of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub attempt: Attempt,
    /// When it is tried again, unless it has ended.
    pub next_at: Timestamp,
    /// What went wrong, without secrets.
    pub error: Option<String>,
}

/// Queues a notice, or does what its lane says instead; returns what that was.
///
/// `Placing::Wait` has queued nothing: ask again when the notice that is being sent has come to an end.
///
/// # Errors
/// `conflict` if somebody began to send what would become pointless: the same call then decides anew;
/// `too_large`.
pub async fn place(tx: &mut Tx<'_>, queued: &Queued) -> Result<Placing, Error> {
    let values = [queued.channel_id.into(), queued.firing_id.0.into(), MAX_LANE.into()];
    let rows = tx.fetch_all(LANE, &values).await?;
    let lane = rows.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    let placed = lane::place(queued.channel_kind, &lane, queued.notice);
    // Only what still is as it was decided upon: somebody may have begun to send it.
    let cancel = "UPDATE outbox SET progress = 'cancelled', ended_at = $2 WHERE id = $1 AND progress = $3";
    for index in placed.cancelled {
        let row = rows.get(index).ok_or_else(|| Error::corrupt("lane", "no such notice"))?;
        let id: Uuid = row.parsed("id")?;
        if tx.execute(cancel, &[id.into(), tx.now().into(), row.text("progress")?.into()]).await? == 0 {
            return Err(Error::conflict("notice", id));
        }
    }
    if let (Notice::Resolve(_), Placing::Append) = (queued.notice, placed.placing) {
        // The resolve is sent whatever became of the trigger, which need not be tried again.
        let supersede = "UPDATE outbox SET ended_at = $3 WHERE channel_id = $1 AND firing_id = $2
                         AND ended_at IS NULL AND progress = 'ambiguous'";
        tx.execute(supersede, &[queued.channel_id.into(), queued.firing_id.0.into(), tx.now().into()])
            .await?;
    }
    if matches!(placed.placing, Placing::Append | Placing::Combine) {
        insert(tx, queued).await?;
    }
    Ok(placed.placing)
}

async fn insert(tx: &mut Tx<'_>, queued: &Queued) -> Result<(), Error> {
    let payload = match Value::json(&queued.payload)? {
        Value::Text(text) if text.len() > MAX_PAYLOAD_BYTES => {
            return Err(Error::TooLarge { what: "the size of a notice in bytes", limit: MAX_PAYLOAD_BYTES });
        }
        value => value,
    };
    let sql =
        "INSERT INTO outbox (id, channel_id, firing_id, monitor_id, delivery_key, notice, payload, progress,
               may_have_arrived, attempt_count, queued_at, next_at, channel_kind, merge_group)
               VALUES ($1, $2, $3, $4, $5, $6, $7, 'never_sent', 0, 0, $8, $9, $10, $11)";
    let values = [
        next_id(tx, queued).await?.into(),
        queued.channel_id.into(),
        queued.firing_id.0.into(),
        queued.monitor_id.into(),
        queued.delivery_key.as_str().into(),
        Value::json(&queued.notice)?,
        payload,
        tx.now().into(),
        queued.next_at.into(),
        queued.channel_kind.as_str().into(),
        queued.merge_group.as_str().into(),
    ];
    tx.execute(sql, &values).await?;
    Ok(())
}

/// An id behind all of its lane, also where two come in one millisecond or the clock went back.
async fn next_id(tx: &mut Tx<'_>, queued: &Queued) -> Result<Uuid, Error> {
    let sql = "SELECT max(id) AS last FROM outbox WHERE channel_id = $1 AND firing_id = $2";
    let row = tx.fetch_one(sql, &[queued.channel_id.into(), queued.firing_id.0.into()]).await?;
    random::new_id_after(tx.now(), row.optional_parsed("last")?)
}

/// Returns the channels for which something is due and at the head of its lane, the longest due first, at most
/// `limit`. What holds a lease that ran out is due, and of unknown fate from now on.
///
/// # Errors
/// As any statement.
pub async fn due_channels(tx: &mut Tx<'_>, limit: u32) -> Result<Vec<Uuid>, Error> {
    let now = tx.now();
    let lapsed = "UPDATE outbox SET progress = 'ambiguous', may_have_arrived = 1, lease_owner = NULL,
                  lease_until = NULL WHERE ended_at IS NULL AND progress = 'sending' AND lease_until <= $1";
    tx.execute(lapsed, &[now.into()]).await?;
    let sql = "SELECT channel_id FROM outbox AS one WHERE ended_at IS NULL AND progress <> 'sending'
               AND next_at <= $1
               AND NOT EXISTS (SELECT 1 FROM outbox AS before WHERE before.channel_id = one.channel_id
                               AND before.firing_id = one.firing_id AND before.id < one.id
                               AND before.ended_at IS NULL)
               GROUP BY channel_id ORDER BY min(next_at), channel_id LIMIT $2";
    let rows = tx.fetch_all(sql, &[now.into(), limit.clamp(1, MAX_CHANNELS).into()]).await?;
    rows.iter().map(|row| row.parsed("channel_id")).collect()
}

/// Gives up what an instance was sending when it ended, so that nobody has to wait for its leases: it is of
/// unknown fate. Called by the instance itself, before it claims anything.
///
/// # Errors
/// As any statement.
pub async fn abandon(tx: &mut Tx<'_>, owner: &str) -> Result<u64, Error> {
    let sql = "UPDATE outbox SET progress = 'ambiguous', may_have_arrived = 1, lease_owner = NULL,
               lease_until = NULL WHERE ended_at IS NULL AND progress = 'sending' AND lease_owner = $1";
    tx.execute(sql, &[owner.into()]).await
}

/// Claims notices of a channel that are due and at the head of their lanes, for an instance until a time. With
/// `is_one_group` only those that belong into one message with the first of them.
///
/// # Errors
/// As any statement.
pub async fn claim(
    tx: &mut Tx<'_>,
    channel_id: Uuid,
    owner: &str,
    until: Timestamp,
    limit: u32,
    is_one_group: bool,
) -> Result<Vec<Claimed>, Error> {
    let open = "SELECT id, channel_id, firing_id, monitor_id, delivery_key, notice, payload, attempt_count,
                queued_at, merge_group
                FROM outbox AS one WHERE channel_id = $1 AND ended_at IS NULL AND progress <> 'sending'
                AND next_at <= $2
                AND NOT EXISTS (SELECT 1 FROM outbox AS before WHERE before.channel_id = one.channel_id
                                AND before.firing_id = one.firing_id AND before.id < one.id
                                AND before.ended_at IS NULL)
                ORDER BY next_at, id LIMIT $3";
    let take = "UPDATE outbox SET progress = 'sending', lease_owner = $2, lease_until = $3,
                attempt_count = attempt_count + 1
                WHERE id = $1 AND ended_at IS NULL AND progress IN ('never_sent', 'ambiguous')";
    let values = [channel_id.into(), tx.now().into(), limit.clamp(1, MAX_CLAIM).into()];
    let mut claimed = Vec::new();
    let mut group = None;
    for row in tx.fetch_all(open, &values).await? {
        let candidate = claimed_from(&row)?;
        let group = group.get_or_insert_with(|| candidate.merge_group.clone());
        if is_one_group && candidate.merge_group != *group {
            continue;
        }
        if tx.execute(take, &[candidate.id.into(), owner.into(), until.into()]).await? == 1 {
            claimed.push(candidate);
        }
    }
    Ok(claimed)
}

/// Returns the triggers of a firing, one for each channel over which it was or may yet be told.
///
/// # Errors
/// As any statement.
pub async fn opened(tx: &mut Tx<'_>, firing_id: FiringId) -> Result<Vec<Opened>, Error> {
    let sql = "SELECT channel_id, channel_kind, monitor_id, delivery_key, payload, merge_group FROM outbox
               WHERE firing_id = $1 AND notice = $2 ORDER BY id LIMIT $3";
    let values = [firing_id.0.into(), Value::json(&Notice::Trigger)?, MAX_CHANNELS.into()];
    let opened = |row: &Row| {
        Ok(Opened {
            channel_id: row.parsed("channel_id")?,
            channel_kind: row.parsed("channel_kind")?,
            monitor_id: row.parsed("monitor_id")?,
            delivery_key: row.text("delivery_key")?,
            payload: row.json("payload")?,
            merge_group: row.text("merge_group")?,
        })
    };
    tx.fetch_all(sql, &values).await?.iter().map(opened).collect()
}

/// Returns since when the notice that has waited longest should have gone, and how many are open.
///
/// # Errors
/// As any statement.
pub async fn backlog(tx: &mut Tx<'_>) -> Result<(Option<Timestamp>, u64), Error> {
    let sql = "SELECT min(queued_at) AS oldest, count(*) AS n FROM outbox WHERE ended_at IS NULL";
    let row = tx.fetch_one(sql, &[]).await?;
    Ok((row.optional_time("oldest")?, u64::try_from(row.int("n")?).unwrap_or(0)))
}

/// Returns the payloads of a channel's open notices, at most 1,000, so that what they refer to is kept.
///
/// # Errors
/// As any statement.
pub async fn open_payloads(tx: &mut Tx<'_>, channel_id: Uuid) -> Result<Vec<Json>, Error> {
    let sql = "SELECT payload FROM outbox AS one WHERE channel_id = $1 AND (ended_at IS NULL OR EXISTS
               (SELECT 1 FROM incident WHERE incident.id = one.firing_id AND incident.closed_at IS NULL))
               LIMIT $2";
    let rows = tx.fetch_all(sql, &[channel_id.into(), MAX_LANE.into()]).await?;
    rows.iter().map(|row| row.json("payload")).collect()
}

/// Keeps how an attempt ended, if the instance still holds it; tells whether it does.
///
/// One whose lease has run out may have been sent by another since: what it says then decides.
///
/// # Errors
/// As any statement.
pub async fn finish(tx: &mut Tx<'_>, id: Uuid, owner: &str, outcome: &Outcome) -> Result<bool, Error> {
    let sql = "SELECT id, notice, progress, may_have_arrived FROM outbox
               WHERE id = $1 AND lease_owner = $2 AND progress = 'sending'";
    let Some(row) = tx.fetch_optional(sql, &[id.into(), owner.into()]).await? else { return Ok(false) };
    let progress = entry(&row)?.progress.attempted(outcome.attempt);
    let (text, may_have_arrived) = written(progress);
    let is_ended = matches!(progress, Progress::Delivered | Progress::Dead { .. } | Progress::Cancelled);
    let ended_at = is_ended.then(|| tx.now());
    let error = outcome.error.as_ref().map(|error| error.chars().take(MAX_ERROR_CHARS).collect::<String>());
    let sql = "UPDATE outbox SET progress = $3, may_have_arrived = $4, next_at = $5, ended_at = $6,
               last_error = $7, lease_owner = NULL, lease_until = NULL
               WHERE id = $1 AND lease_owner = $2 AND progress = 'sending'";
    let values = [
        id.into(),
        owner.into(),
        text.into(),
        may_have_arrived.into(),
        outcome.next_at.into(),
        ended_at.into(),
        error.into(),
    ];
    Ok(tx.execute(sql, &values).await? == 1)
}

/// Returns a lane, oldest first.
///
/// # Errors
/// As any statement.
pub async fn lane(tx: &mut Tx<'_>, channel_id: Uuid, firing_id: FiringId) -> Result<Vec<Entry>, Error> {
    let rows = tx.fetch_all(LANE, &[channel_id.into(), firing_id.0.into(), MAX_LANE.into()]).await?;
    rows.iter().map(entry).collect()
}

/// Returns when the next notice is due, or the next lease runs out; `None` if nothing is on its way.
///
/// # Errors
/// As any statement.
pub async fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, Error> {
    let sql = "SELECT min(CASE WHEN progress = 'sending' THEN lease_until ELSE next_at END) AS due
               FROM outbox AS one WHERE ended_at IS NULL
               AND NOT EXISTS (SELECT 1 FROM outbox AS before WHERE before.channel_id = one.channel_id
                               AND before.firing_id = one.firing_id AND before.id < one.id
                               AND before.ended_at IS NULL)";
    tx.fetch_one(sql, &[]).await?.optional_time("due")
}

/// Removes notices that ended before a time, at most `limit`; those of lanes that are still open stay.
///
/// # Errors
/// As any statement.
pub async fn trim(tx: &mut Tx<'_>, before: Timestamp, limit: u32) -> Result<u64, Error> {
    let sql = "DELETE FROM outbox WHERE id IN (SELECT old.id FROM outbox AS old WHERE old.ended_at < $1
               AND NOT EXISTS (SELECT 1 FROM outbox AS open WHERE open.channel_id = old.channel_id
                               AND open.firing_id = old.firing_id AND open.ended_at IS NULL)
               AND NOT EXISTS (SELECT 1 FROM incident WHERE incident.id = old.firing_id
                               AND incident.closed_at IS NULL)
               ORDER BY old.ended_at LIMIT $2)";
    tx.execute(sql, &[before.into(), limit.into()]).await
}

fn entry(row: &Row) -> Result<Entry, Error> {
    let may_have_arrived = row.truth("may_have_arrived")?;
    let progress = match row.text("progress")?.as_str() {
        "never_sent" => Progress::NeverSent,
        "sending" => Progress::Sending { may_have_arrived },
        "ambiguous" => Progress::Ambiguous,
        "delivered" => Progress::Delivered,
        "dead" => Progress::Dead { may_have_arrived },
        "cancelled" => Progress::Cancelled,
        _ => return Err(Error::corrupt("progress", "not a progress")),
    };
    Ok(Entry { notice: row.json("notice")?, progress })
}

fn written(progress: Progress) -> (&'static str, bool) {
    match progress {
        Progress::NeverSent => ("never_sent", false),
        Progress::Sending { may_have_arrived } => ("sending", may_have_arrived),
        Progress::Ambiguous => ("ambiguous", true),
        Progress::Delivered => ("delivered", true),
        Progress::Dead { may_have_arrived } => ("dead", may_have_arrived),
        Progress::Cancelled => ("cancelled", false),
    }
}

fn claimed_from(row: &Row) -> Result<Claimed, Error> {
    let attempts = u32::try_from(row.int("attempt_count")?).unwrap_or(u32::MAX);
    Ok(Claimed {
        id: row.parsed("id")?,
        channel_id: row.parsed("channel_id")?,
        firing_id: FiringId(row.parsed("firing_id")?),
        monitor_id: row.parsed("monitor_id")?,
        delivery_key: row.text("delivery_key")?,
        notice: row.json("notice")?,
        payload: row.json("payload")?,
        attempt: attempts.saturating_add(1),
        queued_at: row.time("queued_at")?,
        merge_group: row.text("merge_group")?,
    })
}
