//! What goes wrong before there is an answer.

use fluss_codec::api_key::ApiKey;
use fluss_testkit::fake_server::{FakeCluster, NewTable, Script};

use crate::pegel::{ask, ask_as, command, file, finish, login, run};

/// Every command that asks a cluster, so that none is forgotten.
const ASKING: &[&str] = &[
    "servers",
    "databases",
    "database shop",
    "tables",
    "tables --database shop",
    "table shop.orders",
    "partitions shop.orders",
    "offsets shop.orders",
    "stats shop.orders",
    "cluster-config",
    "acls",
];

#[tokio::test(flavor = "multi_thread")]
async fn nobody_there_is_unavailable_for_every_command() {
    let cluster = FakeCluster::builder().start().unwrap();
    cluster.coordinator().stop().await.unwrap();
    for line in ASKING {
        let text = ask(&cluster, line).await;
        assert_eq!((text.code, text.stdout.as_str()), (4, ""), "{line}: {text:?}");
        text.tells(&["error[connect_failed]", "caused by: ", "hint: "]);
        let ran = ask(&cluster, &format!("{line} -o json")).await;
        let json = ran.json(4);
        assert_eq!(json["status"], "unavailable", "{line}");
        assert_eq!(json["data"], serde_json::Value::Null, "{line}");
        assert_eq!(json["evidence"][0]["code"], "connect_failed", "{line}");
    }
}

#[tokio::test]
async fn metadata_services_are_not_dialled_under_any_name() {
    for endpoint in ["169.254.169.254:80", "2852039166:80", "[::ffff:169.254.169.254]:80"] {
        let ran = run(&format!("servers --bootstrap {endpoint}")).await;
        assert_eq!(ran.code, 4, "{endpoint}: {ran:#?}");
        ran.tells(&["error[egress_refused]", "is link-local", "never connected to"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn coordinator_down_is_told_although_tablet_servers_answer() {
    let cluster =
        FakeCluster::builder().tablet_servers(2).table(NewTable::log("shop", "orders")).start().unwrap();
    let bootstrap = cluster.tablet_servers()[0].address();
    cluster.coordinator().stop().await.unwrap();
    for line in ASKING {
        let line = format!("{line} -o json --request-timeout-seconds 2 --bootstrap {bootstrap}");
        let json = run(&line).await.json(4);
        assert_eq!(json["evidence"][0]["code"], "coordinator_unavailable", "{line}: {json}");
    }
    let json = run(&format!("cluster test -o json --bootstrap {bootstrap}")).await.json(4);
    assert_eq!(json["data"]["verdict"], "failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_password_is_refused_and_never_shown() {
    let cluster = FakeCluster::builder().user("alice", "right").start().unwrap();
    for line in ASKING {
        let text = ask_as(&cluster, line, &login("alice", "hunter2")).await;
        assert_eq!((text.code, text.stdout.as_str()), (5, ""), "{line}: {text:?}");
        text.tells(&["error[authentication_failed]", "hint: check sasl_username and sasl_password"]);
        let json = ask_as(&cluster, &format!("{line} -o json -v"), &login("alice", "hunter2")).await;
        assert!(!format!("{json:?}").contains("hunter2"), "{json:?}");
        assert_eq!(json.json(5)["status"], "refused");
    }
    let anonymous = ask(&cluster, "databases").await;
    assert_eq!(anonymous.code, 5);
    anonymous.tells(&["error[authentication_required]", "SASL_PLAINTEXT"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_server_costs_no_more_than_the_limit() {
    let cluster = FakeCluster::builder().start().unwrap();
    cluster.coordinator().on(ApiKey::ListDatabases, Script::NeverAnswer);
    let text = ask(&cluster, "databases --request-timeout-seconds 1 --read-max-attempts 1").await;
    assert_eq!(text.code, 4);
    text.tells(&["no answer from", "within 1000 ms"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_read_is_told() {
    let cluster = FakeCluster::builder().table(NewTable::log("shop", "orders")).start().unwrap();
    cluster.coordinator().on(ApiKey::ListDatabases, Script::Close.times(1));
    let text = ask(&cluster, "databases").await;
    assert_eq!(text.code, 0, "{text:?}");
    text.tells(&["repeated[coordinator_unavailable]: LIST_DATABASES"]);
    cluster.coordinator().on(ApiKey::ListDatabases, Script::Close.times(1));
    let json = ask(&cluster, "databases -o json").await.json(0);
    assert_eq!((&json["status"], &json["evidence"][0]["check"]), (&"ok".into(), &"retry".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn stack_trace_of_a_server_stays_out_of_sight() {
    let cluster = FakeCluster::builder().start().unwrap();
    let trace = "\njava.lang.NullPointerException: boom\n\tat org.apache.fluss.Inner(Inner.java:1)";
    cluster.coordinator().on(ApiKey::ListDatabases, Script::error(-1, trace));
    let text = ask(&cluster, "databases").await;
    assert_eq!(text.code, 4);
    text.tells(&["error[server_error]", "caused by: the server says: java.lang.NullPointerException: boom"]);
    assert!(!text.stderr.contains("Inner.java"), "{text:?}");
    let json = ask(&cluster, "databases -o json").await;
    assert!(!format!("{json:?}").contains("Inner.java"), "{json:?}");
    ask(&cluster, "databases --verbose").await.tells(&["\\tat org.apache.fluss.Inner(Inner.java:1)"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_settings_are_usage_errors_before_anything_is_dialled() {
    let dir = tempfile::tempdir().unwrap();
    let typo = file(dir.path(), "typo.toml", "[connection]\nendpont = \"a:1\"\n").await;
    let secret = file(dir.path(), "secret.toml", "[connection]\nsasl_password = 81726354\n").await;
    for (line, code, part) in [
        ("servers --bootstrap localhost".to_owned(), "invalid_setting", "no port"),
        ("servers --bootstrap http://a:1".to_owned(), "invalid_setting", "scheme"),
        ("servers --security-protocol SSL".to_owned(), "invalid_setting", "none of PLAINTEXT"),
        ("servers --sasl-username a".to_owned(), "invalid_setting", "no effect"),
        (
            "servers --security-protocol SASL_TLS --sasl-username a".to_owned(),
            "invalid_setting",
            "sasl_password",
        ),
        ("servers --request-timeout-seconds 301".to_owned(), "invalid_setting", "1 to 300"),
        ("servers --read-max-attempts 4".to_owned(), "invalid_setting", "1 to 3"),
        ("servers --config absent.toml".to_owned(), "invalid_config", "cannot read"),
        (format!("servers --config {typo}"), "invalid_config", "unknown field `endpont`"),
        (format!("servers --config {secret}"), "invalid_config", "must be a string"),
        ("tables --limit 0".to_owned(), "invalid", "1 to 1000"),
        ("tables --limit 1001".to_owned(), "invalid", "1 to 1000"),
        ("tables --database a/b".to_owned(), "invalid", "database name"),
    ] {
        let text = run(&line).await;
        assert_eq!((text.code, text.stdout.as_str()), (2, ""), "{line}: {text:?}");
        text.tells(&[&format!("error[{code}]"), part]);
        assert!(!format!("{text:?}").contains("81726354"));
        let json = run(&format!("{line} -o json")).await.json(2);
        assert_eq!(json["code"], code, "{line}");
        assert_eq!(json["type"], format!("urn:pegel:problem:{code}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_come_from_a_file_and_options_override_it() {
    let cluster = FakeCluster::builder().user("alice", "pw").start().unwrap();
    let dir = tempfile::tempdir().unwrap();
    file(dir.path(), "password", "pw\n").await;
    let text = format!(
        "[connection]\nendpoint = \"{}\"\nsecurity_protocol = \"SASL_PLAINTEXT\"\nsasl_username = \"alice\"\n\
         sasl_password_file = \"password\"\n",
        cluster.bootstrap()
    );
    let config = file(dir.path(), "pegel.toml", &text).await;
    assert_eq!(run(&format!("servers --config {config}")).await.code, 0);
    let mut by_env = command();
    by_env.args(["servers"]).env("PEGEL_CONFIG", &config);
    assert_eq!(finish(by_env).await.code, 0);
    let wrong = file(dir.path(), "wrong", "nope").await;
    let overridden = run(&format!("servers --config {config} --sasl-password-file {wrong}")).await;
    assert_eq!(overridden.code, 5, "{overridden:?}");
}
