//! The audit chain.

use pegel_core::access::decision::PrincipalKind;
use pegel_store::Error;
use pegel_store::audit::{self, CHAIN_START, Entry, Filter, Verification};
use serde_json::json;

use crate::on_both;
use crate::stores::{Store, write};

on_both!(
    rows_are_chained_and_verify,
    an_empty_chain_is_whole,
    a_rolled_back_mutation_leaves_no_row_and_no_gap,
    rows_appended_at_once_make_one_chain,
    the_schema_refuses_changes,
    a_changed_row_is_named,
    a_missing_row_is_named,
    a_cut_off_end_is_noticed,
    a_rewritten_end_is_noticed,
    rows_are_listed_by_filter,
    endless_entries_are_refused,
);

pub(crate) fn entry(action: &str) -> Entry {
    Entry {
        request_id: "r1".to_owned(),
        principal_kind: PrincipalKind::User,
        principal_id: "u1".to_owned(),
        principal_name: "änn".to_owned(),
        action: action.to_owned(),
        target: "cluster/eu".to_owned(),
        outcome: "ok".to_owned(),
        detail: json!({ "dry_run": false }),
    }
}

pub(crate) async fn append(store: &Store, action: &str) -> audit::Sealed {
    let entry = entry(action);
    write!(store, [entry], |tx| audit::append(tx, &entry).await).unwrap()
}

async fn append_many(store: &Store, count: i64) {
    for number in 1..=count {
        append(store, &format!("a{number}")).await;
    }
}

async fn rows_are_chained_and_verify(store: Store) {
    append_many(&store, 3).await;
    let last = append(&store, "a4").await;
    let whole = Verification::Whole { from_seq: 1, through_seq: 4, row_count: 4, head: last.hash };
    assert_eq!(audit::verify(&store.db, 0).await.unwrap(), whole);
    let part = Verification::Whole { from_seq: 3, through_seq: 4, row_count: 2, head: last.hash };
    assert_eq!(audit::verify(&store.db, 3).await.unwrap(), part);
    let rows =
        store.db.read(|tx| Box::pin(async { audit::list(tx, &Filter::default(), None, 10).await })).await;
    let rows = rows.unwrap();
    assert_eq!(rows.iter().map(|row| row.seq).collect::<Vec<_>>(), [4, 3, 2, 1]);
    assert_eq!((&rows[0].entry, rows[0].hash), (&entry("a4"), last.hash));
}

async fn an_empty_chain_is_whole(store: Store) {
    let empty = Verification::Whole { from_seq: 1, through_seq: 0, row_count: 0, head: CHAIN_START };
    assert_eq!(audit::verify(&store.db, 0).await.unwrap(), empty);
}

async fn a_rolled_back_mutation_leaves_no_row_and_no_gap(store: Store) {
    append(&store, "a1").await;
    let entry = entry("a2");
    let failed: Result<(), Error> = write!(store, [entry], |tx| {
        audit::append(tx, &entry).await?;
        Err(Error::NotFound { what: "it".to_owned() })
    });
    assert_eq!(failed.unwrap_err().code(), "not_found");
    assert_eq!(append(&store, "a3").await.seq, 2);
    assert!(matches!(audit::verify(&store.db, 0).await.unwrap(), Verification::Whole { row_count: 2, .. }));
}

async fn rows_appended_at_once_make_one_chain(store: Store) {
    let writers: Vec<_> = (0..10)
        .map(|writer| {
            let db = store.db.clone();
            tokio::spawn(async move {
                for count in 0..60 {
                    let entry = entry(&format!("w{writer}.{count}"));
                    db.write(move |tx| {
                        let entry = entry.clone();
                        Box::pin(async move { audit::append(tx, &entry).await })
                    })
                    .await
                    .unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let verification = audit::verify(&store.db, 0).await.unwrap();
    assert!(matches!(verification, Verification::Whole { row_count: 600, .. }), "{verification:?}");
}

async fn the_schema_refuses_changes(store: Store) {
    append_many(&store, 3).await;
    for script in [
        "UPDATE audit SET outcome = 'refused' WHERE seq = 2",
        "DELETE FROM audit WHERE seq = 3",
        "DELETE FROM audit",
        "DELETE FROM audit_head",
        "INSERT INTO audit_anchor (through_seq, hash, row_count, first_at, last_at, anchored_at)
         SELECT 9, hash, 1, 1, 1, 1 FROM audit WHERE seq = 1",
    ] {
        assert!(store.try_tamper(script).await.is_err(), "{script}");
    }
    if store.is_postgres() {
        assert!(store.try_tamper("TRUNCATE audit").await.is_err());
    }
    assert!(matches!(audit::verify(&store.db, 0).await.unwrap(), Verification::Whole { row_count: 3, .. }));
}

/// Takes the triggers away, as someone with the database's password could.
async fn disarm(store: &Store) {
    if store.is_postgres() {
        store.tamper("ALTER TABLE audit DISABLE TRIGGER ALL").await;
    } else {
        store
            .tamper("DROP TRIGGER audit_is_never_changed; DROP TRIGGER audit_is_removed_only_below_an_anchor")
            .await;
    }
}

async fn a_changed_row_is_named(store: Store) {
    append_many(&store, 5).await;
    disarm(&store).await;
    for (script, undo) in [
        ("UPDATE audit SET outcome = 'no' WHERE seq = 3", "UPDATE audit SET outcome = 'ok' WHERE seq = 3"),
        ("UPDATE audit SET at = at + 1 WHERE seq = 3", "UPDATE audit SET at = at - 1 WHERE seq = 3"),
        ("UPDATE audit SET principal_name = 'bob' WHERE seq = 3", "UPDATE audit SET principal_name = 'änn'"),
        (
            "UPDATE audit SET detail = '{ \"dry_run\":false}' WHERE seq = 3",
            "UPDATE audit SET detail = '{\"dry_run\":false}'",
        ),
    ] {
        store.tamper(script).await;
        let broken = Verification::Broken { seq: 3, reason: "its content does not match its hash" };
        assert_eq!(audit::verify(&store.db, 0).await.unwrap(), broken, "{script}");
        store.tamper(undo).await;
        assert!(matches!(audit::verify(&store.db, 0).await.unwrap(), Verification::Whole { .. }), "{undo}");
    }
    store.tamper("UPDATE audit SET hash = prev_hash WHERE seq = 4").await;
    assert!(matches!(audit::verify(&store.db, 0).await.unwrap(), Verification::Broken { seq: 4, .. }));
}

async fn a_missing_row_is_named(store: Store) {
    append_many(&store, 5).await;
    disarm(&store).await;
    store.tamper("DELETE FROM audit WHERE seq = 2").await;
    let broken = Verification::Broken { seq: 2, reason: "the row is missing" };
    assert_eq!(audit::verify(&store.db, 0).await.unwrap(), broken);
    assert_eq!(audit::verify(&store.db, 3).await.unwrap(), broken);
    store.tamper("DELETE FROM audit WHERE seq = 1").await;
    assert!(matches!(audit::verify(&store.db, 0).await.unwrap(), Verification::Broken { seq: 1, .. }));
}

async fn a_cut_off_end_is_noticed(store: Store) {
    append_many(&store, 5).await;
    disarm(&store).await;
    store.tamper("DELETE FROM audit WHERE seq >= 4").await;
    let broken = Verification::Broken { seq: 4, reason: "the row is missing" };
    assert_eq!(audit::verify(&store.db, 0).await.unwrap(), broken);
}

async fn a_rewritten_end_is_noticed(store: Store) {
    append_many(&store, 2).await;
    store.tamper("UPDATE audit_head SET hash = (SELECT hash FROM audit WHERE seq = 1)").await;
    let broken = Verification::Broken { seq: 2, reason: "it is not the row the head knows" };
    assert_eq!(audit::verify(&store.db, 0).await.unwrap(), broken);
}

async fn rows_are_listed_by_filter(store: Store) {
    append_many(&store, 3).await;
    store.clock.advance(std::time::Duration::from_secs(60));
    append(&store, "late").await;
    let seqs = |filter: Filter, before| {
        let db = store.db.clone();
        async move {
            let rows = db.read(move |tx| {
                let filter = filter.clone();
                Box::pin(async move { audit::list(tx, &filter, before, 2).await })
            });
            rows.await.unwrap().iter().map(|row| row.seq).collect::<Vec<_>>()
        }
    };
    let all = Filter::default();
    assert_eq!(seqs(all.clone(), None).await, [4, 3]);
    assert_eq!(seqs(all.clone(), Some(3)).await, [2, 1]);
    assert_eq!(seqs(Filter { action: Some("a2".to_owned()), ..all.clone() }, None).await, [2]);
    assert_eq!(seqs(Filter { principal_id: Some("x".to_owned()), ..all.clone() }, None).await, [0; 0]);
    assert_eq!(seqs(Filter { target: Some("cluster/eu".to_owned()), ..all.clone() }, Some(2)).await, [1]);
    let late = "2026-03-01T12:01:00Z".parse().unwrap();
    assert_eq!(seqs(Filter { from: Some(late), ..all.clone() }, None).await, [4]);
    assert_eq!(seqs(Filter { until: Some(late), ..all }, None).await, [3, 2]);
}

async fn endless_entries_are_refused(store: Store) {
    for long in [
        Entry { detail: json!("x".repeat(audit::MAX_DETAIL_BYTES)), ..entry("a") },
        Entry { target: "x".repeat(audit::MAX_TEXT_BYTES + 1), ..entry("a") },
        Entry { target: "a\0b".to_owned(), ..entry("a") },
    ] {
        let error = write!(store, [long], |tx| audit::append(tx, &long).await).unwrap_err();
        assert_eq!(error.code(), "too_large");
    }
}
