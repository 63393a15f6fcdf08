//! Chunks of samples.

use jiff::Timestamp;
use pegel_core::monitor::span::Span;
use pegel_core::monitor::verdict::Outcome;
use pegel_store::samples::results::{MonitorResult, decode, encode};
use pegel_store::samples::{self, Chunk, RAW};

use crate::on_both;
use crate::stores::{Store, write};

on_both!(
    an_open_chunk_grows_in_place,
    a_range_has_every_chunk_that_reaches_into_it,
    old_chunks_and_those_of_a_target_are_removed,
    an_endless_chunk_is_refused,
);

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn chunk(target: &str, from: i64, to: i64) -> Chunk {
    let results = [from, to].map(|seconds| MonitorResult {
        at: at(seconds),
        outcome: Outcome::Ok,
        duration_us: Some(7),
    });
    Chunk {
        target_id: target.to_owned(),
        resolution_ms: RAW,
        begins_at: at(from),
        ends_at: at(to),
        sample_count: 2,
        is_open: false,
        data: encode(&results).unwrap(),
    }
}

async fn put(store: &Store, chunk: Chunk) {
    write!(store, [chunk], |tx| samples::put(tx, &chunk).await).unwrap();
}

async fn begins(store: &Store, target: &'static str, from: i64, to: i64) -> Vec<i64> {
    let span = Span::new(at(from), at(to));
    let found = store.db.read(move |tx| Box::pin(samples::range(tx, target, RAW, span, 100))).await.unwrap();
    found.iter().map(|chunk| chunk.begins_at.as_second()).collect()
}

async fn an_open_chunk_grows_in_place(store: Store) {
    let open = || store.db.read(|tx| Box::pin(samples::open_chunk(tx, "monitor/1", RAW)));
    assert_eq!(open().await.unwrap(), None);
    put(&store, Chunk { is_open: true, ..chunk("monitor/1", 0, 30) }).await;
    let grown = Chunk { is_open: true, sample_count: 3, ..chunk("monitor/1", 0, 60) };
    put(&store, grown.clone()).await;
    let read = open().await.unwrap().unwrap();
    assert_eq!(read, grown);
    assert_eq!(decode(&read.data).unwrap()[1].at, at(60));
    put(&store, Chunk { is_open: false, ..grown }).await;
    assert_eq!(open().await.unwrap(), None);
}

async fn a_range_has_every_chunk_that_reaches_into_it(store: Store) {
    for (from, to) in [(0, 90), (100, 190), (200, 290)] {
        put(&store, chunk("monitor/1", from, to)).await;
    }
    put(&store, chunk("monitor/2", 100, 190)).await;
    put(&store, Chunk { resolution_ms: 60_000, ..chunk("monitor/1", 100, 190) }).await;
    assert_eq!(begins(&store, "monitor/1", 0, 1_000).await, [0, 100, 200]);
    assert_eq!(begins(&store, "monitor/1", 90, 200).await, [0, 100]);
    assert_eq!(begins(&store, "monitor/1", 91, 201).await, [100, 200]);
    assert_eq!(begins(&store, "monitor/3", 0, 1_000).await, [0; 0]);
}

async fn old_chunks_and_those_of_a_target_are_removed(store: Store) {
    for (from, to) in [(0, 90), (100, 190), (200, 290)] {
        put(&store, chunk("monitor/1", from, to)).await;
    }
    put(&store, chunk("monitor/2", 100, 190)).await;
    assert_eq!(write!(store, [], |tx| samples::trim(tx, RAW, at(190), 10).await).unwrap(), 1);
    assert_eq!(write!(store, [], |tx| samples::remove(tx, "monitor/1", 1).await).unwrap(), 1);
    assert_eq!(write!(store, [], |tx| samples::remove(tx, "monitor/1", 10).await).unwrap(), 1);
    assert_eq!(begins(&store, "monitor/2", 0, 1_000).await, [100]);
}

async fn an_endless_chunk_is_refused(store: Store) {
    let endless = Chunk { data: vec![0; samples::MAX_CHUNK_BYTES + 1], ..chunk("monitor/1", 0, 30) };
    let error = write!(store, [endless], |tx| samples::put(tx, &endless).await).unwrap_err();
    assert_eq!(error.code(), "too_large");
}
