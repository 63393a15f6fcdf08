//! The secrets of channels. Settings and queued messages hold only their names.
//!
//! A new value gets a new name, so that what was begun under the old one can be ended under it: PagerDuty closes an
//! alert only for the key it was opened with.

use std::sync::Arc;

use pegel_store::error::Error as StoreError;
use pegel_store::secret_box::SecretBox;
use pegel_store::tx::Tx;
use pegel_store::{Db, channels, outbox, secrets};
use secrecy::SecretString;
use serde_json::Value as Json;
use uuid::Uuid;

use crate::channel::Secrets;
use crate::target::SecretRef;

/// Keeps a secret of a channel under a new name that begins with `field`, and returns the name.
///
/// # Errors
/// As any statement, `too_large`.
pub async fn keep(
    tx: &mut Tx<'_>,
    key: &SecretBox,
    channel_id: Uuid,
    field: &str,
    value: &SecretString,
) -> Result<SecretRef, StoreError> {
    let secret = format!("{field}-{}", tx.new_id()?.simple());
    secrets::put(tx, key, &channels::resource_key(channel_id), &secret, value).await?;
    Ok(SecretRef { secret })
}

/// Removes those secrets of a channel that neither its settings nor anything that is still to be sent names;
/// returns how many.
///
/// # Errors
/// As any statement.
pub async fn sweep(tx: &mut Tx<'_>, channel_id: Uuid) -> Result<usize, StoreError> {
    let owner = channels::resource_key(channel_id);
    let channel = channels::get(tx, channel_id).await?;
    let mut named = names(&channel.settings.settings);
    for payload in outbox::open_payloads(tx, channel_id).await? {
        named.extend(names(&payload));
    }
    let mut count = 0;
    for field in secrets::fields(tx, &owner).await? {
        if !named.contains(&field) {
            count += usize::from(secrets::remove(tx, &owner, &field).await?);
        }
    }
    Ok(count)
}

/// Reads the secrets that settings name, at the time of use.
pub(crate) async fn read(
    db: &Db,
    key: &Arc<SecretBox>,
    channel_id: Uuid,
    settings: &Json,
) -> Result<Secrets, StoreError> {
    let (fields, key) = (names(settings), Arc::clone(key));
    if fields.is_empty() {
        return Ok(Secrets::default());
    }
    let owner = channels::resource_key(channel_id);
    let values = db.read(move |tx| {
        let (fields, key, owner) = (fields.clone(), Arc::clone(&key), owner.clone());
        Box::pin(async move {
            let mut values = Vec::new();
            for field in fields {
                if let Some(value) = secrets::get(tx, &key, &owner, &field).await? {
                    values.push((field, value));
                }
            }
            Ok(values)
        })
    });
    Ok(Secrets::new(values.await?))
}

/// Returns all names of secrets in settings: the values of fields that are called `secret`.
pub fn names(settings: &Json) -> Vec<String> {
    match settings {
        Json::Object(fields) => {
            let own = fields.get("secret").and_then(Json::as_str).map(str::to_owned);
            own.into_iter().chain(fields.values().flat_map(names)).collect()
        }
        Json::Array(items) => items.iter().flat_map(names).collect(),
        _ => Vec::new(),
    }
}
