//! `[server]`: where the server listens, under which names it is known, and its bounds.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use pegel_api::settings::{Network, PublicUrl};

use crate::server_url::ServerUrl;
use crate::settings::problem::{Key, Problems};
use crate::settings::section::section;

/// The port of Pegel on this machine.
pub(crate) const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8420);

/// Most entries of a list.
const MAX_LIST: usize = 100;

section! {
    /// Where the server listens.
    ServerSection as "server" {
        listen: String = PEGEL_SERVER_LISTEN,
        public_url: String = PEGEL_SERVER_PUBLIC_URL,
        allowed_hosts: Vec<String> = PEGEL_SERVER_ALLOWED_HOSTS,
        trusted_proxies: Vec<String> = PEGEL_SERVER_TRUSTED_PROXIES,
        body_limit_bytes: u64 = PEGEL_SERVER_BODY_LIMIT_BYTES,
        max_connections: u64 = PEGEL_SERVER_MAX_CONNECTIONS,
        drain_timeout_seconds: u64 = PEGEL_SERVER_DRAIN_TIMEOUT_SECONDS,
    }
}

/// Checked settings of `[server]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) listen: SocketAddr,
    /// How people reach it, if that is not the address it listens on.
    pub(crate) public_url: Option<ServerUrl>,
    /// More names that requests may be for, without ports.
    pub(crate) allowed_hosts: Vec<String>,
    /// Proxies whose word on the client's address is taken.
    pub(crate) trusted_proxies: Vec<Network>,
    pub(crate) body_limit_bytes: usize,
    pub(crate) max_connections: usize,
    pub(crate) drain_timeout: Duration,
}

impl ServerSection {
    const LISTEN: Key = (Self::TABLE, "listen");
    const PUBLIC_URL: Key = (Self::TABLE, "public_url");

    /// Lets an option override the address.
    pub(super) fn override_listen(&mut self, given: Option<String>, problems: &mut Problems) {
        if given.is_some() {
            problems.comes_from(Self::LISTEN, "--listen");
            self.listen = given;
        }
    }

    /// Checks everything and fills in defaults.
    pub(super) fn validate(self, problems: &mut Problems) -> Server {
        let listen = self.listen.map_or(DEFAULT_LISTEN, |text| {
            text.parse().unwrap_or_else(|_| {
                problems.add(
                    Self::LISTEN,
                    "write an IP address and a port, as 127.0.0.1:8420, [::1]:8420 or 0.0.0.0:8420",
                );
                DEFAULT_LISTEN
            })
        });
        let has_url = self.public_url.is_some();
        let public_url = self.public_url.and_then(|text| url(&text, problems));
        check_exposure(listen, has_url, public_url.as_ref(), problems);
        let bytes = problems.number(
            (Self::TABLE, "body_limit_bytes"),
            self.body_limit_bytes,
            1024 * 1024,
            64 * 1024..=64 * 1024 * 1024,
        );
        let connections =
            problems.number((Self::TABLE, "max_connections"), self.max_connections, 1_024, 8..=100_000);
        let drain =
            problems.number((Self::TABLE, "drain_timeout_seconds"), self.drain_timeout_seconds, 20, 1..=300);
        Server {
            listen,
            public_url,
            allowed_hosts: hosts(self.allowed_hosts.unwrap_or_default(), problems),
            trusted_proxies: networks(&self.trusted_proxies.unwrap_or_default(), problems),
            body_limit_bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
            max_connections: usize::try_from(connections).unwrap_or(usize::MAX),
            drain_timeout: Duration::from_secs(drain),
        }
    }
}

fn url(text: &str, problems: &mut Problems) -> Option<ServerUrl> {
    let url = match text.parse::<ServerUrl>() {
        // What the API takes is narrower by a character or two.
        Ok(url) => url.to_string().parse::<PublicUrl>().map(|_| url).map_err(|error| error.to_string()),
        Err(reason) => Err(reason),
    };
    url.map_err(|reason| problems.add(ServerSection::PUBLIC_URL, reason)).ok()
}

/// Checks that a server others can reach knows its own name, and says when passwords travel in the clear.
fn check_exposure(
    listen: SocketAddr,
    has_url: bool,
    public_url: Option<&ServerUrl>,
    problems: &mut Problems,
) {
    if !has_url && !listen.ip().to_canonical().is_loopback() {
        problems.add(
            ServerSection::LISTEN,
            "others can reach this address, so that public_url is needed: requests for any other host are refused, \
             and no foreign web page can use a browser against the server",
        );
    }
    if let Some(url) = public_url
        && !url.is_https()
        && !url.is_loopback()
    {
        problems.warn(
            ServerSection::PUBLIC_URL,
            "is not https: passwords and sessions travel in the clear; put a proxy with TLS in front",
        );
    }
}

fn hosts(list: Vec<String>, problems: &mut Problems) -> Vec<String> {
    let key = (ServerSection::TABLE, "allowed_hosts");
    check_length(&list, key, problems);
    let mut hosts = BTreeSet::new();
    for text in list {
        // A host makes a URL with no port of its own; whatever else is in the text shows in another URL.
        match format!("https://{text}").parse::<ServerUrl>() {
            Ok(url) if url.authority().eq_ignore_ascii_case(&text) && url.has_own_port() => {
                hosts.insert(url.authority());
            }
            _ => problems.add(key, format!("{text:?} is no host; write names or addresses without a port")),
        }
    }
    hosts.into_iter().collect()
}

fn networks(list: &[String], problems: &mut Problems) -> Vec<Network> {
    let key = (ServerSection::TABLE, "trusted_proxies");
    check_length(list, key, problems);
    let mut networks = Vec::new();
    for text in list {
        match text.parse::<Network>() {
            Ok(network) if network.is_everything() => problems.add(key, format!("{text:?} trusts everybody")),
            Ok(network) => networks.push(network),
            Err(_) => {
                problems.add(key, format!("{text:?} is neither an address nor a network such as 10.0.0.0/8"));
            }
        }
    }
    networks
}

fn check_length(list: &[String], key: Key, problems: &mut Problems) {
    if list.len() > MAX_LIST {
        problems.add(key, format!("has more than {MAX_LIST} entries"));
    }
}
