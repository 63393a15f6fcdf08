//! Adds samples to the open chunk of a monitor.

use pegel_core::monitor::span::elapsed_ms;
use pegel_store::error::Error;
use pegel_store::monitors::{self, Monitor};
use pegel_store::samples::results::{self, MonitorResult};
use pegel_store::samples::{self, Chunk, RAW};
use pegel_store::tx::Tx;
use uuid::Uuid;

/// The most samples of one chunk; it is written anew with each.
const MAX_SAMPLES: usize = 240;

/// The longest time of one chunk: a day.
const MAX_LENGTH_MS: u64 = 24 * 3_600_000;

/// Keeps samples beside those before.
pub(super) async fn append(tx: &mut Tx<'_>, monitor: &Monitor, taken: &[MonitorResult]) -> Result<(), Error> {
    let Some(first) = taken.first() else { return Ok(()) };
    let target_id = monitors::resource_key(monitor.id);
    let open = samples::open_chunk(tx, &target_id, RAW).await?;
    let mut all = Vec::new();
    if let Some(mut open) = open {
        let is_full = usize::try_from(open.sample_count).unwrap_or(usize::MAX) >= MAX_SAMPLES
            || elapsed_ms(open.begins_at, first.at) > MAX_LENGTH_MS
            // The clock went back: what comes does not belong behind what is there.
            || first.at < open.ends_at;
        if is_full {
            open.is_open = false;
            samples::put(tx, &open).await?;
        } else {
            all = results::decode(&open.data)?;
        }
    }
    all.extend_from_slice(taken);
    let (Some(begin), Some(end)) = (all.first(), all.last()) else { return Ok(()) };
    let chunk = Chunk {
        target_id,
        resolution_ms: RAW,
        begins_at: begin.at,
        ends_at: end.at,
        sample_count: u32::try_from(all.len()).unwrap_or(u32::MAX),
        is_open: true,
        data: results::encode(&all)?,
    };
    samples::put(tx, &chunk).await
}

/// Removes all samples of a monitor that is deleted; what is beyond years of them goes by its age.
pub(super) async fn remove_all(tx: &mut Tx<'_>, monitor_id: Uuid) -> Result<(), Error> {
    samples::remove(tx, &monitors::resource_key(monitor_id), samples::MAX_PAGE).await.map(drop)
}
