//! What the client did: one stream of events, and bounded aggregates over it.
//!
//! Events carry addresses, API names, durations and error codes; never table
//! names, keys, rows or credentials.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::bootstrap::HostPort;
use crate::clock;

/// Something the client did or saw.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A dial ended: resolve, TCP, TLS, negotiation and authentication together.
    Dial {
        /// Address that was dialled.
        address: &'a HostPort,
        /// Error code, absent on success.
        error: Option<&'static str>,
        /// Time from the start of the dial.
        duration: Duration,
    },
    /// A request ended with an answer, an error or its deadline.
    Request {
        /// Server that was asked.
        address: &'a HostPort,
        /// Name of the API, as `GET_METADATA`.
        api: &'static str,
        /// Error code, absent on success; `request_timeout` for a deadline.
        error: Option<&'static str>,
        /// Time from queueing the request.
        duration: Duration,
    },
    /// A safe read is about to be tried again.
    Retry {
        /// Name of the API.
        api: &'static str,
        /// Number of the attempt that failed, from 1.
        attempt: u32,
        /// Code of the error that caused it.
        error: &'static str,
    },
    /// A request found others under way on its connection.
    Queue {
        /// Server that is asked.
        address: &'a HostPort,
        /// Requests under way, the new one included.
        in_flight: usize,
    },
    /// An answer came after its request had been given up.
    LateAnswer {
        /// Server that answered.
        address: &'a HostPort,
    },
    /// Bytes could not be read as the answer they should be.
    DecodeFailure {
        /// Server that sent them.
        address: &'a HostPort,
    },
    /// A connection ended.
    ConnectionClosed {
        /// Server on the other end.
        address: &'a HostPort,
    },
    /// A background read waited for its share of the request budget.
    Throttled {
        /// Time it waited.
        duration: Duration,
    },
}

/// Receives events. Called on the client's own tasks, so it must not block.
pub trait Observer: Send + Sync {
    /// Takes note of one event.
    fn observe(&self, event: &Event<'_>);
}

/// Ignores every event.
#[derive(Debug, Default, Clone, Copy)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn observe(&self, _event: &Event<'_>) {}
}

impl<O: Observer> Observer for Arc<O> {
    fn observe(&self, event: &Event<'_>) {
        (**self).observe(event);
    }
}

/// Tells two observers of every event.
#[derive(Clone)]
pub(crate) struct Both(pub(crate) Arc<dyn Observer>, pub(crate) Arc<dyn Observer>);

impl Observer for Both {
    fn observe(&self, event: &Event<'_>) {
        self.0.observe(event);
        self.1.observe(event);
    }
}

/// Upper bounds of the latency classes in milliseconds; one more class holds all above.
pub const LATENCY_BOUNDS_MS: [u64; 13] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];

/// Counts and latencies of one kind of operation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OperationStats {
    /// Operations that ended, failures included.
    pub count: u64,
    /// Operations that ended with an error other than a deadline.
    pub error_count: u64,
    /// Operations that ended with their deadline.
    pub timeout_count: u64,
    /// Operations by latency class, in the order of [`LATENCY_BOUNDS_MS`] and one above.
    pub latency_counts: [u64; LATENCY_BOUNDS_MS.len() + 1],
}

impl OperationStats {
    fn add(&mut self, error: Option<&'static str>, duration: Duration) {
        self.count += 1;
        match error {
            None => {}
            Some("request_timeout" | "dial_timeout") => self.timeout_count += 1,
            Some(_) => self.error_count += 1,
        }
        let elapsed = clock::millis(duration);
        let class = LATENCY_BOUNDS_MS.iter().position(|bound| elapsed <= *bound);
        if let Some(counter) = self.latency_counts.get_mut(class.unwrap_or(LATENCY_BOUNDS_MS.len())) {
            *counter += 1;
        }
    }
}

/// A picture of everything counted so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Dials.
    pub dials: OperationStats,
    /// Requests by API name; at most one entry for each API that exists.
    pub requests: BTreeMap<&'static str, OperationStats>,
    /// Reads that were tried again.
    pub retry_count: u64,
    /// Answers that came too late.
    pub late_answer_count: u64,
    /// Answers that could not be read.
    pub decode_failure_count: u64,
    /// Connections that ended.
    pub closed_connection_count: u64,
    /// Background reads that waited for the request budget.
    pub throttle_count: u64,
    /// Largest number of requests seen under way on one connection.
    pub in_flight_max: usize,
}

/// Counts events in memory whose size does not grow with their number.
#[derive(Debug, Default)]
pub struct Aggregates(Mutex<Snapshot>);

impl Aggregates {
    /// Returns the counts so far.
    pub fn snapshot(&self) -> Snapshot {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Observer for Aggregates {
    fn observe(&self, event: &Event<'_>) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Dial { error, duration, .. } => counts.dials.add(*error, *duration),
            Event::Request { api, error, duration, .. } => {
                counts.requests.entry(api).or_default().add(*error, *duration);
            }
            Event::Retry { .. } => counts.retry_count += 1,
            Event::Queue { in_flight, .. } => counts.in_flight_max = counts.in_flight_max.max(*in_flight),
            Event::LateAnswer { .. } => counts.late_answer_count += 1,
            Event::DecodeFailure { .. } => counts.decode_failure_count += 1,
            Event::ConnectionClosed { .. } => counts.closed_connection_count += 1,
            Event::Throttled { .. } => counts.throttle_count += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_fall_into_fixed_classes_and_errors_are_told_from_deadlines() {
        let aggregates = Aggregates::default();
        let address: HostPort = "a:1".parse().unwrap();
        let request = |error, millis| {
            let duration = Duration::from_millis(millis);
            aggregates.observe(&Event::Request { address: &address, api: "GET_METADATA", error, duration });
        };
        request(None, 1);
        request(None, 3);
        request(Some("connection_lost"), 60_000);
        request(Some("request_timeout"), 10_000);
        let snapshot = aggregates.snapshot();
        let stats = &snapshot.requests["GET_METADATA"];
        assert_eq!((stats.count, stats.error_count, stats.timeout_count), (4, 1, 1));
        assert_eq!(stats.latency_counts[0], 1);
        assert_eq!(stats.latency_counts[2], 1);
        assert_eq!(stats.latency_counts[12], 1);
        assert_eq!(stats.latency_counts[13], 1);
    }
}
