//! Which addresses Pegel connects to.
//!
//! Link-local addresses, those of clouds' metadata services and those that are none of a host are never
//! asked. Loopback is asked only where its host is listed, and private addresses only for targets that a
//! person with the right to do so has saved. Addresses that carry an IPv4 address inside count as that one.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

/// What kind of address it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Anybody's.
    Public,
    /// Of an inner network.
    Private,
    /// This machine.
    Loopback,
    /// Never to be asked.
    Forbidden(&'static str),
}

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

/// Returns what kind of address it is.
pub fn kind(address: IpAddr) -> Kind {
    match address {
        IpAddr::V4(v4) => kind_v4(v4),
        IpAddr::V6(v6) => kind_v6(v6),
    }
}

fn kind_v4(address: Ipv4Addr) -> Kind {
    match address.octets() {
        [0, ..] => Kind::Forbidden("no host's address"),
        [127, ..] => Kind::Loopback,
        [169, 254, ..] => Kind::Forbidden("link-local"),
        // Services that clouds give every machine, outside of link-local addresses.
        [100, 100, 100, 200] | [168, 63, 129, 16] | [192, 0, 0, 192] => {
            Kind::Forbidden("of a metadata service")
        }
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [100, 64..=127, ..] | [198, 18..=19, ..] => {
            Kind::Private
        }
        [192, 0, 0, _] => Kind::Private,
        [224..=255, ..] => Kind::Forbidden("no host's address"),
        _ => Kind::Public,
    }
}

fn kind_v6(address: Ipv6Addr) -> Kind {
    let segments = address.segments();
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        kind_v4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        [0, 0, 0, 0, 0, 0, 0, 1] => Kind::Loopback,
        [0, 0, 0, 0, 0, 0, 0, 0] => Kind::Forbidden("no host's address"),
        // Mapped, compatible, translated and NAT64 addresses reach the IPv4 address inside.
        [0, 0, 0, 0, 0, 0xffff | 0, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => embedded(high, low),
        [0x64, 0xff9b, 1, ..] => Kind::Private,
        [0x2001, 0, ..] => Kind::Forbidden("a tunnel"),
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254] | [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254] => {
            Kind::Forbidden("of a metadata service")
        }
        [first, ..] if first & 0xffc0 == 0xfe80 => Kind::Forbidden("link-local"),
        [first, ..] if first & 0xff00 == 0xff00 => Kind::Forbidden("no host's address"),
        [first, ..] if first & 0xfe00 == 0xfc00 || first & 0xffc0 == 0xfec0 => Kind::Private,
        _ => Kind::Public,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(address: &str) -> &'static str {
        match kind(address.parse().unwrap()) {
            Kind::Public => "public",
            Kind::Private => "private",
            Kind::Loopback => "loopback",
            Kind::Forbidden(_) => "forbidden",
        }
    }

    #[test]
    fn addresses_are_of_the_kind_that_routers_see_in_them() {
        for (kind, addresses) in [
            ("public", &["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1", "64:ff9b::808:808"][..]),
            (
                "private",
                &["10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.0.1", "100.64.0.1", "198.18.0.1"],
            ),
            (
                "private",
                &["fc00::1", "fd12::1", "fec0::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::1"],
            ),
            ("loopback", &["127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1", "::ffff:0:7f00:1"]),
            (
                "forbidden",
                &["169.254.169.254", "169.254.0.1", "fe80::1", "febf::1", "::ffff:169.254.169.254"],
            ),
            (
                "forbidden",
                &["fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "168.63.129.16", "192.0.0.192"],
            ),
            (
                "forbidden",
                &["0.0.0.0", "0.1.2.3", "::", "224.0.0.1", "255.255.255.255", "240.0.0.1", "ff02::1"],
            ),
            ("forbidden", &["2002:a9fe:a9fe::1", "64:ff9b::a9fe:a9fe", "2001:0:1::1", "::169.254.169.254"]),
        ] {
            for address in addresses {
                assert_eq!(check(address), kind, "{address}");
            }
        }
    }

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
