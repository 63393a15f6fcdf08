//! Connecting to one of a name's addresses, the first that answers (RFC 8305).

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::net::TcpStream;

use crate::error::Error;
use crate::report::Passed;
use crate::request::Addresses;

/// How long one address is tried before the next is tried beside it.
pub const HEAD_START: Duration = Duration::from_millis(250);

/// Returns addresses in the order in which they are tried: of the families in turn, IPv6 first.
pub(crate) fn order(addresses: &[IpAddr], wanted: Addresses) -> Vec<IpAddr> {
    let of = |is_v6: bool| addresses.iter().copied().filter(move |address| address.is_ipv6() == is_v6);
    match wanted {
        Addresses::V4 => of(false).collect(),
        Addresses::V6 => of(true).collect(),
        Addresses::Any => {
            let (mut v6, mut v4) = (of(true), of(false));
            let mut ordered = Vec::with_capacity(addresses.len());
            loop {
                let (one, other) = (v6.next(), v4.next());
                if one.is_none() && other.is_none() {
                    return ordered;
                }
                ordered.extend([one, other].into_iter().flatten());
            }
        }
    }
}

/// Connects to the first address that answers. Those that did not are told; when all did not, so is the last.
///
/// # Errors
/// `connection_refused`, `connect_failed`.
pub(crate) async fn dial(
    addresses: &[SocketAddr],
    passed: &mut Vec<Passed>,
) -> Result<(TcpStream, SocketAddr), Error> {
    let mut waiting = addresses.iter().copied();
    let mut dialling = FuturesUnordered::new();
    let dial_one = |address: SocketAddr| async move { (address, TcpStream::connect(address).await) };
    dialling.extend(waiting.next().map(dial_one));
    let mut last = None;
    loop {
        let is_more_waiting = waiting.len() > 0;
        tokio::select! {
            ended = dialling.next() => match ended {
                Some((address, Ok(stream))) => {
                    passed.extend(last);
                    // Small requests must not wait for each other.
                    let _ = stream.set_nodelay(true);
                    return Ok((stream, address));
                }
                Some((address, Err(error))) => {
                    passed.extend(last.replace(Passed { address, error: connect_error(address, error) }));
                    dialling.extend(waiting.next().map(dial_one));
                }
                None => return Err(last.map_or_else(|| Error::invalid("no address to connect to"), |last| last.error)),
            },
            () = tokio::time::sleep(HEAD_START), if is_more_waiting => {
                dialling.extend(waiting.next().map(dial_one));
            }
        }
    }
}

fn connect_error(address: SocketAddr, source: io::Error) -> Error {
    if source.kind() == io::ErrorKind::ConnectionRefused {
        Error::ConnectionRefused { address }
    } else {
        Error::ConnectFailed { address, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ips(list: &[&str]) -> Vec<IpAddr> {
        list.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn families_take_turns_and_ipv6_begins() {
        let all = ips(&["1.1.1.1", "2.2.2.2", "3.3.3.3", "::a", "::b"]);
        assert_eq!(order(&all, Addresses::Any), ips(&["::a", "1.1.1.1", "::b", "2.2.2.2", "3.3.3.3"]));
        assert_eq!(order(&all, Addresses::V4), ips(&["1.1.1.1", "2.2.2.2", "3.3.3.3"]));
        assert_eq!(order(&all, Addresses::V6), ips(&["::a", "::b"]));
    }
}
