//! The change feed.

use std::time::Duration;

use pegel_store::change::{Change, Changes};
use pegel_store::{Error, retention};
use tokio::time;

use crate::on_both;
use crate::stores::{Store, write};
use crate::{clusters, users};

on_both!(
    a_change_is_seen_with_what_it_announces,
    a_failed_write_announces_nothing,
    one_key_is_announced_once_a_transaction,
    a_watch_wakes_after_the_commit,
    another_instance_hears_of_it,
    numbers_never_become_visible_out_of_order,
    a_reader_too_far_behind_begins_anew,
);

/// Within this everything that should happen does.
const BOUND: Duration = Duration::from_secs(20);

async fn page(store: &Store, after: i64) -> Vec<Change> {
    match store.db.changes_after(after, 100).await.unwrap() {
        Changes::Page(changes) => changes,
        Changes::Resync { head } => panic!("begin anew at {head}"),
    }
}

async fn announce(store: &Store, key: &'static str) {
    write!(store, [], |tx| {
        tx.announce(key);
        Ok(())
    })
    .unwrap();
}

async fn a_change_is_seen_with_what_it_announces(store: Store) {
    clusters::create(&store, "eu").await;
    let ann = users::user(&store, "ann").await;
    let changes = page(&store, 0).await;
    let seen: Vec<_> = changes.iter().map(|c| (c.seq, c.resource_key.as_str(), c.version)).collect();
    assert_eq!(seen, [(1, "cluster/eu", Some(1)), (2, format!("user/{}", ann.id).as_str(), Some(1))]);
    assert_eq!(changes[0].changed_at.to_string(), "2026-03-01T12:00:00Z");
    assert_eq!(page(&store, 1).await.len(), 1);
    assert_eq!(page(&store, 2).await, []);
}

async fn a_failed_write_announces_nothing(store: Store) {
    let outcome: Result<(), Error> = write!(store, [], |tx| {
        tx.announce("a");
        Err(Error::NotFound { what: "it".to_owned() })
    });
    assert_eq!(outcome.unwrap_err().code(), "not_found");
    announce(&store, "b").await;
    let keys: Vec<_> = page(&store, 0).await.into_iter().map(|change| change.resource_key).collect();
    assert_eq!(keys, ["b"]);
}

async fn one_key_is_announced_once_a_transaction(store: Store) {
    write!(store, [], |tx| {
        tx.announce_version("a", 7);
        tx.announce("b");
        tx.announce("a");
        Ok(())
    })
    .unwrap();
    let seen: Vec<_> = page(&store, 0).await.into_iter().map(|c| (c.resource_key, c.version)).collect();
    assert_eq!(seen, [("a".to_owned(), Some(7)), ("b".to_owned(), None)]);
}

async fn a_watch_wakes_after_the_commit(store: Store) {
    let mut watch = store.db.watch();
    assert_eq!(*watch.borrow_and_update(), 0);
    announce(&store, "a").await;
    time::timeout(BOUND, watch.changed()).await.unwrap().unwrap();
    assert_eq!(*watch.borrow_and_update(), 1);
    write!(store, [], |tx| tx.execute("DELETE FROM session", &[]).await).unwrap();
    assert!(!watch.has_changed().unwrap());
}

async fn another_instance_hears_of_it(store: Store) {
    // A SQLite file has one instance; one opened later begins where the first one is.
    announce(&store, "a").await;
    let other = store.again().await;
    let mut watch = other.watch();
    assert_eq!(*watch.borrow_and_update(), 1);
    if store.is_postgres() {
        announce(&store, "b").await;
        time::timeout(BOUND, watch.changed()).await.unwrap().unwrap();
        assert_eq!(*watch.borrow_and_update(), 2);
    }
    other.close().await;
}

async fn numbers_never_become_visible_out_of_order(store: Store) {
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let db = store.db.clone();
            tokio::spawn(async move {
                for count in 0..20 {
                    let key = format!("k/{writer}/{count}");
                    db.write(move |tx| {
                        tx.announce(key.clone());
                        Box::pin(async { Ok(()) })
                    })
                    .await
                    .unwrap();
                }
            })
        })
        .collect();
    let mut seen = Vec::new();
    let mut watch = store.db.watch();
    while seen.len() < 160 {
        time::timeout(BOUND, watch.changed()).await.unwrap().unwrap();
        let after = seen.last().copied().unwrap_or(0);
        seen.extend(page(&store, after).await.iter().map(|change| change.seq));
        watch.borrow_and_update();
        if let Some(last) = seen.last()
            && *last < *watch.borrow()
        {
            watch.mark_changed();
        }
    }
    assert_eq!(seen, (1..=160).collect::<Vec<_>>());
    for writer in writers {
        writer.await.unwrap();
    }
}

async fn a_reader_too_far_behind_begins_anew(store: Store) {
    for _ in 0..5 {
        announce(&store, "a").await;
    }
    let policy = retention::Policy { max_changes: 2, ..retention::Policy::default() };
    assert_eq!(retention::run(&store.db, &policy).await.unwrap().change_count, 3);
    assert_eq!(store.db.changes_after(2, 10).await.unwrap(), Changes::Resync { head: 5 });
    assert_eq!(page(&store, 3).await.len(), 2);
    assert_eq!(store.db.changes_after(6, 10).await.unwrap(), Changes::Resync { head: 5 });
    store.clock.advance(Duration::from_secs(4 * 24 * 3_600));
    assert_eq!(retention::run(&store.db, &policy).await.unwrap().change_count, 2);
    assert_eq!(store.db.changes_after(4, 10).await.unwrap(), Changes::Resync { head: 5 });
    assert_eq!(page(&store, 5).await, []);
}
