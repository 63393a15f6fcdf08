//! Transactions: what is kept, what is not, and what happens to those beside a failure.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;

use pegel_store::value::Value;
use pegel_store::{Db, Error, StoreConfig};

use crate::on_both;
use crate::stores::{Store, manual_clock, write};

on_both!(
    values_come_back_as_they_went_in,
    a_wrong_type_is_an_error_and_no_panic,
    a_failed_job_rolls_back_alone,
    a_panicking_job_takes_nobody_with_it,
    many_writes_at_once_are_all_kept,
    a_read_cannot_write,
    a_read_sees_one_moment,
    a_closed_store_says_so,
    a_write_nobody_waits_for_is_done_all_the_same,
    two_that_stand_in_each_others_way_both_get_through,
    a_read_that_is_given_up_leaves_nothing_behind,
);

const INSERT: &str =
    "INSERT INTO login_throttle (kind, subject, failure_count, last_failure_at, locked_until)
    VALUES ('name', $1, $2, $3, $4)";
const COUNT: &str = "SELECT count(*) AS n FROM login_throttle";

async fn insert(db: &Db, name: &str) -> Result<u64, Error> {
    let name = name.to_owned();
    db.write(move |tx| {
        let values = [name.as_str().into(), 1_i64.into(), tx.now().into(), Value::Null];
        Box::pin(async move { tx.execute(INSERT, &values).await })
    })
    .await
}

async fn values_come_back_as_they_went_in(store: Store) {
    let text = "ä\u{1F30A}'\"; --";
    for (name, locked) in [("none", Value::Null), (text, Value::Int(i64::MAX))] {
        let values = [name.into(), i64::MIN.into(), (-1_i64).into(), locked];
        write!(store, [values], |tx| tx.execute(INSERT, &values).await).unwrap();
    }
    let sql = "SELECT subject, failure_count, locked_until FROM login_throttle ORDER BY locked_until IS NULL, subject";
    let rows = store.db.read(move |tx| Box::pin(tx.fetch_all(sql, &[]))).await.unwrap();
    assert_eq!(rows[0].text("subject").unwrap(), text);
    assert_eq!(rows[0].int("failure_count").unwrap(), i64::MIN);
    assert_eq!(rows[0].optional_int("locked_until").unwrap(), Some(i64::MAX));
    assert_eq!(rows[1].optional_int("locked_until").unwrap(), None);
    let blob = [Value::from(&b"\0\xff"[..])];
    let echo =
        "SELECT $1 AS b FROM (SELECT ciphertext FROM secret WHERE ciphertext = $1) AS s UNION ALL SELECT $1";
    let row = store.db.read(move |tx| {
        let blob = blob.clone();
        Box::pin(async move { tx.fetch_one(echo, &blob).await })
    });
    assert_eq!(row.await.unwrap().blob("b").unwrap(), b"\0\xff");
}

async fn a_wrong_type_is_an_error_and_no_panic(store: Store) {
    insert(&store.db, "ann").await.unwrap();
    let sql = "SELECT subject, failure_count, last_failure_at, locked_until FROM login_throttle";
    let row = store.db.read(move |tx| Box::pin(tx.fetch_one(sql, &[]))).await.unwrap();
    let errors = [
        row.int("subject").unwrap_err(),
        row.text("failure_count").unwrap_err(),
        row.int("locked_until").unwrap_err(),
        row.int("nothing").unwrap_err(),
        row.truth("last_failure_at").unwrap_err(),
        row.array::<4>("subject").unwrap_err(),
        row.parsed::<uuid::Uuid>("subject").unwrap_err(),
        row.json::<serde_json::Value>("subject").unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.code(), "corrupt_row");
        assert!(!error.to_string().contains("ann"), "{error}");
    }
}

async fn a_failed_job_rolls_back_alone(store: Store) {
    let failing = |name: &'static str| {
        let db = store.db.clone();
        async move {
            db.write::<(), _>(move |tx| {
                Box::pin(async move {
                    let values = [name.into(), 1_i64.into(), 1_i64.into(), Value::Null];
                    tx.execute(INSERT, &values).await?;
                    // The same row once more.
                    tx.execute(INSERT, &values).await?;
                    Ok(())
                })
            })
            .await
        }
    };
    let (one, two, three, four, five) = tokio::join!(
        insert(&store.db, "a"),
        failing("b"),
        insert(&store.db, "c"),
        failing("d"),
        insert(&store.db, "e"),
    );
    assert!(one.is_ok() && three.is_ok() && five.is_ok());
    assert_eq!(
        (two.unwrap_err().code(), four.unwrap_err().code()),
        ("integrity_violation", "integrity_violation")
    );
    assert_eq!(store.count(COUNT).await, 3);
}

async fn a_panicking_job_takes_nobody_with_it(store: Store) {
    let panicking = store.db.write::<(), _>(|tx| {
        Box::pin(async move {
            tx.execute(INSERT, &["p".into(), 1_i64.into(), 1_i64.into(), Value::Null]).await?;
            panic!("a programming error")
        })
    });
    let (outcome, beside) = tokio::join!(panicking, insert(&store.db, "a"));
    assert_eq!(outcome.unwrap_err().code(), "internal");
    beside.unwrap();
    insert(&store.db, "b").await.unwrap();
    assert_eq!(store.count(COUNT).await, 2);
}

async fn many_writes_at_once_are_all_kept(store: Store) {
    let writers: Vec<_> = (0..40)
        .map(|writer| {
            let db = store.db.clone();
            tokio::spawn(async move {
                for count in 0..10 {
                    insert(&db, &format!("{writer}/{count}")).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(store.count(COUNT).await, 400);
    store.db.close().await;
    let again = store.again().await;
    let count = again.read(|tx| Box::pin(async { tx.fetch_one(COUNT, &[]).await?.int("n") })).await;
    assert_eq!(count.unwrap(), 400);
}

async fn a_read_cannot_write(store: Store) {
    let outcome = store.db.read(|tx| Box::pin(tx.execute("DELETE FROM session", &[]))).await;
    assert!(outcome.is_err());
    insert(&store.db, "a").await.unwrap();
}

async fn a_read_sees_one_moment(store: Store) {
    let (begun, mut is_begun) = tokio::sync::mpsc::channel::<()>(1);
    let (go_on, may_go_on) = tokio::sync::watch::channel(false);
    let reader = {
        let db = store.db.clone();
        tokio::spawn(async move {
            db.read(move |tx| {
                let (begun, mut may_go_on) = (begun.clone(), may_go_on.clone());
                Box::pin(async move {
                    let before = tx.fetch_one(COUNT, &[]).await?.int("n")?;
                    begun.send(()).await.unwrap();
                    may_go_on.wait_for(|go_on| *go_on).await.unwrap();
                    Ok((before, tx.fetch_one(COUNT, &[]).await?.int("n")?))
                })
            })
            .await
        })
    };
    is_begun.recv().await.unwrap();
    insert(&store.db, "a").await.unwrap();
    go_on.send(true).unwrap();
    assert_eq!(reader.await.unwrap().unwrap(), (0, 0));
    assert_eq!(store.count(COUNT).await, 1);
}

async fn a_closed_store_says_so(store: Store) {
    store.db.close().await;
    assert_eq!(insert(&store.db, "a").await.unwrap_err().code(), "store_closed");
    let read = store.db.read(|tx| Box::pin(tx.fetch_all(COUNT, &[]))).await;
    assert_eq!(read.unwrap_err().code(), "store_closed");
}

async fn a_write_nobody_waits_for_is_done_all_the_same(store: Store) {
    let (begun, mut is_begun) = tokio::sync::mpsc::channel::<()>(1);
    let (go_on, may_go_on) = tokio::sync::watch::channel(false);
    let db = store.db.clone();
    let write = tokio::spawn(async move {
        db.write(move |tx| {
            let (begun, mut may_go_on) = (begun.clone(), may_go_on.clone());
            Box::pin(async move {
                begun.send(()).await.unwrap();
                may_go_on.wait_for(|go_on| *go_on).await.unwrap();
                tx.execute(INSERT, &["a".into(), 1_i64.into(), 1_i64.into(), Value::Null]).await
            })
        })
        .await
    });
    is_begun.recv().await.unwrap();
    write.abort();
    assert!(write.await.unwrap_err().is_cancelled());
    go_on.send(true).unwrap();
    store.db.close().await;
    let again = store.again().await;
    let count = again.read(|tx| Box::pin(async { tx.fetch_one(COUNT, &[]).await?.int("n") })).await;
    assert_eq!(count.unwrap(), 1);
}

async fn two_that_stand_in_each_others_way_both_get_through(store: Store) {
    insert(&store.db, "a").await.unwrap();
    insert(&store.db, "b").await.unwrap();
    let runs = Arc::new(AtomicU32::new(0));
    let barrier = Arc::new(tokio::sync::Barrier::new(2));
    let is_postgres = store.is_postgres();
    let crossing = |first: &'static str, second: &'static str| {
        let (db, runs, barrier) = (store.db.clone(), Arc::clone(&runs), Arc::clone(&barrier));
        async move {
            db.write(move |tx| {
                let (runs, barrier) = (Arc::clone(&runs), Arc::clone(&barrier));
                Box::pin(async move {
                    let add =
                        "UPDATE login_throttle SET failure_count = failure_count + 1 WHERE subject = $1";
                    tx.execute(add, &[first.into()]).await?;
                    // Only with several writers can both have their first row at once.
                    if runs.fetch_add(1, Ordering::SeqCst) < 2 && is_postgres {
                        barrier.wait().await;
                    }
                    tx.execute(add, &[second.into()]).await
                })
            })
            .await
        }
    };
    let (one, two) = tokio::join!(crossing("a", "b"), crossing("b", "a"));
    assert!(one.is_ok() && two.is_ok(), "{one:?} {two:?}");
    assert_eq!(runs.load(Ordering::SeqCst), if is_postgres { 3 } else { 2 });
    let sum = "SELECT count(*) AS n FROM login_throttle WHERE failure_count = 3";
    assert_eq!(store.count(sum).await, 2);
}

#[tokio::test]
async fn a_store_in_memory_reads_and_writes() {
    let db = Db::open(&StoreConfig::SqliteMemory, manual_clock()).await.unwrap();
    insert(&db, "a").await.unwrap();
    let read = db.read(|tx| Box::pin(async { tx.fetch_one(COUNT, &[]).await?.int("n") })).await;
    assert_eq!(read.unwrap(), 1);
    // What a read writes is not kept.
    db.read(|tx| Box::pin(tx.execute("DELETE FROM login_throttle", &[]))).await.unwrap();
    let read = db.read(|tx| Box::pin(async { tx.fetch_one(COUNT, &[]).await?.int("n") })).await;
    assert_eq!(read.unwrap(), 1);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pegel.db");
    std::fs::write(&path, "not a database, and long enough to be read as one".repeat(100)).unwrap();
    let error = Db::open(&StoreConfig::Sqlite { path }, manual_clock()).await.unwrap_err();
    assert_eq!(error.code(), "store_damaged");
    let nowhere = StoreConfig::Sqlite { path: folder.path().join("missing/pegel.db") };
    assert_eq!(Db::open(&nowhere, manual_clock()).await.unwrap_err().code(), "io_failed");
}

async fn a_read_that_is_given_up_leaves_nothing_behind(store: Store) {
    for round in 0..60 {
        let mut polls_left = round % 12 + 1;
        let read = store.db.read(|tx| {
            Box::pin(async move { tx.fetch_one("SELECT seq FROM change_head", &[]).await?.int("seq") })
        });
        let mut read = Box::pin(read);
        poll_fn(|context| {
            polls_left -= 1;
            match read.as_mut().poll(context) {
                Poll::Pending if polls_left > 0 => Poll::Pending,
                _ => Poll::Ready(()),
            }
        })
        .await;
        drop(read);
        // Often enough that every connection of the pool has its turn.
        for _ in 0..24 {
            let written = store.db.write(|tx| {
                Box::pin(async move {
                    tx.announce("x");
                    Ok(())
                })
            });
            assert!(written.await.is_ok(), "in round {round}");
        }
    }
}
