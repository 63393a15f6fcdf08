//! What is known of a request before anyone looks at what it wants: its id, and where it comes from.
//!
//! The id is always made here, so that no two requests share one. What a client calls its request is only logged.

use std::net::{IpAddr, Ipv4Addr};

use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::USER_AGENT;
use pegel_service::caller::Origin;
use uuid::Uuid;

use crate::serve::Connection;
use crate::settings::Network;

/// The header in which a client may name its request, and in which the answer names ours.
pub(crate) const REQUEST_ID: &str = "x-request-id";

const FORWARDED_FOR: &str = "x-forwarded-for";

/// Proxies one behind the other that are looked through.
const MAX_PROXIES: usize = 16;

/// The longest name of a client that is kept, in bytes.
const MAX_USER_AGENT_BYTES: usize = 512;

/// Says who a request comes from, and gives it an id.
pub(crate) fn origin_of(request: &Request, trusted_proxies: &[Network]) -> Origin {
    let peer = request.extensions().get::<Connection>().map(|connection| connection.peer.ip());
    let peer = peer.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    let user_agent = request.headers().get(USER_AGENT).map(|value| value.as_bytes()).unwrap_or_default();
    let user_agent = user_agent.get(..MAX_USER_AGENT_BYTES).unwrap_or(user_agent);
    Origin {
        request_id: Uuid::now_v7(),
        source: source_of(peer, request.headers(), trusted_proxies),
        user_agent: String::from_utf8_lossy(user_agent).into_owned(),
    }
}

/// Returns what the client calls its request, if that is a UUID.
pub(crate) fn client_request_id(headers: &HeaderMap) -> Option<Uuid> {
    headers.get(REQUEST_ID)?.to_str().ok()?.parse().ok()
}

/// Returns whether the request passed a proxy, believed or not.
pub(crate) fn is_forwarded(headers: &HeaderMap) -> bool {
    [FORWARDED_FOR, "forwarded", "x-forwarded-host", "x-forwarded-proto", "via"]
        .iter()
        .any(|name| headers.contains_key(*name))
}

/// Returns the address of the client: the last one that a trusted proxy did not add for another trusted one.
fn source_of(peer: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(address));
    let mut source = peer.to_canonical();
    let lists: Vec<&str> =
        headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok()).collect();
    let nearest_first = lists.iter().rev().flat_map(|list| list.rsplit(','));
    for entry in nearest_first.take(MAX_PROXIES) {
        if !is_trusted(source) {
            break;
        }
        let Ok(address) = entry.trim().parse::<IpAddr>() else { break };
        source = address.to_canonical();
    }
    source
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_a_trusted_proxy_tells_where_a_request_comes_from() {
        let trusted: Vec<Network> =
            ["10.0.0.0/8", "fd00::/8"].iter().map(|text| text.parse().unwrap()).collect();
        let check = |peer: &str, lists: &[&str], expected: &str| {
            let mut headers = HeaderMap::new();
            for list in lists {
                headers.append(FORWARDED_FOR, HeaderValue::from_str(list).unwrap());
            }
            let source = source_of(peer.parse().unwrap(), &headers, &trusted);
            assert_eq!(source, expected.parse::<IpAddr>().unwrap(), "{peer} {lists:?}");
        };
        check("192.0.2.1", &[], "192.0.2.1");
        check("192.0.2.1", &["198.51.100.7"], "192.0.2.1");
        check("10.0.0.1", &["198.51.100.7"], "198.51.100.7");
        check("::ffff:10.0.0.1", &["198.51.100.7"], "198.51.100.7");
        check("10.0.0.1", &["203.0.113.9, 198.51.100.7, 10.0.0.2"], "198.51.100.7");
        check("10.0.0.1", &["203.0.113.9", "198.51.100.7"], "198.51.100.7");
        check("10.0.0.1", &["203.0.113.9, unknown"], "10.0.0.1");
        check("10.0.0.1", &["203.0.113.9, what, 10.0.0.2"], "10.0.0.2");
        check("10.0.0.1", &[], "10.0.0.1");
    }

    #[test]
    fn a_client_names_its_request_by_a_uuid_or_not_at_all() {
        let id = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_str(text).unwrap());
            client_request_id(&headers)
        };
        assert!(id("0190163d-8694-739b-aea5-966c26f8ad91").is_some());
        assert_eq!(id("1; DROP TABLE audit"), None);
    }
}
