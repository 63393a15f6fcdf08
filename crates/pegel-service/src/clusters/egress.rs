//! Which addresses Pegel never dials for a cluster, whoever registered it and whatever the cluster says.
//!
//! Link-local addresses and those of cloud metadata services answer to anyone on the machine with credentials
//! of the machine. [`check_address`] is what the client asks of every address before it is dialled, be it listed
//! or advertised; [`check_host`] tells earlier what can be seen of a host as it is written.

use std::net::{IpAddr, SocketAddr};

use pegel_core::egress::{Kind, kind};

/// Why a host is not dialled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is an address that is never dialled: what is said of it.
    Forbidden(&'static str),
    /// It is a number that resolvers take for an address, in a form other than the usual one.
    OddNumber,
}

impl Refusal {
    /// Returns the reason for people.
    pub(crate) fn reason(self) -> String {
        match self {
            Self::Forbidden(why) => format!("never dialled, since it is {why}"),
            Self::OddNumber => "an IPv4 address is written as four decimal numbers".to_owned(),
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
        Ok(address) => forbidden(address).map_or(Ok(()), |why| Err(Refusal::Forbidden(why))),
        // Resolvers read `2852039166`, `0xa9fea9fe` and `169.254.43518` as addresses.
        Err(_) if ends_in_a_number(host) => Err(Refusal::OddNumber),
        Err(_) => Ok(()),
    }
}

/// Judges an address that is about to be dialled, the address rule of every client that Pegel makes.
///
/// # Errors
/// What keeps it from being dialled, as in "link-local".
pub(crate) fn check_address(address: SocketAddr) -> Result<(), &'static str> {
    forbidden(address.ip()).map_or(Ok(()), Err)
}

fn forbidden(address: IpAddr) -> Option<&'static str> {
    match kind(address) {
        Kind::Forbidden(why) => Some(why),
        Kind::Public | Kind::Private | Kind::Loopback => None,
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
            assert!(matches!(check_host(host), Err(Refusal::Forbidden(_))), "{host}");
        }
        for host in
            ["2852039166", "0xa9fea9fe", "0XA9.0xfe.0xa9.0xfe", "169.254.43518", "0251.0376.0251.0376"]
        {
            assert_eq!(check_host(host), Err(Refusal::OddNumber), "{host}");
        }
    }

    #[test]
    fn only_what_is_forbidden_everywhere_is_refused_when_it_is_dialled() {
        for address in ["127.0.0.1:1", "0.0.0.0:1", "[::1]:1", "10.0.0.1:1", "[fd00::1]:1", "8.8.8.8:1"] {
            assert_eq!(check_address(address.parse().unwrap()), Ok(()), "{address}");
        }
        for address in ["169.254.169.254:80", "[fe80::1]:80", "[::ffff:169.254.169.254]:80", "224.0.0.1:80"] {
            assert!(check_address(address.parse().unwrap()).is_err(), "{address}");
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
