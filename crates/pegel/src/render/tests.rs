//! Each answer as a person sees it, on a terminal of eighty columns.

use std::fmt::Debug;

use pegel_api_types::operations::cluster_config::ConfigValue;
use pegel_api_types::operations::databases::Database;
use pegel_api_types::operations::offsets::Offsets;
use pegel_api_types::operations::partitions::Partitions;
use pegel_api_types::operations::servers::Servers;
use pegel_api_types::operations::stats::Stats;
use pegel_api_types::operations::table::Table;
use pegel_api_types::operations::tables::Tables;
use pegel_core::limits::Page;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::*;

const TERMINAL: Style = Style { has_color: false, width: Some(80), is_quiet: false };

/// Reads an answer as a server would send it, and checks that it is written as it is read.
fn envelope<T: Show + DeserializeOwned + PartialEq + Debug>(json: &str) -> Envelope<T> {
    let read: Envelope<T> = serde_json::from_str(json).unwrap();
    let written = serde_json::to_string(&read).unwrap();
    assert_eq!(serde_json::from_str::<Envelope<T>>(&written).unwrap(), read);
    read
}

/// Shows both streams of an answer.
fn screen<T: Show>(envelope: &Envelope<T>) -> String {
    let printed = answer(envelope, TERMINAL);
    assert!(!printed.stdout.contains('\x1b'), "{}", printed.stdout);
    format!("{}--- stderr ---\n{}", printed.stdout, printed.stderr)
}

/// Reads one of the answers beside this file.
macro_rules! fixture {
    ($data:ty, $name:literal) => {
        envelope::<$data>(include_str!(concat!("fixtures/", $name, ".json")))
    };
}

#[test]
fn servers_with_a_silent_one() {
    insta::assert_snapshot!(screen(&fixture!(Servers, "servers_one_silent")));
}

#[test]
fn configuration_with_secrets() {
    let text = screen(&fixture!(Page<ConfigValue>, "cluster_config_with_secrets"));
    assert!(!text.contains("hunter2"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn tables_with_a_hidden_one() {
    insta::assert_snapshot!(screen(&fixture!(Tables, "tables_one_hidden")));
}

#[test]
fn table_in_full() {
    let text = screen(&fixture!(Table, "table_in_full"));
    assert!(!text.contains("hunter2"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn partitions_with_a_lost_one() {
    insta::assert_snapshot!(screen(&fixture!(Partitions, "partitions_one_gone")));
}

#[test]
fn offsets_with_a_silent_bucket() {
    insta::assert_snapshot!(screen(&fixture!(Offsets, "offsets_one_bucket_silent")));
}

#[test]
fn offsets_at_a_time_with_a_lost_partition() {
    insta::assert_snapshot!(screen(&fixture!(Offsets, "offsets_partition_gone")));
}

#[test]
fn row_counts_with_a_silent_bucket() {
    insta::assert_snapshot!(screen(&fixture!(Stats, "stats_one_bucket_silent")));
}

#[test]
fn quiet_prints_the_answer_alone() {
    let style = Style { is_quiet: true, ..TERMINAL };
    let printed = answer(&fixture!(Servers, "servers_one_silent"), style);
    assert!(printed.stdout.starts_with("SERVER"), "{}", printed.stdout);
    assert_eq!(printed.stderr, "");
}

#[test]
fn empty_is_told_in_words_with_a_next_step() {
    let page = json!({
        "status": "empty", "execution_id": "00000000-0000-0000-0000-000000000000",
        "observed_at": "2026-01-01T00:00:00Z", "evidence": [], "warnings": [],
        "source": {"cluster": "a:1", "kind": "live", "age_ms": 0, "servers": [], "duration_ms": 1},
        "data": {"items": [], "total_count": 0, "matched_count": 0, "offset": 0, "limit": 100, "next_offset": null},
    });
    let text = screen(&envelope::<Page<Database>>(&page.to_string()));
    assert!(text.contains("No databases") && text.contains("DESCRIBE"), "{text}");
}

#[test]
fn age_of_what_was_kept_is_told() {
    let mut kept = fixture!(Stats, "stats_one_bucket_silent");
    assert!(!screen(&kept).contains(" ago"));
    (kept.source.kind, kept.source.age_ms) = (SourceKind::Cache, 42_900);
    assert!(screen(&kept).contains("as of 2026-01-01 00:00:00Z, 42 s ago"), "{}", screen(&kept));
}

#[test]
fn long_list_of_addresses_is_shortened() {
    assert_eq!(cluster("a:1"), "a:1");
    assert_eq!(cluster("a:1,b:2"), "a:1, b:2");
    assert_eq!(cluster("a:1,b:2,c:3,d:4"), "a:1 and 3 more");
}
