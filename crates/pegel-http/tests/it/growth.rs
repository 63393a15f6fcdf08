//! A thousand rounds of the worst targets leave nothing behind.

use std::time::Duration;

use futures_util::future::join_all;
use pegel_http::expect::{Expect, How, TextCheck};
use pegel_http::request::Request;
use tokio::io::AsyncWriteExt as _;
use tokio::runtime::Handle;

use crate::target::{Target, outbound, read_head};

const ROUNDS: usize = 20;
const AT_ONCE: usize = 50;

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[tokio::test(flavor = "current_thread")]
async fn a_thousand_stalled_exchanges_leave_no_task_and_no_socket_a35() {
    let targets = [
        Target::start(|mut stream| async move {
            read_head(&mut stream).await;
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
            while stream.write_all(b"x").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await,
        Target::start(|mut stream| async move { drop(read_head(&mut stream).await) }).await,
        Target::answering("HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n").await,
    ];
    let outbound = outbound().0;
    let texts = vec![TextCheck { text: "never".to_owned(), how: How::Contains }];
    let expect = Expect { texts, ..Expect::default() };
    let mut after_first = None;
    for _ in 0..ROUNDS {
        let requests: Vec<Request> = (0..AT_ONCE)
            .map(|number| {
                let target = &targets[number % targets.len()];
                let scheme = if number % 7 == 0 { "https" } else { "http" };
                Request::get(&format!("{scheme}://{}/", target.address), Duration::from_millis(100)).unwrap()
            })
            .collect();
        let reports = join_all(requests.iter().map(|request| outbound.send(request, &expect))).await;
        assert!(reports.iter().all(|report| report.failure.is_some()));
        settle(after_first).await;
        after_first.get_or_insert_with(|| (open_files(), Handle::current().metrics().num_alive_tasks()));
    }
    let (files, tasks) = after_first.unwrap();
    assert!(open_files() <= files, "{} open files, {files} after the first round", open_files());
    let alive = Handle::current().metrics().num_alive_tasks();
    assert!(alive <= tasks, "{alive} tasks, {tasks} after the first round");
}

/// Waits until the targets, which live in the same process, have noticed that they are alone.
async fn settle(after_first: Option<(usize, usize)>) {
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let is_quiet = match after_first {
            Some((files, tasks)) => {
                open_files() <= files && Handle::current().metrics().num_alive_tasks() <= tasks
            }
            // Three that accept, and nothing else.
            None => Handle::current().metrics().num_alive_tasks() <= 3,
        };
        if is_quiet {
            return;
        }
    }
}
