//! Takes heartbeats' pings: each is kept, with what it leads to, before it is answered.
//!
//! Pings that come at the same time are committed together by the store. While the store takes none they go to
//! a file beside it and count from there; those that come meanwhile wait behind them, so that the order in which
//! they came is the order in which they are judged. How HTTP says all that is the façade's.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use pegel_core::monitor::heartbeat::{Kind, MAX_ID_BYTES, Ping};
use pegel_store::error::Error as StoreError;
use pegel_store::pings::{self, MAX_BODY_BYTES, Received};
use pegel_store::token::TokenHash;
use pegel_store::{Db, random};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::error::Error;
use crate::judge::{Change, Judge};
use crate::spill::{Entry, MAX_BYTES, MAX_UNKNOWN_BYTES, Spill};
use crate::time::Time;
use crate::watch::Watch;

/// How long the store may take until a ping goes to the file.
const STORE_LIMIT: Duration = Duration::from_secs(2);

/// The most keys that are known without asking the store.
const MAX_KNOWN: u32 = 100_000;

/// A ping as a façade hands it over.
#[derive(Debug, Clone)]
pub struct Request {
    /// The heartbeat's key, as it stands in the URL.
    pub key: SecretString,
    /// What it says; see [`kind_of`].
    pub kind: Kind,
    /// Which run it is about.
    pub run_id: Option<String>,
    /// Who sent it.
    pub source_id: Option<String>,
    /// From which address.
    pub remote: String,
    /// Its body, of which the beginning is kept; the façade need not read more than 10 KiB of it.
    pub body: Vec<u8>,
}

/// Where a ping was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// In the store, with what it led to.
    Judged,
    /// In the file beside it.
    Spilled,
}

/// Returns what a ping says by what stands behind the key in its URL: nothing, `ok`, `start`, `fail`, `log`, or
/// an exit code.
pub fn kind_of(suffix: Option<&str>) -> Option<Kind> {
    match suffix.unwrap_or_default() {
        "" | "ok" => Some(Kind::Ok),
        "start" => Some(Kind::Start),
        "fail" => Some(Kind::Fail),
        "log" => Some(Kind::Log),
        code => code.parse().ok().filter(|code| (0..=255).contains(code)).map(Kind::Exit),
    }
}

/// Takes pings. Cheap to clone.
#[derive(Clone)]
pub struct Pings {
    inner: Arc<Inner>,
}

struct Inner {
    db: Db,
    judge: Judge,
    time: Arc<dyn Time>,
    watch: Watch,
    spill: Spill,
    known: Mutex<HashMap<Vec<u8>, Uuid>>,
    replaying: tokio::sync::Mutex<()>,
    bell: Arc<Notify>,
    delivery_bell: Arc<Notify>,
}

impl std::fmt::Debug for Pings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pings")
    }
}

impl Pings {
    /// Makes what takes pings. `folder` exists and holds the spill file; no other instance uses it.
    pub fn new(
        db: Db,
        judge: Judge,
        time: Arc<dyn Time>,
        watch: Watch,
        folder: &Path,
        delivery_bell: Arc<Notify>,
    ) -> Self {
        let inner = Inner {
            db,
            judge,
            time,
            watch,
            spill: Spill::new(folder),
            known: Mutex::default(),
            replaying: tokio::sync::Mutex::new(()),
            bell: Arc::new(Notify::new()),
            delivery_bell,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns the bell that rings when the engine has to look earlier than it planned.
    pub(crate) fn bell(&self) -> Arc<Notify> {
        Arc::clone(&self.inner.bell)
    }

    /// Keeps a ping. It is on disk when this returns, and may be answered then.
    ///
    /// A paused heartbeat takes pings, too; they change nothing.
    ///
    /// # Errors
    /// `not_found` for a key that belongs to nothing; `store_unavailable` and the like only if it could be kept
    /// neither in the store nor beside it.
    pub async fn receive(&self, request: Request) -> Result<Kept, Error> {
        let inner = &self.inner;
        let received_at = inner.time.now();
        // What came out of a suspended machine's sleep must not be judged before that is known.
        inner.watch.mark_if_late().await;
        let cut = |id: Option<String>| id.filter(|id| !id.is_empty()).map(|id| cut_id(&id));
        let ping =
            Ping { kind: request.kind, run_id: cut(request.run_id), source_id: cut(request.source_id) };
        let key_hash = TokenHash::of(request.key.expose_secret()).to_bytes();
        let id = random::new_id(received_at)?;
        let received = Received { ping, remote: request.remote, body: request.body };
        if inner.spill.is_pending() {
            inner.bell.notify_one();
            return inner
                .put_aside(id, key_hash, received_at, received, StoreError::Busy { source: None })
                .await;
        }
        let kept = tokio::time::timeout(STORE_LIMIT, inner.keep(id, key_hash, received.clone(), None)).await;
        match kept {
            Ok(Ok(true)) => Ok(Kept::Judged),
            Ok(Ok(false)) => Err(Error::UnknownKey),
            // Whether it was kept or not: it has one id and counts once.
            Ok(Err(error)) => inner.put_aside(id, key_hash, received_at, received, error).await,
            Err(_) => {
                inner.put_aside(id, key_hash, received_at, received, StoreError::Busy { source: None }).await
            }
        }
    }

    /// Brings what was put aside into the store, in its order.
    ///
    /// # Errors
    /// As the store; what is not in it stays where it is.
    pub async fn replay(&self) -> Result<(), Error> {
        let inner = &self.inner;
        if !inner.spill.is_pending() {
            return Ok(());
        }
        let _replaying = inner.replaying.lock().await;
        loop {
            let entries = match inner.spill.take().await {
                Ok(entries) if entries.is_empty() => return Ok(()),
                Ok(entries) => entries,
                Err(error) => {
                    tracing::error!(error = %error, "the spill file cannot be read");
                    return Ok(());
                }
            };
            tracing::info!(count = entries.len(), "pings come back out of the spill file");
            for entry in entries {
                let Ok(key_hash) = <[u8; 32]>::try_from(entry.key_hash) else { continue };
                let received = Received { ping: entry.ping, remote: entry.remote, body: entry.body };
                inner.keep(entry.id, key_hash, received, Some(entry.received_at)).await?;
            }
            if let Err(error) = inner.spill.done().await {
                tracing::error!(error = %error, "the spill file cannot be removed");
                return Ok(());
            }
        }
    }

    /// Reads the keys that there are, so that they are known also while the store is not there.
    ///
    /// # Errors
    /// As the store.
    pub async fn learn_keys(&self) -> Result<(), Error> {
        let all = self.inner.db.read(|tx| Box::pin(pings::all_keys(tx, MAX_KNOWN))).await?;
        *self.inner.known.lock().unwrap_or_else(PoisonError::into_inner) = all.into_iter().collect();
        Ok(())
    }
}

impl Inner {
    /// Keeps a ping in the store with what it leads to; tells whether its key is one.
    async fn keep(
        &self,
        id: Uuid,
        key_hash: [u8; 32],
        received: Received,
        received_at: Option<Timestamp>,
    ) -> Result<bool, StoreError> {
        let job = (self.judge.clone(), Change::Ping { id, received, received_at });
        let mut tries = 0;
        let applied = loop {
            let job = job.clone();
            let written = self.db.write(move |tx| {
                let (judge, change) = job.clone();
                Box::pin(async move {
                    let Some(monitor_id) = pings::find_by_key(tx, key_hash).await? else { return Ok(None) };
                    judge.apply(tx, monitor_id, &change, "").await.map(|applied| Some((monitor_id, applied)))
                })
            });
            match written.await {
                Err(StoreError::Conflict { .. }) if tries < 3 => tries += 1,
                result => break result?,
            }
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((monitor_id, applied)) = applied else {
            known.remove(key_hash.as_slice());
            return Ok(false);
        };
        if known.len() < usize::try_from(MAX_KNOWN).unwrap_or(usize::MAX) {
            known.insert(key_hash.to_vec(), monitor_id);
        }
        drop(known);
        if applied.queued_count > 0 {
            self.delivery_bell.notify_one();
        }
        if applied.wake_at.is_some_and(|at| at < self.watch.next_mark_at()) {
            self.bell.notify_one();
        }
        Ok(true)
    }

    async fn put_aside(
        &self,
        id: Uuid,
        key_hash: [u8; 32],
        received_at: Timestamp,
        received: Received,
        source: StoreError,
    ) -> Result<Kept, Error> {
        let is_known =
            self.known.lock().unwrap_or_else(PoisonError::into_inner).contains_key(key_hash.as_slice());
        let mut body = received.body;
        body.truncate(MAX_BODY_BYTES);
        let entry = Entry {
            id,
            key_hash: key_hash.to_vec(),
            received_at,
            ping: received.ping,
            remote: received.remote,
            body,
        };
        let max_bytes = if is_known { MAX_BYTES } else { MAX_UNKNOWN_BYTES };
        match self.spill.append(&entry, max_bytes).await {
            Ok(()) => Ok(Kept::Spilled),
            Err(error) => {
                tracing::error!(error = %error, "a ping could be kept neither in the store nor beside it");
                Err(Error::NotKept { source })
            }
        }
    }
}

fn cut_id(id: &str) -> String {
    let end = (0..=MAX_ID_BYTES.min(id.len())).rev().find(|end| id.is_char_boundary(*end));
    id.get(..end.unwrap_or(0)).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_the_key_says_what_a_ping_is() {
        assert_eq!(kind_of(None), Some(Kind::Ok));
        assert_eq!(kind_of(Some("start")), Some(Kind::Start));
        assert_eq!(kind_of(Some("0")), Some(Kind::Exit(0)));
        assert_eq!(kind_of(Some("255")), Some(Kind::Exit(255)));
        assert_eq!((kind_of(Some("256")), kind_of(Some("-1")), kind_of(Some("up"))), (None, None, None));
    }
}
