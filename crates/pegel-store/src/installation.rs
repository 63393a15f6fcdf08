//! Who this installation is, and when one of its instances was last alive.

use jiff::Timestamp;
use uuid::Uuid;

use crate::error::Error;
use crate::tx::Tx;

/// Returns the installation's id, which is made when it is first asked for.
///
/// # Errors
/// As any statement.
pub async fn id(tx: &mut Tx<'_>) -> Result<Uuid, Error> {
    let sql = "INSERT INTO installation (id, installation_id, alive_at, blackout_seq) VALUES (1, $1, NULL, 0)
               ON CONFLICT DO NOTHING";
    tx.execute(sql, &[tx.new_id()?.into()]).await?;
    tx.fetch_one("SELECT installation_id FROM installation WHERE id = 1", &[])
        .await?
        .parsed("installation_id")
}

/// Notes that an instance is alive; returns when one was before, or `None` the first time.
///
/// Two instances that note it at the same time do so one after the other.
///
/// # Errors
/// As any statement.
pub async fn mark_alive(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, Error> {
    id(tx).await?;
    tx.execute("UPDATE installation SET alive_at = alive_at WHERE id = 1", &[]).await?;
    let row = tx.fetch_one("SELECT alive_at FROM installation WHERE id = 1", &[]).await?;
    tx.execute("UPDATE installation SET alive_at = $1 WHERE id = 1", &[tx.now().into()]).await?;
    row.optional_time("alive_at")
}
