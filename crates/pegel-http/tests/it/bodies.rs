//! What is looked for in bodies that come over the network.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use pegel_http::expect::{Expect, Found, How, TextCheck};
use pegel_http::json::{JsonCheck, Want};
use pegel_http::report::Report;
use tokio::io::AsyncWriteExt as _;

use crate::target::{Target, get, outbound, read_head, told};

fn contains(text: &str, how: How) -> Expect {
    Expect { texts: vec![TextCheck { text: text.to_owned(), how }], ..Expect::default() }
}

async fn judge(answer: impl Into<Vec<u8>>, expect: &Expect) -> Report {
    let target = Target::answering(answer).await;
    outbound().0.send(&get(&target.url("/")), expect).await
}

fn json(body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[tokio::test]
async fn the_tutorials_sidecar_is_found_with_its_space_a47() {
    let body = json(r#"{"status": "ok", "write_latency_p99_ms": 3}"#);
    let report = judge(body.clone(), &contains(r#""status":"ok""#, How::Contains)).await;
    assert_eq!(told(&report), "ok");
    assert_eq!(report.answer.unwrap().found, [Some(Found::JsonCompact)]);
    let report = judge(body, &contains(r#""status":"ok""#, How::ContainsRaw)).await;
    assert_eq!(told(&report), "text_missing in body");
}

#[tokio::test]
async fn a_text_that_comes_in_two_pieces_is_found() {
    let target = Target::start(|mut stream| async move {
        read_head(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nnee\r\n").await.unwrap();
        stream.flush().await.unwrap();
        tokio::task::yield_now().await;
        let _ = stream.write_all(b"3\r\ndle\r\n0\r\n\r\n").await;
    })
    .await;
    let report = outbound().0.send(&get(&target.url("/")), &contains("needle", How::ContainsRaw)).await;
    assert_eq!(told(&report), "ok");
}

#[tokio::test]
async fn an_unwanted_text_fails() {
    let report = judge(json(r#"{"state":"DOWN"}"#), &contains("DOWN", How::NotContains)).await;
    assert_eq!(told(&report), "text_present in body");
}

#[tokio::test]
async fn a_body_that_is_cut_off_fails_although_the_text_was_found() {
    for head in ["Content-Length: 100\r\n\r\nneedle", "Transfer-Encoding: chunked\r\n\r\n6\r\nneedle\r\n"] {
        let report = judge(format!("HTTP/1.1 200 OK\r\n{head}"), &contains("needle", How::Contains)).await;
        assert_eq!(told(&report), "body_incomplete in body", "{head}");
    }
}

#[tokio::test]
async fn a_text_behind_the_limit_is_told_apart_from_one_that_is_not_there() {
    let body = format!("HTTP/1.1 200 OK\r\n\r\n{}needle", "x".repeat(5_000));
    let target = Target::answering(body).await;
    let mut request = get(&target.url("/"));
    request.read_bytes = 1_000;
    let report = outbound().0.send(&request, &contains("needle", How::Contains)).await;
    assert_eq!(told(&report), "text_missing_within_limit in body");
    assert_eq!(report.answer.unwrap().body_bytes, 1_000);
}

#[tokio::test]
async fn a_packed_bomb_ends_at_the_limit() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![0; 100_000_000]).unwrap();
    let packed = encoder.finish().unwrap();
    let mut answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".to_vec();
    answer.extend(&packed);
    let report = judge(answer, &contains("x", How::Contains)).await;
    assert_eq!(told(&report), "text_missing_within_limit in body");
    let answer = report.answer.unwrap();
    assert_eq!((answer.body_bytes, answer.is_body_whole), (10 * 1024 * 1024, false));
    assert!(answer.wire_bytes < 100_000 && answer.body.len() <= 64 * 1024);
}

#[tokio::test]
async fn values_are_judged_by_their_path() {
    let expect = |path: &str, want| Expect {
        json: vec![JsonCheck { path: path.parse().unwrap(), want }],
        ..Expect::default()
    };
    let body = || json(r#"{"jobs": {"running": 3}}"#);
    let running = |count: &str| expect("$.jobs.running", Want::AtLeast(count.to_owned()));
    assert_eq!(told(&judge(body(), &running("3")).await), "ok");
    assert_eq!(told(&judge(body(), &running("4")).await), "json_unexpected in body");
    assert_eq!(told(&judge(body(), &expect("$.no", Want::Exists)).await), "json_missing in body");
    assert_eq!(told(&judge(json("<html>"), &running("1")).await), "json_invalid in body");
    let large = json(&format!("\"{}\"", "x".repeat(2_000_000)));
    assert_eq!(told(&judge(large, &expect("$", Want::Exists)).await), "json_invalid in body");
}

#[tokio::test]
async fn what_cannot_be_judged_is_refused_before_anything_is_asked() {
    let target = Target::answering("").await;
    let mut request = get(&target.url("/"));
    request.method = http::Method::HEAD;
    let report = outbound().0.send(&request, &contains("x", How::Contains)).await;
    assert_eq!(told(&report), "invalid in resolve");
    let report = outbound().0.send(&get(&target.url("/")), &contains("", How::Contains)).await;
    assert_eq!(told(&report), "invalid in resolve");
    assert_eq!(target.connection_count.load(std::sync::atomic::Ordering::SeqCst), 0);
}
