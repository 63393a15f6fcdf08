//! What is removed by age, and what stays.

use std::time::Duration;

use pegel_store::audit::{self, Verification};
use pegel_store::retention::{self, Policy};
use pegel_store::token::TokenHash;
use pegel_store::{login_throttle, sessions};

use crate::on_both;
use crate::stores::{Store, write};
use crate::{audit as chain, users};

on_both!(
    ended_sessions_go_after_their_time,
    attempts_go_when_their_lock_is_over,
    the_chain_verifies_after_its_oldest_rows_went,
    a_chain_of_which_all_rows_went_goes_on,
    rows_after_one_that_is_young_stay,
);

const DAY: Duration = Duration::from_secs(24 * 3_600);

async fn ended_sessions_go_after_their_time(store: Store) {
    let ann = users::user(&store, "ann").await;
    for (token, until) in [("a", "2026-03-02T00:00:00Z"), ("b", "2026-06-01T00:00:00Z")] {
        let (id, until) = (ann.id, until.parse().unwrap());
        write!(store, [], |tx| sessions::create(tx, id, TokenHash::of(token), "", "", until).await).unwrap();
    }
    store.clock.set("2026-03-31T23:59:00Z".parse().unwrap());
    assert_eq!(retention::run(&store.db, &Policy::default()).await.unwrap().session_count, 0);
    store.clock.set("2026-04-01T00:01:00Z".parse().unwrap());
    assert_eq!(retention::run(&store.db, &Policy::default()).await.unwrap().session_count, 1);
    assert_eq!(store.count("SELECT count(*) AS n FROM session").await, 1);
}

async fn attempts_go_when_their_lock_is_over(store: Store) {
    let policy = login_throttle::Policy {
        free_failures: 0,
        first_lock: DAY * 3,
        longest_lock: DAY * 3,
        forget_after: DAY,
    };
    let subject = login_throttle::Subject::Source("192.0.2.1");
    write!(store, [], |tx| login_throttle::record_failure(tx, subject, &policy).await).unwrap();
    store.clock.advance(DAY * 2);
    assert_eq!(retention::run(&store.db, &Policy::default()).await.unwrap().login_throttle_count, 0);
    store.clock.advance(DAY * 2);
    assert_eq!(retention::run(&store.db, &Policy::default()).await.unwrap().login_throttle_count, 1);
}

fn kept_for(audit: Duration) -> Policy {
    Policy { audit: Some(audit), ..Policy::default() }
}

async fn the_chain_verifies_after_its_oldest_rows_went(store: Store) {
    // More than two batches.
    for group in 0..11 {
        write!(store, [], |tx| {
            for number in 0..100 {
                audit::append(tx, &chain::entry(&format!("a{group}.{number}"))).await?;
            }
            Ok(())
        })
        .unwrap();
    }
    store.clock.advance(DAY * 10);
    chain::append(&store, "young").await;
    let report = retention::run(&store.db, &kept_for(DAY)).await.unwrap();
    assert_eq!(report.audit_count, 1_100);
    let verification = audit::verify(&store.db, 0).await.unwrap();
    // The young row, and the one that tells of the removal.
    let Verification::Whole { from_seq: 1_101, through_seq: 1_102, row_count: 2, .. } = verification else {
        panic!("{verification:?}");
    };
    assert_eq!(store.count("SELECT count(*) AS n FROM audit_anchor").await, 3);
    assert!(store.try_tamper("DELETE FROM audit_anchor").await.is_err());
    assert_eq!(retention::run(&store.db, &kept_for(DAY)).await.unwrap().audit_count, 0);
    assert_eq!(store.count("SELECT count(*) AS n FROM audit").await, 2);
}

async fn a_chain_of_which_all_rows_went_goes_on(store: Store) {
    chain::append(&store, "a1").await;
    store.clock.advance(DAY * 2);
    retention::run(&store.db, &kept_for(DAY)).await.unwrap();
    store.clock.advance(DAY * 2);
    retention::run(&store.db, &kept_for(DAY)).await.unwrap();
    let verification = audit::verify(&store.db, 0).await.unwrap();
    assert!(
        matches!(verification, Verification::Whole { from_seq: 3, through_seq: 3, .. }),
        "{verification:?}"
    );
    assert_eq!(chain::append(&store, "a4").await.seq, 4);
    assert!(matches!(audit::verify(&store.db, 0).await.unwrap(), Verification::Whole { row_count: 2, .. }));
}

async fn rows_after_one_that_is_young_stay(store: Store) {
    chain::append(&store, "old").await;
    store.clock.advance(DAY * 10);
    chain::append(&store, "young").await;
    // The clock was set back: the row is old and yet comes later.
    store.clock.set("2026-03-01T12:00:00Z".parse().unwrap());
    chain::append(&store, "old again").await;
    store.clock.advance(DAY * 10);
    assert_eq!(retention::run(&store.db, &kept_for(DAY)).await.unwrap().audit_count, 1);
    assert!(matches!(audit::verify(&store.db, 0).await.unwrap(), Verification::Whole { from_seq: 2, .. }));
}
