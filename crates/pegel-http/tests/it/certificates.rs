//! What certificates say, which are believed, and until when.

use std::sync::Arc;

use jiff::Timestamp;
use pegel_http::certificate::days_left;
use pegel_http::error::TlsFault;
use pegel_http::expect::Expect;
use pegel_http::report::Report;
use pegel_http::trust::Trust;
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, crypto::aws_lc_rs};
use tokio::io::AsyncWriteExt as _;
use tokio_rustls::TlsAcceptor;

use crate::target::{NOW, Names, Target, get, outbound_of, read_head, told};

/// A key, and what its certificates are made of.
struct Party {
    params: CertificateParams,
    key: KeyPair,
}

impl Party {
    fn authority(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        Self { params, key: KeyPair::generate().unwrap() }
    }

    fn server(names: &[&str], not_after: (i32, u8, u8)) -> Self {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::CommonName, "a server");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.not_after = date_time_ymd(not_after.0, not_after.1, not_after.2);
        Self { params, key: KeyPair::generate().unwrap() }
    }

    fn signed_by(&self, issuer: &Self) -> Certificate {
        self.params.signed_by(&self.key, &Issuer::from_params(&issuer.params, &issuer.key)).unwrap()
    }

    fn root(&self) -> Certificate {
        self.params.self_signed(&self.key).unwrap()
    }
}

/// A root that signs nothing, for tests without TLS.
pub(crate) fn any_root() -> String {
    Party::authority("nobody").root().pem()
}

async fn serve(chain: Vec<CertificateDer<'static>>, key: &KeyPair) -> Target {
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    Target::start(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            read_head(&mut stream).await;
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
            let _ = stream.shutdown().await;
        }
    })
    .await
}

async fn ask(target: &Target, root: &Certificate, host: &str, is_insecure: bool) -> Report {
    let names = Arc::new(Names::default());
    names.set("good.test", &[&["127.0.0.1"]]);
    names.set("other.test", &[&["127.0.0.1"]]);
    let outbound = outbound_of(&names, Trust::only(&root.pem()).unwrap());
    let mut request = get(&format!("https://{host}:{}/", target.port()));
    request.is_insecure = is_insecure;
    outbound.send(&request, &Expect::default()).await
}

#[tokio::test]
async fn a_good_certificate_is_believed_and_read() {
    let root = Party::authority("root");
    let server = Party::server(&["good.test", "127.0.0.1"], (2026, 7, 31));
    let leaf = server.signed_by(&root);
    let target = serve(vec![leaf.der().clone()], &server.key).await;
    let report = ask(&target, &root.root(), "good.test", false).await;
    assert_eq!(told(&report), "ok");
    assert!(report.hops[0].timings.tls.is_some());
    let tls = report.hops[0].tls.as_ref().unwrap();
    assert_eq!((tls.version.as_deref(), tls.fault, tls.is_insecure), (Some("TLSv1_3"), None, false));
    let facts = tls.leaf.as_ref().unwrap();
    assert_eq!((facts.subject.as_str(), facts.issuer.as_str()), ("CN=a server", "CN=root"));
    assert_eq!(facts.names, ["good.test", "127.0.0.1"]);
    assert_eq!(days_left(facts.not_after, NOW.parse().unwrap()), 60);
    assert_eq!(facts.fingerprint.len(), 64);
    assert_eq!(told(&ask(&target, &root.root(), "127.0.0.1", false).await), "ok", "an address is a name too");
}

#[tokio::test]
async fn what_is_wrong_with_a_certificate_is_told_and_the_certificate_shown() {
    let (root, stranger) = (Party::authority("root"), Party::authority("stranger"));
    let expired = Party::server(&["good.test"], (2026, 5, 31));
    let good = Party::server(&["good.test"], (2026, 7, 31));
    for (server, issuer, host, code, fault) in [
        (&expired, &root, "good.test", "tls_certificate_expired", TlsFault::Expired),
        (&good, &root, "other.test", "tls_name_mismatch", TlsFault::NameMismatch),
        (&good, &stranger, "good.test", "tls_unknown_issuer", TlsFault::UnknownIssuer),
    ] {
        let target = serve(vec![server.signed_by(issuer).der().clone()], &server.key).await;
        let report = ask(&target, &root.root(), host, false).await;
        assert_eq!(told(&report), format!("{code} in tls"));
        let tls = report.hops[0].tls.as_ref().unwrap();
        assert_eq!(tls.fault, Some(fault));
        assert_eq!(tls.leaf.as_ref().unwrap().names, ["good.test"]);
        let report = ask(&target, &root.root(), host, true).await;
        assert_eq!(told(&report), "ok", "{code}, and somebody does not mind");
        let tls = report.hops[0].tls.as_ref().unwrap();
        assert_eq!((tls.fault, tls.is_insecure), (Some(fault), true), "but it is told all the same");
    }
}

#[tokio::test]
async fn a_spare_root_that_has_expired_does_not_count_a43() {
    let (old, root, between) =
        (Party::authority("old"), Party::authority("root"), Party::authority("between"));
    let mut middle = between;
    middle.params.not_after = date_time_ymd(2026, 8, 30);
    let server = Party::server(&["good.test"], (2026, 7, 31));
    let mut cross = Party { params: root.params.clone(), key: KeyPair::generate().unwrap() };
    cross.params.not_after = date_time_ymd(2024, 8, 18);
    let cross = cross.params.signed_by(&root.key, &Issuer::from_params(&old.params, &old.key)).unwrap();
    let chain = [server.signed_by(&middle), middle.signed_by(&root), cross].map(|one| one.der().clone());
    let target = serve(chain.to_vec(), &server.key).await;
    let report = ask(&target, &root.root(), "good.test", false).await;
    assert_eq!(told(&report), "ok");
    let earliest = report.hops[0].tls.as_ref().unwrap().chain_not_after.unwrap();
    assert_eq!(days_left(earliest, NOW.parse().unwrap()), 60);
}

#[tokio::test]
async fn the_earliest_end_of_the_chain_is_told_also_if_it_is_not_the_servers() {
    let (root, mut middle) = (Party::authority("root"), Party::authority("between"));
    middle.params.not_after = date_time_ymd(2026, 6, 15);
    let server = Party::server(&["good.test"], (2026, 7, 31));
    let chain = vec![server.signed_by(&middle).der().clone(), middle.signed_by(&root).der().clone()];
    let target = serve(chain, &server.key).await;
    let report = ask(&target, &root.root(), "good.test", false).await;
    let tls = report.hops[0].tls.as_ref().unwrap();
    assert_eq!(tls.chain_not_after, Some("2026-06-15T00:00:00Z".parse::<Timestamp>().unwrap()));
}

#[tokio::test]
async fn a_redirect_asks_for_the_name_of_its_own_host() {
    let root = Party::authority("root");
    let other = Party::server(&["other.test"], (2026, 7, 31));
    let second = serve(vec![other.signed_by(&root).der().clone()], &other.key).await;
    let location = format!("https://other.test:{}/", second.port());
    let first = Target::answering(format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\n\r\n")).await;
    let names = Arc::new(Names::default());
    names.set("good.test", &[&["127.0.0.1"]]);
    names.set("other.test", &[&["127.0.0.1"]]);
    let outbound = outbound_of(&names, Trust::only(&root.root().pem()).unwrap());
    let request = get(&format!("http://good.test:{}/", first.port()));
    let report = outbound.send(&request, &Expect::default()).await;
    assert_eq!(told(&report), "ok");
    assert_eq!(report.hops.iter().map(|hop| hop.tls.is_some()).collect::<Vec<_>>(), [false, true]);
}
