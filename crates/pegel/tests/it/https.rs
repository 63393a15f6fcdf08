//! A server behind a proxy that ends TLS.

use fluss_testkit::ports::{self, FreePorts};
use fluss_testkit::tls::{TestCa, TlsTerminator};

use crate::serving::{PASSWORD, Place, Server};

#[tokio::test(flavor = "multi_thread")]
async fn server_is_trusted_by_its_authority_and_only_under_its_name() {
    let place = Place::new();
    let ca = TestCa::new("pegel test").unwrap();
    let identity = ca.server(&["localhost"]).unwrap();
    let ports = FreePorts::claim(1).unwrap();
    let inner = ports::loopback(ports.ports()[0]);
    let proxy = TlsTerminator::start(ports::loopback(0), inner, &identity, None).await.unwrap();
    let url = format!("https://localhost:{}/ops", proxy.address().port());
    let mut command = place.command(&format!("serve --listen {inner}"));
    command.arg("--data-dir").arg(place.data()).env("PEGEL_SERVER_PUBLIC_URL", &url);
    let server = Server::start(command).await;
    let first = place.file("first", &server.first_password().unwrap()).await;
    let chosen = place.file("chosen", PASSWORD).await;
    let login = format!("--username admin --password-file {first} --new-password-file {chosen}");

    let untrusted = place.run(&format!("login --server {url} {login}")).await;
    assert_eq!(untrusted.code, 4, "{untrusted:#?}");
    untrusted.tells(&["error[server_unreachable]: no TLS connection", "--server-ca"]);
    let ca_file = place.file("ca.pem", &ca.certificate_pem()).await;
    let other_name = url.replace("localhost", "127.0.0.1");
    let renamed = place.run(&format!("login --server {other_name} --server-ca {ca_file} {login}")).await;
    assert_eq!(renamed.code, 4, "{renamed:#?}");
    let plain = format!("http://127.0.0.1:{}", proxy.address().port());
    let plain = place.run(&format!("login --server {plain} {login}")).await;
    assert_eq!(plain.code, 4, "{plain:#?}");

    let trusted = place.run(&format!("login --server {url} --server-ca {ca_file} {login}")).await;
    assert_eq!(trusted.code, 0, "{trusted:#?}");
    // The authority is remembered with the login, and the cookie is one that only https gets.
    assert_eq!(place.run("cluster list").await.code, 0);
    let kept = std::fs::read_to_string(place.path().join("home/.config/pegel/credentials.json")).unwrap();
    assert!(kept.contains("__Host-pegel_session=") && kept.contains("ca.pem"), "{kept}");
    assert_eq!(place.run("logout").await.code, 0);
    server.stop().await;
}
