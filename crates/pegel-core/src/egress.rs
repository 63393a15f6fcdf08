//! What kind of address a network address is: the one place that says which are never connected to.
//!
//! Who may be connected to otherwise differs: loopback and private addresses are an operator's own for clusters,
//! and have to be allowed for probes. Addresses that carry an IPv4 address inside count as that one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What kind of address it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Anybody's.
    Public,
    /// Of an inner network.
    Private,
    /// This machine, also by the address that stands for none: systems connect it to themselves.
    Loopback,
    /// Never connected to, and why: link-local, of a cloud's metadata service, or no host's at all.
    Forbidden(&'static str),
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
        [127, ..] | [0, 0, 0, 0] => Kind::Loopback,
        [0, ..] => Kind::Forbidden("no host's address"),
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
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => Kind::Loopback,
        // Mapped, compatible, translated and NAT64 addresses reach the IPv4 address inside.
        [0, 0, 0, 0, 0, 0xffff | 0, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => embedded(high, low),
        [0x64, 0xff9b, 1, ..] => Kind::Private,
        [0x2001, 0, ..] => Kind::Forbidden("a tunnel"),
        // Those of AWS for machines and for pods, that of Google.
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254 | 0x23] | [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254] => {
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
            ("loopback", &["0.0.0.0", "::", "::ffff:0.0.0.0"]),
            ("loopback", &["127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1", "::ffff:0:7f00:1"]),
            (
                "forbidden",
                &["169.254.169.254", "169.254.0.1", "fe80::1", "febf::1", "::ffff:169.254.169.254"],
            ),
            (
                "forbidden",
                &[
                    "fd00:ec2::254",
                    "fd00:ec2::23",
                    "fd20:ce::254",
                    "100.100.100.200",
                    "168.63.129.16",
                    "192.0.0.192",
                ],
            ),
            ("forbidden", &["0.1.2.3", "224.0.0.1", "255.255.255.255", "240.0.0.1", "ff02::1"]),
            ("forbidden", &["2002:a9fe:a9fe::1", "64:ff9b::a9fe:a9fe", "2001:0:1::1", "::169.254.169.254"]),
        ] {
            for address in addresses {
                assert_eq!(check(address), kind, "{address}");
            }
        }
    }
}
