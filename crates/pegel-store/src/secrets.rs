//! Stored secrets, by owner and field. Write-only for everyone but the code that needs them.

use secrecy::SecretString;

use crate::error::Error;
use crate::secret_box::SecretBox;
use crate::tx::Tx;

/// Stores a secret in place of an earlier one.
///
/// # Errors
/// `too_large`, or as any statement.
pub async fn put(
    tx: &mut Tx<'_>,
    secrets: &SecretBox,
    owner: &str,
    field: &str,
    secret: &SecretString,
) -> Result<(), Error> {
    let sql = "INSERT INTO secret (owner, field, key_id, ciphertext, changed_at) VALUES ($1, $2, $3, $4, $5)
               ON CONFLICT (owner, field) DO UPDATE SET key_id = excluded.key_id,
               ciphertext = excluded.ciphertext, changed_at = excluded.changed_at";
    let sealed = secrets.seal(owner, field, secret)?;
    let values = [owner.into(), field.into(), secrets.key_id().into(), sealed.into(), tx.now().into()];
    tx.execute(sql, &values).await?;
    tx.announce(owner);
    Ok(())
}

/// Returns a secret, or `None` if none is stored.
///
/// # Errors
/// `secret_unreadable` if it was stored under another key or was changed.
pub async fn get(
    tx: &mut Tx<'_>,
    secrets: &SecretBox,
    owner: &str,
    field: &str,
) -> Result<Option<SecretString>, Error> {
    let sql = "SELECT key_id, ciphertext FROM secret WHERE owner = $1 AND field = $2";
    let Some(row) = tx.fetch_optional(sql, &[owner.into(), field.into()]).await? else { return Ok(None) };
    secrets.open(owner, field, &row.text("key_id")?, &row.blob("ciphertext")?).map(Some)
}

/// Returns the fields of which an owner has a secret, so that a form can say that one is set.
///
/// # Errors
/// As any statement.
pub async fn fields(tx: &mut Tx<'_>, owner: &str) -> Result<Vec<String>, Error> {
    let sql = "SELECT field FROM secret WHERE owner = $1 ORDER BY field LIMIT 1000";
    tx.fetch_all(sql, &[owner.into()]).await?.iter().map(|row| row.text("field")).collect()
}

/// Removes a secret; tells whether there was one.
///
/// # Errors
/// As any statement.
pub async fn remove(tx: &mut Tx<'_>, owner: &str, field: &str) -> Result<bool, Error> {
    let sql = "DELETE FROM secret WHERE owner = $1 AND field = $2";
    let is_removed = tx.execute(sql, &[owner.into(), field.into()]).await? > 0;
    if is_removed {
        tx.announce(owner);
    }
    Ok(is_removed)
}

/// Removes all secrets of an owner.
///
/// # Errors
/// As any statement.
pub async fn remove_all(tx: &mut Tx<'_>, owner: &str) -> Result<(), Error> {
    if tx.execute("DELETE FROM secret WHERE owner = $1", &[owner.into()]).await? > 0 {
        tx.announce(owner);
    }
    Ok(())
}

/// Returns whether any secret is stored.
///
/// # Errors
/// As any statement.
pub async fn any(tx: &mut Tx<'_>) -> Result<bool, Error> {
    Ok(tx.fetch_optional("SELECT 1 AS n FROM secret LIMIT 1", &[]).await?.is_some())
}

/// Checks at start-up that every stored secret is of the key at hand.
///
/// # Errors
/// `secret_unreadable`, naming one that is not.
pub async fn check_key(tx: &mut Tx<'_>, secrets: &SecretBox) -> Result<(), Error> {
    let sql = "SELECT owner, field, key_id, ciphertext FROM secret WHERE key_id <> $1 ORDER BY owner, field LIMIT 1";
    let Some(row) = tx.fetch_optional(sql, &[secrets.key_id().into()]).await? else { return Ok(()) };
    let (owner, field) = (row.text("owner")?, row.text("field")?);
    secrets.open(&owner, &field, &row.text("key_id")?, &row.blob("ciphertext")?).map(|_| ())
}

/// Encrypts up to `limit` secrets of the old key anew with the new one; returns how many.
///
/// Called until it returns 0, it moves everything to the new key. Values do not change, so nothing is announced.
///
/// # Errors
/// `secret_unreadable`.
pub async fn reencrypt(tx: &mut Tx<'_>, old: &SecretBox, new: &SecretBox, limit: u32) -> Result<u64, Error> {
    let sql = "SELECT owner, field, ciphertext FROM secret WHERE key_id = $1 ORDER BY owner, field LIMIT $2";
    let update =
        "UPDATE secret SET key_id = $1, ciphertext = $2 WHERE owner = $3 AND field = $4 AND key_id = $5";
    if old.key_id() == new.key_id() {
        return Ok(0);
    }
    let mut count = 0;
    for row in tx.fetch_all(sql, &[old.key_id().into(), limit.into()]).await? {
        let (owner, field) = (row.text("owner")?, row.text("field")?);
        let secret = old.open(&owner, &field, old.key_id(), &row.blob("ciphertext")?)?;
        let sealed = new.seal(&owner, &field, &secret)?;
        let values = [new.key_id().into(), sealed.into(), owner.into(), field.into(), old.key_id().into()];
        count += tx.execute(update, &values).await?;
    }
    Ok(count)
}
