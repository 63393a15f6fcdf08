//! Which addresses Pegel never dials for a cluster, whoever registered it.
//!
//! Link-local addresses and those of cloud metadata services answer to anyone on the machine with credentials
//! of the machine. Here only addresses that are written out are judged; a name is resolved where it is dialled.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A metadata service of a cloud, on an address that is not link-local.
const METADATA_V4: Ipv4Addr = Ipv4Addr::new(100, 100, 100, 200);

/// A metadata service of a cloud, within the unique local addresses.
const METADATA_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254);

/// Why a host is not dialled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is a link-local address or a cloud's metadata service.
    Forbidden,
    /// It is a number that resolvers take for an address, in a form other than the usual one.
    OddNumber,
}

impl Refusal {
    /// Returns the reason for people.
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            Self::Forbidden => "link-local and cloud metadata addresses are never dialled",
            Self::OddNumber => "an IPv4 address is written as four decimal numbers",
        }
    }
}

/// Judges a host as it is written: a name or an address without brackets.
///
/// # Errors
/// Why it is refused.
pub(crate) fn check_host(host: &str) -> Result<(), Refusal> {
    let host = host.strip_suffix('.').unwrap_or(host);
    match host.parse::<IpAddr>() {
        Ok(address) if is_forbidden(address) => Err(Refusal::Forbidden),
        Ok(_) => Ok(()),
        // Resolvers read `2852039166`, `0xa9fea9fe` and `169.254.43518` as addresses.
        Err(_) if ends_in_a_number(host) => Err(Refusal::OddNumber),
        Err(_) => Ok(()),
    }
}

fn is_forbidden(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local() || address == METADATA_V4,
        IpAddr::V6(address) => {
            address.is_unicast_link_local()
                || address == METADATA_V6
                || embedded(address).is_some_and(|inner| is_forbidden(IpAddr::V4(inner)))
        }
    }
}

/// Returns the IPv4 address that an IPv6 address leads to: mapped, compatible, or through NAT64 or 6to4.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let of = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(of(high, low)),
        [0x2002, high, low, ..] => Some(of(high, low)),
        _ => None,
    }
}

fn ends_in_a_number(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_decimal = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    let hexadecimal = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    is_decimal || hexadecimal.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_local_and_metadata_addresses_are_refused_in_every_form() {
        for host in [
            "169.254.169.254",
            "169.254.0.1",
            "169.254.169.254.",
            "100.100.100.200",
            "fe80::1",
            "febf::1",
            "fd00:ec2::254",
            "::ffff:169.254.169.254",
            "::169.254.169.254",
            "64:ff9b::169.254.169.254",
            "2002:a9fe:a9fe::1",
            "::ffff:100.100.100.200",
        ] {
            assert_eq!(check_host(host), Err(Refusal::Forbidden), "{host}");
        }
        for host in
            ["2852039166", "0xa9fea9fe", "0XA9.0xfe.0xa9.0xfe", "169.254.43518", "0251.0376.0251.0376"]
        {
            assert_eq!(check_host(host), Err(Refusal::OddNumber), "{host}");
        }
    }

    #[test]
    fn other_hosts_pass() {
        for host in [
            "localhost",
            "127.0.0.1",
            "::1",
            "10.0.0.1",
            "169.253.255.255",
            "100.100.100.201",
            "fec0::1",
            "fd00:ec2::253",
            "tablet-0.fluss.svc",
            "0xcafe.example",
            "a1",
        ] {
            assert_eq!(check_host(host), Ok(()), "{host}");
        }
    }
}
