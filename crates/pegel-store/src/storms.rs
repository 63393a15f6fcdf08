//! What channels have sent of late, so that many firings at once are one message.

use pegel_core::monitor::delivery::storm::Window;
use uuid::Uuid;

use crate::error::Error;
use crate::tx::Tx;

/// Returns the present window of a channel and group, and lets nobody else change it until the transaction
/// ends.
///
/// # Errors
/// As any statement.
pub async fn window_to_change(tx: &mut Tx<'_>, channel_id: Uuid, group: &str) -> Result<Window, Error> {
    let make = "INSERT INTO storm_window (channel_id, merge_group, opened_at) VALUES ($1, $2, NULL)
                ON CONFLICT (channel_id, merge_group) DO UPDATE SET opened_at = storm_window.opened_at";
    let values = [channel_id.into(), group.into()];
    tx.execute(make, &values).await?;
    let sql = "SELECT opened_at FROM storm_window WHERE channel_id = $1 AND merge_group = $2";
    Ok(Window { opened_at: tx.fetch_one(sql, &values).await?.optional_time("opened_at")? })
}

/// Keeps a window.
///
/// # Errors
/// As any statement.
pub async fn put_window(tx: &mut Tx<'_>, channel_id: Uuid, group: &str, window: Window) -> Result<(), Error> {
    let sql = "UPDATE storm_window SET opened_at = $3 WHERE channel_id = $1 AND merge_group = $2";
    tx.execute(sql, &[channel_id.into(), group.into(), window.opened_at.into()]).await.map(drop)
}
