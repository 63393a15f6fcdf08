//! Each answer as a person sees it, on a terminal of eighty columns.

use pegel_core::envelope::Source;
use uuid::Uuid;

use super::*;
use crate::reads;
use crate::session::Answer;

const TERMINAL: Style = Style { has_color: false, width: Some(80), is_quiet: false };

fn seal<T>(answer: Answer<T>) -> Envelope<T> {
    Envelope {
        status: answer.status,
        execution_id: Uuid::nil(),
        observed_at: Timestamp::from_second(1_767_225_600).unwrap(),
        source: Source { cluster: "fluss-1.example:9123".to_owned(), servers: Vec::new(), duration_ms: 12 },
        data: answer.data,
        evidence: answer.evidence,
        warnings: answer.warnings,
    }
}

/// Shows both streams of an answer.
fn screen<T: Show>(answer_given: Answer<T>) -> String {
    let printed = answer(&seal(answer_given), TERMINAL);
    assert!(!printed.stdout.contains('\x1b'), "{}", printed.stdout);
    format!("{}--- stderr ---\n{}", printed.stdout, printed.stderr)
}

#[test]
fn servers_with_a_silent_one() {
    insta::assert_snapshot!(screen(reads::servers::tests::one_silent()));
}

#[test]
fn configuration_with_secrets() {
    let text = screen(reads::cluster_config::tests::with_secrets());
    assert!(!text.contains("hunter2"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn tables_with_a_hidden_one() {
    insta::assert_snapshot!(screen(reads::tables::tests::one_hidden()));
}

#[test]
fn table_in_full() {
    let text = screen(reads::table::tests::in_full());
    assert!(!text.contains("hunter2"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn partitions_with_a_lost_one() {
    insta::assert_snapshot!(screen(reads::partitions::tests::one_gone()));
}

#[test]
fn offsets_with_a_silent_bucket() {
    insta::assert_snapshot!(screen(reads::offsets::tests::one_bucket_silent()));
}

#[test]
fn offsets_at_a_time_with_a_lost_partition() {
    insta::assert_snapshot!(screen(reads::offsets::tests::partition_gone()));
}

#[test]
fn row_counts_with_a_silent_bucket() {
    insta::assert_snapshot!(screen(reads::stats::tests::one_bucket_silent()));
}

#[test]
fn quiet_prints_the_answer_alone() {
    let style = Style { is_quiet: true, ..TERMINAL };
    let printed = answer(&seal(reads::servers::tests::one_silent()), style);
    assert!(printed.stdout.starts_with("SERVER"), "{}", printed.stdout);
    assert_eq!(printed.stderr, "");
}

#[test]
fn empty_is_told_in_words_with_a_next_step() {
    let nothing = reads::databases::Database { name: String::new(), table_count: 0, created_at: None };
    let page = pegel_core::limits::PageRequest::new(None, 0, None).unwrap();
    let mut page = page.cut(vec![nothing], |_| vec![""]);
    page.items.clear();
    (page.total_count, page.matched_count) = (0, 0);
    let text = screen(Answer::new(Status::Empty, page));
    assert!(text.contains("No databases") && text.contains("DESCRIBE"), "{text}");
}

#[test]
fn long_list_of_addresses_is_shortened() {
    assert_eq!(cluster("a:1"), "a:1");
    assert_eq!(cluster("a:1,b:2"), "a:1, b:2");
    assert_eq!(cluster("a:1,b:2,c:3,d:4"), "a:1 and 3 more");
}
