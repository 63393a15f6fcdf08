//! What can be set about the HTTP API. The binary reads it from the configuration; nothing here reads a file.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use http::Uri;
use secrecy::SecretString;

/// What can be set about the routes.
#[derive(Debug, Clone)]
pub struct ApiSettings {
    /// The version to show, of the program and not of this crate.
    pub version: String,
    /// Where people open Pegel. Its path is put before every route but health and metrics; its scheme decides
    /// about the cookie's name and HSTS. Needed behind a proxy that ends TLS.
    pub public_url: Option<PublicUrl>,
    /// Names or addresses, without ports, that a request's `Host` may hold besides the public URL's and,
    /// on a loopback listener, those of this machine.
    pub allowed_hosts: Vec<String>,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<Network>,
    /// What `/metrics` asks for as a bearer token. Without one, only clients on a loopback listener may read.
    pub metrics_token: Option<SecretString>,
    /// The largest request body.
    pub max_body_bytes: usize,
    /// How long a request's body may take.
    pub body_timeout: Duration,
    /// The most change streams of one user.
    pub max_streams_per_user: usize,
    /// The most change streams in all.
    pub max_streams: usize,
    /// How often a change stream shows that it lives, and asks whether its session still does.
    pub stream_heartbeat: Duration,
}

impl Default for ApiSettings {
    fn default() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            public_url: None,
            allowed_hosts: Vec::new(),
            trusted_proxies: Vec::new(),
            metrics_token: None,
            max_body_bytes: 1024 * 1024,
            body_timeout: Duration::from_secs(30),
            max_streams_per_user: 16,
            max_streams: 1_000,
            stream_heartbeat: Duration::from_secs(15),
        }
    }
}

impl ApiSettings {
    /// Returns the path before every route but health and metrics: empty, or `/` and words without an end slash.
    pub(crate) fn base_path(&self) -> &str {
        self.public_url.as_ref().map_or("", |url| url.base_path.as_str())
    }

    /// Returns whether people reach Pegel by TLS.
    pub(crate) fn is_https(&self) -> bool {
        self.public_url.as_ref().is_some_and(|url| url.is_https)
    }
}

/// What can be set about connections.
#[derive(Debug, Clone, Copy)]
pub struct ServeSettings {
    /// The most connections at once; more wait to be accepted.
    pub max_connections: usize,
    /// How long a request's head may take, and how long a connection may be idle.
    pub header_read_timeout: Duration,
    /// How long a client may take nothing of an answer.
    pub write_timeout: Duration,
    /// How long requests under way may still take when the server ends.
    pub drain_timeout: Duration,
}

impl Default for ServeSettings {
    fn default() -> Self {
        Self {
            max_connections: 1_024,
            header_read_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(20),
        }
    }
}

/// The URL people open: `http` or `https`, a host, perhaps a port, perhaps a path of plain words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl {
    pub(crate) is_https: bool,
    pub(crate) host: String,
    pub(crate) origin: String,
    pub(crate) base_path: String,
}

/// Why a text is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// Not a URL that people could open.
    #[error(
        "a public URL is http:// or https://, a host, perhaps a port and a path of letters, digits, -, _ and ."
    )]
    PublicUrl,
    /// Not an address or a network.
    #[error("a network is an address, or an address, a slash and the count of fixed bits")]
    Network,
}

impl FromStr for PublicUrl {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = SettingError::PublicUrl;
        let uri: Uri = text.parse().map_err(|_| invalid.clone())?;
        let is_https = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(invalid),
        };
        let host = uri.host().filter(|host| !host.is_empty()).ok_or(invalid.clone())?.to_ascii_lowercase();
        let has_user = uri.authority().is_some_and(|authority| authority.as_str().contains('@'));
        let base_path = uri.path().trim_end_matches('/').to_owned();
        let is_word = |word: &str| {
            let is_plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.');
            !word.is_empty() && word.bytes().all(is_plain) && word.bytes().any(|c| c != b'.')
        };
        let is_path = base_path.is_empty() || base_path.split('/').skip(1).all(is_word);
        if has_user || uri.query().is_some() || !is_path {
            return Err(invalid);
        }
        let scheme = if is_https { "https" } else { "http" };
        // Browsers leave out the port that the scheme implies.
        let implied = if is_https { 443 } else { 80 };
        let origin = match uri.port_u16().filter(|port| *port != implied) {
            Some(port) => format!("{scheme}://{host}:{port}"),
            None => format!("{scheme}://{host}"),
        };
        Ok(Self { is_https, host, origin, base_path })
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin, self.base_path)
    }
}

/// Addresses that share their first bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

impl Network {
    /// Returns whether every address of its family belongs to it.
    pub fn is_everything(&self) -> bool {
        self.bits == 0
    }

    /// Returns whether an address belongs to the network.
    pub fn contains(&self, address: IpAddr) -> bool {
        let same = |own: u128, other: u128, width: u32| {
            let free = width.saturating_sub(u32::from(self.bits));
            own.checked_shr(free).unwrap_or(0) == other.checked_shr(free).unwrap_or(0)
        };
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                same(u128::from(own.to_bits()), u128::from(other.to_bits()), 32)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => same(own.to_bits(), other.to_bits(), 128),
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| SettingError::Network)?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            Some(bits) => bits.parse().map_err(|_| SettingError::Network)?,
            None => width,
        };
        if bits > width { Err(SettingError::Network) } else { Ok(Self { address, bits }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_url_is_cut_into_origin_and_path() {
        let parts = |text: &str| {
            let url: PublicUrl = text.parse().unwrap();
            (url.is_https, url.origin, url.base_path)
        };
        let own = |is_https, origin: &str, path: &str| (is_https, origin.to_owned(), path.to_owned());
        assert_eq!(parts("https://Pegel.example.org"), own(true, "https://pegel.example.org", ""));
        assert_eq!(parts("https://a.example:443/x/y/"), own(true, "https://a.example", "/x/y"));
        assert_eq!(parts("http://[::1]:9300/"), own(false, "http://[::1]:9300", ""));
        for bad in [
            "",
            "pegel.example.org",
            "ftp://a.example",
            "https://",
            "https://ann@a.example",
            "https://a.example/?x=1",
            "https://a.example//x",
            "https://a.example/x/../y",
            "https://a.example/{x}",
            "https://a.example/a%20b",
        ] {
            assert_eq!(bad.parse::<PublicUrl>(), Err(SettingError::PublicUrl), "{bad}");
        }
    }

    #[test]
    fn a_network_holds_the_addresses_that_share_its_bits() {
        let holds = |network: &str, address: &str| {
            network.parse::<Network>().unwrap().contains(address.parse().unwrap())
        };
        assert!(holds("10.0.0.0/8", "10.255.1.2") && !holds("10.0.0.0/8", "11.0.0.1"));
        assert!(holds("192.0.2.7", "192.0.2.7") && !holds("192.0.2.7", "192.0.2.6"));
        assert!(holds("0.0.0.0/0", "203.0.113.9") && !holds("0.0.0.0/0", "::1"));
        assert!(holds("fd00::/8", "fd12::1") && !holds("fd00::/8", "fe80::1"));
        assert!(holds("10.0.0.0/8", "::ffff:10.1.1.1"));
        assert!(holds("::/0", "2001:db8::1"));
        for bad in ["", "10.0.0.0/33", "::/129", "10.0.0/8", "a/8", "10.0.0.0/-1"] {
            assert_eq!(bad.parse::<Network>(), Err(SettingError::Network), "{bad}");
        }
    }
}
