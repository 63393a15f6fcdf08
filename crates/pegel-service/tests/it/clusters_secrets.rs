//! Secrets of clusters: they go in, never come out, and go to no new place unasked.

use fluss_testkit::fake_server::FakeCluster;
use fluss_testkit::tls::{TestCa, TlsTerminator};
use pegel_core::access::decision::Target;
use pegel_core::envelope::Status;
use pegel_service::Error;
use serde_json::{Value as Json, json};

use crate::clusters::Yard;
use crate::house::{House, code};
use crate::on_both;

on_both!(
    no_secret_is_shown_logged_or_left_in_the_clear,
    a_secret_is_kept_replaced_and_removed,
    a_kept_password_goes_to_no_server_of_someones_choosing,
    a_cluster_behind_tls_with_a_client_certificate_is_registered,
);

const PASSWORD: &str = "hunter2-the-password";

fn with_password(slug: &str, endpoint: &str, password: &str) -> Json {
    json!({ "slug": slug, "name": slug, "environment": "production", "connection": {
        "endpoint": endpoint, "security_protocol": "SASL_PLAINTEXT", "sasl_username": "pegel",
        "sasl_password": password } })
}

fn locked() -> FakeCluster {
    FakeCluster::builder().user("pegel", PASSWORD).start().unwrap()
}

async fn no_secret_is_shown_logged_or_left_in_the_clear(house: House) {
    let cluster = locked();
    let yard = Yard::open(house).await;
    let mut told = String::new();
    let wrong = "hunter2-mistyped";
    let refused = yard.register(with_password("eu", &cluster.bootstrap(), wrong)).await.unwrap_err();
    assert!(matches!(refused, Error::ConnectionTestFailed { .. }), "{refused:?}");
    told.push_str(&format!("{refused:?} {} {}", refused.public(), refused.internal()));
    let saved = yard.register(with_password("eu", &cluster.bootstrap(), PASSWORD)).await.unwrap();
    let connection = saved.cluster.connection.clone().unwrap();
    assert!(connection.has_sasl_password && !connection.has_tls_client_key);
    assert_eq!(connection.sasl_mechanism.as_deref(), Some("PLAIN"));
    told.push_str(&format!("{saved:?} {}", serde_json::to_string(&saved).unwrap()));
    told.push_str(&format!("{:?}", yard.service));
    for row in yard.house.audit().await {
        told.push_str(&format!("{row:?}"));
    }
    let rows = yard.house.db.read(|tx| {
        Box::pin(async move {
            let mut text = String::new();
            for row in tx.fetch_all("SELECT options FROM cluster", &[]).await? {
                text.push_str(&row.text("options")?);
            }
            for row in tx.fetch_all("SELECT ciphertext FROM secret", &[]).await? {
                text.push_str(&String::from_utf8_lossy(&row.blob("ciphertext")?));
            }
            Ok(text)
        })
    });
    told.push_str(&rows.await.unwrap());
    assert!(told.contains("sasl_username") && !told.contains("hunter2"), "{told}");
}

async fn a_secret_is_kept_replaced_and_removed(house: House) {
    let cluster = locked();
    let yard = Yard::open(house).await;
    let saved = yard.register(with_password("eu", &cluster.bootstrap(), PASSWORD)).await.unwrap().cluster;
    // Kept: the test before saving signs in with it.
    let kept = yard.update(&saved, json!({ "connection": { "read_max_attempts": 3 } })).await.unwrap();
    assert!(kept.cluster.connection.clone().unwrap().has_sasl_password);
    cluster.change(|model| model.users.set("pegel", "the next password"));
    let next = json!({ "connection": { "sasl_password": "the next password" } });
    let replaced = yard.update(&kept.cluster, next).await.unwrap();
    assert_eq!(replaced.cluster.version, 3);
    let row = yard.audit().await.pop().unwrap().entry;
    assert_eq!(row.detail["changed"], json!(["sasl_password"]));
    // Without it the protocol lacks what it needs, and the other protocol has no use for the one that is stored.
    let gone = json!({ "connection": { "sasl_password": null } });
    assert_eq!(code(yard.update(&replaced.cluster, gone).await), "invalid");
    let open = json!({ "connection": { "security_protocol": "PLAINTEXT", "sasl_username": "",
        "sasl_mechanism": "" } });
    let Error::Invalid { problems } = yard.update(&replaced.cluster, open).await.unwrap_err() else {
        panic!()
    };
    assert!(problems[0].pointer == "/connection/sasl_password", "{problems:?}");
    let open = json!({ "save_despite_failure": true, "connection": { "security_protocol": "PLAINTEXT",
        "sasl_username": "", "sasl_mechanism": "", "sasl_password": "" } });
    let removed = yard.update(&replaced.cluster, open).await.unwrap().cluster;
    assert!(!removed.connection.unwrap().has_sasl_password);
    let count = yard.house.db.read(|tx| {
        Box::pin(async move { tx.fetch_one("SELECT count(*) AS n FROM secret", &[]).await?.int("n") })
    });
    assert_eq!(count.await.unwrap(), 0);
}

async fn a_kept_password_goes_to_no_server_of_someones_choosing(house: House) {
    let cluster = locked();
    let evil = FakeCluster::builder().user("pegel", "whatever").start().unwrap();
    let yard = Yard::open(house).await;
    let saved = yard.register(with_password("eu", &cluster.bootstrap(), PASSWORD)).await.unwrap().cluster;
    let moved = json!({ "connection": { "endpoint": evil.bootstrap() } });
    let refused = yard.update(&saved, moved).await.unwrap_err();
    assert_eq!((refused.code().as_str(), refused.code().http_status()), ("secret_required", 400));
    let Error::SecretRequired { problems } = refused else { panic!() };
    assert_eq!(problems.len(), 1);
    assert_eq!((&*problems[0].pointer, &*problems[0].code), ("/connection/sasl_password", "secret"));
    assert!(problems[0].detail.contains("endpoint"), "{}", problems[0].detail);
    // Nor without saving.
    let form = json!({ "endpoint": format!("{},{}", cluster.bootstrap(), evil.bootstrap()),
        "security_protocol": "SASL_PLAINTEXT", "sasl_username": "pegel" });
    let refused = yard.test_form(Target::WholeCluster(&saved.slug), form.clone()).await;
    assert_eq!(code(refused), "secret_required");
    // A form of no cluster has no stored secret to send.
    assert_eq!(code(yard.test_form(Target::Global, form).await), "invalid");
    assert_eq!(evil.accepted_count(), 0);
    let given = json!({ "connection": { "endpoint": evil.bootstrap(), "sasl_password": "whatever" } });
    yard.update(&saved, given).await.unwrap();
}

async fn a_cluster_behind_tls_with_a_client_certificate_is_registered(house: House) {
    let cluster = FakeCluster::builder().user("pegel", PASSWORD).start().unwrap();
    let ca = TestCa::new("fluss").unwrap();
    let identity = ca.server(&["127.0.0.1"]).unwrap();
    let mut ends = Vec::new();
    for server in cluster.servers() {
        let bind = "127.0.0.1:0".parse().unwrap();
        let end = TlsTerminator::start(bind, server.address(), &identity, Some(&ca)).await.unwrap();
        server.advertise("127.0.0.1", end.address().port());
        ends.push(end);
    }
    let yard = Yard::open(house).await;
    let client = ca.client("pegel").unwrap();
    let wanted = |ca: &str, key: &str| {
        json!({ "slug": "eu", "name": "EU", "environment": "production", "connection": {
            "endpoint": ends[0].address().to_string(), "security_protocol": "SASL_TLS",
            "sasl_username": "pegel", "sasl_password": PASSWORD, "tls_ca_cert": ca,
            "tls_client_cert": client.certificate_pem(), "tls_client_key": key } })
    };
    let other = TestCa::new("other").unwrap();
    let refused = yard.register(wanted(&other.certificate_pem(), &client.key_pem())).await.unwrap_err();
    let Error::ConnectionTestFailed { test } = refused else { panic!("{refused:?}") };
    let tls = test.evidence.iter().find(|step| step.check == "tls").unwrap();
    assert_eq!(tls.code.unwrap().as_str(), "tls_unknown_issuer");
    let foreign_key = other.client("pegel").unwrap().key_pem();
    assert_eq!(code(yard.register(wanted(&ca.certificate_pem(), &foreign_key)).await), "invalid");
    let saved = yard.register(wanted(&ca.certificate_pem(), &client.key_pem())).await.unwrap();
    assert!(matches!(saved.connection_test.unwrap().status, Status::Ok | Status::Partial));
    let connection = saved.cluster.connection.clone().unwrap();
    assert!(connection.has_tls_client_key && connection.has_sasl_password);
    assert_eq!(connection.tls_client_cert.as_deref(), Some(client.certificate_pem()));
    // Trusting another authority would let another server in, so both secrets are asked for.
    let change = json!({ "connection": { "tls_skip_verify": true, "tls_ca_cert": "" } });
    let Error::SecretRequired { problems } = yard.update(&saved.cluster, change).await.unwrap_err() else {
        panic!()
    };
    assert_eq!(problems.len(), 2);
    // A rename needs neither.
    yard.update(&saved.cluster, json!({ "name": "Europe" })).await.unwrap();
}
