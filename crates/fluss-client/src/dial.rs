//! Dialling: name resolution, TCP and TLS, each timed and under one limit.
//!
//! Only what the address rule has let pass is dialled: a name is looked up once, and the very addresses that were
//! judged are connected to.
//!
//! Nothing here knows the Fluss protocol.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::ClientConfig;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::bootstrap::HostPort;
use crate::clock;
use crate::error::{Error, TlsFault};
use crate::settings::{AddressRule, ConnectionSettings, TlsSettings};
use crate::tls;

/// Idle time after which the kernel asks whether the peer is still there.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// Most addresses of one host that are tried.
const MAX_ADDRESSES_PER_HOST: usize = 8;
/// Time for which it is remembered whether a port speaks TLS.
const LOOK_AGE: Duration = Duration::from_secs(60);

/// A byte stream to a server, encrypted or not.
pub(crate) enum Stream {
    /// Bytes in the clear.
    Plain(TcpStream),
    /// Bytes inside TLS.
    Tls(Box<TlsStream<TcpStream>>),
}

/// Addresses of one host, at least one, all of which may be dialled. Only [`Dialer::resolve`] makes them.
pub(crate) struct Candidates(Vec<SocketAddr>);

/// Everything needed to dial servers of one cluster.
#[derive(Clone)]
pub(crate) struct Dialer {
    tls: Option<(Arc<ClientConfig>, TlsSettings)>,
    timeout: Duration,
    rule: AddressRule,
    /// Which plaintext ports were found to speak TLS, and when.
    looks: Arc<Mutex<HashMap<HostPort, (Instant, bool)>>>,
}

impl Dialer {
    pub(crate) fn new(settings: &ConnectionSettings) -> Result<Self, Error> {
        let tls = if settings.security_protocol().uses_tls() {
            Some((tls::client_config(&settings.tls)?, settings.tls.clone()))
        } else {
            None
        };
        Ok(Self { tls, timeout: settings.dial_timeout(), rule: settings.address_rule, looks: Arc::default() })
    }

    pub(crate) fn uses_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Returns the moment by which a dial that starts now must be done.
    pub(crate) fn deadline(&self) -> Instant {
        clock::deadline_in(self.timeout)
    }

    /// Resolves, connects and, where configured, makes the TLS session.
    pub(crate) async fn dial(&self, address: &HostPort) -> Result<Stream, Error> {
        let deadline = self.deadline();
        let addresses = self.resolve(address, deadline).await?;
        let tcp = self.connect(address, &addresses, deadline).await?;
        self.secure(address, tcp, deadline).await
    }

    /// Returns the addresses of the host that may be dialled.
    pub(crate) async fn resolve(&self, address: &HostPort, deadline: Instant) -> Result<Candidates, Error> {
        let lookup = tokio::net::lookup_host((address.host(), address.port()));
        let found = match timeout_at(deadline, lookup).await {
            Err(_) => return Err(self.timed_out(address)),
            Ok(Err(error)) => return Err(resolve_error(address, error)),
            Ok(Ok(addresses)) => addresses,
        };
        judged(found, self.rule).map_err(|refused| match refused {
            Some((resolved, reason)) => Error::AddressRefused { address: address.clone(), resolved, reason },
            None => resolve_error(address, io::Error::from(io::ErrorKind::NotFound)),
        })
    }

    /// Opens a TCP connection to the first address that accepts.
    ///
    /// The time left is shared out, so that one black-holed address does not
    /// use up the time of the others.
    pub(crate) async fn connect(
        &self,
        address: &HostPort,
        Candidates(candidates): &Candidates,
        deadline: Instant,
    ) -> Result<TcpStream, Error> {
        let mut last = self.timed_out(address);
        for (index, candidate) in candidates.iter().enumerate() {
            let waiting = u32::try_from(candidates.len() - index).unwrap_or(u32::MAX);
            let share = clock::deadline_in(clock::remaining(deadline) / waiting);
            match timeout_at(share, TcpStream::connect(candidate)).await {
                Err(_) => last = self.timed_out(address),
                Ok(Err(error)) => {
                    last = Error::Connect { address: address.clone(), source: Arc::new(error) };
                }
                Ok(Ok(stream)) => {
                    tune(&stream);
                    return Ok(stream);
                }
            }
        }
        Err(last)
    }

    /// Wraps the connection in TLS where the settings say so.
    pub(crate) async fn secure(
        &self,
        address: &HostPort,
        tcp: TcpStream,
        deadline: Instant,
    ) -> Result<Stream, Error> {
        let Some((config, settings)) = &self.tls else { return Ok(Stream::Plain(tcp)) };
        let name = tls::server_name(settings, address)?;
        let handshake = TlsConnector::from(Arc::clone(config)).connect(name, tcp);
        match timeout_at(deadline, handshake).await {
            Err(_) => Err(Error::Tls {
                address: address.clone(),
                fault: TlsFault::Silent(clock::millis(self.timeout)),
                source: None,
            }),
            Ok(Err(error)) => Err(tls::handshake_error(address, error)),
            Ok(Ok(stream)) => Ok(Stream::Tls(Box::new(stream))),
        }
    }

    /// Finds out whether a port that closed on plaintext Fluss speaks TLS.
    ///
    /// The look is taken once for each address and its answer kept a while: a server that
    /// restarts must not get a handshake with every attempt.
    pub(crate) async fn speaks_tls(&self, address: &HostPort) -> bool {
        let now = clock::now();
        let known = self.looks.lock().unwrap_or_else(PoisonError::into_inner).get(address).copied();
        if let Some((taken_at, speaks)) = known
            && now - taken_at < LOOK_AGE
        {
            return speaks;
        }
        let speaks = self.look_for_tls(address).await;
        let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        looks.retain(|_, (taken_at, _)| now - *taken_at < LOOK_AGE);
        looks.insert(address.clone(), (now, speaks));
        speaks
    }

    async fn look_for_tls(&self, address: &HostPort) -> bool {
        let deadline = self.deadline();
        let Ok(config) = tls::sniffing_config() else { return false };
        let Ok(name) = tls::server_name(&TlsSettings::default(), address) else { return false };
        let Ok(addresses) = self.resolve(address, deadline).await else { return false };
        let Ok(tcp) = self.connect(address, &addresses, deadline).await else { return false };
        match timeout_at(deadline, TlsConnector::from(config).connect(name, tcp)).await {
            Err(_) => false,
            Ok(Ok(_)) => true,
            // An alert, even a refusal, is an answer in TLS.
            Ok(Err(error)) => tls::fault_of(&error).is_some_and(|fault| fault != TlsFault::NotTls),
        }
    }

    fn timed_out(&self, address: &HostPort) -> Error {
        Error::DialTimeout { address: address.clone(), timeout_ms: clock::millis(self.timeout) }
    }
}

/// Takes what may be dialled of the addresses of a host; if that is none, the first that was refused and why.
fn judged(
    found: impl Iterator<Item = SocketAddr>,
    rule: AddressRule,
) -> Result<Candidates, Option<(IpAddr, &'static str)>> {
    let mut allowed = Vec::new();
    let mut refused = None;
    for candidate in found {
        match rule(candidate) {
            Ok(()) => allowed.push(candidate),
            Err(reason) => refused = refused.or(Some((candidate.ip(), reason))),
        }
    }
    allowed.truncate(MAX_ADDRESSES_PER_HOST);
    if allowed.is_empty() { Err(refused) } else { Ok(Candidates(allowed)) }
}

fn resolve_error(address: &HostPort, error: io::Error) -> Error {
    Error::Resolve { address: address.clone(), source: Arc::new(error) }
}

/// Sets options that only save time or notice dead peers; a refusal is harmless.
fn tune(stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE);
    let _ = SockRef::from(stream).set_tcp_keepalive(&keepalive);
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(found: &[&str]) -> Result<Vec<String>, Option<String>> {
        let found = found.iter().map(|text| text.parse().unwrap());
        let rule = |address: SocketAddr| if address.ip().is_loopback() { Err("loopback") } else { Ok(()) };
        match judged(found, rule) {
            Ok(Candidates(allowed)) => Ok(allowed.iter().map(ToString::to_string).collect()),
            Err(refused) => Err(refused.map(|(address, why)| format!("{address} {why}"))),
        }
    }

    #[test]
    fn of_the_addresses_of_a_name_only_those_that_the_rule_lets_pass_are_dialled() {
        assert_eq!(check(&["127.0.0.1:1", "10.0.0.1:1", "[::1]:1"]), Ok(vec!["10.0.0.1:1".to_owned()]));
        assert_eq!(check(&["[::1]:1", "127.0.0.1:1"]), Err(Some("::1 loopback".to_owned())));
        assert_eq!(check(&[]), Err(None));
        let many: Vec<&str> = std::iter::repeat_n("127.0.0.1:1", 20).chain(["10.0.0.1:1"; 20]).collect();
        assert_eq!(check(&many).unwrap().len(), MAX_ADDRESSES_PER_HOST);
    }
}
