//! Asking over HTTP: resolve, connect, TLS, request, redirects, body, judgement, all under one deadline.

use std::net::{IpAddr, SocketAddr};

use futures_util::future::join_all;
use http::header::LOCATION;
use tokio::time::{Instant, timeout_at};
use url::{Host, Url};

use crate::Outbound;
use crate::body::Reader;
use crate::clock;
use crate::dial;
use crate::egress::PrivateAddresses;
use crate::error::{Error, Phase};
use crate::exchange::{Connection, Stream};
use crate::expect::Expect;
use crate::redirect::{Ask, Trail, shown};
use crate::report::{Answer, Passed, Report, Sent, Tracker};
use crate::request::{Addresses, Request};
use crate::resolve::{MAX_ADDRESSES, ResolveError};
use crate::tls::{self, Session};

/// What to connect to.
pub(crate) struct Target<'a> {
    pub(crate) host: &'a str,
    pub(crate) port: u16,
    pub(crate) addresses: Addresses,
    pub(crate) is_private_allowed: bool,
    /// The one address to use, if that is decided already.
    pub(crate) pinned: Option<IpAddr>,
}

impl Outbound {
    /// Asks once and judges the answer. There is no hidden second attempt.
    ///
    /// Whatever happens is in the report. Dropping the future closes the connection.
    pub async fn send(&self, request: &Request, expect: &Expect) -> Report {
        Box::pin(self.send_to(request, expect, None, clock::now() + request.deadline)).await
    }

    /// Asks each address of the first host at the same time, under one deadline; one report for each.
    ///
    /// It is well only if all reports are. If the name cannot be looked up there is one report, which says so.
    pub async fn send_each(&self, request: &Request, expect: &Expect) -> Vec<Report> {
        let deadline = clock::now() + request.deadline;
        let mut tracker = Tracker::new();
        tracker.hop(shown(&request.url));
        let found = timeout_at(deadline, async {
            request.check()?;
            let (host, port) = authority(&request.url)?;
            let is_private_allowed = request.private_addresses != PrivateAddresses::Refused;
            let target =
                Target { host: &host, port, addresses: request.addresses, is_private_allowed, pinned: None };
            self.addresses(&target, &mut tracker).await
        })
        .await;
        match found {
            Ok(Ok(addresses)) => {
                let all = addresses
                    .iter()
                    .map(|address| Box::pin(self.send_to(request, expect, Some(address.ip()), deadline)));
                join_all(all).await
            }
            Ok(Err(error)) => vec![tracker.report(Some(Err(error)), request.deadline)],
            Err(_) => vec![tracker.report(None, request.deadline)],
        }
    }

    async fn send_to(
        &self,
        request: &Request,
        expect: &Expect,
        pinned: Option<IpAddr>,
        deadline: Instant,
    ) -> Report {
        let mut tracker = Tracker::new();
        let result = match request.check().and_then(|()| expect.check(&request.method)) {
            Ok(()) => timeout_at(deadline, self.follow(request, expect, pinned, &mut tracker)).await.ok(),
            Err(error) => {
                tracker.hop(shown(&request.url));
                Some(Err(error))
            }
        };
        tracker.report(result, request.deadline)
    }

    async fn follow(
        &self,
        request: &Request,
        expect: &Expect,
        pinned: Option<IpAddr>,
        tracker: &mut Tracker,
    ) -> Result<(), Error> {
        let mut trail = Trail::new(request.redirects);
        let mut ask = Ask {
            method: request.method.clone(),
            url: request.url.clone(),
            headers: request.headers.clone(),
            body: request.body.clone(),
        };
        let saved_host = request.url.host_str().unwrap_or_default().to_owned();
        loop {
            tracker.hop(shown(&ask.url));
            let is_private_allowed = match request.private_addresses {
                PrivateAddresses::Refused => false,
                PrivateAddresses::SavedHost => ask.url.host_str() == Some(&saved_host),
                PrivateAddresses::AnyHost => true,
            };
            let (host, port) = authority(&ask.url)?;
            let pinned = pinned.filter(|_| tracker.hops.len() == 1);
            let addresses = request.addresses;
            let target = Target { host: &host, port, addresses, is_private_allowed, pinned };
            let stream = self.connect(&target, request, tracker).await?;
            let stream = if ask.url.scheme() == "https" {
                Stream::Tls(Box::new(
                    self.secure(stream, &host, request.is_insecure, b"http/1.1", tracker).await?,
                ))
            } else {
                Stream::Plain(stream)
            };
            tracker.begin(Phase::FirstByte);
            let mut connection = Connection::open(stream).await?;
            tracker.sent = Sent::Maybe;
            let answer = connection.send(&ask).await?;
            tracker.end();
            if let Some(hop) = tracker.last() {
                hop.status = Some(answer.status().as_u16());
            }
            if let Some(next) = trail.next(&ask, answer.status(), answer.headers().get(LOCATION))? {
                ask = next;
                continue;
            }
            return self.finish(request, expect, connection, answer, tracker).await;
        }
    }

    /// Reads the last answer and judges it.
    async fn finish(
        &self,
        request: &Request,
        expect: &Expect,
        mut connection: Connection,
        answer: http::Response<hyper::body::Incoming>,
        tracker: &mut Tracker,
    ) -> Result<(), Error> {
        tracker.begin(Phase::Body);
        let (head, body) = answer.into_parts();
        let kept_bytes =
            if expect.json.is_empty() { request.kept_bytes } else { crate::request::MAX_KEPT_BYTES };
        let reader = Reader::new(&head.headers, request.read_bytes, kept_bytes, &expect.texts)?;
        let read = connection.read(body, reader).await?;
        tracker.end();
        let mut answer = Answer {
            status: head.status.as_u16(),
            headers: head.headers,
            body: read.kept,
            wire_bytes: read.wire_bytes,
            body_bytes: read.body_bytes,
            is_body_whole: read.is_whole,
            found: read.found,
        };
        let judged = expect.judge(&answer);
        answer.body.truncate(request.kept_bytes);
        tracker.answer = Some(answer);
        judged
    }

    /// Looks up a name and connects, under the request's shorter deadline for that.
    async fn connect(
        &self,
        target: &Target<'_>,
        request: &Request,
        tracker: &mut Tracker,
    ) -> Result<tokio::net::TcpStream, Error> {
        let Some(within) = request.connect_deadline else { return self.reach(target, tracker).await };
        let reached = timeout_at(clock::now() + within, self.reach(target, tracker)).await;
        reached.unwrap_or_else(|_| {
            tracker.end();
            let deadline_ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
            Err(Error::Timeout { phase: tracker.phase(), deadline_ms })
        })
    }

    /// Looks up a name and connects to one of its addresses.
    pub(crate) async fn reach(
        &self,
        target: &Target<'_>,
        tracker: &mut Tracker,
    ) -> Result<tokio::net::TcpStream, Error> {
        let addresses = self.addresses(target, tracker).await?;
        tracker.begin(Phase::Connect);
        let mut passed = Vec::new();
        let dialled = dial::dial(&addresses, &mut passed).await;
        tracker.end();
        let hop = tracker.last();
        let (stream, address) = match (dialled, hop) {
            (Ok((stream, address)), Some(hop)) => {
                hop.address = Some(address);
                hop.passed.extend(passed);
                (stream, address)
            }
            (Err(error), Some(hop)) => {
                hop.passed.extend(passed);
                return Err(error);
            }
            (dialled, None) => dialled?,
        };
        // The system connects to what it was told; were it not so, nothing else would say it.
        if stream.peer_addr().is_ok_and(|peer| peer.ip() != address.ip()) {
            return Err(Error::invalid("the system connected to another address"));
        }
        Ok(stream)
    }

    /// Returns the addresses that may be asked, looked up this once.
    async fn addresses(&self, target: &Target<'_>, tracker: &mut Tracker) -> Result<Vec<SocketAddr>, Error> {
        let host = target.host;
        let found = if let Some(pinned) = target.pinned {
            vec![pinned]
        } else if let Ok(literal) = host.parse::<IpAddr>() {
            vec![literal]
        } else {
            tracker.begin(Phase::Resolve);
            let found = self.resolver.resolve(host).await;
            tracker.end();
            let host = host.to_owned();
            found.map_err(|error| match error {
                ResolveError::NotFound(source) => Error::ResolveFailed { host, source },
                ResolveError::Unavailable(source) => Error::ResolverUnavailable { host, source },
            })?
        };
        let mut allowed = Vec::new();
        let mut refused = None;
        for address in dial::order(&found, target.addresses).into_iter().take(MAX_ADDRESSES) {
            let socket = SocketAddr::new(address, target.port);
            match self.egress.check(host, target.port, address, target.is_private_allowed) {
                Ok(()) if allowed.contains(&socket) => {}
                Ok(()) => allowed.push(socket),
                Err(reason) => {
                    let refuse = || Error::EgressRefused { host: host.to_owned(), address, reason };
                    refused.get_or_insert_with(refuse);
                    if let Some(hop) = tracker.last() {
                        hop.passed.push(Passed { address: socket, error: refuse() });
                    }
                }
            }
        }
        if allowed.is_empty() {
            return Err(refused.unwrap_or(Error::ResolveFailed { host: host.to_owned(), source: None }));
        }
        Ok(allowed)
    }

    /// Makes the TLS handshake on a connection.
    pub(crate) async fn secure(
        &self,
        stream: tokio::net::TcpStream,
        host: &str,
        is_insecure: bool,
        protocol: &'static [u8],
        tracker: &mut Tracker,
    ) -> Result<tokio_rustls::client::TlsStream<tokio::net::TcpStream>, Error> {
        tracker.begin(Phase::Tls);
        let protocols: &[&[u8]] = if protocol.is_empty() { &[] } else { &[protocol] };
        let session = Session { trust: &self.trust, clock: &self.clock, is_insecure, protocols };
        let mut facts = None;
        let secured = tls::handshake(&session, stream, host, &mut facts).await;
        tracker.end();
        if let Some(hop) = tracker.last() {
            hop.tls = facts;
        }
        secured
    }
}

/// Returns host and port of a URL; an IPv6 address without its brackets.
fn authority(url: &Url) -> Result<(String, u16), Error> {
    let host = match url.host() {
        Some(Host::Domain(name)) => name.to_owned(),
        Some(Host::Ipv4(address)) => address.to_string(),
        Some(Host::Ipv6(address)) => address.to_string(),
        None => return Err(Error::invalid("a url needs a host")),
    };
    let port = url.port_or_known_default().ok_or_else(|| Error::invalid("a url needs a port"))?;
    Ok((host, port))
}
