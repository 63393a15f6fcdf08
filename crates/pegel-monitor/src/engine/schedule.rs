//! Which monitor is probed when. Pure: times are arguments.
//!
//! Each has slots at a phase of its own. A slot that comes while the probe of the one before still runs is
//! skipped, and so is one that nobody was there for; nothing is made up for.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use jiff::Timestamp;
use pegel_core::monitor::schedule::Interval;
use pegel_store::monitors::Monitor;
use uuid::Uuid;

use crate::target::Target;

/// A probe that is due.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) monitor: Arc<Monitor>,
    pub(super) target: Arc<Target>,
    /// How late it is already.
    pub(super) late_ms: u64,
    /// How many slots before it were skipped.
    pub(super) skipped_count: u64,
}

#[derive(Debug)]
struct Entry {
    monitor: Arc<Monitor>,
    target: Arc<Target>,
    interval: Interval,
    last_slot: Timestamp,
    next_at: Option<Timestamp>,
    is_running: bool,
}

/// All monitors an instance holds, and the slots of those it probes.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    entries: HashMap<Uuid, Entry>,
    queue: BTreeSet<(Timestamp, Uuid)>,
}

impl Schedule {
    /// Takes a monitor in, or takes note that it was changed. One that has never been probed is due at once.
    pub(super) fn put(
        &mut self,
        monitor: Monitor,
        target: Target,
        is_paused: bool,
        is_new: bool,
        now: Timestamp,
    ) {
        let id = monitor.id;
        let interval = Interval::new(monitor.settings.rule.interval_ms, id);
        let old = self.entries.remove(&id);
        let is_changed =
            old.as_ref().is_none_or(|old| old.monitor.version != monitor.version || old.next_at.is_none());
        let is_running = old.as_ref().is_some_and(|old| old.is_running);
        if let Some(at) = old.as_ref().and_then(|old| old.next_at) {
            self.queue.remove(&(at, id));
        }
        let next_at = match (&old, target.is_probed() && !is_paused) {
            (_, false) => None,
            (Some(old), true) if !is_changed => old.next_at,
            (_, true) if is_new => Some(now),
            (_, true) => Some(interval.next_after(now)),
        };
        self.queue.extend(next_at.map(|at| (at, id)));
        let last_slot = old.filter(|_| !is_changed).map_or(now, |old| old.last_slot);
        let (monitor, target) = (Arc::new(monitor), Arc::new(target));
        let entry = Entry { monitor, target, interval, last_slot, next_at, is_running };
        self.entries.insert(id, entry);
    }

    /// Forgets a monitor. Its probe may still run; what it sees is not kept.
    pub(super) fn remove(&mut self, id: Uuid) {
        if let Some(at) = self.entries.remove(&id).and_then(|entry| entry.next_at) {
            self.queue.remove(&(at, id));
        }
    }

    /// Forgets all that are not among these.
    pub(super) fn keep_only(&mut self, held: &[Uuid]) {
        let held: std::collections::HashSet<Uuid> = held.iter().copied().collect();
        let gone: Vec<Uuid> = self.entries.keys().filter(|id| !held.contains(id)).copied().collect();
        for id in gone {
            self.remove(id);
        }
    }

    pub(super) fn get(&self, id: Uuid) -> Option<&Arc<Monitor>> {
        self.entries.get(&id).map(|entry| &entry.monitor)
    }

    pub(super) fn is_probed(&self, id: Uuid) -> bool {
        self.entries.get(&id).is_some_and(|entry| entry.target.is_probed())
    }

    pub(super) fn ids(&self) -> Vec<Uuid> {
        self.entries.keys().copied().collect()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns when the next probe is due.
    pub(super) fn next_at(&self) -> Option<Timestamp> {
        self.queue.first().map(|(at, _)| *at)
    }

    /// Takes out what is due. One whose probe still runs is skipped. Whatever is returned counts as running until
    /// [`Self::finished`].
    pub(super) fn take_due(&mut self, now: Timestamp) -> Vec<Run> {
        let mut runs = Vec::new();
        while let Some((at, id)) = self.queue.first().copied().filter(|(at, _)| *at <= now) {
            self.queue.remove(&(at, id));
            let Some(entry) = self.entries.get_mut(&id) else { continue };
            let due = entry.interval.due(entry.last_slot, now);
            let slot_at = due.map_or(at, |due| due.slot_at);
            entry.last_slot = slot_at.max(entry.last_slot);
            let next_at = entry.interval.next_after(now);
            entry.next_at = Some(next_at);
            self.queue.insert((next_at, id));
            if entry.is_running {
                continue;
            }
            entry.is_running = true;
            runs.push(Run {
                monitor: Arc::clone(&entry.monitor),
                target: Arc::clone(&entry.target),
                late_ms: due.map_or(0, |due| due.late_ms),
                skipped_count: due.map_or(0, |due| due.skipped_count),
            });
        }
        runs
    }

    /// Notes that a probe has ended.
    pub(super) fn finished(&mut self, id: Uuid) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.is_running = false;
        }
    }

    /// Counts all slots anew after the wall clock was set.
    pub(super) fn reset(&mut self, now: Timestamp) {
        self.queue.clear();
        for (id, entry) in &mut self.entries {
            if entry.next_at.is_some() {
                let next_at = entry.interval.next_after(now);
                entry.next_at = Some(next_at);
                entry.last_slot = now;
                self.queue.insert((next_at, *id));
            }
        }
    }
}
