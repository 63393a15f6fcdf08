//! Answers of targets that are well, and what is made of their statuses and redirects.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use http::Method;
use pegel_http::expect::Expect;
use pegel_http::report::Sent;
use pegel_http::request::{Header, Redirects};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::mpsc;

use crate::target::{Target, ask, get, outbound, read_head, told};

#[tokio::test]
async fn a_request_is_sent_as_it_was_meant_and_its_phases_are_timed() {
    let (sender, mut heads) = mpsc::channel(1);
    let target = Target::start(move |mut stream| {
        let sender = sender.clone();
        async move {
            sender.send(read_head(&mut stream).await).await.unwrap();
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: b\r\n\r\nok").await;
        }
    })
    .await;
    let (outbound, names) = outbound();
    names.set("good.test", &[&["127.0.0.1"]]);
    let mut request = get(&format!("http://good.test:{}/a?b=c#d", target.port()));
    request.headers = vec![Header::new("X-Key", "k").unwrap()];
    let report = outbound.send(&request, &Expect::default()).await;
    assert_eq!(told(&report), "ok");
    let head = heads.recv().await.unwrap();
    let agent = concat!("user-agent: pegel/", env!("CARGO_PKG_VERSION"));
    let expected = format!(
        "GET /a?b=c HTTP/1.1\r\nhost: good.test:{}\r\n{agent}\r\naccept: */*\r\nx-key: k\r\n\
         accept-encoding: gzip, deflate, br, zstd\r\nconnection: close\r\n\r\n",
        target.port()
    );
    assert_eq!(head, expected);
    let answer = report.answer.unwrap();
    assert_eq!((answer.status, &answer.body[..], answer.is_body_whole), (200, &b"ok"[..], true));
    assert_eq!(answer.headers["x-a"], "b");
    let hop = &report.hops[0];
    assert_eq!((hop.address, hop.status), (Some(target.address), Some(200)));
    let timings = hop.timings;
    let timed = [timings.resolve, timings.connect, timings.tls, timings.first_byte, timings.body];
    assert_eq!(timed.map(|took| took.is_some()), [true, true, false, true, true]);
    assert_eq!(hop.url, format!("http://good.test:{}/a?[redacted]", target.port()));
}

#[tokio::test]
async fn a_body_is_posted_whole() {
    let (sender, mut bodies) = mpsc::channel(1);
    let target = Target::start(move |mut stream| {
        let sender = sender.clone();
        async move {
            read_head(&mut stream).await;
            let mut body = vec![0; 5];
            tokio::io::AsyncReadExt::read_exact(&mut stream, &mut body).await.unwrap();
            sender.send(body).await.unwrap();
            let _ = stream.write_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n").await;
        }
    })
    .await;
    let mut request = get(&target.url("/"));
    request.method = Method::POST;
    request.body = Bytes::from_static(b"hello");
    assert_eq!(told(&ask(&request).await), "ok");
    assert_eq!(bodies.recv().await.unwrap(), b"hello");
}

#[tokio::test]
async fn every_form_of_http_1_is_an_answer() {
    for (form, answer) in [
        ("without a length", "HTTP/1.0 200 OK\r\n\r\nbody"),
        (
            "in pieces",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2\r\ndy\r\n0\r\nX-T: 1\r\n\r\n",
        ),
        (
            "after a hint",
            "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",
        ),
    ] {
        let target = Target::answering(answer).await;
        let report = ask(&get(&target.url("/"))).await;
        assert_eq!(told(&report), "ok", "{form}");
        assert_eq!(report.answer.unwrap().body[..], b"body"[..], "{form}");
    }
}

#[tokio::test]
async fn statuses_without_a_body_have_none_whatever_they_say() {
    for status in ["204 No Content", "304 Not Modified"] {
        let target = Target::answering(format!("HTTP/1.1 {status}\r\nContent-Length: 5\r\n\r\n")).await;
        let expect = Expect { statuses: "204,304".parse().unwrap(), ..Expect::default() };
        let report = outbound().0.send(&get(&target.url("/")), &expect).await;
        assert_eq!(told(&report), "ok", "{status}");
    }
    let target = Target::answering("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n").await;
    let mut head = get(&target.url("/"));
    head.method = Method::HEAD;
    assert_eq!(told(&ask(&head).await), "ok");
}

#[tokio::test]
async fn another_status_than_expected_fails_and_is_shown() {
    let target = Target::answering("HTTP/1.1 503 Busy\r\nContent-Length: 3\r\n\r\nwhy").await;
    let report = ask(&get(&target.url("/"))).await;
    assert_eq!(told(&report), "status_unexpected in body");
    assert_eq!(report.answer.unwrap().body[..], b"why"[..]);
}

#[tokio::test]
async fn a_redirect_is_followed_or_judged_as_told_a45() {
    let target = Target::start(|mut stream| async move {
        let head = read_head(&mut stream).await;
        let answer = if head.starts_with("GET /maintenance ") {
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nsoon"
        } else {
            "HTTP/1.1 302 Found\r\nLocation: /maintenance\r\nContent-Length: 0\r\n\r\n"
        };
        let _ = stream.write_all(answer.as_bytes()).await;
    })
    .await;
    let mut request = get(&target.url("/"));
    let report = ask(&request).await;
    assert_eq!(told(&report), "ok");
    let hops: Vec<_> = report.hops.iter().map(|hop| (hop.url.clone(), hop.status)).collect();
    assert_eq!(hops, [(target.url("/"), Some(302)), (target.url("/maintenance"), Some(200))]);
    request.redirects = Redirects::Keep;
    let expect = Expect { statuses: "200".parse().unwrap(), ..Expect::default() };
    assert_eq!(told(&outbound().0.send(&request, &expect).await), "status_unexpected in body");
}

#[tokio::test]
async fn credentials_do_not_follow_a_redirect_to_another_origin() {
    let (sender, mut heads) = mpsc::channel(1);
    let other = Target::start(move |mut stream| {
        let sender = sender.clone();
        async move {
            sender.send(read_head(&mut stream).await).await.unwrap();
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
        }
    })
    .await;
    let location = other.url("/");
    let target = Target::answering(format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\n\r\n")).await;
    let mut request = get(&target.url("/"));
    request.headers = [("Authorization", "Bearer secret"), ("X-Api-Key", "secret"), ("Accept", "text/plain")]
        .map(|(name, value)| Header::new(name, value).unwrap())
        .to_vec();
    assert_eq!(told(&ask(&request).await), "ok");
    let head = heads.recv().await.unwrap();
    assert!(!head.contains("secret") && head.contains("accept: text/plain"), "{head}");
}

#[tokio::test]
async fn ipv6_is_asked_as_written_a49() {
    let target = Target::start_on("[::1]:0", |mut stream| async move {
        read_head(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    })
    .await;
    let report = ask(&get(&format!("http://[::1]:{}/", target.port()))).await;
    assert_eq!((told(&report), report.hops[0].address), ("ok".to_owned(), Some(target.address)));
}

#[tokio::test]
async fn a_dead_ipv6_address_does_not_hide_a_live_ipv4_one_but_is_told_a49() {
    let target = Target::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let (outbound, names) = outbound();
    names.set("each.test", &[&["::1", "127.0.0.1"]]);
    let request = get(&format!("http://each.test:{}/", target.port()));
    let report = outbound.send(&request, &Expect::default()).await;
    assert_eq!((told(&report), report.hops[0].address), ("ok".to_owned(), Some(target.address)));
    let passed = &report.hops[0].passed;
    assert_eq!(passed.len(), 1);
    assert_eq!(passed[0].error.code().as_str(), "connection_refused");
    let each: Vec<String> = outbound.send_each(&request, &Expect::default()).await.iter().map(told).collect();
    assert_eq!(each, ["connection_refused in connect", "ok"]);
}

#[tokio::test]
async fn a_refused_connection_has_sent_nothing_and_a_closed_one_may_have() {
    let target = Target::start(|stream| async move { drop(stream) }).await;
    let url = target.url("/");
    let failure = ask(&get(&url)).await.failure.unwrap();
    assert_eq!((failure.error.code().as_str(), failure.sent), ("connection_lost", Sent::Maybe));
    drop(target);
    tokio::task::yield_now().await;
    let refused = ask(&get(&url)).await;
    assert_eq!(told(&refused), "connection_refused in connect");
    assert_eq!(refused.failure.unwrap().sent, Sent::Nothing);
}

#[tokio::test]
async fn each_exchange_is_one_connection_and_one_look_up() {
    let target = Target::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let (outbound, names) = outbound();
    names.set("good.test", &[&["127.0.0.1"]]);
    let request = get(&format!("http://good.test:{}/", target.port()));
    for _ in 0..3 {
        assert_eq!(told(&outbound.send(&request, &Expect::default()).await), "ok");
    }
    assert_eq!(names.asked.load(Ordering::SeqCst), 3);
    assert_eq!(target.connection_count.load(Ordering::SeqCst), 3);
}
