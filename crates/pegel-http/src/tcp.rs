//! Asking over plain TCP: connect, and if wanted speak and listen.
//!
//! A connection that is accepted does not mean that anybody is well: a frozen process accepts, too. Only a
//! reply says that. Without one, the report says no more than that the port is open.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout_at;

use crate::Outbound;
use crate::clock;
use crate::error::{Error, Phase};
use crate::exchange::Stream;
use crate::http::Target;
use crate::report::{Report, Sent, Tracker};
use crate::request::Addresses;

/// The most bytes that are sent.
pub const MAX_SENT_BYTES: usize = 4 * 1_024;

/// The longest reply that is waited for.
pub const MAX_EXPECTED_BYTES: usize = 4 * 1_024;

/// How much of a reply is read until it is said to be another one.
pub const MAX_READ_BYTES: usize = 64 * 1_024;

/// A TCP probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpProbe {
    /// The host, an IPv6 address without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The deadline over everything.
    pub deadline: Duration,
    /// Which addresses are asked.
    pub addresses: Addresses,
    /// Whether private addresses may be.
    pub is_private_allowed: bool,
    /// Whether TLS is spoken, and if so whether any certificate is accepted.
    pub tls: Option<TcpTls>,
    /// What is sent first.
    pub sent: Vec<u8>,
    /// What has to stand somewhere in the reply; empty if no reply is waited for.
    pub expected: Vec<u8>,
}

/// TLS of a TCP probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpTls {
    /// Whether a certificate is accepted whatever is wrong with it.
    pub is_insecure: bool,
}

impl TcpProbe {
    /// Checks what the types cannot say.
    ///
    /// # Errors
    /// `invalid`, naming what.
    pub fn check(&self) -> Result<(), Error> {
        if self.host.is_empty() || self.port == 0 {
            return Err(Error::invalid("a tcp probe needs a host and a port"));
        }
        if self.sent.len() > MAX_SENT_BYTES || self.expected.len() > MAX_EXPECTED_BYTES {
            return Err(Error::invalid("what is sent and what is expected have at most 4096 bytes each"));
        }
        if self.deadline.is_zero() {
            return Err(Error::invalid("a deadline is longer than nothing"));
        }
        Ok(())
    }
}

impl Outbound {
    /// Probes once. Whatever happens is in the report, whose one hop is the target; it has no answer.
    ///
    /// Dropping the future closes the connection.
    pub async fn probe_tcp(&self, probe: &TcpProbe) -> Report {
        let mut tracker = Tracker::new();
        tracker.hop(format!("tcp://{}:{}", probe.host, probe.port));
        let result = match probe.check() {
            Ok(()) => {
                let probing = Box::pin(self.probe(probe, &mut tracker));
                timeout_at(clock::now() + probe.deadline, probing).await.ok()
            }
            Err(error) => Some(Err(error)),
        };
        tracker.report(result, probe.deadline)
    }

    async fn probe(&self, probe: &TcpProbe, tracker: &mut Tracker) -> Result<(), Error> {
        let target = Target {
            host: &probe.host,
            port: probe.port,
            addresses: probe.addresses,
            is_private_allowed: probe.is_private_allowed,
            pinned: None,
        };
        let stream = self.reach(&target, tracker).await?;
        let mut stream = match probe.tls {
            None => Stream::Plain(stream),
            Some(tls) => {
                let secured = self.secure(stream, &probe.host, tls.is_insecure, b"", tracker).await?;
                Stream::Tls(Box::new(secured))
            }
        };
        if !probe.sent.is_empty() {
            tracker.begin(Phase::FirstByte);
            tracker.sent = Sent::Maybe;
            stream.write_all(&probe.sent).await.map_err(|error| lost(Phase::FirstByte, error))?;
            stream.flush().await.map_err(|error| lost(Phase::FirstByte, error))?;
        }
        if !probe.expected.is_empty() {
            listen(&mut stream, &probe.expected, tracker).await?;
        }
        // Said good-bye to, so that the target's log shows no reset; that it hears it does not matter.
        let _ = stream.shutdown().await;
        Ok(())
    }
}

/// Reads until what is expected has come.
async fn listen(stream: &mut Stream, expected: &[u8], tracker: &mut Tracker) -> Result<(), Error> {
    tracker.begin(Phase::FirstByte);
    let mut reply = Vec::with_capacity(1_024);
    loop {
        let before = reply.len();
        let phase = tracker.phase();
        let read = stream.read_buf(&mut reply).await.map_err(|error| lost(phase, error))?;
        if before == 0 && read > 0 {
            tracker.end();
            tracker.begin(Phase::Body);
        }
        let from = before.saturating_sub(expected.len());
        let is_there = |tail: &[u8]| tail.windows(expected.len()).any(|window| window == expected);
        if reply.get(from..).is_some_and(is_there) {
            tracker.end();
            return Ok(());
        }
        if read == 0 && reply.is_empty() {
            return Err(Error::ReplyMissing);
        }
        if read == 0 || reply.len() > MAX_READ_BYTES {
            return Err(Error::ReplyUnexpected {
                received_bytes: u64::try_from(reply.len()).unwrap_or(u64::MAX),
            });
        }
    }
}

fn lost(phase: Phase, error: std::io::Error) -> Error {
    Error::ConnectionLost { phase, source: Some(Box::new(error)) }
}
