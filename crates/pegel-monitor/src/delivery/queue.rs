//! Puts notices into the outbox: where they are merged in a storm, and what their lane says.

use pegel_core::monitor::delivery;
use pegel_core::monitor::delivery::lane::Placing;
use pegel_core::monitor::delivery::storm;
use pegel_core::monitor::verdict::FiringId;
use pegel_store::error::Error;
use pegel_store::outbox::{self, Queued};
use pegel_store::storms;
use pegel_store::tx::Tx;
use uuid::Uuid;

/// Returns the key under which everything about a firing is sent over a channel.
pub(crate) fn key(installation_id: Uuid, firing_id: FiringId, channel_id: Uuid) -> String {
    delivery::key(installation_id, firing_id, channel_id)
}

/// Returns what notices of a cluster are merged by; those without a cluster are merged with each other.
pub(crate) fn merge_group(cluster: Option<&str>) -> String {
    cluster.unwrap_or_default().chars().take(128).collect()
}

/// Queues a notice, or does what its lane says instead. Where people read it, it may have to wait for others.
pub(crate) async fn place(tx: &mut Tx<'_>, mut queued: Queued) -> Result<Placing, Error> {
    if !queued.channel_kind.is_read_by_people() {
        return outbox::place(tx, &queued).await;
    }
    let window = storms::window_to_change(tx, queued.channel_id, &queued.merge_group).await?;
    let release = storm::release(queued.channel_kind, window, tx.now());
    queued.next_at = queued.next_at.max(release.at);
    let placing = outbox::place(tx, &queued).await?;
    // What was dropped opens no window.
    if matches!(placing, Placing::Append | Placing::Combine) {
        storms::put_window(tx, queued.channel_id, &queued.merge_group, release.window).await?;
    }
    Ok(placing)
}
