//! Bootstrap addresses: the `endpoint` setting, a comma list of `host:port`.
//!
//! Parsing is strict, since a mistyped address would otherwise show up as an
//! unreachable server. Nothing here resolves or dials.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

use crate::error::Error;

/// Largest number of addresses one `endpoint` may list.
pub const MAX_BOOTSTRAP_ADDRESSES: usize = 32;

/// Longest host name DNS allows, in bytes.
const MAX_HOST_BYTES: usize = 253;

/// A server address as the operator or the cluster wrote it, not yet resolved.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostPort {
    host: String,
    port: u16,
}

impl HostPort {
    /// Makes an address from its parts, as found in cluster metadata.
    ///
    /// # Errors
    /// `invalid_setting` when the host is empty, too long or holds characters
    /// that no host name or IP address has, or when the port is 0.
    pub fn new(host: &str, port: u16) -> Result<Self, Error> {
        if port == 0 {
            return Err(invalid(format!("`{host}:0`: port 0 cannot be dialled")));
        }
        let is_ipv6 = host.parse::<Ipv6Addr>().is_ok();
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
        if host.is_empty() || host.len() > MAX_HOST_BYTES || !(is_ipv6 || host.bytes().all(legal)) {
            return Err(invalid(format!("`{host}` is not a host name or IP address")));
        }
        Ok(Self { host: host.to_owned(), port })
    }

    /// Returns the host name or IP address, an IPv6 address without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the TCP port, 1 to 65535.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(formatter, "[{}]:{}", self.host, self.port)
        } else {
            write!(formatter, "{}:{}", self.host, self.port)
        }
    }
}

impl FromStr for HostPort {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        if text.is_empty() {
            return Err(invalid("an entry is empty; remove the extra comma".to_owned()));
        }
        // Not quoted: what stands before the sign may be a password.
        if text.contains('@') {
            return Err(invalid(
                "an address holds a user name; write host:port and give sasl_username apart".to_owned(),
            ));
        }
        if text.contains("://") {
            return Err(invalid(format!(
                "`{text}` has a scheme; write host:port and choose the protocol with security_protocol"
            )));
        }
        if text.contains('/') {
            return Err(invalid(format!("`{text}` has a path; write host:port alone")));
        }
        let (host, port) = split_host_port(text)?;
        let port = port
            .parse::<u16>()
            .map_err(|_| invalid(format!("`{text}`: the port must be a number from 1 to 65535")))?;
        Self::new(host, port)
    }
}

/// Splits `host:port` and `[ipv6]:port`.
fn split_host_port(text: &str) -> Result<(&str, &str), Error> {
    if let Some(rest) = text.strip_prefix('[') {
        let (host, port) = rest
            .split_once("]:")
            .ok_or_else(|| invalid(format!("`{text}`: an IPv6 address is written [address]:port")))?;
        if host.parse::<Ipv6Addr>().is_err() {
            return Err(invalid(format!("`{text}`: `{host}` is not an IPv6 address")));
        }
        return Ok((host, port));
    }
    let (host, port) =
        text.rsplit_once(':').ok_or_else(|| invalid(format!("`{text}` has no port; write host:port")))?;
    if host.contains(':') {
        return Err(invalid(format!(
            "`{text}`: put an IPv6 address in brackets, as in [::1]:9123, and separate addresses with commas"
        )));
    }
    Ok((host, port))
}

/// A checked, non-empty list of bootstrap addresses without repetitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootstrapList(Vec<HostPort>);

impl BootstrapList {
    /// Returns the first address; a list is never empty.
    pub(crate) fn first(&self) -> &HostPort {
        self.0.first().expect("parsing refuses an empty list")
    }

    /// Returns the addresses in the order they were written.
    pub fn addresses(&self) -> &[HostPort] {
        &self.0
    }
}

impl fmt::Display for BootstrapList {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, address) in self.0.iter().enumerate() {
            if index > 0 {
                formatter.write_str(",")?;
            }
            write!(formatter, "{address}")?;
        }
        Ok(())
    }
}

impl FromStr for BootstrapList {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if text.trim().is_empty() {
            return Err(invalid("no address given; write host:port".to_owned()));
        }
        let mut addresses: Vec<HostPort> = Vec::new();
        for entry in text.split(',') {
            let address: HostPort = entry.parse()?;
            if addresses.contains(&address) {
                return Err(invalid(format!(
                    "`{address}` is listed twice; a repeated address adds no redundancy"
                )));
            }
            if addresses.len() == MAX_BOOTSTRAP_ADDRESSES {
                return Err(invalid(format!("more than {MAX_BOOTSTRAP_ADDRESSES} addresses")));
            }
            addresses.push(address);
        }
        Ok(Self(addresses))
    }
}

fn invalid(reason: String) -> Error {
    Error::InvalidSetting { field: "endpoint", reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let list: BootstrapList = text.parse().unwrap();
        let shown: Vec<String> = list.addresses().iter().map(ToString::to_string).collect();
        assert_eq!(shown, expected, "{text}");
    }

    fn refuse(text: &str, part: &str) {
        let error = text.parse::<BootstrapList>().unwrap_err();
        assert_eq!(error.code(), "invalid_setting");
        assert!(error.to_string().contains(part), "{text:?} gave {error}");
    }

    #[test]
    fn comma_list_becomes_endpoints_with_blanks_trimmed() {
        check("a:1, b:2", &["a:1", "b:2"]);
        check("  host-1.example_x.com:9123 ,10.0.0.1:9124", &["host-1.example_x.com:9123", "10.0.0.1:9124"]);
        check("[::1]:9123,[fe80::2]:1", &["[::1]:9123", "[fe80::2]:1"]);
    }

    #[test]
    fn malformed_entries_are_refused_with_their_reason() {
        refuse("", "no address");
        refuse(" ", "no address");
        refuse("a:1,,b:2", "empty");
        refuse("a:1,", "empty");
        refuse("fluss://a:1", "scheme");
        refuse("http://a:1/x", "scheme");
        refuse("a:1/path", "path");
        refuse("user@a:1", "user name");
        let secret = "fluss://user:hunter2@a:1".parse::<BootstrapList>().unwrap_err();
        assert!(!secret.to_string().contains("hunter2"), "{secret}");
        refuse("a", "no port");
        refuse("::1:9123", "brackets");
        refuse("a:1 b:2", "brackets");
        refuse("[::1]", "[address]:port");
        refuse("[nope]:1", "not an IPv6");
        refuse("a:0", "port 0");
        refuse("a:65536", "1 to 65535");
        refuse("a:-1", "1 to 65535");
        refuse("a b:1", "not a host");
        refuse(":1", "not a host");
        refuse("a:1,a:1", "twice");
        let many: Vec<String> = (0..33).map(|n| format!("h{n}:1")).collect();
        refuse(&many.join(","), "more than 32");
    }
}
