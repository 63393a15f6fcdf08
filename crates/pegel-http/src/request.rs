//! What is asked.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::egress::PrivateAddresses;
use crate::error::Error;

/// The most redirects that are followed.
pub const MAX_REDIRECTS: u8 = 10;

/// The most headers of a request.
pub const MAX_HEADERS: usize = 64;

/// The largest body of a request, in bytes.
pub const MAX_BODY_BYTES: usize = 1024 * 1024;

/// The longest URL, in bytes.
pub const MAX_URL_BYTES: usize = 4 * 1024;

/// How much of an answer's body is read by default, decoded: 10 MiB.
pub const DEFAULT_READ_BYTES: u64 = 10 * 1024 * 1024;

/// How much of an answer's body can be kept at most, decoded: 1 MiB.
pub const MAX_KEPT_BYTES: usize = 1024 * 1024;

/// Which of a name's addresses are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Addresses {
    /// The one that answers first, IPv6 with a short head start.
    #[default]
    Any,
    /// IPv4 ones only.
    V4,
    /// IPv6 ones only.
    V6,
}

/// What to do with redirects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Redirects {
    /// They are answers like any other.
    Keep,
    /// Follow them.
    Follow {
        /// At most so many, up to 10.
        limit: u8,
        /// Also from https to http.
        is_downgrade_allowed: bool,
    },
}

impl Default for Redirects {
    fn default() -> Self {
        Self::Follow { limit: MAX_REDIRECTS, is_downgrade_allowed: false }
    }
}

/// A header of a request. The value never shows in debug output.
#[derive(Clone)]
pub struct Header {
    /// Its name.
    pub name: HeaderName,
    /// Its value.
    pub value: HeaderValue,
}

impl std::fmt::Debug for Header {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: [redacted]", self.name)
    }
}

/// Headers that Pegel itself sets, or that belong to one connection.
const RESERVED: &[&str] = &[
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "proxy-connection",
    "upgrade",
    "te",
    "trailer",
    "expect",
    "accept-encoding",
];

impl Header {
    /// Makes a header; a value cannot hold a line break.
    ///
    /// # Errors
    /// `invalid`, without the value.
    pub fn new(name: &str, value: &str) -> Result<Self, Error> {
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| Error::invalid("a header's name is not as header names are"))?;
        if RESERVED.contains(&name.as_str()) {
            return Err(Error::invalid(format!("the header {name} cannot be set")));
        }
        let value = HeaderValue::from_str(value).map_err(|_| {
            Error::invalid(format!("the header {name} has characters that headers cannot hold"))
        })?;
        Ok(Self { name, value })
    }
}

/// A request and how it is made.
#[derive(Debug, Clone)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// What is asked: http or https, without credentials.
    pub url: Url,
    /// Headers beside those that Pegel sets. All are dropped when a redirect leads to another origin, but
    /// for those that say nothing about who asks.
    pub headers: Vec<Header>,
    /// The body.
    pub body: Bytes,
    /// The deadline over everything.
    pub deadline: Duration,
    /// A shorter one for looking up and connecting, if there is one.
    pub connect_deadline: Option<Duration>,
    /// Which addresses are asked.
    pub addresses: Addresses,
    /// Whether private addresses may be.
    pub private_addresses: PrivateAddresses,
    /// What to do with redirects.
    pub redirects: Redirects,
    /// Whether a certificate is accepted whatever is wrong with it. What is wrong is reported all the same.
    pub is_insecure: bool,
    /// How much of the answer's body is read, decoded.
    pub read_bytes: u64,
    /// How much of it is kept, up to 1 MiB.
    pub kept_bytes: usize,
}

impl Request {
    /// Makes a plain GET with default limits.
    ///
    /// # Errors
    /// `invalid`: not an http or https URL with a host, or one with credentials.
    pub fn get(url: &str, deadline: Duration) -> Result<Self, Error> {
        if url.len() > MAX_URL_BYTES {
            return Err(Error::invalid(format!("a url has at most {MAX_URL_BYTES} bytes")));
        }
        let url = Url::parse(url).map_err(|error| Error::invalid(format!("not a url: {error}")))?;
        let request = Self {
            method: Method::GET,
            url,
            headers: Vec::new(),
            body: Bytes::new(),
            deadline,
            connect_deadline: None,
            addresses: Addresses::default(),
            private_addresses: PrivateAddresses::default(),
            redirects: Redirects::default(),
            is_insecure: false,
            read_bytes: DEFAULT_READ_BYTES,
            kept_bytes: 64 * 1024,
        };
        request.check()?;
        Ok(request)
    }

    /// Checks what the types cannot say.
    ///
    /// # Errors
    /// `invalid`, naming what.
    pub fn check(&self) -> Result<(), Error> {
        if !matches!(self.url.scheme(), "http" | "https") {
            return Err(Error::invalid("a url begins with http:// or https://"));
        }
        if self.url.host_str().is_none_or(str::is_empty) {
            return Err(Error::invalid("a url needs a host"));
        }
        if !self.url.username().is_empty() || self.url.password().is_some() {
            return Err(Error::invalid("credentials belong in a header, not in the url"));
        }
        if self.method == Method::CONNECT {
            return Err(Error::invalid("the method CONNECT is for proxies"));
        }
        if self.headers.len() > MAX_HEADERS {
            return Err(Error::invalid(format!("a request has at most {MAX_HEADERS} headers")));
        }
        if self.body.len() > MAX_BODY_BYTES {
            return Err(Error::invalid(format!("a request's body has at most {MAX_BODY_BYTES} bytes")));
        }
        if self.kept_bytes > MAX_KEPT_BYTES {
            return Err(Error::invalid(format!("at most {MAX_KEPT_BYTES} bytes of a body are kept")));
        }
        if self.deadline.is_zero() {
            return Err(Error::invalid("a deadline is longer than nothing"));
        }
        match self.redirects {
            Redirects::Follow { limit, .. } if limit > MAX_REDIRECTS => {
                Err(Error::invalid(format!("at most {MAX_REDIRECTS} redirects are followed")))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(url: &str) -> String {
        Request::get(url, Duration::from_secs(1)).unwrap_err().to_string()
    }

    #[test]
    fn only_http_urls_without_credentials_are_asked() {
        assert!(Request::get("http://[::1]:8080/a?b", Duration::from_secs(1)).is_ok());
        assert_eq!(refused("ftp://a/"), "a url begins with http:// or https://");
        assert_eq!(refused("http://ann:pw@a/"), "credentials belong in a header, not in the url");
        assert!(refused("http:///").starts_with("not a url"));
        assert!(refused(&format!("http://a/{}", "x".repeat(5_000))).contains("at most 4096 bytes"));
    }

    #[test]
    fn headers_cannot_be_split_or_take_the_place_of_ours() {
        for value in ["a\r\nHost: b", "a\nb", "a\0"] {
            assert!(Header::new("x-a", value).is_err(), "{value:?}");
        }
        assert!(Header::new("x a", "1").is_err());
        assert!(Header::new("Transfer-Encoding", "chunked").is_err());
        let header = Header::new("Authorization", "Bearer secret").unwrap();
        assert_eq!(format!("{header:?}"), "authorization: [redacted]");
    }
}
