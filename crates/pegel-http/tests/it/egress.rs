//! Addresses that are not to be asked, whichever way they come.

use std::sync::atomic::Ordering;

use pegel_http::egress::PrivateAddresses;
use pegel_http::expect::Expect;

use crate::target::{Target, ask, get, outbound, told};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

#[tokio::test]
async fn metadata_and_inner_addresses_are_not_asked_as_they_stand() {
    for url in [
        "http://169.254.169.254/latest/meta-data/",
        "http://[fd00:ec2::254]/",
        "http://[::ffff:169.254.169.254]/",
        "http://0.0.0.0/",
        "http://10.0.0.1/",
        "http://127.0.0.2/",
        // The ways to write an address that URLs allow.
        "http://2852039166/",
        "http://0xa9.0xfe.0xa9.0xfe/",
        "http://0251.0376.0251.0376/",
    ] {
        let report = ask(&get(url)).await;
        assert_eq!(told(&report), "egress_refused in resolve", "{url}");
    }
}

#[tokio::test]
async fn a_redirect_to_a_metadata_address_is_not_followed() {
    for location in ["http://169.254.169.254/", "http://inner.test/", "http://10.0.0.1/", "http://127.0.0.2/"]
    {
        let target = Target::answering(format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\n\r\n")).await;
        let (outbound, names) = outbound();
        names.set("inner.test", &[&["169.254.169.254"]]);
        let mut request = get(&target.url("/"));
        request.private_addresses = PrivateAddresses::SavedHost;
        let report = outbound.send(&request, &Expect::default()).await;
        assert_eq!(told(&report), "egress_refused in resolve", "{location}");
        assert_eq!((report.hops.len(), report.hops[0].status), (2, Some(302)), "{location}");
    }
}

#[tokio::test]
async fn a_name_that_changes_meanwhile_changes_nothing() {
    let target = Target::answering(OK).await;
    let (outbound, names) = outbound();
    names.set("good.test", &[&["127.0.0.1"], &["169.254.169.254"]]);
    let request = get(&format!("http://good.test:{}/", target.port()));
    let report = outbound.send(&request, &Expect::default()).await;
    assert_eq!((told(&report), report.hops[0].address), ("ok".to_owned(), Some(target.address)));
    assert_eq!(names.asked.load(Ordering::SeqCst), 1);
    let again = outbound.send(&request, &Expect::default()).await;
    assert_eq!(told(&again), "egress_refused in resolve");
    assert_eq!(target.connection_count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_name_of_somebody_else_does_not_reach_loopback() {
    let target = Target::answering(OK).await;
    let (outbound, names) = outbound();
    names.set("evil.test", &[&["127.0.0.1"]]);
    let request = get(&format!("http://evil.test:{}/", target.port()));
    let report = outbound.send(&request, &Expect::default()).await;
    assert_eq!(told(&report), "egress_refused in resolve");
    assert_eq!(target.connection_count.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn of_a_name_with_good_and_bad_addresses_only_the_good_are_asked() {
    let target = Target::answering(OK).await;
    let (outbound, names) = outbound();
    names.set("good.test", &[&["169.254.169.254", "fe80::1", "127.0.0.1"]]);
    let request = get(&format!("http://good.test:{}/", target.port()));
    let report = outbound.send(&request, &Expect::default()).await;
    assert_eq!((told(&report), report.hops[0].address), ("ok".to_owned(), Some(target.address)));
    let codes: Vec<_> = report.hops[0].passed.iter().map(|passed| passed.error.code().as_str()).collect();
    assert_eq!(codes, ["egress_refused", "egress_refused"]);
}
