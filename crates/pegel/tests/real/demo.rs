//! `pegel demo` as its users meet it: a cluster, a server that knows it, and nothing left when it ends.

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use fluss_testkit::ports::FreePorts;
use fluss_testkit::process::is_alive;
use serde_json::Value;

use crate::is_required;

/// Longest wait until a killed demo has taken everything with it.
const GONE_WITHIN: Duration = Duration::from_secs(60);

fn pegel(home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pegel"));
    command.args(arguments);
    for name in ["PEGEL_SERVER", "PEGEL_TOKEN", "PEGEL_CLUSTER", "PEGEL_CONFIG", "PEGEL_BOOTSTRAP"] {
        command.env_remove(name);
    }
    // The user's own cache holds what the demo is made of; only logins belong to the test.
    command.env("XDG_CONFIG_HOME", home).output().unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn kill(pid: u64) {
    let killed = Command::new("sh").args(["-c", &format!("kill -KILL {pid}")]).status().unwrap();
    assert!(killed.success());
}

#[test]
fn demo_has_a_server_that_knows_its_cluster_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (home, dir) = (folder.path().join("home"), folder.path().join("demo"));
    let ports = FreePorts::claim(1).unwrap();
    let base = (ports.ports()[0] - 10_000).to_string();
    let shown = dir.display().to_string();
    let start = ["demo", "--detach", "--sasl", "--tls", "--dir", &shown, "--port-base", &base, "-o", "json"];
    let started = pegel(&home, &start);
    if !started.status.success() {
        let said = String::from_utf8_lossy(&started.stderr);
        assert!(!is_required(), "the demo did not start: {said}");
        eprintln!("skipped: no demo can run here: {said}");
        return;
    }
    let view = json(&started);
    let record: Value =
        serde_json::from_str(&std::fs::read_to_string(dir.join("demo.json")).unwrap()).unwrap();
    let text = |key: &str| record[key].as_str().unwrap_or_else(|| panic!("no {key}")).to_owned();
    let (url, username, password, token) = (text("url"), text("username"), text("password"), text("token"));
    assert_eq!(view["sign_in"]["url"], url);
    assert!(!String::from_utf8_lossy(&started.stdout).contains(&password));

    // The password of the record holds, not the one of the server's first start.
    let password_file = view["sign_in"]["password_file"].as_str().unwrap();
    let login = ["login", "--server", &url, "--username", &username, "--password-file", password_file];
    assert!(pegel(&home, &login).status.success());
    let cluster = json(&pegel(&home, &["cluster", "show", "demo", "-o", "json"]));
    assert_eq!((&cluster["name"], &cluster["environment"]), (&"Demo".into(), &"test".into()));
    let tables = json(&pegel(&home, &["tables", "--cluster", "demo", "-o", "json"]));
    assert_eq!(tables["status"], "ok");
    let rows = tables["data"]["items"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["name"] == "orders"), "{tables}");
    assert!(!std::fs::read_to_string(dir.join("logs/pegel.log")).unwrap().contains(&password));
    let by_token = Command::new(env!("CARGO_BIN_EXE_pegel"))
        .args(["servers", "-o", "json"])
        .env_clear()
        .envs([("PEGEL_SERVER", url.as_str()), ("PEGEL_TOKEN", token.as_str())])
        .output()
        .unwrap();
    assert_eq!(json(&by_token)["status"], "ok");

    // Killed, it takes its server with it, as it takes the cluster.
    let pid: Value =
        serde_json::from_str(&std::fs::read_to_string(dir.join("pids/pegel.pid")).unwrap()).unwrap();
    let server = u32::try_from(pid["pid"].as_u64().unwrap()).unwrap();
    assert!(is_alive(server));
    kill(record["supervisor_pid"].as_u64().unwrap());
    let killed = Instant::now();
    while is_alive(server) {
        assert!(killed.elapsed() < GONE_WITHIN, "the server outlives its demo");
        std::thread::sleep(Duration::from_millis(50));
    }
    let stopped = pegel(&home, &["demo", "--stop", "--dir", &shown]);
    assert!(stopped.status.success());
    for gone in ["demo.json", "pegel.password", "pids/pegel.pid"] {
        assert!(!dir.join(gone).exists(), "{gone} is left");
    }
}
