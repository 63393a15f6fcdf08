//! The connection test's findings.

use std::sync::Arc;

use fluss_client::admin::Named;
use fluss_client::budget::RequestBudget;
use fluss_client::connection_test::{self, Check, FindingState, TestReport, Verdict};
use fluss_client::settings::ConnectionOptions;
use fluss_codec::api_key::ApiKey;
use fluss_codec::server_type::ServerType;
use fluss_testkit::fake_server::{FakeCluster, ForeignListener, Script, peak_count};

use crate::support::{SECOND, assert_took, client_with, options, shop, timed};

async fn run(options: ConnectionOptions) -> TestReport {
    connection_test::run(&client_with(options)).await.unwrap()
}

/// Shows each finding as `check:state`, where a failure shows its code.
fn shown(report: &TestReport) -> Vec<String> {
    report
        .findings
        .iter()
        .map(|finding| {
            let state = match &finding.state {
                FindingState::Ok => "ok",
                FindingState::Skipped => "skipped",
                FindingState::Failed(error) => error.code(),
            };
            format!("{}:{state}", finding.check.name())
        })
        .collect()
}

#[tokio::test]
async fn healthy_cluster_passes_step_by_step() {
    let cluster = shop().tablet_servers(2).start().unwrap();
    let report = run(options(&cluster.coordinator().address().to_string())).await;
    assert_eq!(report.verdict, Verdict::Passed);
    let expected = [
        "tcp:ok",
        "negotiation:ok",
        "metadata:ok",
        "coordinator:ok",
        "tablet_server:ok",
        "tablet_server:ok",
        "catalog:ok",
    ];
    assert_eq!(shown(&report), expected);
    assert_eq!(report.server_line, Some("0.9"));
}

#[tokio::test]
async fn tests_and_looks_that_hold_one_budget_keep_to_it_together() {
    let cluster = shop().user("pegel", "secret").start().unwrap();
    let guarded = || ConnectionOptions {
        security_protocol: Some("SASL_PLAINTEXT".to_owned()),
        sasl_username: Some("pegel".to_owned()),
        sasl_password: Some("secret".to_owned().into()),
        ..options(&cluster.bootstrap())
    };
    let budget = Arc::<RequestBudget>::default();
    let client = || client_with(guarded()).paced_by(Arc::clone(&budget));
    let (tested, looking) = (client(), client());
    let before = Named::default();
    let (report, glance) = tokio::join!(connection_test::run(&tested), looking.glance(&before, SECOND));
    assert_eq!(report.unwrap().verdict, Verdict::Passed);
    assert!(glance.metadata.is_ok());
    let busiest = peak_count(&cluster.seen(), SECOND);
    assert!(cluster.total_request_count() > 20 && busiest <= 18, "{busiest} requests within a second");
}

#[tokio::test]
async fn open_port_that_does_not_speak_fluss_is_protocol_failed() {
    for listener in [
        ForeignListener::http().await.unwrap(),
        ForeignListener::ssh().await.unwrap(),
        ForeignListener::closing().await.unwrap(),
        ForeignListener::mute().await.unwrap(),
    ] {
        let report = run(options(&listener.address().to_string())).await;
        assert_eq!(report.verdict, Verdict::Failed);
        assert_eq!(
            shown(&report),
            ["tcp:ok", "negotiation:protocol_failed", "metadata:skipped", "coordinator:skipped"]
        );
    }
}

#[tokio::test]
async fn mute_port_costs_the_request_timeout() {
    let mute = ForeignListener::mute().await.unwrap();
    let (_, took) = timed(run(options(&mute.address().to_string()))).await;
    assert_took(took, SECOND);
}

#[tokio::test]
async fn one_dead_address_and_one_dead_tablet_server_degrade_the_verdict() {
    let cluster = shop().tablet_servers(2).start().unwrap();
    let dead = &cluster.tablet_servers()[1];
    dead.stop().await.unwrap();
    let report = run(options(&format!("{},{}", cluster.coordinator().address(), dead.address()))).await;
    assert_eq!(report.verdict, Verdict::Degraded);
    assert_eq!(
        shown(&report),
        [
            "tcp:ok",
            "negotiation:ok",
            "metadata:ok",
            "tcp:connect_failed",
            "negotiation:skipped",
            "metadata:skipped",
            "coordinator:ok",
            "tablet_server:ok",
            "tablet_server:connect_failed",
            "catalog:ok",
        ]
    );
}

#[tokio::test]
async fn tablet_servers_without_their_coordinator_fail_the_test() {
    let cluster = shop().start().unwrap();
    let address = cluster.tablet_servers()[0].address().to_string();
    cluster.coordinator().stop().await.unwrap();
    let report = run(options(&address)).await;
    assert_eq!(report.verdict, Verdict::Failed);
    assert!(
        shown(&report).contains(&"coordinator:coordinator_unavailable".to_owned()),
        "{:?}",
        shown(&report)
    );
    // The same with something else answering at its address.
    cluster.coordinator().start_again().await.unwrap();
    cluster.coordinator().answers_as(ServerType::TabletServer);
    let report = run(options(&address)).await;
    assert_eq!(report.verdict, Verdict::Failed);
}

/// A coordinator that has lost ZooKeeper negotiates and answers metadata, and can do nothing else.
#[tokio::test]
async fn coordinator_that_cannot_list_the_catalog_degrades_the_verdict() {
    let cluster = shop().tablet_servers(1).start().unwrap();
    cluster.coordinator().on(ApiKey::ListDatabases, Script::NeverAnswer);
    let report = run(options(&cluster.coordinator().address().to_string())).await;
    assert_eq!(report.verdict, Verdict::Degraded);
    assert_eq!(shown(&report).last().unwrap(), "catalog:request_timeout");
}

#[tokio::test]
async fn no_tablet_server_alive_fails_the_test() {
    let cluster = shop().tablet_servers(2).start().unwrap();
    for server in cluster.tablet_servers() {
        server.stop().await.unwrap();
    }
    let report = run(options(&cluster.coordinator().address().to_string())).await;
    assert_eq!(report.verdict, Verdict::Failed);
    let failed = report.findings.iter().filter(|one| one.check == Check::TabletServer).count();
    assert_eq!(failed, 2);
}

#[tokio::test]
async fn addresses_of_two_clusters_fail_the_test() {
    let one = shop().start().unwrap();
    let two = FakeCluster::builder().tablet_servers(1).start().unwrap();
    let endpoint = format!("{},{}", one.coordinator().address(), two.coordinator().address());
    let report = run(options(&endpoint)).await;
    assert_eq!(report.verdict, Verdict::Failed);
    let coordinator = report.findings.iter().rfind(|finding| finding.check == Check::Coordinator).unwrap();
    assert!(coordinator.detail.contains("different coordinators"), "{}", coordinator.detail);
}
