//! Empties the outbox: every channel at its own pace, every firing in its own order.
//!
//! A slow channel keeps nobody else waiting. What was claimed and never finished is claimed again after its lease,
//! and counts as of unknown fate. What an answer means and when it is tried again is decided by
//! `pegel_core::monitor::delivery`.

mod finish;
pub(crate) mod queue;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::join_all;
use jiff::Timestamp;
use pegel_core::monitor::delivery::ChannelKind;
use pegel_core::monitor::span::later;
use pegel_core::monitor::verdict::{Ending, Notice};
use pegel_http::Outbound;
use pegel_store::channels::{self, Channel};
use pegel_store::error::Error as StoreError;
use pegel_store::outbox::{self, Claimed};
use pegel_store::secret_box::SecretBox;
use pegel_store::{Db, random};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::channel::{self, Attempted, Outgoing, Secrets, secret};
use crate::clock;
use crate::error::Error;
use crate::judge::Judge;
use crate::judge::follow_up::copy;
use crate::message::Message;
use crate::own_alert;
use crate::time::Time;
use crate::watch::Watch;

/// The most notices of one channel that are sent at the same time.
const PARALLEL: u32 = 16;

/// How long a claim lasts: longer than an attempt, mail to many recipients included.
const LEASE_MS: u64 = 90_000;

/// How long a channel that people read is left alone after a message; Slack takes one in a second.
const PAUSE_MS: u64 = 1_000;

/// How often it is looked how channels fare.
const CHECK_EVERY_MS: u64 = 30_000;

/// The longest it waits without looking.
const LONGEST_WAIT_MS: u64 = 15_000;

/// What delivery is made of.
pub struct Parts {
    /// The store.
    pub db: Db,
    /// The judge of the installation.
    pub judge: Judge,
    /// Time; its wall clock is the store's.
    pub time: Arc<dyn Time>,
    /// What sends.
    pub outbound: Outbound,
    /// What channels' secrets are encrypted with.
    pub secrets: Arc<SecretBox>,
    /// What looks after Pegel itself.
    pub watch: Watch,
    /// The instance's name; no two may have the same, and one should keep it over restarts, so that nobody has
    /// to wait for leases of its own.
    pub owner: String,
    /// Rung when notices were queued.
    pub bell: Arc<Notify>,
}

/// Delivery. Cheap to clone.
#[derive(Clone)]
pub struct Delivery {
    inner: Arc<Inner>,
}

struct Inner {
    parts: Parts,
    state: Mutex<State>,
    tracker: TaskTracker,
}

#[derive(Debug, Default)]
struct State {
    /// Channels at work, and until when others are left alone.
    channels: HashMap<Uuid, Lane>,
    check_at: Option<Timestamp>,
    /// Whether what was begun before this start has been given up.
    has_begun: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lane {
    Busy,
    Paused { until: Timestamp },
}

impl std::fmt::Debug for Delivery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Delivery")
    }
}

impl Delivery {
    /// Makes delivery; nothing happens until [`Delivery::run`] or [`Delivery::tick`].
    pub fn new(parts: Parts) -> Self {
        Self { inner: Arc::new(Inner { parts, state: Mutex::default(), tracker: TaskTracker::new() }) }
    }

    /// Works until it is stopped; then waits for what is being sent, which takes no longer than an attempt.
    pub async fn run(&self, stop: CancellationToken) {
        let inner = &self.inner;
        loop {
            let next = match self.tick().await {
                Ok(next) => next,
                Err(error) => {
                    tracing::warn!(error = %error, "delivery could not read the store");
                    later(inner.parts.time.now(), 1_000)
                }
            };
            tokio::select! {
                () = stop.cancelled() => break,
                () = inner.parts.time.sleep_until(next) => {}
                () = inner.parts.bell.notified() => {}
            }
        }
        self.settle().await;
    }

    /// Begins to send what is due, without waiting for it; returns when something is due next.
    ///
    /// # Errors
    /// As the store.
    pub async fn tick(&self) -> Result<Timestamp, Error> {
        let inner = &self.inner;
        inner.parts.watch.note_delivery();
        inner.begin().await?;
        inner.check().await?;
        let now = inner.parts.time.now();
        let due = inner.parts.db.write(|tx| Box::pin(outbox::due_channels(tx, outbox::MAX_CHANNELS))).await?;
        for channel_id in due {
            if inner.take(channel_id, now) {
                let guard = Working { inner: Arc::clone(inner), channel_id };
                inner.tracker.spawn(async move { Box::pin(guard.work()).await });
            }
        }
        let due_at = inner.parts.db.read(|tx| Box::pin(outbox::next_due(tx))).await?;
        // What is due now and was not begun belongs to a channel that rings when it has ended, or is paused.
        let due_at = due_at.filter(|at| *at > now);
        let paused = inner.next_pause_end(now);
        let latest = later(now, LONGEST_WAIT_MS);
        Ok([due_at, paused, Some(latest)].into_iter().flatten().min().unwrap_or(latest))
    }

    /// Waits for what is being sent.
    pub async fn settle(&self) {
        self.inner.tracker.close();
        self.inner.tracker.wait().await;
        self.inner.tracker.reopen();
    }

    /// Sends a message over a channel that says that it is a test, and where a target keeps it open closes it again.
    /// Nothing of it is kept; `secrets` are those of the form if it is not saved yet, else what is kept is read.
    ///
    /// # Errors
    /// As the store.
    pub async fn try_out(
        &self,
        channel: &Channel,
        secrets: Option<Secrets>,
    ) -> Result<Vec<Attempted>, Error> {
        let parts = &self.inner.parts;
        let secrets = match secrets {
            Some(secrets) => secrets,
            None => secret::read(&parts.db, &parts.secrets, channel.id, &channel.settings.settings).await?,
        };
        let now = parts.time.now();
        let firing_id = random::new_id(now)?;
        let mut outgoing = Outgoing {
            id: random::new_id(now)?,
            key: format!("pegel.test.{}", firing_id.simple()),
            notice: Notice::Trigger,
            message: test_message(channel, now),
        };
        let mut attempted = Vec::new();
        attempted.push(channel::send(&parts.outbound, &secrets, std::slice::from_ref(&outgoing), now).await);
        if matches!(channel.kind, ChannelKind::Pagerduty | ChannelKind::Webhook) {
            outgoing.id = random::new_id(now)?;
            outgoing.notice = Notice::Resolve(Ending::Recovered);
            outgoing.message.ended_at = Some(now);
            outgoing.message.ending = Some(Ending::Recovered);
            attempted.push(channel::send(&parts.outbound, &secrets, &[outgoing], now).await);
        }
        Ok(attempted)
    }
}

fn test_message(channel: &Channel, now: Timestamp) -> Message {
    Message {
        monitor_id: Uuid::nil(),
        name: "Pegel".to_owned(),
        kind: "test".to_owned(),
        cluster: None,
        labels: pegel_core::monitor::labels::Labels::default(),
        severity: pegel_core::monitor::severity::Severity::Low,
        cause: "test".to_owned(),
        since: now,
        summary: "this is a test of this channel; nothing is wrong".to_owned(),
        link: None,
        ended_at: None,
        ending: None,
        acknowledged_by: None,
        channel: copy(channel),
    }
}

/// A channel at work; whatever becomes of it, the next tick can begin again.
struct Working {
    inner: Arc<Inner>,
    channel_id: Uuid,
}

impl Drop for Working {
    fn drop(&mut self) {
        let mut state = self.inner.state();
        if state.channels.get(&self.channel_id) == Some(&Lane::Busy) {
            state.channels.remove(&self.channel_id);
        }
        drop(state);
        self.inner.parts.bell.notify_one();
    }
}

impl Working {
    async fn work(self) {
        match self.inner.send_due(self.channel_id).await {
            Ok(Some(until)) => {
                self.inner.state().channels.insert(self.channel_id, Lane::Paused { until });
            }
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(channel.id = %self.channel_id, error = %error, "a channel could not go on");
                let until = later(self.inner.parts.time.now(), PAUSE_MS);
                self.inner.state().channels.insert(self.channel_id, Lane::Paused { until });
            }
        }
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives up what an instance of this name was sending when it ended; the first time only.
    async fn begin(&self) -> Result<(), StoreError> {
        if self.state().has_begun {
            return Ok(());
        }
        let owner = self.parts.owner.clone();
        self.parts
            .db
            .write(move |tx| {
                let owner = owner.clone();
                Box::pin(async move { outbox::abandon(tx, &owner).await })
            })
            .await?;
        self.state().has_begun = true;
        Ok(())
    }

    /// Returns when the first of the channels that are left alone need not be any more.
    fn next_pause_end(&self, now: Timestamp) -> Option<Timestamp> {
        let state = self.state();
        let ends = state.channels.values().filter_map(|lane| match lane {
            Lane::Paused { until } if *until > now => Some(*until),
            _ => None,
        });
        ends.min()
    }

    /// Takes a channel to work on, unless it is at work or left alone.
    fn take(&self, channel_id: Uuid, now: Timestamp) -> bool {
        let mut state = self.state();
        let is_free = match state.channels.get(&channel_id) {
            None => true,
            Some(Lane::Busy) => false,
            Some(Lane::Paused { until }) => *until <= now,
        };
        if is_free {
            state.channels.insert(channel_id, Lane::Busy);
        }
        is_free
    }

    /// Sends what is due for a channel; returns until when it is left alone.
    async fn send_due(&self, channel_id: Uuid) -> Result<Option<Timestamp>, StoreError> {
        let channel = self.parts.db.read(move |tx| {
            Box::pin(async move {
                match channels::get(tx, channel_id).await {
                    Err(StoreError::NotFound { .. }) => Ok(None),
                    result => result.map(Some),
                }
            })
        });
        let channel = channel.await?;
        // One that is gone can end what was begun no more; its notices end as well.
        let is_one_message = channel.as_ref().is_some_and(|channel| channel.kind.is_read_by_people());
        let limit = if is_one_message { outbox::MAX_CLAIM } else { PARALLEL };
        loop {
            let now = self.parts.time.now();
            let (owner, until) = (self.parts.owner.clone(), later(now, LEASE_MS));
            let claimed = self.parts.db.write(move |tx| {
                let owner = owner.clone();
                Box::pin(
                    async move { outbox::claim(tx, channel_id, &owner, until, limit, is_one_message).await },
                )
            });
            let claimed = claimed.await?;
            if claimed.is_empty() {
                return Ok(None);
            }
            if channel.is_none() {
                let gone = Attempted::unusable("the channel was deleted");
                self.finish_all(claimed, &gone, now, 0).await?;
            } else if is_one_message {
                self.send_together(channel_id, claimed).await?;
                return Ok(Some(later(now, PAUSE_MS)));
            } else {
                let sending = claimed.into_iter().map(|one| self.send_together(channel_id, vec![one]));
                join_all(sending).await.into_iter().collect::<Result<Vec<()>, _>>()?;
            }
        }
    }

    /// Sends notices as one message and keeps what became of it.
    async fn send_together(&self, channel_id: Uuid, claimed: Vec<Claimed>) -> Result<(), StoreError> {
        let now = self.parts.time.now();
        let started = clock::now();
        let mut outgoing = Vec::new();
        let mut unreadable = None;
        for one in &claimed {
            match serde_json::from_value::<Message>(one.payload.clone()) {
                Ok(message) => outgoing.push(Outgoing {
                    id: one.id,
                    key: one.delivery_key.clone(),
                    notice: one.notice,
                    message,
                }),
                Err(error) => unreadable = Some(Attempted::unusable(format!("its payload: {error}"))),
            }
        }
        let attempted = match unreadable {
            Some(unreadable) => unreadable,
            None => self.send(channel_id, &outgoing, now).await,
        };
        self.finish_all(claimed, &attempted, now, clock::elapsed_ms(started)).await
    }

    async fn send(&self, channel_id: Uuid, outgoing: &[Outgoing], now: Timestamp) -> Attempted {
        let settings = outgoing.first().map(|first| &first.message.channel.settings);
        let Some(settings) = settings else { return Attempted::unusable("nothing to say") };
        match secret::read(&self.parts.db, &self.parts.secrets, channel_id, settings).await {
            Ok(secrets) => Box::pin(channel::send(&self.parts.outbound, &secrets, outgoing, now)).await,
            Err(error @ StoreError::SecretUnreadable { .. }) => Attempted::unusable(error.to_string()),
            Err(error) => Attempted::not_sent(error.to_string()),
        }
    }

    async fn finish_all(
        &self,
        claimed: Vec<Claimed>,
        attempted: &Attempted,
        attempted_at: Timestamp,
        duration_ms: u64,
    ) -> Result<(), StoreError> {
        let mut is_broken = false;
        let mut queued_count = 0;
        for one in claimed {
            let chance = u64::from_le_bytes(random::bytes()?);
            let ended = finish::Ended {
                claimed: one,
                attempted: attempted.clone(),
                attempted_at,
                duration_ms,
                owner: self.parts.owner.clone(),
                chance,
            };
            let finished = finish::keep(&self.parts.db, ended).await?;
            is_broken |= finished.is_broken;
            queued_count += usize::from(finished.is_resolve_queued);
        }
        if is_broken {
            self.state().check_at = None;
        }
        if is_broken || queued_count > 0 {
            self.parts.bell.notify_one();
        }
        Ok(())
    }

    /// Looks how channels fare, and tells of those that do not over the others.
    async fn check(&self) -> Result<(), StoreError> {
        let now = self.parts.time.now();
        if self.state().check_at.is_some_and(|at| now < at && at <= later(now, CHECK_EVERY_MS)) {
            return Ok(());
        }
        self.state().check_at = Some(later(now, CHECK_EVERY_MS));
        let judge = self.parts.judge.clone();
        self.parts
            .db
            .write(move |tx| {
                let judge = judge.clone();
                Box::pin(async move { own_alert::check(tx, &judge).await })
            })
            .await?;
        Ok(())
    }
}
