//! Certificates are what their names say, and the TLS end lets through whom it should.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use fluss_testkit::ports::loopback;
use fluss_testkit::tls::{Identity, TestCa, TlsTerminator};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::time;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::{BOUND, echo, echo_server, is_closed};

/// Connects as a client that trusts only `ca`, from PEM as a user would have it.
async fn connect(
    end: &TlsTerminator,
    ca: &TestCa,
    host: &str,
    client: Option<&Identity>,
) -> Result<TlsStream<TcpStream>, std::io::Error> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ca.certificate_pem().as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = match client {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let chain = vec![CertificateDer::from_pem_slice(identity.certificate_pem().as_bytes()).unwrap()];
            let key = PrivateKeyDer::from_pem_slice(identity.key_pem().as_bytes()).unwrap();
            builder.with_client_auth_cert(chain, key).unwrap()
        }
    };
    let name = ServerName::try_from(host.to_owned()).unwrap();
    let stream = TcpStream::connect(end.address()).await.unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

async fn end_with(identity: &Identity, client_ca: Option<&TestCa>) -> TlsTerminator {
    TlsTerminator::start(loopback(0), echo_server().await, identity, client_ca).await.unwrap()
}

async fn refusal(end: &TlsTerminator, ca: &TestCa, host: &str) -> String {
    connect(end, ca, host, None).await.map(|_| ()).unwrap_err().to_string()
}

#[tokio::test]
async fn a_good_certificate_is_accepted_by_name_and_by_address() {
    let ca = TestCa::new("test").unwrap();
    let end = end_with(&ca.server(&["localhost", "127.0.0.1"]).unwrap(), None).await;
    for host in ["localhost", "127.0.0.1"] {
        let mut stream = connect(&end, &ca, host, None).await.unwrap();
        assert_eq!(echo(&mut stream, b"through").await.as_deref(), Some(&b"through"[..]));
    }
    assert_eq!((end.handshakes().succeeded_count, end.handshakes().failed_count), (2, 0));
}

#[tokio::test]
async fn a_certificate_is_refused_for_another_name_another_authority_and_another_time() {
    let ca = TestCa::new("test").unwrap();
    let other = TestCa::new("other").unwrap();
    let end = end_with(&ca.server(&["localhost"]).unwrap(), None).await;
    let check = |message: String, expected: &str| assert!(message.contains(expected), "{message}");
    check(refusal(&end, &ca, "example.test").await, "not valid for name");
    check(refusal(&end, &other, "localhost").await, "UnknownIssuer");
    end.set_identity(&ca.expired_server(&["localhost"]).unwrap()).unwrap();
    check(refusal(&end, &ca, "localhost").await, "expired");
    end.set_identity(&ca.future_server(&["localhost"]).unwrap()).unwrap();
    check(refusal(&end, &ca, "localhost").await, "not valid yet");
    end.set_identity(&ca.server(&["localhost"]).unwrap()).unwrap();
    connect(&end, &ca, "localhost", None).await.unwrap();
}

#[tokio::test]
async fn a_required_client_certificate_is_checked() {
    let ca = TestCa::new("test").unwrap();
    let end = end_with(&ca.server(&["localhost"]).unwrap(), Some(&ca)).await;
    let known = ca.client("console").unwrap();
    let mut stream = connect(&end, &ca, "localhost", Some(&known)).await.unwrap();
    assert!(echo(&mut stream, b"hello").await.is_some());
    let stranger = TestCa::new("other").unwrap().client("console").unwrap();
    for client in [None, Some(&stranger)] {
        // With TLS 1.3 the client learns of the refusal only when it reads.
        let passed = match connect(&end, &ca, "localhost", client).await {
            Ok(mut stream) => echo(&mut stream, b"hello").await.is_some(),
            Err(_) => false,
        };
        assert!(!passed, "with certificate: {}", client.is_some());
    }
    assert_eq!((end.handshakes().succeeded_count, end.handshakes().failed_count), (1, 2));
}

#[tokio::test]
async fn plain_bytes_do_not_get_through() {
    let ca = TestCa::new("test").unwrap();
    let end = end_with(&ca.server(&["localhost"]).unwrap(), None).await;
    let mut client = TcpStream::connect(end.address()).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut client, b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    // The end answers with an alert and closes.
    let mut answer = Vec::new();
    let read = tokio::io::AsyncReadExt::read_to_end(&mut client, &mut answer);
    drop(time::timeout(BOUND, read).await.expect("the connection is closed"));
    assert!(answer.len() < 16, "an alert at most: {answer:?}");
    assert_eq!(end.handshakes().failed_count, 1);
}

#[tokio::test]
async fn a_dropped_end_closes_its_connections() {
    let ca = TestCa::new("test").unwrap();
    let end = end_with(&ca.server(&["localhost"]).unwrap(), None).await;
    let mut stream = connect(&end, &ca, "localhost", None).await.unwrap();
    echo(&mut stream, b"hello").await.unwrap();
    drop(end);
    assert!(is_closed(stream.get_mut().0).await);
}

#[test]
fn written_files_are_for_their_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let ca = TestCa::new("test").unwrap();
    let (certificate, key) = ca.client("console").unwrap().write(folder.path(), "console").unwrap();
    let ca_path = folder.path().join("ca.pem");
    ca.write_certificate(&ca_path).unwrap();
    for path in [&certificate, &key, &ca_path] {
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600, "{path:?}");
    }
    let text = std::fs::read_to_string(key).unwrap();
    assert!(text.starts_with("-----BEGIN PRIVATE KEY-----"), "{}", text.lines().next().unwrap_or_default());
    assert_eq!(format!("{:?}", ca.client("console").unwrap()), "Identity", "keys do not print");
}
