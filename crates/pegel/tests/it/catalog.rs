//! Databases, tables, partitions, offsets and row counts.

use bytes::Bytes;
use fluss_codec::api_key::ApiKey;
use fluss_testkit::fake_server::{FakeCluster, FakeClusterBuilder, NewTable, Script, Visibility};
use serde_json::Value;

use crate::pegel::{ask, ask_as, login};

fn shop() -> FakeClusterBuilder {
    FakeCluster::builder()
        .tablet_servers(3)
        .table(NewTable::primary_key("shop", "orders").buckets(3).replicas(2))
        .table(NewTable::log("shop", "clicks").buckets(2).partitions(["20260101", "20260102", "20260103"]))
        .table(NewTable::log("audit", "events").buckets(4))
        .model(|model| {
            let orders = model.table_mut("shop", "orders").expect("it was added above");
            for (number, bucket) in (0_i64..).zip(&mut orders.buckets) {
                bucket.earliest = 10;
                bucket.latest = 110 + number;
                bucket.row_count = Some(20 + number);
            }
            let huge = orders.bucket_mut(None, 2).expect("it has three buckets");
            huge.latest = i64::MAX - 1_000;
            huge.earliest = i64::MAX - 2_000;
        })
}

#[tokio::test(flavor = "multi_thread")]
async fn databases_are_listed_with_their_tables() {
    let cluster = shop().start().unwrap();
    let text = ask(&cluster, "databases").await;
    assert!(text.text().contains("2 databases"), "{text:?}");
    let json = ask(&cluster, "databases -o json --search SHO").await.json(0);
    assert_eq!(json["data"]["matched_count"], 1);
    assert_eq!(json["data"]["items"][0]["table_count"], 2);
    assert_eq!(json["data"]["items"][0]["created_at"], "2024-07-01T00:00:00Z");
    assert_eq!(json["warnings"].as_array().unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn database_shows_its_properties_without_secrets() {
    let cluster = shop()
        .model(|model| {
            let json = r#"{"version":1,"comment":"the shop","custom_properties":{"owner":"ann","api-key":"hunter2"}}"#;
            model.database_mut("shop").unwrap().json = Bytes::from_static(json.as_bytes());
        })
        .start()
        .unwrap();
    let text = ask(&cluster, "database shop").await;
    text.shows(&["the shop", "owner", "ann", "api-key  ***    hidden"]);
    let json = ask(&cluster, "database shop -o json").await.json(0);
    assert_eq!(json["data"]["table_count"], 2);
    assert!(!json.to_string().contains("hunter2"));
    let missing = ask(&cluster, "database nowhere").await;
    assert_eq!(missing.code, 6, "{missing:?}");
    missing.tells(&["error[database_not_found]: database nowhere does not exist"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_of_all_databases_or_of_one() {
    let cluster = shop().start().unwrap();
    let text = ask(&cluster, "tables").await;
    assert!(text.text().contains("3 tables"), "{text:?}");
    text.shows(&["audit.events", "shop.clicks", "day", "primary_key"]);
    let json = ask(&cluster, "tables --database shop -o json").await.json(0);
    let rows = json["data"]["items"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!((&rows[0]["kind"], &rows[0]["is_partitioned"]), (&"log".into(), &true.into()));
    assert_eq!((&rows[1]["kind"], &rows[1]["bucket_count"]), (&"primary_key".into(), &3.into()));
    assert!(rows[1]["table_id"].is_string());
    assert_eq!(rows[0].get("runtime"), None);
    assert_eq!(cluster.request_count(ApiKey::ListOffsets), 0);
    let missing = ask(&cluster, "tables --database nowhere -o json").await.json(6);
    assert_eq!((&missing["code"], &missing["status"]), (&"database_not_found".into(), &404.into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn runtime_labels_each_row() {
    let cluster = shop().start().unwrap();
    cluster.change(|model| {
        model.table_mut("audit", "events").unwrap().bucket_mut(None, 1).unwrap().error = Some(44);
    });
    let text = ask(&cluster, "tables --runtime").await;
    assert_eq!(text.code, 3, "{text:?}");
    text.shows(&["– per partition", "◐ partial", "✓ ok", "0: 10..110"]);
    let json = ask(&cluster, "tables --runtime -o json").await.json(3);
    let runtime = |row: usize| json["data"]["items"][row]["runtime"].clone();
    assert_eq!(runtime(0)["evidence"], "partial");
    assert_eq!(runtime(0)["answered_bucket_count"], 3);
    assert_eq!(
        (&runtime(1)["evidence"], &runtime(1)["row_count"]),
        (&"partition_scoped".into(), &Value::Null)
    );
    assert_eq!((&runtime(2)["evidence"], &runtime(2)["row_count"]), (&"ok".into(), &"63".into()));
    assert_eq!(runtime(2)["offset_span"], "1201");
}

#[tokio::test(flavor = "multi_thread")]
async fn table_shows_columns_leaders_and_properties() {
    let cluster = shop().start().unwrap();
    let text = ask(&cluster, "table shop.orders").await;
    text.shows(&["Table shop.orders", "Columns", "BIGINT", "Buckets", "REPLICAS", "Properties"]);
    let json = ask(&cluster, "table shop.orders -o json").await.json(0);
    assert_eq!(json["data"]["buckets"].as_array().unwrap().len(), 3);
    assert_eq!(json["data"]["buckets"][0]["replicas"].as_array().unwrap().len(), 2);
    assert_eq!(json["data"]["columns"][0]["is_nullable"], false);
    let partitioned = ask(&cluster, "table shop.clicks -o json").await.json(0);
    assert_eq!((&partitioned["data"]["buckets"], &partitioned["status"]), (&Value::Null, &"ok".into()));
    let missing = ask(&cluster, "table shop.nothing").await;
    assert_eq!(missing.code, 6);
    missing.tells(&["error[table_not_found]", "pegel tables --database shop"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn partitions_are_listed_filtered_and_paged() {
    let cluster = shop().start().unwrap();
    let json = ask(&cluster, "partitions shop.clicks -o json --limit 2").await.json(0);
    let page = &json["data"];
    assert_eq!((&page["total_count"], &page["next_offset"]), (&3.into(), &2.into()));
    assert_eq!(page["items"][0]["spec"][0]["value"], "20260101");
    assert_eq!(page["items"][0]["buckets"].as_array().unwrap().len(), 2);
    let text = ask(&cluster, "partitions shop.clicks --partition day=20260102").await;
    assert!(text.text().contains("day=20260102") && !text.stdout.contains("20260101"), "{text:?}");
    let plain = ask(&cluster, "partitions shop.orders").await;
    assert!(plain.text().contains("shop.orders is not partitioned"), "{plain:?}");
    let filtered = ask(&cluster, "partitions shop.orders --partition day=1 -o json").await.json(2);
    assert_eq!(filtered["code"], "table_not_partitioned");
    let wrong = ask(&cluster, "partitions shop.clicks --partition month=1").await;
    assert_eq!(wrong.code, 2);
    wrong.tells(&["error[partition_spec_invalid]", "its partition keys are day"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn offsets_are_exact_per_bucket() {
    let cluster = shop().start().unwrap();
    let json = ask(&cluster, "offsets shop.orders -o json").await.json(0);
    let buckets = json["data"]["partitions"][0]["buckets"].as_array().unwrap();
    assert_eq!((&buckets[1]["start"], &buckets[1]["latest"]), (&"10".into(), &"111".into()));
    assert_eq!(buckets[2]["latest"], (i64::MAX - 1_000).to_string());
    assert_eq!((&json["data"]["span"], &json["data"]["is_complete"]), (&"1201".into(), &true.into()));
    let text = ask(&cluster, "offsets shop.orders").await;
    assert!(text.text().contains("span in all: 1201 (3 buckets)"), "{text:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn offsets_of_partitions_name_them() {
    let cluster = shop().start().unwrap();
    let json = ask(&cluster, "offsets shop.clicks -o json").await.json(0);
    assert_eq!(json["data"]["partitions"].as_array().unwrap().len(), 3);
    assert_eq!(json["data"]["bucket_count"], 6);
    let one = ask(&cluster, "offsets shop.clicks --partition day=20260103 -o json").await.json(0);
    assert_eq!(one["data"]["partitions"][0]["partition"], "20260103");
    let gone = ask(&cluster, "offsets shop.clicks --partition day=1 -o json").await.json(6);
    assert_eq!(gone["code"], "partition_not_found");
    let plain = ask(&cluster, "offsets shop.orders --partition day=1").await;
    assert_eq!(plain.code, 2);
    plain.tells(&["error[table_not_partitioned]"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn offsets_at_a_time() {
    let cluster = shop()
        .model(|model| {
            let bucket = model.table_mut("shop", "orders").unwrap().bucket_mut(None, 0).unwrap();
            bucket.timestamps = vec![(1_767_225_600_000, 50)];
        })
        .start()
        .unwrap();
    let json = ask(&cluster, "offsets shop.orders --at 2025-12-31T23:00:00Z -o json").await.json(0);
    assert_eq!(json["data"]["start_kind"], "at_time");
    assert_eq!(json["data"]["partitions"][0]["buckets"][0]["start"], "50");
    let future = ask(&cluster, "offsets shop.orders --at 2999-01-01T00:00:00Z").await;
    assert_eq!(future.code, 2, "{future:?}");
    future.tells(&["error[time_in_future]", "lies in the future"]);
    cluster.change(|model| model.now_ms = Some(0));
    let behind = ask(&cluster, "offsets shop.orders --at 2025-12-31T23:00:00Z -o json").await.json(2);
    assert_eq!(behind["code"], "time_in_future");
}

#[tokio::test(flavor = "multi_thread")]
async fn buckets_of_a_dead_server_make_the_answer_partial() {
    let cluster = shop().start().unwrap();
    cluster.tablet_servers()[0].stop().await.unwrap();
    let text = ask(&cluster, "offsets shop.orders").await;
    assert_eq!(text.code, 3, "{text:?}");
    text.shows(&["◐ partial", "✗ unavailable", "connect_failed", "2 of 3 known buckets answered"]);
    text.tells(&["missing[connect_failed]: tablet server 0: bucket"]);
    let json = ask(&cluster, "stats shop.orders -o json").await.json(3);
    assert_eq!((&json["status"], &json["data"]["is_complete"]), (&"partial".into(), &false.into()));
    assert_eq!(json["data"]["answered_bucket_count"], 2);
    let lost: Vec<&Value> = json["data"]["partitions"][0]["buckets"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|bucket| bucket["row_count"].is_null())
        .collect();
    assert_eq!(lost.len(), 1);
    assert_eq!((&lost[0]["leader"], &lost[0]["failure"]["code"]), (&0.into(), &"connect_failed".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn bucket_error_of_a_server_is_told_for_that_bucket() {
    let cluster = shop().start().unwrap();
    cluster.change(|model| {
        model.table_mut("shop", "orders").unwrap().bucket_mut(None, 1).unwrap().error = Some(44);
    });
    let json = ask(&cluster, "offsets shop.orders -o json").await.json(3);
    let bucket = &json["data"]["partitions"][0]["buckets"][1];
    assert_eq!((&bucket["state"], &bucket["start"]), (&"unavailable".into(), &Value::Null));
    assert_eq!(bucket["failure"]["code"], "leader_not_available");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_buckets_lost_is_unavailable_and_not_zero() {
    let cluster = shop().start().unwrap();
    for server in cluster.tablet_servers() {
        server.stop().await.unwrap();
    }
    let text = ask(&cluster, "stats shop.orders").await;
    assert_eq!(text.code, 4, "{text:?}");
    text.shows(&["✗ unavailable", "rows in all: unknown"]);
    let json = ask(&cluster, "stats shop.orders -o json").await.json(4);
    assert_eq!((&json["status"], &json["data"]["row_count"]), (&"unavailable".into(), &Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn row_counts_that_are_not_kept_are_unsupported() {
    let cluster = shop().start().unwrap();
    cluster.change(|model| {
        for bucket in &mut model.table_mut("shop", "orders").unwrap().buckets {
            bucket.row_count = None;
        }
    });
    let json = ask(&cluster, "stats shop.orders -o json").await.json(7);
    assert_eq!(json["status"], "unsupported");
    assert_eq!(json["evidence"][0]["code"], "unsupported_for_table");
    let log = ask(&cluster, "stats audit.events -o json").await.json(0);
    assert!(log["warnings"][0].as_str().unwrap().contains("latest minus earliest"));
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_cluster_is_empty_everywhere() {
    let cluster = FakeCluster::builder().start().unwrap();
    for (line, words) in [("databases", "No databases"), ("tables", "No tables")] {
        let text = ask(&cluster, line).await;
        assert!(text.code == 0 && text.stdout.contains(words), "{text:?}");
        text.tells(&["may be filtered by the cluster's permissions"]);
        let json = ask(&cluster, &format!("{line} -o json")).await.json(0);
        assert_eq!(json["status"], "empty");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_of_a_limited_user_say_that_they_may_be_filtered() {
    let cluster = shop()
        .user("alice", "pw")
        .authorizer(true)
        .table(NewTable::log("shop", "payroll").visible_to(Visibility::Nobody))
        .start()
        .unwrap();
    let text = ask_as(&cluster, "tables --database shop", &login("alice", "pw")).await;
    assert_eq!(text.code, 0, "{text:?}");
    assert!(!text.stdout.contains("payroll"), "{text:?}");
    text.tells(&["warning: may be filtered by the cluster's permissions: only what alice may see"]);
    for line in ["databases", "tables", "database shop"] {
        let json = ask_as(&cluster, &format!("{line} -o json"), &login("alice", "pw")).await.json(0);
        assert!(json["warnings"][0].as_str().unwrap().contains("may be filtered"), "{line}: {json}");
    }
    let hidden = ask_as(&cluster, "table shop.payroll -o json", &login("alice", "pw")).await;
    assert!(matches!(hidden.code, 5 | 6), "{hidden:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn table_that_vanishes_between_list_and_read_is_marked() {
    let cluster = shop().start().unwrap();
    let names = fluss_codec::messages::ListTablesResponse {
        table_name: vec!["orders".to_owned(), "ghost".to_owned(), "evil\u{1b}[2Jname".to_owned()],
    };
    cluster.coordinator().on(ApiKey::ListTables, Script::message(&names));
    let text = ask(&cluster, "tables --database shop").await;
    assert_eq!(text.code, 3, "{text:?}");
    text.shows(&["shop.ghost", "✗ unavailable", "table_not_found", "evil\\u{1b}[2Jname", "corrupt_answer"]);
    assert!(!format!("{}{}", text.stdout, text.stderr).contains('\u{1b}'), "{text:?}");
    let json = ask(&cluster, "tables --database shop -o json").await;
    assert!(!json.stdout.contains('\u{1b}'));
    let json = json.json(3);
    let codes: Vec<&str> = json["data"]["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["failure"]["code"].as_str())
        .collect();
    assert_eq!(codes, ["corrupt_answer", "table_not_found"]);
}
