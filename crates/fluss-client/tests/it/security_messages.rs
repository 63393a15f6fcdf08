//! Six ways to get credentials and TLS wrong, six different messages that say what to change.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use fluss_client::error::Error;
use fluss_client::settings::ConnectionOptions;
use fluss_testkit::fake_server::FakeCluster;
use fluss_testkit::tls::{Identity, TestCa, TlsTerminator};

use crate::support::{client_with, options, shop};

/// A cluster of one coordinator and one tablet server behind TLS ends that advertise `localhost`.
struct TlsCluster {
    cluster: FakeCluster,
    ends: Vec<TlsTerminator>,
}

impl TlsCluster {
    async fn start(identity: &Identity, client_ca: Option<&TestCa>) -> Self {
        let cluster = shop().tablet_servers(1).user("admin", "right").start().unwrap();
        let mut ends = Vec::new();
        for server in cluster.servers() {
            let end = TlsTerminator::start(any_port(), server.address(), identity, client_ca).await.unwrap();
            server.advertise("localhost", end.address().port());
            ends.push(end);
        }
        Self { cluster, ends }
    }

    /// Options that fit, but for what the test changes.
    fn options(&self, ca: &TestCa) -> ConnectionOptions {
        let endpoint = format!("localhost:{}", self.ends[0].address().port());
        ConnectionOptions {
            security_protocol: Some("SASL_TLS".to_owned()),
            sasl_username: Some("admin".to_owned()),
            sasl_password: Some("right".to_owned().into()),
            tls_ca_cert: Some(ca.certificate_pem()),
            ..options(&endpoint)
        }
    }
}

fn any_port() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

async fn refused(options: ConnectionOptions) -> Error {
    client_with(options).list_databases().await.unwrap_err()
}

#[tokio::test]
async fn everything_right_works() {
    let ca = TestCa::new("cluster").unwrap();
    let cluster = TlsCluster::start(&ca.server(&["localhost"]).unwrap(), None).await;
    assert_eq!(client_with(cluster.options(&ca)).list_databases().await.unwrap(), ["shop"]);
}

#[tokio::test]
async fn six_mistakes_have_six_messages_that_say_what_to_change() {
    let ca = TestCa::new("cluster").unwrap();
    let other = TestCa::new("another").unwrap();
    let right = TlsCluster::start(&ca.server(&["localhost"]).unwrap(), None).await;
    let expired = TlsCluster::start(&ca.expired_server(&["localhost"]).unwrap(), None).await;
    let misnamed = TlsCluster::start(&ca.server(&["fluss.example"]).unwrap(), None).await;
    let plain = shop().start().unwrap();

    let wrong_password =
        ConnectionOptions { sasl_password: Some("wrong".to_owned().into()), ..right.options(&ca) };
    let plaintext_to_tls = options(&format!("localhost:{}", right.ends[0].address().port()));
    let tls_to_plaintext = ConnectionOptions { endpoint: Some(plain.bootstrap()), ..right.options(&ca) };
    let cases = [
        (wrong_password, "authentication_failed", "sasl_password"),
        (right.options(&other), "tls_unknown_issuer", "tls_ca_cert"),
        (expired.options(&ca), "tls_certificate_expired", "renew"),
        (misnamed.options(&ca), "tls_name_mismatch", "tls_server_name"),
        (plaintext_to_tls, "tls_expected", "security_protocol to TLS or SASL_TLS"),
        (tls_to_plaintext, "tls_not_spoken", "security_protocol to PLAINTEXT or SASL_PLAINTEXT"),
    ];
    let mut messages = BTreeSet::new();
    for (options, code, advice) in cases {
        let error = first_failure(refused(options).await);
        assert_eq!(error.code(), code, "{error:?}");
        let hint = error.hint().unwrap();
        assert!(hint.contains(advice), "{code}: {hint}");
        messages.insert(format!("{error}"));
    }
    assert_eq!(messages.len(), 6, "{messages:#?}");
}

/// Several bootstrap addresses fail alike; the first one's error is what matters here.
fn first_failure(error: Error) -> Error {
    match error {
        Error::BootstrapFailed { failures } => failures.into_iter().next().unwrap(),
        other => other,
    }
}

#[tokio::test]
async fn misnamed_certificate_says_which_names_it_has() {
    let ca = TestCa::new("cluster").unwrap();
    let cluster = TlsCluster::start(&ca.server(&["fluss.example"]).unwrap(), None).await;
    let error = refused(cluster.options(&ca)).await;
    let text = error.to_string();
    assert!(text.contains("localhost") && text.contains("fluss.example"), "{text}");
    let named =
        ConnectionOptions { tls_server_name: Some("fluss.example".to_owned()), ..cluster.options(&ca) };
    assert_eq!(client_with(named).list_databases().await.unwrap(), ["shop"]);
}

#[tokio::test]
async fn certificate_from_the_future_is_told_from_an_expired_one() {
    let ca = TestCa::new("cluster").unwrap();
    let cluster = TlsCluster::start(&ca.future_server(&["localhost"]).unwrap(), None).await;
    assert_eq!(refused(cluster.options(&ca)).await.code(), "tls_certificate_not_yet_valid");
}

#[tokio::test]
async fn client_certificate_is_shown_where_the_server_wants_one() {
    let ca = TestCa::new("cluster").unwrap();
    let cluster = TlsCluster::start(&ca.server(&["localhost"]).unwrap(), Some(&ca)).await;
    let error = refused(cluster.options(&ca)).await;
    assert_eq!(error.code(), "tls_client_certificate_refused", "{error:?}");
    assert!(error.hint().unwrap().contains("tls_client_cert"));
    let identity = ca.client("pegel").unwrap();
    let with_certificate = ConnectionOptions {
        tls_client_cert: Some(identity.certificate_pem().to_owned()),
        tls_client_key: Some(identity.key_pem().into()),
        ..cluster.options(&ca)
    };
    assert_eq!(client_with(with_certificate).list_databases().await.unwrap(), ["shop"]);
}

#[tokio::test]
async fn skipped_verification_takes_any_certificate() {
    let ca = TestCa::new("cluster").unwrap();
    let cluster = TlsCluster::start(&ca.expired_server(&["elsewhere.example"]).unwrap(), None).await;
    let careless =
        ConnectionOptions { tls_ca_cert: None, tls_skip_verify: Some(true), ..cluster.options(&ca) };
    assert_eq!(client_with(careless).list_databases().await.unwrap(), ["shop"]);
}

#[tokio::test]
async fn missing_and_needless_credentials_are_told_apart() {
    let sasl = shop().user("admin", "right").start().unwrap();
    let error = refused(options(&sasl.bootstrap())).await;
    assert_eq!(error.code(), "authentication_required");
    assert!(error.hint().unwrap().contains("SASL_PLAINTEXT"));
    let plain = shop().start().unwrap();
    let needless = ConnectionOptions {
        security_protocol: Some("SASL_PLAINTEXT".to_owned()),
        sasl_username: Some("admin".to_owned()),
        sasl_password: Some("right".to_owned().into()),
        ..options(&plain.bootstrap())
    };
    assert_eq!(first_failure(refused(needless).await).code(), "authentication_mechanism_refused");
    drop(sasl);
}

/// The cluster handle is kept to the end of each test, since dropping it ends the servers.
#[tokio::test]
async fn password_never_shows_in_errors() {
    let ca = TestCa::new("cluster").unwrap();
    let cluster = TlsCluster::start(&ca.server(&["localhost"]).unwrap(), None).await;
    let secret = "s3cr3t-never-shown";
    let wrong = ConnectionOptions { sasl_password: Some(secret.to_owned().into()), ..cluster.options(&ca) };
    let error = refused(wrong).await;
    let shown = format!("{error} {error:?} {:?} {}", error.hint(), crate::support::chain(&error));
    assert!(!shown.contains(secret));
    assert!(cluster.cluster.accepted_count() > 0);
}
