//! What the tasks of one server share with the handle in the test's hand.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use fluss_codec::api_key::ApiKey;
use fluss_codec::server_type::ServerType;
use tokio::sync::watch;

use super::answer::{Answering, Reply, Session};
use super::counters::Counters;
use super::model::Model;
use super::script::{Act, ScriptBook};

#[derive(Debug)]
pub(super) struct ServerState {
    pub(super) server_id: i32,
    pub(super) counters: Arc<Counters>,
    pub(super) closes_at_once: AtomicBool,
    model: Arc<Mutex<Model>>,
    settings: Mutex<Settings>,
    scripts: Mutex<ScriptBook>,
    frozen: watch::Sender<bool>,
    held: Arc<AtomicUsize>,
    /// Counts the calls of `release`.
    releases: watch::Sender<u64>,
}

#[derive(Debug)]
struct Settings {
    server_type: ServerType,
    api_changes: BTreeMap<ApiKey, Option<RangeInclusive<i16>>>,
    is_standby: bool,
    /// What the server answers from instead of the common model.
    stale_model: Option<Box<Model>>,
}

impl ServerState {
    pub(super) fn new(
        server_id: i32,
        server_type: ServerType,
        model: Arc<Mutex<Model>>,
        counters: Arc<Counters>,
    ) -> Self {
        Self {
            server_id,
            counters,
            closes_at_once: AtomicBool::new(false),
            model,
            settings: Mutex::new(Settings {
                server_type,
                api_changes: BTreeMap::new(),
                is_standby: false,
                stale_model: None,
            }),
            scripts: Mutex::new(ScriptBook::default()),
            frozen: watch::Sender::new(false),
            held: Arc::default(),
            releases: watch::Sender::new(0),
        }
    }

    fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn model(&self) -> MutexGuard<'_, Model> {
        lock_model(&self.model)
    }

    pub(super) fn scripts(&self) -> MutexGuard<'_, ScriptBook> {
        self.scripts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn take_script(&self, key: Option<ApiKey>) -> Option<Act> {
        self.scripts().take(key)
    }

    pub(super) fn reply(
        &self,
        key: i16,
        body: Bytes,
        session: &mut Session,
        bucket_error: Option<(i32, &[i32])>,
    ) -> Reply {
        let settings = self.settings();
        let common;
        let model = match &settings.stale_model {
            Some(stale) => stale,
            None => {
                common = self.model();
                &*common
            }
        };
        let answering = Answering {
            model,
            server_id: self.server_id,
            server_type: settings.server_type,
            api_changes: &settings.api_changes,
            is_standby: settings.is_standby && settings.server_type == ServerType::Coordinator,
            bucket_error,
        };
        answering.answer(key, body, session)
    }

    pub(super) fn set_server_type(&self, server_type: ServerType) {
        self.settings().server_type = server_type;
    }

    pub(super) fn change_api(&self, key: ApiKey, range: Option<RangeInclusive<i16>>) {
        self.settings().api_changes.insert(key, range);
    }

    pub(super) fn set_standby(&self, is_standby: bool) {
        self.settings().is_standby = is_standby;
    }

    pub(super) fn set_stale(&self, is_stale: bool) {
        let stale_model = is_stale.then(|| Box::new(self.model().clone()));
        self.settings().stale_model = stale_model;
    }

    pub(super) fn set_frozen(&self, is_frozen: bool) {
        self.frozen.send_replace(is_frozen);
    }

    /// Waits while the server is frozen.
    pub(super) async fn thawed(&self) {
        // The sender lives in `self`, so waiting cannot fail.
        drop(self.frozen.subscribe().wait_for(|is_frozen| !is_frozen).await);
    }

    pub(super) fn release(&self) {
        self.releases.send_modify(|count| *count += 1);
    }

    /// Waits for the next call of `release`; calls before this one do not count.
    pub(super) fn released(&self) -> impl Future<Output = ()> + Send + 'static + use<> {
        let mut releases = self.releases.subscribe();
        let held = HeldAnswer::new(&self.held);
        self.counters.notify();
        async move {
            let _held = held;
            // An error means that the server is gone, and its connections with it.
            drop(releases.changed().await);
        }
    }

    pub(super) fn held_count(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    pub(super) fn closes_at_once(&self) -> bool {
        self.closes_at_once.load(Ordering::Relaxed)
    }
}

/// An answer that counts as held back.
struct HeldAnswer(Arc<AtomicUsize>);

impl HeldAnswer {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for HeldAnswer {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

pub(super) fn lock_model(model: &Mutex<Model>) -> MutexGuard<'_, Model> {
    model.lock().unwrap_or_else(PoisonError::into_inner)
}
