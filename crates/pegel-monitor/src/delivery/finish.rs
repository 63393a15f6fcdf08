//! Keeps what became of an attempt: in the outbox, in the log, in the story of the incident, and in how the channel
//! fares.

use jiff::Timestamp;
use pegel_core::monitor::delivery::lane::Attempt;
use pegel_core::monitor::delivery::retry::{Next, next};
use pegel_core::monitor::verdict::{Ending, FiringId, Notice};
use pegel_store::channels::{self, Health};
use pegel_store::deliveries::{self, Delivery};
use pegel_store::error::Error;
use pegel_store::incidents::{self, Incident};
use pegel_store::outbox::{self, Claimed, Outcome};
use pegel_store::tx::Tx;
use pegel_store::{Db, own_alerts};
use serde_json::json;

use crate::channel::Attempted;
use crate::delivery::queue;
use crate::judge::follow_up::follow_up;
use crate::message::notice_name;

/// How many times this is tried again, if another was faster.
const MAX_TRIES: u32 = 4;

/// An attempt that has ended.
#[derive(Debug, Clone)]
pub(super) struct Ended {
    pub(super) claimed: Claimed,
    pub(super) attempted: Attempted,
    pub(super) attempted_at: Timestamp,
    pub(super) duration_ms: u64,
    pub(super) owner: String,
    /// A random number.
    pub(super) chance: u64,
}

/// What followed from it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Finished {
    /// Whether the channel can deliver nothing any more.
    pub(super) is_broken: bool,
    /// Whether a resolve that had to wait for this was queued.
    pub(super) is_resolve_queued: bool,
}

/// Keeps it in one transaction.
pub(super) async fn keep(db: &Db, ended: Ended) -> Result<Finished, Error> {
    let mut tries = 0;
    loop {
        let ended = ended.clone();
        let kept = db.write(move |tx| {
            let ended = ended.clone();
            Box::pin(async move { finish(tx, &ended).await })
        });
        match kept.await {
            Err(error) if tries < MAX_TRIES && (error.is_retryable() || is_conflict(&error)) => tries += 1,
            result => return result,
        }
    }
}

fn is_conflict(error: &Error) -> bool {
    matches!(error, Error::Conflict { .. })
}

async fn finish(tx: &mut Tx<'_>, ended: &Ended) -> Result<Finished, Error> {
    let claimed = &ended.claimed;
    // Whoever closes the incident takes its row first, too: so one of both sees what the other did.
    let incident = incidents::get_to_change(tx, claimed.firing_id).await?;
    let next = next(ended.attempted.meaning, claimed.queued_at, tx.now(), claimed.attempt, ended.chance);
    let (attempt, next_at, result) = match next {
        Next::Delivered => (Attempt::Arrived, tx.now(), "delivered"),
        Next::Wait { next_at } => (ended.attempted.attempt, next_at, "retry"),
        Next::Dead { .. } => (Attempt::GivenUp, tx.now(), "given_up"),
    };
    let detail = &ended.attempted.detail;
    let outcome = Outcome { attempt, next_at, error: (attempt != Attempt::Arrived).then(|| detail.clone()) };
    let is_ours = outbox::finish(tx, claimed.id, &ended.owner, &outcome).await?;
    log(tx, ended, result).await?;
    let is_broken = next == Next::Dead { is_broken: true };
    let health = match next {
        Next::Delivered => Health::Working,
        Next::Dead { is_broken: true } => Health::Broken { reason: detail.clone() },
        Next::Wait { .. } | Next::Dead { .. } => Health::Failing,
    };
    channels::set_health(tx, claimed.channel_id, &health).await?;
    if incident.is_some() && is_ours && (claimed.attempt == 1 || result != "retry") {
        let detail = json!({ "channel_id": claimed.channel_id, "notice": notice_name(claimed.notice),
            "attempt": claimed.attempt, "detail": detail });
        incidents::note(tx, claimed.firing_id, result, "", &detail).await?;
    }
    let is_resolve_queued = is_ours && queue_resolve(tx, claimed, incident.as_ref()).await?;
    Ok(Finished { is_broken, is_resolve_queued })
}

async fn log(tx: &mut Tx<'_>, ended: &Ended, result: &str) -> Result<(), Error> {
    let claimed = &ended.claimed;
    let delivery = Delivery {
        id: claimed.id,
        notice_id: claimed.id,
        channel_id: claimed.channel_id,
        firing_id: claimed.firing_id,
        attempted_at: ended.attempted_at,
        duration_ms: ended.duration_ms,
        attempt: claimed.attempt,
        result: result.to_owned(),
        detail: ended.attempted.detail.clone(),
    };
    deliveries::append(tx, &delivery).await
}

/// Queues the resolve of a firing that ended while its trigger was being sent.
async fn queue_resolve(
    tx: &mut Tx<'_>,
    claimed: &Claimed,
    incident: Option<&Incident>,
) -> Result<bool, Error> {
    let Some((ended_at, ending)) = end(tx, claimed.firing_id, incident).await? else { return Ok(false) };
    let lane = outbox::lane(tx, claimed.channel_id, claimed.firing_id).await?;
    if lane.iter().any(|entry| matches!(entry.notice, Notice::Resolve(_))) {
        return Ok(false);
    }
    let opened = outbox::opened(tx, claimed.firing_id).await?;
    let Some(opened) = opened.iter().find(|opened| opened.channel_id == claimed.channel_id) else {
        return Ok(false);
    };
    let (notice, end) = (Notice::Resolve(ending), Some((ended_at, ending)));
    let queued = follow_up(tx.now(), opened, claimed.firing_id, notice, end, "")?;
    queue::place(tx, queued).await?;
    Ok(true)
}

/// Returns when and why a firing has ended, if it has.
async fn end(
    tx: &mut Tx<'_>,
    firing_id: FiringId,
    incident: Option<&Incident>,
) -> Result<Option<(Timestamp, Ending)>, Error> {
    match incident {
        Some(incident) => Ok(incident.ended_at.zip(incident.ending)),
        None => {
            let open = own_alerts::list(tx).await?;
            let is_open = open.iter().any(|alert| alert.firing_id == firing_id);
            Ok((!is_open).then(|| (tx.now(), Ending::Recovered)))
        }
    }
}
