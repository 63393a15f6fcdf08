//! A cluster behind TLS and proxies: clients are led through both, servers past them.

use std::sync::Arc;

use fluss_testkit::cluster::{ClusterBuilder, RunningCluster, TlsOptions, User};
use fluss_testkit::java::JavaPeer;
use fluss_testkit::proxy::Fault;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::json;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::{turn, wire};

/// Connects as a user would: trusting the CA file, showing the client's certificate.
pub(crate) async fn connect(
    address: &str,
    ca: &std::path::Path,
    client: Option<(&std::path::Path, &std::path::Path)>,
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(ca).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = match client {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = vec![CertificateDer::from_pem_file(certificate).unwrap()];
            builder.with_client_auth_cert(chain, PrivateKeyDer::from_pem_file(key).unwrap()).unwrap()
        }
    };
    let (host, _) = address.rsplit_once(':').unwrap();
    let name = ServerName::try_from(host.to_owned()).unwrap();
    let stream = TcpStream::connect(address).await?;
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_come_through_proxy_and_tls_and_are_told_to_come_that_way_again() {
    let Some(_turn) = turn().await else { return };
    let cluster = ClusterBuilder::new()
        .tablet_servers(1)
        .tls(TlsOptions { require_client_certificate: true, ..TlsOptions::default() })
        .proxies(true)
        .start()
        .await
        .unwrap();
    let tls = cluster.tls().unwrap();
    let coordinator = cluster.coordinator();

    let mut stream = connect(coordinator.address(), tls.ca_path(), Some(tls.client_paths())).await.unwrap();
    let told = wire::addresses(&mut stream).await.unwrap();
    let expected: Vec<_> = cluster.fluss_servers().map(|server| server.address().to_owned()).collect();
    assert_eq!(told, expected, "metadata leads back through the proxies");
    assert!(told.iter().all(|address| address.starts_with("localhost:")), "{told:?}");

    let stranger = match connect(coordinator.address(), tls.ca_path(), None).await {
        Ok(mut stream) => wire::server_type(&mut stream).await.is_some(),
        Err(_) => false,
    };
    assert!(!stranger, "without a certificate nobody gets in");
    let handshakes = coordinator.tls_terminator().unwrap().handshakes();
    assert_eq!((handshakes.succeeded_count, handshakes.failed_count), (1, 1));

    coordinator.proxy().unwrap().set(Fault::Cut).await.unwrap();
    assert_eq!(wire::server_type(&mut stream).await, None, "the cut ends the connection");
    let refused = TcpStream::connect(coordinator.address()).await.unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    cluster.wait_until_ready().await.unwrap();

    let mut direct = TcpStream::connect(coordinator.direct_address()).await.unwrap();
    let told = wire::addresses(&mut direct).await.unwrap();
    let expected: Vec<_> =
        cluster.fluss_servers().map(|server| server.direct_address().to_string()).collect();
    assert_eq!(told, expected, "whoever comes directly is led directly");
    the_temporary_folder_goes_with_the_cluster(cluster);
}

fn the_temporary_folder_goes_with_the_cluster(cluster: RunningCluster) {
    let dir = cluster.dir().to_owned();
    assert!(dir.join("logs").is_dir());
    drop(cluster);
    assert!(!dir.exists(), "{} is still there", dir.display());
}

#[tokio::test(flavor = "multi_thread")]
async fn users_authenticate_and_see_what_they_may() {
    let Some(_turn) = turn().await else { return };
    let cluster = ClusterBuilder::new()
        .tablet_servers(1)
        .sasl([User::new("root", "root-of-the-test"), User::new("guest", "guest-of-the-test")])
        .authorizer(["root"])
        .start()
        .await
        .unwrap();
    let peer = JavaPeer::prepare_async(cluster.artifacts()).await.unwrap();
    let databases =
        async |user: &User| peer.ask(&cluster.java_login(Some(user)), &[json!({"ask": "databases"})]).await;
    let root = databases(cluster.user("root").unwrap()).await.unwrap();
    assert_eq!(root, [json!({"ok": ["fluss"]})]);
    let guest = databases(cluster.user("guest").unwrap()).await.unwrap();
    assert_eq!(guest, [json!({"ok": []})], "without an ACL nothing is listed");
    let wrong = databases(&User::new("root", "not-the-password")).await.unwrap_err();
    assert_eq!(wrong.code(), "java_program_failed");
    assert!(wrong.to_string().contains("AuthenticationException"), "{wrong}");
}
