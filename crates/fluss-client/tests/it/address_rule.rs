//! What the address rule refuses is never connected to, however the client comes to the address.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use fluss_client::bucket_read::BucketTarget;
use fluss_client::client::FlussClient;
use fluss_client::connection_test::{self, FindingState};
use fluss_client::observer::NoObserver;
use fluss_client::settings::{AddressRule, ConnectionSettings};

use crate::support::{chain, failed, options, path, shop};

/// Stands for the addresses that the embedding program forbids: here an address of this machine.
const FORBIDDEN: &str = "127.0.0.2";

fn refuse_one(address: SocketAddr) -> Result<(), &'static str> {
    if address.ip().to_string() == FORBIDDEN { Err("forbidden here") } else { Ok(()) }
}

fn refuse_loopback(address: SocketAddr) -> Result<(), &'static str> {
    if address.ip().is_loopback() { Err("loopback") } else { Ok(()) }
}

fn ruled(endpoint: &str, rule: AddressRule) -> FlussClient {
    let settings = ConnectionSettings::try_from(options(endpoint)).unwrap().with_address_rule(rule);
    FlussClient::with_observer(settings, Arc::new(NoObserver)).unwrap()
}

/// A listener on the forbidden address, to which nobody may connect.
struct Trap(TcpListener);

impl Trap {
    fn set() -> Self {
        let listener = TcpListener::bind((FORBIDDEN, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        Self(listener)
    }

    fn port(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }

    fn assert_untouched(&self) {
        assert_eq!(self.0.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "somebody connected");
    }
}

#[tokio::test]
async fn a_name_is_judged_by_what_it_resolves_to() {
    let cluster = shop().start().unwrap();
    let endpoint = format!("localhost:{}", cluster.coordinator().address().port());
    let error = ruled(&endpoint, refuse_loopback).list_databases().await.unwrap_err();
    assert!(chain(&error).contains("is loopback"), "{}", chain(&error));
    assert!(!error.is_retryable(), "asking again changes nothing");
    assert_eq!(cluster.accepted_count(), 0);
    assert!(ruled(&endpoint, |_| Ok(())).list_databases().await.is_ok(), "the name itself is good");
}

#[tokio::test]
async fn a_leader_that_is_advertised_at_a_forbidden_address_is_not_dialled_and_the_others_answer() {
    let (cluster, trap) = (shop().start().unwrap(), Trap::set());
    cluster.tablet_servers()[1].advertise(FORBIDDEN, trap.port());
    let client = ruled(&cluster.bootstrap(), refuse_one);
    let answers = client.row_counts(&BucketTarget::named(&path("shop.orders"), None)).await.unwrap();
    let codes: Vec<_> = failed(&answers).into_iter().map(|one| one.1).collect();
    assert_eq!(codes, ["egress_refused"; 2]);
    let servers = client.servers().await.unwrap();
    let refused: Vec<_> =
        servers.iter().filter_map(|one| Some((one.node.id, one.answer.as_ref().err()?.code()))).collect();
    assert_eq!(refused, [(1, "egress_refused")]);
    trap.assert_untouched();
}

#[tokio::test]
async fn a_coordinator_at_a_forbidden_address_is_told_as_such_and_not_as_down() {
    let (cluster, trap) = (shop().start().unwrap(), Trap::set());
    cluster.coordinator().advertise(FORBIDDEN, trap.port());
    let endpoint = cluster.tablet_servers()[0].address().to_string();
    let client = ruled(&endpoint, refuse_one);
    assert_eq!(client.list_databases().await.unwrap_err().code(), "egress_refused");
    trap.assert_untouched();
}

#[tokio::test]
async fn the_connection_test_dials_no_forbidden_address_either() {
    let (cluster, trap) = (shop().start().unwrap(), Trap::set());
    cluster.tablet_servers()[1].advertise(FORBIDDEN, trap.port());
    let endpoint = format!("{},{FORBIDDEN}:{}", cluster.coordinator().address(), trap.port());
    let report = connection_test::run(&ruled(&endpoint, refuse_one)).await.unwrap();
    let refused: Vec<_> = report
        .findings
        .iter()
        .filter_map(|finding| match &finding.state {
            FindingState::Failed(error) => Some((finding.check.name(), error.code())),
            _ => None,
        })
        .collect();
    assert_eq!(refused, [("tcp", "egress_refused"), ("tablet_server", "egress_refused")]);
    trap.assert_untouched();
}

#[tokio::test]
async fn a_forbidden_address_in_the_list_costs_the_others_nothing() {
    let (cluster, trap) = (shop().start().unwrap(), Trap::set());
    let endpoint = format!("{FORBIDDEN}:{},{}", trap.port(), cluster.coordinator().address());
    assert!(ruled(&endpoint, refuse_one).list_databases().await.is_ok());
    trap.assert_untouched();
}
