//! Fixed ports are checked before anything starts.

use std::net::TcpListener;

use fluss_testkit::cluster::{ClusterBuilder, FixedPorts, PortChoice};
use fluss_testkit::ports::{FreePorts, loopback};

fn builder(base: u16) -> ClusterBuilder {
    ClusterBuilder::new().ports(PortChoice::Fixed(FixedPorts { base, option: "--port-base" }))
}

#[test]
fn a_taken_port_is_refused_with_what_it_is_for_and_how_to_move_it() {
    // Far below the ports of clusters of other tests; a base that is all free is soon found.
    let base = std::iter::repeat_with(|| FreePorts::claim(1).unwrap().ports()[0] - 10_000)
        .find(|base| builder(*base).check_ports().is_ok())
        .unwrap();
    let unused_without_tls = TcpListener::bind(loopback(base + 20)).unwrap();
    builder(base).check_ports().unwrap();
    drop(unused_without_tls);
    let check = |offset: u16, role: &str| {
        let taken = TcpListener::bind(loopback(base + offset)).unwrap();
        let error = builder(base).check_ports().unwrap_err();
        assert_eq!(error.code(), "port_taken");
        let message = error.to_string();
        let port = base + offset;
        assert!(message.starts_with(&format!("port {port} for {role} is taken")), "{message}");
        assert!(message.ends_with("; choose other ports with --port-base"), "{message}");
        drop(taken);
    };
    // From the last that is looked at to the first, since a port may look taken a moment longer.
    check(2, "tablet server 1");
    check(127, "the metrics of tablet server 0");
    check(0, "the coordinator");
    check(58, "ZooKeeper");
}
