//! What a server has seen: requests, connections, and how many were under way.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::clock;

/// Most requests that are remembered one by one; the oldest are forgotten.
pub const MAX_SEEN: usize = 200_000;

/// A request as a server saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Time since the cluster started.
    pub at: Duration,
    /// Number of the connection on its server, from 1.
    pub connection: u64,
    /// API key, known or not.
    pub api_key: i16,
    /// API version.
    pub api_version: i16,
    /// Request id.
    pub request_id: i32,
}

/// Returns the most requests that fell into any span of this length; `seen` must be in the order of time.
pub fn peak_count(seen: &[Seen], span: Duration) -> usize {
    let mut peak = 0;
    let mut window: VecDeque<Duration> = VecDeque::new();
    for request in seen {
        window.push_back(request.at);
        while window.front().is_some_and(|first| request.at.saturating_sub(*first) >= span) {
            window.pop_front();
        }
        peak = peak.max(window.len());
    }
    peak
}

#[derive(Debug)]
pub(super) struct Counters {
    started: Instant,
    accepted: AtomicU64,
    open: AtomicU64,
    in_flight: AtomicUsize,
    in_flight_max: AtomicUsize,
    connection_in_flight_max: AtomicUsize,
    requests: Mutex<Requests>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Requests {
    counts: HashMap<i16, u64>,
    seen: VecDeque<Seen>,
    last_bodies: HashMap<i16, Bytes>,
}

impl Counters {
    pub(super) fn new(started: Instant) -> Self {
        Self {
            started,
            accepted: AtomicU64::new(0),
            open: AtomicU64::new(0),
            in_flight: AtomicUsize::new(0),
            in_flight_max: AtomicUsize::new(0),
            connection_in_flight_max: AtomicUsize::new(0),
            requests: Mutex::new(Requests::default()),
            changed: watch::Sender::new(()),
        }
    }

    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection; it counts as open until the guard is dropped.
    pub(super) fn accepted(self: &Arc<Self>) -> OpenConnection {
        let number = self.accepted.fetch_add(1, Ordering::Relaxed) + 1;
        self.open.fetch_add(1, Ordering::Relaxed);
        self.changed.send_replace(());
        OpenConnection { number, counters: Arc::clone(self), in_flight: Arc::default() }
    }

    pub(super) fn accepted_count(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    pub(super) fn open_count(&self) -> u64 {
        self.open.load(Ordering::Relaxed)
    }

    pub(super) fn in_flight_max(&self) -> usize {
        self.in_flight_max.load(Ordering::Relaxed)
    }

    pub(super) fn connection_in_flight_max(&self) -> usize {
        self.connection_in_flight_max.load(Ordering::Relaxed)
    }

    pub(super) fn count(&self, api_key: i16) -> u64 {
        self.requests().counts.get(&api_key).copied().unwrap_or(0)
    }

    pub(super) fn total(&self) -> u64 {
        self.requests().counts.values().sum()
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.requests().seen.iter().copied().collect()
    }

    pub(super) fn last_body(&self, api_key: i16) -> Option<Bytes> {
        self.requests().last_bodies.get(&api_key).cloned()
    }

    /// Forgets requests and highest marks; connections that are open stay counted as open.
    pub(super) fn reset(&self) {
        *self.requests() = Requests::default();
        self.accepted.store(0, Ordering::Relaxed);
        self.in_flight_max.store(self.in_flight.load(Ordering::Relaxed), Ordering::Relaxed);
        self.connection_in_flight_max.store(0, Ordering::Relaxed);
    }

    /// Wakes those who wait for something to count.
    pub(super) fn notify(&self) {
        self.changed.send_replace(());
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }
}

/// A connection that counts as open.
#[derive(Debug)]
pub(super) struct OpenConnection {
    number: u64,
    counters: Arc<Counters>,
    in_flight: Arc<AtomicUsize>,
}

impl OpenConnection {
    /// Counts a request; it counts as under way until the ticket is dropped.
    pub(super) fn request(&self, api_key: i16, api_version: i16, request_id: i32, body: &Bytes) -> Ticket {
        let counters = &self.counters;
        let at = clock::now().duration_since(counters.started);
        let mut requests = counters.requests();
        *requests.counts.entry(api_key).or_default() += 1;
        if requests.seen.len() == MAX_SEEN {
            requests.seen.pop_front();
        }
        requests.seen.push_back(Seen { at, connection: self.number, api_key, api_version, request_id });
        requests.last_bodies.insert(api_key, body.clone());
        drop(requests);
        let here = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        counters.connection_in_flight_max.fetch_max(here, Ordering::Relaxed);
        let all = counters.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        counters.in_flight_max.fetch_max(all, Ordering::Relaxed);
        counters.changed.send_replace(());
        Ticket { counters: Arc::clone(counters), in_flight: Arc::clone(&self.in_flight) }
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.counters.open.fetch_sub(1, Ordering::Relaxed);
        self.counters.changed.send_replace(());
    }
}

/// A request that is under way.
#[derive(Debug)]
pub(super) struct Ticket {
    counters: Arc<Counters>,
    in_flight: Arc<AtomicUsize>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.counters.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(at_ms: u64) -> Seen {
        Seen { at: Duration::from_millis(at_ms), connection: 1, api_key: 1000, api_version: 0, request_id: 0 }
    }

    #[test]
    fn peak_is_found_wherever_it_lies() {
        let requests: Vec<Seen> = [0, 900, 950, 1000, 1899, 5000].map(seen).to_vec();
        assert_eq!(peak_count(&requests, Duration::from_secs(1)), 4);
        assert_eq!(peak_count(&requests, Duration::from_millis(60)), 2);
        assert_eq!(peak_count(&[], Duration::from_secs(1)), 0);
    }

    #[test]
    fn tickets_count_until_they_are_dropped() {
        let counters = Arc::new(Counters::new(clock::now()));
        let connection = counters.accepted();
        let other = counters.accepted();
        let first = connection.request(1000, 0, 1, &Bytes::new());
        let second = connection.request(1003, 0, 2, &Bytes::new());
        drop(first);
        let third = other.request(1003, 0, 1, &Bytes::new());
        assert_eq!((counters.in_flight_max(), counters.connection_in_flight_max()), (2, 2));
        assert_eq!((counters.count(1003), counters.total(), counters.open_count()), (2, 3, 2));
        drop((second, third, connection, other));
        counters.reset();
        assert_eq!((counters.in_flight_max(), counters.total(), counters.open_count()), (0, 0, 0));
    }
}
