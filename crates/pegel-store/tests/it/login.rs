//! Failed attempts to sign in.

use std::time::Duration;

use pegel_store::login_throttle::{self, Policy, Subject};

use crate::on_both;
use crate::stores::{Store, write};

on_both!(failures_lock_a_name_whatever_its_case, names_and_sources_are_counted_apart, failures_are_forgotten);

const POLICY: Policy = Policy {
    free_failures: 2,
    first_lock: Duration::from_secs(10),
    longest_lock: Duration::from_secs(60),
    forget_after: Duration::from_secs(600),
};

async fn fail(store: &Store, subject: Subject<'static>) -> Option<String> {
    let locked = write!(store, [], |tx| login_throttle::record_failure(tx, subject, &POLICY).await);
    locked.unwrap().map(|until| until.to_string())
}

async fn locked(store: &Store, subject: Subject<'static>) -> Option<String> {
    let locked = store.db.read(move |tx| Box::pin(login_throttle::locked_until(tx, subject))).await;
    locked.unwrap().map(|until| until.to_string())
}

async fn failures_lock_a_name_whatever_its_case(store: Store) {
    assert_eq!(fail(&store, Subject::Name("ann")).await, None);
    assert_eq!(fail(&store, Subject::Name("Ann")).await, None);
    let until = Some("2026-03-01T12:00:10Z".to_owned());
    assert_eq!(fail(&store, Subject::Name("ANN")).await, until);
    assert_eq!(locked(&store, Subject::Name("ann")).await, until);
    store.clock.advance(Duration::from_secs(10));
    assert_eq!(locked(&store, Subject::Name("ann")).await, None);
    assert_eq!(fail(&store, Subject::Name("ann")).await.as_deref(), Some("2026-03-01T12:00:30Z"));
    write!(store, [], |tx| login_throttle::clear(tx, Subject::Name("aNN")).await).unwrap();
    assert_eq!(locked(&store, Subject::Name("ann")).await, None);
    assert_eq!(fail(&store, Subject::Name("ann")).await, None);
}

async fn names_and_sources_are_counted_apart(store: Store) {
    for _ in 0..3 {
        fail(&store, Subject::Source("192.0.2.1")).await;
    }
    assert!(locked(&store, Subject::Source("192.0.2.1")).await.is_some());
    assert_eq!(locked(&store, Subject::Source("192.0.2.2")).await, None);
    assert_eq!(locked(&store, Subject::Name("192.0.2.1")).await, None);
}

async fn failures_are_forgotten(store: Store) {
    fail(&store, Subject::Name("ann")).await;
    fail(&store, Subject::Name("ann")).await;
    store.clock.advance(Duration::from_secs(601));
    assert_eq!(fail(&store, Subject::Name("ann")).await, None);
    assert_eq!(fail(&store, Subject::Name("ann")).await, None);
    assert!(fail(&store, Subject::Name("ann")).await.is_some());
}
