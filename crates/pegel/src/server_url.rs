//! The address of a Pegel server, as operators and clients write it: `https://pegel.example/base`.
//!
//! One canonical text for each server, since stored logins are found by it. Nothing is resolved or dialled here.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use http::Uri;
use serde::{Deserialize, Serialize};

/// Whether what is sent can be read on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scheme {
    Http,
    Https,
}

impl Scheme {
    const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

/// Where a server answers: scheme, host, port, and the path below which everything lies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) struct ServerUrl {
    scheme: Scheme,
    host: String,
    port: u16,
    base_path: String,
}

impl ServerUrl {
    /// Returns the URL of a server that listens on an address of this machine.
    pub(crate) fn of_listener(address: std::net::SocketAddr) -> Self {
        let host = match address.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        Self { scheme: Scheme::Http, host, port: address.port(), base_path: String::new() }
    }

    /// Returns whether requests travel encrypted.
    pub(crate) fn is_https(&self) -> bool {
        self.scheme == Scheme::Https
    }

    /// Returns whether the server is on this machine, as far as the name tells.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.bare_host();
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
    }

    /// Returns the host without the brackets of an IPv6 address, in lower case.
    pub(crate) fn bare_host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// Returns the port.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns whether the port is the scheme's own, which nobody writes.
    pub(crate) fn has_own_port(&self) -> bool {
        self.port == self.scheme.default_port()
    }

    /// Returns host and port as they stand in a `Host` header: a scheme's own port is left out.
    pub(crate) fn authority(&self) -> String {
        if self.has_own_port() { self.host.clone() } else { format!("{}:{}", self.host, self.port) }
    }

    /// Returns scheme and authority, as browsers send them in `Origin`.
    pub(crate) fn origin(&self) -> String {
        format!("{}://{}", self.scheme.as_str(), self.authority())
    }

    /// Returns the path below which everything lies: empty, or with a slash before it and none after it.
    pub(crate) fn base_path(&self) -> &str {
        &self.base_path
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin(), self.base_path)
    }
}

impl From<ServerUrl> for String {
    fn from(url: ServerUrl) -> Self {
        url.to_string()
    }
}

impl TryFrom<String> for ServerUrl {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for ServerUrl {
    type Err = String;

    /// The message never quotes the text, in which people leave passwords.
    fn from_str(text: &str) -> Result<Self, String> {
        let form = "write it as https://host, https://host:port or https://host:port/path";
        let uri: Uri = text.trim().parse().map_err(|_| form.to_owned())?;
        let scheme = match uri.scheme_str() {
            Some("http") => Scheme::Http,
            Some("https") => Scheme::Https,
            _ => return Err(form.to_owned()),
        };
        let authority = uri.authority().ok_or_else(|| form.to_owned())?;
        if authority.as_str().contains('@') {
            return Err("it must not hold a user name or a password".to_owned());
        }
        let host = authority.host().trim_end_matches('.').to_ascii_lowercase();
        if host.is_empty() || text.contains('#') || uri.query().is_some() {
            return Err(form.to_owned());
        }
        let port = match authority.port_u16() {
            Some(0) => return Err("port 0 leads nowhere".to_owned()),
            Some(port) => port,
            None if authority.as_str().ends_with(':')
                || authority.as_str().len() > authority.host().len() =>
            {
                return Err("the port is not a number from 1 to 65535".to_owned());
            }
            None => scheme.default_port(),
        };
        let base_path = uri.path().trim_end_matches('/').to_owned();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.' | '~');
        if !base_path.chars().all(is_plain) || base_path.split('/').skip(1).any(is_no_segment) {
            return Err("its path may hold letters, digits and - _ . ~ only".to_owned());
        }
        Ok(Self { scheme, host, port, base_path })
    }
}

/// Returns whether proxies and browsers would make another path of it.
fn is_no_segment(segment: &str) -> bool {
    matches!(segment, "" | "." | "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let url: ServerUrl = text.parse().unwrap();
        assert_eq!(url.to_string(), expected);
        assert_eq!(expected.parse::<ServerUrl>().unwrap(), url, "{text}");
    }

    #[test]
    fn one_server_has_one_text() {
        check("HTTPS://Pegel.Example:443/", "https://pegel.example");
        check("http://127.0.0.1:8420", "http://127.0.0.1:8420");
        check("http://localhost:80", "http://localhost");
        check("https://[::1]:8420/ops/pegel/", "https://[::1]:8420/ops/pegel");
        check("https://pegel.example.", "https://pegel.example");
        check(" https://a ", "https://a");
    }

    #[test]
    fn what_is_no_server_is_refused_without_quoting_it() {
        for text in [
            "",
            "pegel.example",
            "pegel.example:8420",
            "ftp://a",
            "https://",
            "https://a:0",
            "https://a:",
            "https://a:99999",
            "https://a?x=81726354",
            "https://a/#x",
            "https://bob:81726354@a",
            "https://a/b c",
            "https://a/../b",
            "https://a//b",
            "https://a/%2e",
        ] {
            let error = text.parse::<ServerUrl>().unwrap_err();
            assert!(!error.contains("81726354"), "{error}");
        }
    }

    #[test]
    fn parts_are_those_of_a_request() {
        let url: ServerUrl = "https://[::1]:8420/ops".parse().unwrap();
        assert_eq!((url.bare_host(), url.port(), url.authority().as_str()), ("::1", 8420, "[::1]:8420"));
        assert_eq!((url.origin().as_str(), url.base_path()), ("https://[::1]:8420", "/ops"));
        assert!(url.is_https() && url.is_loopback());
        for (text, is_loopback) in [
            ("http://localhost:1", true),
            ("http://127.9.9.9:1", true),
            ("http://[::ffff:127.0.0.1]:1", true),
            ("http://10.0.0.1:1", false),
            ("http://localhost.example:1", false),
        ] {
            assert_eq!(text.parse::<ServerUrl>().unwrap().is_loopback(), is_loopback, "{text}");
        }
        assert_eq!(ServerUrl::of_listener("[::1]:5".parse().unwrap()).to_string(), "http://[::1]:5");
    }
}
