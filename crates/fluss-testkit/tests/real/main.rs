//! Real clusters: started, hurt, restarted and stopped. Skipped where Java, Maven or the jars are missing.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what tests share fails by panicking"
)]

mod cluster;
mod codec;
mod demo;
#[path = "../../../fluss-codec/tests/it/judge.rs"]
mod judge;
mod listeners;
#[path = "../../../fluss-codec/tests/it/values.rs"]
mod values;
mod wire;

use std::path::Path;
use std::time::Duration;

use fluss_testkit::artifacts::Artifacts;
use fluss_testkit::process::is_alive;
use tokio::sync::{Mutex, MutexGuard};
use tokio::time;

/// One cluster at a time: two of them would slow each other down on a small machine.
static TURN: Mutex<()> = Mutex::const_new(());

/// Waits for this test's turn; `None` if no real cluster can run here.
async fn turn() -> Option<MutexGuard<'static, ()>> {
    let turn = TURN.lock().await;
    Artifacts::for_tests().unwrap().map(|_| turn)
}

/// Waits until a condition holds, and fails with its name if that takes too long.
async fn until<F: Future<Output = bool>>(what: &str, within: Duration, condition: impl Fn() -> F) {
    let wait = async {
        while !condition().await {
            time::sleep(Duration::from_millis(100)).await;
        }
    };
    time::timeout(within, wait).await.unwrap_or_else(|_| panic!("not within {within:?}: {what}"));
}

/// Waits until no process names the folder in its command line, and fails with those that stay.
async fn nothing_runs_in(folder: &Path) {
    let left = || {
        let folder = folder.display().to_string();
        std::fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
            .filter(|pid| *pid != std::process::id() && is_alive(*pid))
            .filter_map(|pid| std::fs::read_to_string(format!("/proc/{pid}/cmdline")).ok())
            .any(|line| line.contains(&folder))
    };
    // A guardian takes a moment to notice that its child is gone.
    until("nothing runs in the folder", Duration::from_secs(5), async || !left()).await;
}
