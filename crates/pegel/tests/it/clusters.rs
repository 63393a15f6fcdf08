//! Clusters of a server, and reading them through it.

use std::time::Duration;

use fluss_testkit::fake_server::{FakeCluster, NewTable};
use serde_json::Value;

use crate::pegel::{Ran, ask};
use crate::serving::Place;

fn cluster() -> FakeCluster {
    let builder = FakeCluster::builder().tablet_servers(2).table(NewTable::log("shop", "orders").buckets(4));
    builder.table(NewTable::log("shop", "views")).start().unwrap()
}

fn add(cluster: &FakeCluster, rest: &str) -> String {
    format!("cluster add eu --environment staging --bootstrap {} {rest}", cluster.bootstrap())
}

/// Lists the clusters as soon as the server has looked at them.
async fn until_seen(place: &Place) -> Ran {
    for _ in 0..100 {
        let list = place.run("cluster list").await;
        if !list.stdout.contains("unknown") {
            return list;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the server never looked at its clusters");
}

#[tokio::test(flavor = "multi_thread")]
async fn cluster_is_registered_shown_changed_and_removed() {
    let cluster = cluster();
    let place = Place::new();
    let server = place.serve_signed_in().await;
    let added = place.run(&add(&cluster, "--display-name Europe")).await;
    assert_eq!(added.code, 0, "{added:#?}");
    assert_eq!(added.stdout, "Registered eu (Europe, staging); its connection test: passed.\n");
    let again = place.run(&add(&cluster, "")).await;
    assert_eq!(again.code, 2, "{again:#?}");
    again.tells(&["error[conflict]"]);
    let list = until_seen(&place).await;
    list.shows(&["eu", "Europe", "staging", "✓ up", "2 of 2", &cluster.bootstrap()]);
    let edit = "cluster edit eu --environment production --read-only --request-timeout-seconds 7 -o json";
    let edited = place.run(edit).await.json(0);
    let view = &edited["cluster"];
    assert_eq!((&view["environment"], &view["read_only"]), (&"production".into(), &true.into()));
    assert_eq!(view["name"], "Europe", "what is not given stays");
    assert_eq!(view["connection"]["request_timeout_seconds"], 7);
    assert_eq!(view["connection"]["endpoint"], cluster.bootstrap());
    let shown = place.run("cluster show eu").await;
    shown.shows(&["state", "seen", "production", "never", "request_timeout_seconds", "7"]);
    for wrong in ["us", "EU", ""] {
        let ran = place.run(&format!("cluster remove eu --confirm={wrong}")).await;
        assert_eq!(ran.code, 2, "{ran:#?}");
        ran.tells(&["nothing was removed"]);
    }
    let asked = place.run("cluster remove eu").await;
    assert_eq!(asked.code, 2);
    asked.tells(&["with its stored password", "no terminal", "--confirm eu"]);
    assert_eq!(place.run("cluster remove eu --confirm eu -o json").await.json(0)["removed"], "eu");
    assert_eq!(place.run("cluster show eu").await.code, 6);
    let none = place.run("tables").await;
    assert_eq!(none.code, 2);
    none.tells(&["knows no cluster that you may see", "pegel cluster add"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cluster_that_fails_its_test_is_saved_only_on_an_express_wish() {
    let cluster = FakeCluster::builder().user("alice", "right password").start().unwrap();
    let place = Place::new();
    let server = place.serve_signed_in().await;
    let wrong = place.file("wrong", "wrong password").await;
    let sasl =
        format!("--security-protocol SASL_PLAINTEXT --sasl-username alice --sasl-password-file {wrong}");
    let ran = place.run(&add(&cluster, &sasl)).await;
    assert_eq!(ran.code, 4, "{ran:#?}");
    ran.tells(&["error[connection_test_failed]", "authentication", "--save-anyway"]);
    assert_eq!(place.run("cluster list -o json").await.json(0)["items"], Value::Array(Vec::new()));
    let saved = place.run(&add(&cluster, &format!("{sasl} --save-anyway"))).await;
    assert_eq!(saved.code, 0, "{saved:#?}");
    saved.shows(&["its connection test: failed"]);
    let right = place.file("right", "right password").await;
    let edited = place.run(&format!("cluster edit eu --sasl-password-file {right}")).await;
    assert_eq!(edited.code, 0, "{edited:#?}");
    edited.shows(&["its connection test: passed"]);
    let test = place.run("cluster test eu -o json").await.json(0);
    assert_eq!(test["data"]["verdict"], "passed");
    for said in [&ran, &saved, &edited] {
        assert!(
            !format!("{said:?}").contains("right password")
                && !format!("{said:?}").contains("wrong password")
        );
    }
    let nowhere = place.run("cluster add us --environment test").await;
    assert_eq!(nowhere.code, 2);
    nowhere.tells(&["it is not said where the cluster is", "--bootstrap"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn server_gives_the_same_answers_as_the_cluster_itself() {
    let cluster = cluster();
    let place = Place::new();
    let server = place.serve_signed_in().await;
    assert_eq!(place.run(&add(&cluster, "")).await.code, 0);
    for line in [
        "databases",
        "database shop",
        "tables",
        "tables --database shop --search VIEW --limit 1",
        "tables --all",
        "table shop.orders",
        "offsets shop.orders",
        "stats shop.orders",
        "cluster-config",
        "cluster-config --search snapshot --all",
    ] {
        let mut direct = ask(&cluster, &format!("{line} -o json")).await.json(0);
        let mut through = place.run(&format!("{line} -o json")).await.json(0);
        assert_eq!(through["source"]["cluster"], "eu", "{line}");
        assert_eq!(through["status"], direct["status"], "{line}");
        // Where everything is one page, the server's page has another bound.
        for answer in [&mut direct, &mut through] {
            if let Some(data) = answer["data"].as_object_mut() {
                data.remove("limit");
            }
        }
        assert_eq!(through["data"], direct["data"], "{line}");
    }
    let servers = place.run("servers -o json").await.json(0);
    assert_eq!(
        servers["data"]["servers"].as_array().or(servers["data"]["items"].as_array()).unwrap().len(),
        3
    );
    let refused = place.run("acls -o json").await;
    assert_eq!(refused.json(7)["status"], "security_disabled");
    let missing = place.run("table shop.nothing").await;
    assert_eq!(missing.code, 6);
    missing.tells(&["error[table_not_found]", "the server knows it as request"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whole_list_is_read_page_by_page() {
    let cluster = FakeCluster::builder().generated_tables(5, 500, 1).start().unwrap();
    let place = Place::new();
    let server = place.serve_signed_in().await;
    assert_eq!(place.run(&add(&cluster, "")).await.code, 0);
    let all = place.run("tables --all -o json").await.json(0);
    let items = all["data"]["items"].as_array().unwrap();
    let names: std::collections::BTreeSet<String> =
        items.iter().map(|row| format!("{}.{}", row["database"], row["name"])).collect();
    assert_eq!((items.len(), names.len()), (2_500, 2_500));
    assert_eq!((&all["data"]["matched_count"], &all["data"]["next_offset"]), (&2_500.into(), &Value::Null));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_always_clear_which_cluster_is_asked() {
    let (one, two) = (cluster(), cluster());
    let place = Place::new();
    let server = place.serve_signed_in().await;
    assert_eq!(place.run(&add(&one, "")).await.code, 0);
    let us = format!("cluster add us --environment test --bootstrap {}", two.bootstrap());
    assert_eq!(place.run(&us).await.code, 0);
    let ran = place.run("tables").await;
    assert_eq!(ran.code, 2, "{ran:#?}");
    ran.tells(&["knows several clusters: eu, us", "--cluster"]);
    assert_eq!(place.run("tables -o json --cluster us").await.json(0)["source"]["cluster"], "us");
    let both = place.run(&format!("tables --cluster us --bootstrap {}", one.bootstrap())).await;
    assert_eq!(both.code, 2, "{both:#?}");
    both.tells(&["both a cluster of a server and the addresses of a cluster"]);
    // Who names addresses asks them, signed in or not.
    let direct = place.run(&format!("tables -o json --bootstrap {}", one.bootstrap())).await.json(0);
    assert_eq!(direct["source"]["cluster"], one.bootstrap());
    let file =
        place.file("direct.toml", &format!("[connection]\nendpoint = \"{}\"\n", two.bootstrap())).await;
    let direct = place.run(&format!("tables -o json --config {file}")).await.json(0);
    assert_eq!(direct["source"]["cluster"], two.bootstrap());
    let unknown = place.run("tables --cluster nowhere").await;
    assert_eq!(unknown.code, 6, "{unknown:#?}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cluster_that_does_not_answer_is_unavailable_through_the_server_too() {
    let cluster = cluster();
    let place = Place::new();
    let server = place.serve_signed_in().await;
    assert_eq!(
        place.run(&add(&cluster, "--request-timeout-seconds 2 --dial-timeout-seconds 2")).await.code,
        0
    );
    for server in cluster.servers() {
        server.stop().await.unwrap();
    }
    let text = place.run("offsets shop.orders").await;
    assert_eq!((text.code, text.stdout.as_str()), (4, ""), "{text:#?}");
    text.tells(&["error[", "hint: "]);
    let json = place.run("offsets shop.orders -o json").await.json(4);
    assert_eq!((&json["status"], &json["data"]), (&"unavailable".into(), &Value::Null));
    server.stop().await;
}
