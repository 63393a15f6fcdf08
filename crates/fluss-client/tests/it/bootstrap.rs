//! Finding the cluster.

use fluss_codec::api_key::ApiKey;
use fluss_codec::server_type::ServerType;
use fluss_testkit::fake_server::ForeignListener;
use fluss_testkit::proxy::{Fault, Proxy};

use crate::support::{SECOND, SLACK, client, client_with, options, shop, timed};

/// A bootstrap address that swallows everything must not delay the others by its time-out.
#[tokio::test]
async fn black_holed_first_address_costs_a_moment_only() {
    let cluster = shop().start().unwrap();
    let hole = Proxy::start("127.0.0.1:0".parse().unwrap(), cluster.coordinator().address()).await.unwrap();
    hole.set(Fault::BlackHole).await.unwrap();
    let endpoint = format!("{},{}", hole.address(), cluster.coordinator().address());
    let mut slow = options(&endpoint);
    slow.dial_timeout_seconds = Some(10);
    slow.request_timeout_seconds = Some(15);
    let (databases, took) = timed(client_with(slow).list_databases()).await;
    assert_eq!(databases.unwrap(), ["shop"]);
    assert!(took < SECOND, "{took:?}");
}

#[tokio::test]
async fn every_dead_address_is_named_with_its_own_error() {
    let closing = ForeignListener::closing().await.unwrap();
    let ssh = ForeignListener::ssh().await.unwrap();
    let endpoint = format!("{},{}", closing.address(), ssh.address());
    let error = client(&endpoint).list_databases().await.unwrap_err();
    assert_eq!(error.code(), "bootstrap_failed");
    let fluss_client::error::Error::BootstrapFailed { failures } = error else { unreachable!() };
    assert_eq!(
        failures.iter().map(|one| one.code()).collect::<Vec<_>>(),
        ["protocol_failed", "protocol_failed"]
    );
    assert!(failures[1].to_string().contains("SSH"), "{}", failures[1]);
}

/// Tablet servers answer catalog requests too; nobody may take that for a living coordinator.
#[tokio::test]
async fn tablet_servers_never_stand_in_for_the_coordinator() {
    let cluster = shop().start().unwrap();
    let tablet_servers: Vec<String> =
        cluster.tablet_servers().iter().map(|server| server.address().to_string()).collect();
    let client = client(&tablet_servers.join(","));
    assert_eq!(client.list_databases().await.unwrap(), ["shop"]);
    cluster.coordinator().stop().await.unwrap();
    for _ in 0..3 {
        assert_eq!(client.list_databases().await.unwrap_err().code(), "coordinator_unavailable");
        assert_eq!(client.servers().await.unwrap_err().code(), "coordinator_unavailable");
    }
    for server in cluster.tablet_servers() {
        assert_eq!(server.request_count(ApiKey::ListDatabases), 0);
    }
    cluster.coordinator().start_again().await.unwrap();
    let (databases, _) = timed(async {
        loop {
            if let Ok(databases) = client.list_databases().await {
                break databases;
            }
        }
    })
    .await;
    assert_eq!(databases, ["shop"]);
}

#[tokio::test]
async fn something_else_at_the_coordinators_address_is_not_the_coordinator() {
    let cluster = shop().start().unwrap();
    cluster.coordinator().answers_as(ServerType::TabletServer);
    let error = client(&cluster.bootstrap()).list_databases().await.unwrap_err();
    assert_eq!(error.code(), "coordinator_unavailable");
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("answers as tablet server, not as coordinator"), "{cause}");
}

/// Reads go on when the server that was used to find the cluster dies.
#[tokio::test]
async fn reads_do_not_stick_to_a_dead_server() {
    let cluster = shop().start().unwrap();
    let first = &cluster.tablet_servers()[0];
    let client = client(&format!("{},{}", first.address(), cluster.tablet_servers()[1].address()));
    let orders = crate::support::path("shop.orders");
    client.table_info(&orders).await.unwrap();
    first.stop().await.unwrap();
    let (info, took) = timed(client.table_info(&orders)).await;
    info.unwrap();
    assert!(took < SLACK, "{took:?}");
}

/// A coordinator that stands by answers 65 to everything; the servers know who leads.
#[tokio::test]
async fn standby_coordinator_is_passed_over() {
    let leading = shop().start().unwrap();
    let standing_by = shop().start().unwrap();
    standing_by.coordinator().stand_by(true);
    let endpoint = format!("{},{}", standing_by.coordinator().address(), leading.coordinator().address());
    assert_eq!(client(&endpoint).list_databases().await.unwrap(), ["shop"]);
}

/// A tablet server that lags names the coordinator of before; another answer is worth a moment.
#[tokio::test]
async fn coordinator_that_moved_is_found_although_one_server_still_names_the_old_one() {
    let old = shop().start().unwrap();
    let new = shop().start().unwrap();
    let endpoint = format!("{},{}", old.tablet_servers()[0].address(), new.tablet_servers()[0].address());
    let client = client(&endpoint);
    assert_eq!(client.list_databases().await.unwrap(), ["shop"]);
    old.coordinator().stop().await.unwrap();
    assert_eq!(client.list_databases().await.unwrap(), ["shop"]);
    assert!(new.coordinator().request_count(ApiKey::ListDatabases) > 0);
}

#[tokio::test]
async fn advertised_host_outside_the_allow_list_is_never_dialled() {
    let cluster = shop().start().unwrap();
    let mut strict = options(&cluster.bootstrap());
    strict.advertised_host_allow_list = Some(vec!["fluss.example".to_owned()]);
    let error = client_with(strict).list_databases().await.unwrap_err();
    assert!(crate::support::chain(&error).contains("advertised_host_allow_list"), "{error:?}");
    let mut fitting = options(&cluster.bootstrap());
    fitting.advertised_host_allow_list = Some(vec!["127.0.0.1".to_owned()]);
    assert_eq!(client_with(fitting).list_databases().await.unwrap(), ["shop"]);
}
