//! The demo from its start to each of its ends.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use fluss_codec::server_type::ServerType;
use fluss_testkit::demo::{Demo, DemoOptions, Stopped, read_record, stop_recorded};
use fluss_testkit::java::JavaPeer;
use fluss_testkit::ports::FreePorts;
use fluss_testkit::process::is_alive;
use fluss_testkit::{Error, Progress};
use serde_json::{Value, json};

use crate::listeners::connect;
use crate::{nothing_runs_in, turn, until, wire};

/// Starts a demo from a base that is free; a demo itself never looks for another.
async fn started(dir: &Path, secured: bool) -> (DemoOptions, Demo) {
    for _ in 0..20 {
        // Far below the ports of the clusters of other tests.
        let port_base = FreePorts::claim(1).unwrap().ports()[0] - 10_000;
        let options = DemoOptions { sasl: secured, tls: secured, port_base, ..DemoOptions::new(dir) };
        match Demo::start(options.clone(), Progress::silent()).await {
            Err(Error::PortTaken { .. }) => {}
            other => return (options, other.unwrap()),
        }
    }
    panic!("no free base in twenty tries");
}

async fn orders(peer: &JavaPeer, demo: &Demo) -> i64 {
    let question = json!({"ask": "stats", "database": "shop", "table": "orders"});
    let answer =
        peer.ask(&demo.cluster().java_login(demo.cluster().user("admin")), &[question]).await.unwrap();
    answer[0]["ok"]["row_count"].as_i64().unwrap_or_else(|| panic!("{answer:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secured_demo_has_data_goes_on_writing_and_tells_how_to_connect() {
    let Some(_turn) = turn().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("demo");
    let (options, demo) = started(&dir, true).await;

    let path = demo.record_path();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let record = read_record(&dir).unwrap().expect("the demo is ready");
    assert_eq!(record.bootstrap, demo.cluster().bootstrap());
    assert_eq!((record.security_protocol.as_str(), record.tls), ("SASL_TLS", true));
    assert_eq!(record.users.len(), 4);
    assert!(record.servers.iter().all(|server| is_alive(server.pid)));
    let ca = record.ca_path.unwrap();
    let first = record.bootstrap.split(',').next().unwrap();
    let mut stream = connect(first, &ca, None).await.unwrap();
    assert_eq!(wire::server_type(&mut stream).await, Some(ServerType::Coordinator));

    let peer = JavaPeer::prepare_async(demo.cluster().artifacts()).await.unwrap();
    let before = orders(&peer, &demo).await;
    assert!(before >= 4000, "{before}");
    until("the workload adds orders", Duration::from_secs(20), async || orders(&peer, &demo).await > before)
        .await;
    let login = |name: &str| demo.cluster().java_login(demo.cluster().user(name));
    let databases = async |name: &str| -> Value {
        let mut answer = peer.ask(&login(name), &[json!({"ask": "databases"})]).await.unwrap();
        answer.swap_remove(0)["ok"].take()
    };
    assert_eq!(databases("reader").await, json!(["shop"]));
    assert_eq!(databases("stranger").await, json!([]));

    let second = Demo::start(options, Progress::silent()).await.unwrap_err();
    assert_eq!(second.code(), "demo_running");
    let elsewhere =
        DemoOptions { port_base: port_of(first), ..DemoOptions::new(folder.path().join("other")) };
    let taken = Demo::start(elsewhere, Progress::silent()).await.unwrap_err();
    assert_eq!(taken.code(), "port_taken");
    assert!(taken.to_string().contains("--port-base"), "{taken}");

    let pids = demo.cluster().pids();
    demo.run_until(std::future::ready(())).await.unwrap();
    assert!(pids.iter().all(|pid| !is_alive(*pid)));
    nothing_runs_in(&dir).await;
    assert!(read_record(&dir).unwrap().is_none(), "a stopped demo is not ready");
    assert!(dir.join("logs").join("coordinator.log").exists(), "logs stay");
    assert_eq!(stop_recorded(&dir).await.unwrap(), Stopped::default());
}

fn port_of(address: &str) -> u16 {
    address.rsplit_once(':').unwrap().1.parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_demo_whose_zookeeper_dies_says_so_and_ends_as_a_whole() {
    let Some(_turn) = turn().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let (_, demo) = started(folder.path(), false).await;
    let zookeeper = demo.cluster().zookeeper().pid().unwrap();
    // From outside, as an accident would.
    let killed = std::process::Command::new("sh").args(["-c", &format!("kill -KILL {zookeeper}")]).status();
    assert!(killed.unwrap().success());
    let error = demo.run_until(std::future::pending()).await.unwrap_err();
    assert_eq!(error.code(), "server_died");
    let message = error.to_string();
    assert!(message.starts_with("zookeeper ended; log "), "{message}");
    assert!(message.contains("zookeeper.log"), "{message}");
    nothing_runs_in(folder.path()).await;
}
