//! What was seen in an exchange, also when it failed.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use tokio::time::Instant;

use crate::certificate::TlsFacts;
use crate::clock;
use crate::error::{Error, Phase};
use crate::expect::Found;

/// How long each phase took; absent for those that were not reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timings {
    /// Looking up the name; absent for an address too.
    pub resolve: Option<Duration>,
    /// Connecting.
    pub connect: Option<Duration>,
    /// The TLS handshake.
    pub tls: Option<Duration>,
    /// From the first byte of the request to the first of the answer.
    pub first_byte: Option<Duration>,
    /// Reading the body.
    pub body: Option<Duration>,
}

impl Timings {
    fn of(&mut self, phase: Phase) -> &mut Option<Duration> {
        match phase {
            Phase::Resolve => &mut self.resolve,
            Phase::Connect => &mut self.connect,
            Phase::Tls => &mut self.tls,
            Phase::FirstByte => &mut self.first_byte,
            Phase::Body => &mut self.body,
        }
    }
}

/// An address that was not used, and why.
#[derive(Debug)]
pub struct Passed {
    /// The address.
    pub address: SocketAddr,
    /// Why not.
    pub error: Error,
}

/// One target that was asked: the first, and one for each redirect.
#[derive(Debug)]
pub struct Hop {
    /// What was asked, without credentials.
    pub url: String,
    /// The address that was used.
    pub address: Option<SocketAddr>,
    /// Addresses that failed or were refused before it.
    pub passed: Vec<Passed>,
    /// How long it took.
    pub timings: Timings,
    /// Its certificate, seen also if it was not accepted.
    pub tls: Option<TlsFacts>,
    /// What it answered.
    pub status: Option<u16>,
}

/// Whether a request may have arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sent {
    /// Nothing was written.
    Nothing,
    /// Something was.
    Maybe,
}

/// Why an exchange failed.
#[derive(Debug)]
pub struct Failure {
    /// In which phase.
    pub phase: Phase,
    /// Why.
    pub error: Error,
    /// Whether the last request may have arrived.
    pub sent: Sent,
}

/// What the final target answered.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The beginning of the decoded body, as much as was asked to be kept.
    pub body: Bytes,
    /// How many bytes of the body came over the network.
    pub wire_bytes: u64,
    /// How many they were after decoding.
    pub body_bytes: u64,
    /// Whether that was all of it; `false` if reading stopped at the limit.
    pub is_body_whole: bool,
    /// Which of the expected texts were found, in their order.
    pub found: Vec<Option<Found>>,
}

/// What was seen.
#[derive(Debug)]
pub struct Report {
    /// Each target that was asked, in order. Never empty.
    pub hops: Vec<Hop>,
    /// How long all of it took.
    pub total: Duration,
    /// The answer; there also if it is not as expected.
    pub answer: Option<Answer>,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
}

impl Report {
    /// Returns whether everything was as expected.
    pub fn is_ok(&self) -> bool {
        self.failure.is_none()
    }
}

/// Notes what happens while it does, outside of the future that a deadline drops.
#[derive(Debug)]
pub(crate) struct Tracker {
    pub(crate) hops: Vec<Hop>,
    pub(crate) answer: Option<Answer>,
    pub(crate) sent: Sent,
    started: Instant,
    phase: Phase,
    phase_started: Instant,
}

impl Tracker {
    pub(crate) fn new() -> Self {
        let now = clock::now();
        Self {
            hops: Vec::new(),
            answer: None,
            sent: Sent::Nothing,
            started: now,
            phase: Phase::Resolve,
            phase_started: now,
        }
    }

    pub(crate) fn hop(&mut self, url: String) {
        self.sent = Sent::Nothing;
        self.begin(Phase::Resolve);
        self.hops.push(Hop {
            url,
            address: None,
            passed: Vec::new(),
            timings: Timings::default(),
            tls: None,
            status: None,
        });
    }

    /// Runs one phase to its end, which a deadline may prevent.
    pub(crate) fn begin(&mut self, phase: Phase) {
        self.phase = phase;
        self.phase_started = clock::now();
    }

    /// Notes how long the present phase took; a deadline that passed in it does, too.
    pub(crate) fn end(&mut self) {
        let took = clock::now() - self.phase_started;
        let phase = self.phase;
        if let Some(hop) = self.hops.last_mut() {
            *hop.timings.of(phase) = Some(took);
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    pub(crate) fn last(&mut self) -> Option<&mut Hop> {
        self.hops.last_mut()
    }

    /// Makes the report; `None` for `result` means that the deadline passed.
    pub(crate) fn report(mut self, result: Option<Result<(), Error>>, deadline: Duration) -> Report {
        let error = match result {
            Some(Ok(())) => None,
            Some(Err(error)) => Some(error),
            None => {
                self.end();
                let deadline_ms = u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX);
                Some(Error::Timeout { phase: self.phase, deadline_ms })
            }
        };
        let failure = error.map(|error| Failure { phase: self.phase, error, sent: self.sent });
        Report { hops: self.hops, total: clock::now() - self.started, answer: self.answer, failure }
    }
}
