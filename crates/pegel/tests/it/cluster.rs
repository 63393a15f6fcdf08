//! Servers, the connection test, configuration and access rules.

use fluss_codec::api_key::ApiKey;
use fluss_codec::messages::PbAclInfo;
use fluss_codec::server_type::ServerType;
use fluss_testkit::fake_server::{BlackHole, Config, FakeCluster, ForeignListener, Script};

use crate::pegel::{ask, ask_as, login, run};

#[tokio::test(flavor = "multi_thread")]
async fn servers_show_both_facts_and_latency() {
    let cluster = FakeCluster::builder().tablet_servers(2).rack(0, "rack-a").start().unwrap();
    let text = ask(&cluster, "servers").await;
    assert!(text.text().contains("Servers: 2 of 2 tablet servers alive"), "{text:?}");
    text.shows(&["coordinator 0", "tablet_server 1", "rack-a", "✓ ALIVE"]);
    let json = ask(&cluster, "servers -o json").await.json(0);
    assert_eq!(json["status"], "ok");
    let servers = json["data"]["servers"].as_array().unwrap();
    assert_eq!(servers.len(), 3);
    for server in servers {
        assert_eq!((&server["is_in_metadata"], &server["answers"]), (&true.into(), &true.into()));
        assert!(server["latency_ms"].as_f64().unwrap() >= 0.0);
    }
    assert_eq!(json["source"]["servers"].as_array().unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn tablet_server_that_is_listed_but_dead_is_not_answering() {
    let cluster = FakeCluster::builder().tablet_servers(3).start().unwrap();
    cluster.tablet_servers()[1].stop().await.unwrap();
    let text = ask(&cluster, "servers").await;
    assert_eq!(text.code, 3, "{text:?}");
    text.shows(&["2 of 3 tablet servers alive · ◐ partial", "✗ NOT_ANSWERING"]);
    text.tells(&["missing[connect_failed]: tablet_server 1"]);
    let json = ask(&cluster, "servers -o json").await.json(3);
    assert_eq!(json["status"], "partial");
    assert_eq!(json["data"]["servers"][2]["state"], "NOT_ANSWERING");
    assert_eq!(json["data"]["servers"][2]["latency_ms"], serde_json::Value::Null);
    assert_eq!(json["evidence"][0]["code"], "connect_failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn connection_test_passes_step_by_step() {
    let cluster = FakeCluster::builder().tablet_servers(2).user("alice", "pw").start().unwrap();
    let text = ask_as(&cluster, "cluster test", &login("alice", "pw")).await;
    assert_eq!(text.code, 0, "{text:?}");
    text.shows(&["Connection test: passed", "negotiation", "authentication", "metadata", "tablet_server"]);
    text.tells(&["SASL_PLAINTEXT sends the password unencrypted"]);
    let json = ask_as(&cluster, "cluster test -o json", &login("alice", "pw")).await.json(0);
    assert_eq!(json["data"]["verdict"], "passed");
    let steps: Vec<&str> =
        json["evidence"].as_array().unwrap().iter().map(|step| step["check"].as_str().unwrap()).collect();
    let expected = [
        "tcp",
        "negotiation",
        "authentication",
        "metadata",
        "coordinator",
        "tablet_server",
        "tablet_server",
        "catalog",
    ];
    assert_eq!(steps, expected);
    assert!(json["evidence"].as_array().unwrap().iter().all(|step| step["duration_ms"].is_u64()));
}

#[tokio::test(flavor = "multi_thread")]
async fn connection_test_is_degraded_when_one_address_is_dead() {
    let cluster = FakeCluster::builder().tablet_servers(2).start().unwrap();
    let dead = FakeCluster::builder().start().unwrap();
    let dead_address = dead.bootstrap();
    dead.coordinator().stop().await.unwrap();
    let line = format!("cluster test --bootstrap {},{dead_address}", cluster.bootstrap());
    let text = run(&line).await;
    assert_eq!(text.code, 3, "{text:?}");
    text.shows(&["degraded", "connect_failed", "– not tried"]);
    let json = run(&format!("{line} -o json")).await.json(3);
    assert_eq!((&json["status"], &json["data"]["verdict"]), (&"partial".into(), &"degraded".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn connection_test_tells_refused_from_unavailable() {
    let cluster = FakeCluster::builder().user("alice", "pw").start().unwrap();
    let json = ask_as(&cluster, "cluster test -o json", &login("alice", "wrong")).await.json(5);
    assert_eq!(json["status"], "refused");
    let text = ask_as(&cluster, "cluster test", &login("alice", "wrong")).await;
    text.shows(&["failed", "authentication_failed", "hint: check sasl_username and sasl_password"]);
    assert!(!format!("{text:?}").contains("wrong"), "{text:?}");
    let anonymous = ask(&cluster, "cluster test -o json").await.json(5);
    assert_eq!(anonymous["status"], "refused");

    let ssh = ForeignListener::ssh().await.unwrap();
    let json = run(&format!("cluster test -o json --bootstrap {}", ssh.address())).await.json(4);
    assert_eq!(json["status"], "unavailable");
    assert_eq!(json["evidence"][1]["code"], "protocol_failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn connection_test_ends_when_an_address_swallows_everything() {
    let hole = BlackHole::open().await.unwrap();
    let line = format!("cluster test --dial-timeout-seconds 1 -o json --bootstrap {}", hole.address());
    let json = run(&line).await.json(4);
    assert_eq!(json["evidence"][0]["code"], "dial_timeout");
}

#[tokio::test(flavor = "multi_thread")]
async fn configuration_hides_secrets_even_from_a_search() {
    let cluster = FakeCluster::builder()
        .config(Config::initial("default.bucket.number", "3"))
        .config(Config::initial("s3.secret-key", "hunter2"))
        .config(Config::initial(
            "security.sasl.plain.jaas.config",
            "PlainLoginModule required user_a=\"hunter2\";",
        ))
        .config(Config::dynamic("plugin.url", "https://root:hunter2@example.org/"))
        .start()
        .unwrap();
    for line in
        ["cluster-config", "cluster-config -o json", "cluster-config -v", "cluster-config --search hunter2"]
    {
        let ran = ask(&cluster, line).await;
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(!ran.stdout.contains("hunter2"), "{ran:?}");
        assert!(!ran.stderr.contains("hunter2"), "{ran:?}");
    }
    let json = ask(&cluster, "cluster-config -o json --search DYNAMIC").await.json(0);
    let entry = &json["data"]["items"][0];
    assert_eq!((&entry["key"], &entry["value"]), (&"plugin.url".into(), &"***".into()));
    assert_eq!(entry["is_redacted"], true);
    assert_eq!(ask(&cluster, "cluster-config -o json --search hunter2").await.json(0)["status"], "empty");
    ask(&cluster, "cluster-config").await.shows(&["4 values, 3 hidden", "default.bucket.number", "hidden"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn configuration_without_the_right_is_refused() {
    let cluster = FakeCluster::builder().start().unwrap();
    let message = "Principal lacks DESCRIBE\n\tat org.apache.fluss.Authorizer(Inner.java:7)";
    cluster.coordinator().on(ApiKey::DescribeClusterConfigs, Script::error(48, message));
    let text = ask(&cluster, "cluster-config").await;
    assert_eq!((text.code, text.stdout.as_str()), (5, ""), "{text:?}");
    text.tells(&[
        "error[authorization_failed]",
        "caused by: the server says: Principal lacks DESCRIBE",
        "hint: ",
    ]);
    assert!(!text.stderr.contains("Inner.java"), "{text:?}");
    ask(&cluster, "cluster-config --verbose").await.tells(&["Inner.java:7"]);
    let json = ask(&cluster, "cluster-config -o json").await.json(5);
    assert_eq!((&json["status"], &json["data"]), (&"refused".into(), &serde_json::Value::Null));
    assert!(!json.to_string().contains("Inner.java"));
}

fn acl(principal: &str, resource_type: i32, resource: &str, operation: i32) -> PbAclInfo {
    PbAclInfo {
        resource_name: resource.to_owned(),
        resource_type,
        principal_name: principal.to_owned(),
        principal_type: "User".to_owned(),
        host: "*".to_owned(),
        operation_type: operation,
        permission_type: 2,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn access_rules_are_filtered_by_the_server_and_named() {
    let cluster = FakeCluster::builder()
        .authorizer(true)
        .model(|model| {
            model.acls = vec![
                acl("bob", 4, "shop.orders", 3),
                acl("alice", 2, "shop", 8),
                acl("alice", 1, "fluss-cluster", 7),
                acl("future", 9, "thing", 42),
            ];
        })
        .start()
        .unwrap();
    let json = ask(&cluster, "acls -o json").await.json(0);
    assert_eq!(json["data"]["matched_count"], 4);
    assert_eq!(json["data"]["items"][0]["principal_name"], "alice");
    let line = "acls -o json --principal User:bob --resource-type table --resource-name shop.orders --operation read";
    let json = ask(&cluster, line).await.json(0);
    assert_eq!(json["data"]["matched_count"], 1);
    assert_eq!(json["data"]["items"][0]["operation"], "READ");
    ask(&cluster, "acls").await.shows(&["User:bob", "TABLE shop.orders", "READ", "UNKNOWN(42)"]);
    let none = ask(&cluster, "acls --principal User:nobody").await;
    assert!(none.text().contains("No access-control entry matches"), "{none:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn cluster_without_authorizer_is_neither_empty_nor_refused() {
    let cluster = FakeCluster::builder().start().unwrap();
    let json = ask(&cluster, "acls -o json").await.json(7);
    assert_eq!(json["status"], "security_disabled");
    let text = ask(&cluster, "acls").await;
    assert_eq!((text.code, text.stdout.as_str()), (7, ""));
    text.tells(&["error[security_disabled]", "authorizer.enabled=false"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn swapped_addresses_are_not_believed() {
    let cluster = FakeCluster::builder().tablet_servers(2).start().unwrap();
    cluster.tablet_servers()[0].answers_as(ServerType::Coordinator);
    let json = ask(&cluster, "servers -o json").await.json(3);
    assert_eq!(json["data"]["servers"][1]["failure"]["code"], "wrong_server_type");
}
