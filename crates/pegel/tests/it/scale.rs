//! A cluster as large as they come.

use std::collections::BTreeSet;
use std::time::Duration;

use fluss_codec::api_key::ApiKey;
use fluss_testkit::fake_server::FakeCluster;

use crate::pegel::{ask, command};

/// 20 databases of 500 tables with 10 buckets each.
fn large() -> FakeCluster {
    FakeCluster::builder()
        .tablet_servers(3)
        .generated_tables(20, 500, 10)
        .start()
        .expect("loopback has free ports")
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_tables_are_paged_to_the_end() {
    let cluster = large();
    let mut seen = BTreeSet::new();
    let mut offset = Some(9_000);
    while let Some(at) = offset {
        let json = ask(&cluster, &format!("tables -o json --limit 400 --offset {at}")).await.json(0);
        let page = &json["data"];
        assert_eq!(page["total_count"], 10_000);
        for row in page["items"].as_array().unwrap() {
            assert!(row["kind"].is_string(), "{row}");
            seen.insert(format!("{}.{}", row["database"], row["name"]));
        }
        offset = page["next_offset"].as_u64();
    }
    assert_eq!(seen.len(), 1_000);
    let text = ask(&cluster, "tables --search ORDERS_RAW --limit 5").await;
    assert_eq!(text.code, 0, "{text:?}");
    text.tells(&["1 to 5 of"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn page_of_many_reads_only_what_is_in_view() {
    let cluster = large();
    ask(&cluster, "tables --limit 150 --runtime -o json").await.json(0);
    // One request for the catalog's page, and figures for no more than a hundred tables.
    let figures = cluster.request_count(ApiKey::GetTableStats);
    assert!(figures > 0 && figures <= 100 * 3, "{figures}");
    assert_eq!(cluster.request_count(ApiKey::GetTableInfo), 0);
    let json = ask(&cluster, "tables --limit 150 --runtime -o json").await.json(0);
    let items = json["data"]["items"].as_array().unwrap();
    assert_eq!(items[149]["runtime"]["evidence"], "not_read");
    assert!(json["warnings"][0].as_str().unwrap().contains("first 100 tables"));
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn listing_ten_thousand_tables_needs_little_memory() {
    let cluster = large();
    let mut command = command();
    command.args(["--bootstrap", &cluster.bootstrap(), "tables", "--limit", "1000", "-o", "json"]);
    let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id().unwrap());
    let mut peak_kib = 0;
    let code = loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        peak_kib = peak_kib.max(now.unwrap_or(0));
        let waited = tokio::time::timeout(Duration::from_millis(2), child.wait()).await;
        if let Ok(ended) = waited {
            break ended.unwrap().code();
        }
    };
    assert_eq!(code, Some(0));
    assert!(peak_kib > 1_000 && peak_kib < 64 * 1_024, "{peak_kib} KiB");
}
