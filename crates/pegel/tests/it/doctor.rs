//! `pegel doctor`: what is looked at, and what it is worth.

use std::os::unix::fs::PermissionsExt;

use fluss_testkit::fake_server::{FakeCluster, NewTable};
use serde_json::Value;

use crate::serving::Place;

fn finding<'a>(report: &'a Value, check: &str) -> &'a Value {
    let findings = report["findings"].as_array().unwrap();
    findings
        .iter()
        .find(|finding| finding["check"] == check)
        .unwrap_or_else(|| panic!("no {check}: {report}"))
}

fn doctor(place: &Place, listen: &str) -> String {
    format!("doctor -o json --data-dir {} --listen {listen}", place.data().display())
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_yet_is_nothing_wrong_and_nothing_is_made() {
    let place = Place::new();
    let report = place.run(&doctor(&place, "127.0.0.1:0")).await.json(0);
    assert_eq!(report["is_healthy"], true);
    for check in ["settings", "data_dir", "secret_key", "store", "clock", "port"] {
        assert_eq!(finding(&report, check)["state"], "ok", "{report}");
    }
    assert_eq!(finding(&report, "server")["state"], "skipped");
    assert!(!place.data().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn running_server_and_its_clusters_are_looked_at() {
    let cluster = FakeCluster::builder().table(NewTable::log("shop", "orders")).start().unwrap();
    let place = Place::new();
    let server = place.serve_signed_in().await;
    let add = format!("cluster add eu --environment test --bootstrap {}", cluster.bootstrap());
    assert_eq!(place.run(&add).await.code, 0);
    let line = doctor(&place, &server.address().to_string());
    let report = place.run(&line).await.json(0);
    let port = finding(&report, "port");
    assert_eq!(port["state"], "ok", "{report}");
    assert!(port["message"].as_str().unwrap().contains("a Pegel server answers"), "{report}");
    assert!(port["message"].as_str().unwrap().contains("with this data directory"), "{report}");
    assert_eq!(finding(&report, "stored_secrets")["state"], "ok", "{report}");
    assert!(finding(&report, "server")["message"].as_str().unwrap().contains("admin"), "{report}");
    assert_eq!(finding(&report, "cluster")["state"], "ok", "{report}");
    cluster.coordinator().stop().await.unwrap();
    let report = place.run(&line).await.json(3);
    let failed = finding(&report, "cluster");
    assert_eq!((&report["is_healthy"], &failed["state"]), (&false.into(), &"failed".into()));
    assert!(failed["hint"].as_str().unwrap().contains("pegel cluster test eu"), "{report}");
    server.stop().await;
    let report = place.run(&line).await.json(3);
    assert!(finding(&report, "port")["message"].as_str().unwrap().contains("is free"), "{report}");
    assert_eq!(finding(&report, "server")["state"], "failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fault_has_its_advice() {
    let place = Place::new();
    place.serve().await.stop().await;
    place.tamper(&["INSERT INTO migration VALUES (9999, 'later', x'00', 0)"]).await;
    let mode = |name: &str, mode| {
        std::fs::set_permissions(place.data().join(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("secret.key", 0o644);
    mode("", 0o755);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let text = doctor(&place, &taken.local_addr().unwrap().to_string());
    // What holds the port speaks no HTTP and hangs up.
    std::thread::spawn(move || while taken.accept().is_ok() {});
    let report = place.run(&text).await.json(3);
    for (check, state, part) in [
        ("data_dir", "warning", "chmod 700"),
        ("secret_key", "failed", "chmod 600"),
        ("store", "failed", "newer Pegel"),
        ("port", "failed", "ss -ltnp"),
    ] {
        let finding = finding(&report, check);
        assert_eq!(finding["state"], state, "{report}");
        assert!(finding["hint"].as_str().unwrap().contains(part), "{report}");
    }
    let shown = place.run(&text.replace("-o json", "")).await;
    assert_eq!(shown.code, 3);
    shown.shows(&["✗ failed", "◐ warning", "→"]);
}
