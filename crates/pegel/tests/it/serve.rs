//! The life of a server: its first start, what keeps it from starting, how it ends.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use fluss_codec::api_key::ApiKey;
use fluss_testkit::fake_server::{FakeCluster, NewTable, Script};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::pegel::finish;
use crate::serving::{PASSWORD, Place, Server};

#[tokio::test(flavor = "multi_thread")]
async fn first_password_is_shown_once_and_no_secret_is_ever_logged() {
    let place = Place::new();
    let mut command = place.serve_command();
    command.env("PEGEL_LOG_FORMAT", "json").env("PEGEL_LOG_FILTER", "trace");
    let server = Server::start(command).await;
    let first = server.first_password().unwrap();
    let first_file = place.file("first", &first).await;
    let chosen = place.file("chosen", PASSWORD).await;
    let line = format!(
        "login --server {} --username admin --password-file {first_file} --new-password-file {chosen} -v",
        server.url()
    );
    let mut outputs = vec![place.run(&line).await];
    let cluster = FakeCluster::builder().user("alice", "hunter2-hunter2").start().unwrap();
    let password = place.file("sasl", "hunter2-hunter2").await;
    let add = format!(
        "cluster add eu --environment test --bootstrap {} --security-protocol SASL_PLAINTEXT \
         --sasl-username alice --sasl-password-file {password} -v",
        cluster.bootstrap()
    );
    for line in [add.as_str(), "cluster show eu -o json", "cluster list", "databases", "audit list -o json"] {
        let ran = place.run(line).await;
        assert_eq!(ran.code, 0, "{ran:#?}");
        outputs.push(ran);
    }
    let cookie = std::fs::read_to_string(place.path().join("home/.config/pegel/credentials.json")).unwrap();
    let cookie = cookie.split("pegel_session=").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let said = server.stop().await;
    assert_eq!(said.matches(&first).count(), 1, "the first password is shown once");
    for line in said.lines().filter(|line| line.contains(&first)) {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_err(), "it is no line of the log: {line}");
    }
    let logged = said.lines().filter(|line| line.starts_with('{')).count();
    assert!(logged > 20, "{said}");
    for secret in [PASSWORD, "hunter2-hunter2", &cookie] {
        assert!(!said.contains(secret), "{said}");
        for ran in &outputs {
            assert!(!format!("{ran:?}").contains(secret), "{ran:#?}");
        }
    }
    assert!(!format!("{outputs:?}").contains(&first));
    let again = place.serve().await;
    assert_eq!(again.first_password(), None, "{}", again.said());
    again.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_it_makes_is_for_its_owner_alone() {
    let place = Place::new();
    place.serve().await.stop().await;
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&place.data()), 0o700);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(place.data()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path) & 0o077, 0, "{path:?}");
        names.push(path.file_name().unwrap().to_string_lossy().into_owned());
    }
    for name in ["pegel.sqlite", "secret.key", "pegel.lock"] {
        assert!(names.iter().any(|found| found == name), "{names:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn second_server_on_the_same_data_is_refused() {
    let place = Place::new();
    let mut server = place.serve().await;
    let pid = server.child().id().unwrap();
    let ran = place.serve_in_vain().await;
    assert_eq!(ran.code, 2, "{ran:#?}");
    ran.tells(&["error[data_dir_in_use]", &format!("process {pid}"), "hint: ", "--data-dir"]);
    server.stop().await;
    place.serve().await.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn taken_port_is_told_before_anything_is_touched() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let place = Place::new();
    let mut command = place.command(&format!("serve --listen 127.0.0.1:{port}"));
    command.arg("--data-dir").arg(place.data());
    let ran = finish(command).await;
    assert_eq!(ran.code, 2, "{ran:#?}");
    ran.tells(&["error[listen_failed]: cannot listen on 127.0.0.1", "another program has port", "--listen"]);
    assert!(!place.data().join("pegel.sqlite").exists());
    assert!(!place.data().join("secret.key").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn address_that_others_reach_needs_a_name() {
    let place = Place::new();
    let mut command = place.command("serve --listen 0.0.0.0:0");
    command.arg("--data-dir").arg(place.data());
    let ran = finish(command).await;
    assert_eq!(ran.code, 2, "{ran:#?}");
    ran.tells(&[
        "error[invalid_config]",
        "--listen: server.listen: others can reach this address",
        "pegel config check",
    ]);
    assert!(!place.data().exists());
    let mut command = place.serve_command();
    command.env("PEGEL_SERVER_PUBLIC_URL", "http://pegel.example");
    let server = Server::start(command).await;
    assert!(server.said().contains("warning: PEGEL_SERVER_PUBLIC_URL: server.public_url: is not https"));
    assert!(server.stop().await.contains("known as http://pegel.example"));
}

#[tokio::test(flavor = "multi_thread")]
async fn token_of_the_metrics_that_could_be_guessed_is_refused_also_in_a_file() {
    let place = Place::new();
    for token in ["", "\n", "fifteen bytes..\n"] {
        let mut command = place.serve_command();
        command.env("PEGEL_METRICS_TOKEN_FILE", place.file("token", token).await);
        let ran = finish(command).await;
        assert_eq!(ran.code, 2, "{ran:#?}");
        ran.tells(&["error[invalid_config]: the token of [metrics] in ", "cannot be used"]);
        assert!(!place.data().join("pegel.sqlite").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn request_under_way_is_answered_before_the_server_ends() {
    let cluster = FakeCluster::builder().table(NewTable::log("shop", "orders")).start().unwrap();
    let place = Place::new();
    let mut server = place.serve_signed_in().await;
    let add = format!("cluster add eu --environment test --bootstrap {}", cluster.bootstrap());
    assert_eq!(place.run(&add).await.code, 0);
    cluster.coordinator().on(ApiKey::GetTableInfo, Script::Hold);
    let asking = place.run("table shop.orders -o json --cluster eu");
    let ending = async {
        cluster.coordinator().until(|coordinator| coordinator.held_count() > 0).await;
        server.signal("TERM").await;
        server.line_with("ending: requests under way may finish").await;
        cluster.coordinator().release();
        server.end().await
    };
    let (ran, code) = tokio::join!(asking, ending);
    assert_eq!(ran.json(0)["status"], "ok");
    assert_eq!(code, Some(0), "{}", server.said());
    let late = place.run("table shop.orders --cluster eu").await;
    assert_eq!(late.code, 4);
    late.tells(&["error[server_unreachable]", "is `pegel serve` running?"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn second_signal_ends_the_server_at_once() {
    let cluster = FakeCluster::builder().table(NewTable::log("shop", "orders")).start().unwrap();
    let place = Place::new();
    let mut server = place.serve_signed_in().await;
    let add = format!("cluster add eu --environment test --bootstrap {}", cluster.bootstrap());
    assert_eq!(place.run(&add).await.code, 0);
    cluster.coordinator().on(ApiKey::GetTableInfo, Script::NeverAnswer);
    let asking = place.run("table shop.orders --cluster eu");
    let ending = async {
        let asked = |coordinator: &fluss_testkit::fake_server::FakeServer| {
            coordinator.request_count(ApiKey::GetTableInfo) > 0
        };
        cluster.coordinator().until(asked).await;
        server.signal("INT").await;
        server.line_with("ending: requests under way may finish").await;
        server.signal("TERM").await;
        server.end().await
    };
    let (ran, code) = tokio::join!(asking, ending);
    assert_eq!(code, Some(0), "{}", server.said());
    assert_eq!(ran.code, 4);
    ran.tells(&["error[server_unreachable]", "hung up"]);
    assert!(server.said().contains("ending at once"));
}

#[tokio::test(flavor = "multi_thread")]
async fn hangup_of_the_terminal_does_not_end_the_server() {
    let place = Place::new();
    let mut server = place.serve().await;
    server.signal("HUP").await;
    server.line_with("SIGHUP is ignored").await;
    assert_eq!(server.get("/healthz").await.0, 200);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn server_outlives_whoever_read_its_log() {
    let place = Place::new();
    let mut child = place.serve_command().stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let url = loop {
        let line = lines.next_line().await.unwrap().unwrap();
        if let Some((_, url)) = line.split_once("listening on ") {
            break url.to_owned();
        }
    };
    drop(lines);
    for _ in 0..3 {
        let ran =
            place.run(&format!("login --server {url} --username admin --password-file /dev/null")).await;
        assert_eq!(ran.code, 2, "{ran:#?}");
        let missing = place.file("wrong", "not the password").await;
        let ran =
            place.run(&format!("login --server {url} --username admin --password-file {missing}")).await;
        assert_eq!(ran.code, 5, "the server answers: {ran:#?}");
    }
    child.kill().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_survives_a_crash() {
    let cluster = FakeCluster::builder().table(NewTable::log("shop", "orders")).start().unwrap();
    let place = Place::new();
    let server = place.serve_signed_in().await;
    let add = format!("cluster add eu --environment test --bootstrap {}", cluster.bootstrap());
    assert_eq!(place.run(&add).await.code, 0);
    server.kill().await;
    let again = place.serve().await;
    let line = format!("tables -o json --server {}", again.url());
    // The session of before lives on, but it was stored for the old port.
    let unknown = place.run(&line).await;
    assert_eq!(unknown.code, 5, "{unknown:#?}");
    let chosen = place.file("chosen", PASSWORD).await;
    let login = format!("login --server {} --username admin --password-file {chosen}", again.url());
    assert_eq!(place.run(&login).await.code, 0);
    assert_eq!(place.run(&line).await.json(0)["data"]["items"][0]["name"], "orders");
    assert_eq!(place.run("audit verify -o json").await.json(0)["state"], "whole");
    again.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn store_of_a_newer_version_is_left_alone() {
    let place = Place::new();
    place.serve().await.stop().await;
    place.tamper(&["INSERT INTO migration VALUES (9999, 'later', x'00', 0)"]).await;
    let ran = place.serve_in_vain().await;
    assert_eq!(ran.code, 2, "{ran:#?}");
    ran.tells(&["error[schema_too_new]", "schema version 9999", "hint: use the newer Pegel"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn key_that_others_can_read_or_that_is_another_is_refused() {
    let cluster = FakeCluster::builder().user("alice", "hunter2-hunter2").start().unwrap();
    let place = Place::new();
    let server = place.serve_signed_in().await;
    let password = place.file("sasl", "hunter2-hunter2").await;
    let add = format!(
        "cluster add eu --environment test --bootstrap {} --security-protocol SASL_PLAINTEXT \
         --sasl-username alice --sasl-password-file {password}",
        cluster.bootstrap()
    );
    assert_eq!(place.run(&add).await.code, 0);
    server.stop().await;
    let key = place.data().join("secret.key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let ran = place.serve_in_vain().await;
    assert_eq!(ran.code, 2, "{ran:#?}");
    ran.tells(&["error[key_file_unusable]", "644", "hint: ", "chmod 600"]);
    std::fs::remove_file(&key).unwrap();
    let ran = place.serve_in_vain().await;
    assert_eq!(ran.code, 2, "{ran:#?}");
    ran.tells(&["error[key_file_unusable]", "it is gone", "hint: put a copy of it back"]);
    assert!(!key.exists(), "a new key would hide that the old one is lost");
    std::fs::write(&key, "7".repeat(64)).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let ran = place.serve_in_vain().await;
    assert_eq!(ran.code, 1, "{ran:#?}");
    ran.tells(&["error[secret_unreadable]", "hint: give the key"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn store_that_takes_no_change_is_refused_before_anybody_is_told_to_come() {
    let place = Place::new();
    place.serve().await.stop().await;
    place
        .tamper(&[
            "CREATE TRIGGER stuck BEFORE UPDATE ON change_head BEGIN SELECT RAISE(ABORT, 'stuck'); END",
        ])
        .await;
    let ran = place.serve_in_vain().await;
    assert_ne!(ran.code, 0, "{ran:#?}");
    assert!(!ran.stderr.contains("listening"), "{ran:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn new_database_beside_a_key_from_before_is_worth_a_warning() {
    let place = Place::new();
    let server = place.serve().await;
    server.stop().await;
    std::fs::remove_file(place.data().join("pegel.sqlite")).unwrap();
    let log = place.serve().await.stop().await;
    assert!(log.contains("a key from before"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn file_in_the_place_of_the_data_is_told() {
    let place = Place::new();
    place.file("data", "precious").await;
    let ran = place.serve_in_vain().await;
    assert_eq!(ran.code, 2, "{ran:#?}");
    ran.tells(&["error[data_dir_unusable]", "data"]);
    assert_eq!(std::fs::read_to_string(place.data()).unwrap(), "precious");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_come_from_file_variable_and_option() {
    let place = Place::new();
    let config = place
        .file(
            "pegel.toml",
            "[server]\nlisten = \"127.0.0.1:1\"\n[store]\ndata_dir = \"beside\"\n[log]\nfilter = \"warn\"\n",
        )
        .await;
    let mut command = place.command(&format!("serve --config {config}"));
    command.env("PEGEL_SERVER_LISTEN", "127.0.0.1:0");
    let server = Server::start(command).await;
    assert_eq!(server.get("/readyz").await.0, 200);
    assert!(place.path().join("beside/pegel.sqlite").exists());
    let said = server.stop().await;
    assert!(!said.contains("INFO"), "{said}");
    let typo = place.file("typo.toml", "[server]\nlitsen = \"127.0.0.1:1\"\n").await;
    let ran = place.run(&format!("serve --config {typo}")).await;
    assert_eq!(ran.code, 2);
    ran.tells(&["error[invalid_config]", "line 2", "litsen"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn database_may_be_postgresql() {
    let Some(url) = pegel_testkit::postgres::new_database().await else { return };
    let place = Place::new();
    let url_file = place.file("postgres.url", &format!("{url}\n")).await;
    let key = place.path().join("secret.key").display().to_string();
    let config = place
        .file(
            "pegel.toml",
            &format!(
                "[server]\nlisten = \"127.0.0.1:0\"\n[store]\nkind = \"postgres\"\n\
                 postgres_url_file = \"{url_file}\"\nsecret_key_file = \"{key}\"\n"
            ),
        )
        .await;
    let line = format!("serve --config {config}");
    let first = Server::start(place.command(&line)).await;
    assert!(first.first_password().is_some());
    // Several servers may share a database.
    let second = Server::start(place.command(&line)).await;
    assert_eq!((second.first_password(), second.get("/readyz").await.0), (None, 200));
    let offline = format!("audit verify --offline -o json --config {config}");
    assert_eq!(place.run(&offline).await.json(0)["row_count"], 1);
    let report = place.run(&format!("doctor -o json --config {config}")).await.json(0);
    assert!(report.to_string().contains("postgres opens"), "{report}");
    for said in [first.stop().await, second.stop().await] {
        assert!(!said.contains(url.as_str()), "{said}");
    }
    let wrong = place.file("postgres.url", "postgres://pegel:81726354@127.0.0.1:1/pegel").await;
    let ran = place.run(&line).await;
    assert_eq!(ran.code, 4, "{wrong}: {ran:#?}");
    ran.tells(&["error[store_unavailable]", "hint: check that PostgreSQL runs"]);
    assert!(!format!("{ran:?}").contains("81726354"), "{ran:#?}");
}
