//! Which addresses probes and channels connect to.
//!
//! What [`pegel_core::egress`] forbids is never asked. Loopback is asked only where its host is listed, and
//! private addresses only for targets that a person with the right to do so has saved.

use std::collections::BTreeSet;
use std::net::IpAddr;

use pegel_core::egress::{Kind, kind};
use serde::{Deserialize, Serialize};

/// For which hosts private addresses are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrivateAddresses {
    /// For none.
    #[default]
    Refused,
    /// For the host that was saved, and not for those that redirects lead to.
    SavedHost,
    /// Also for those that redirects lead to.
    AnyHost,
}

/// The policy of an installation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Egress {
    loopback_hosts: BTreeSet<String>,
}

impl Egress {
    /// Makes a policy that allows loopback for these hosts only, each as `host` or `host:port` and as
    /// targets write it; IPv6 addresses without brackets unless a port follows.
    pub fn new(loopback_hosts: impl IntoIterator<Item = String>) -> Self {
        Self { loopback_hosts: loopback_hosts.into_iter().map(|host| host.to_ascii_lowercase()).collect() }
    }

    /// Decides whether to connect to an address that `host` has.
    ///
    /// # Errors
    /// Why not, in a few words.
    pub fn check(
        &self,
        host: &str,
        port: u16,
        address: IpAddr,
        is_private_allowed: bool,
    ) -> Result<(), &'static str> {
        match kind(address) {
            Kind::Public => Ok(()),
            Kind::Private if is_private_allowed => Ok(()),
            Kind::Private => Err("private, and not allowed for this target"),
            Kind::Loopback if self.lists(host, port) => Ok(()),
            Kind::Loopback => Err("loopback, and not listed"),
            Kind::Forbidden(why) => Err(why),
        }
    }

    fn lists(&self, host: &str, port: u16) -> bool {
        let host = host.to_ascii_lowercase();
        let with_port =
            if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        self.loopback_hosts.contains(&host) || self.loopback_hosts.contains(&with_port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_asked_only_where_its_host_is_listed() {
        let egress =
            Egress::new(["LocalHost".to_owned(), "127.0.0.1:9123".to_owned(), "[::1]:80".to_owned()]);
        let allowed = |host: &str, port, address: &str| {
            egress.check(host, port, address.parse().unwrap(), true).is_ok()
        };
        assert!(allowed("localhost", 1, "127.0.0.1") && allowed("LOCALHOST", 1, "::1"));
        assert!(allowed("127.0.0.1", 9123, "127.0.0.1") && !allowed("127.0.0.1", 9124, "127.0.0.1"));
        assert!(allowed("::1", 80, "::1") && !allowed("::1", 81, "::1"));
        assert!(!allowed("evil.example", 9123, "127.0.0.1"), "a name that resolves to it is not it");
    }

    #[test]
    fn private_addresses_need_a_target_that_allows_them_and_metadata_has_none() {
        let egress = Egress::default();
        let check = |address: &str, is_allowed| egress.check("h", 80, address.parse().unwrap(), is_allowed);
        assert!(check("10.0.0.1", false).is_err() && check("10.0.0.1", true).is_ok());
        assert_eq!(check("169.254.169.254", true), Err("link-local"));
    }
}
