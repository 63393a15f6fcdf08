//! Children can be signalled, their end is seen, and none outlives its supervisor.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use fluss_testkit::process::{Guarded, ProcessSpec, is_alive};
use tokio::time;

use crate::BOUND;

/// Set in the process that plays the supervisor: the folder for its child's log.
const SUPERVISOR: &str = "FLUSS_TESTKIT_SUPERVISOR";

/// A shell that says so when it got TERM, and otherwise sleeps in small steps.
const POLITE: &str = "trap 'echo ended politely; exit 3' TERM; echo started; while :; do sleep 0.05; done";

/// A shell that ends only by KILL.
const STUBBORN: &str = "trap '' TERM; echo started; while :; do sleep 0.05; done";

fn spec(folder: &Path, script: &str) -> ProcessSpec {
    ProcessSpec {
        name: "child".to_owned(),
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        folder: folder.to_owned(),
        log: folder.join("child.log"),
        grace: Duration::from_millis(500),
        pid_file: None,
    }
}

/// Starts a child and waits until its script has set its trap.
async fn started(folder: &Path, script: &str) -> Guarded {
    let child = Guarded::spawn(spec(folder, script)).await.unwrap();
    until("the script runs", || child.last_lines(5).contains("started")).await;
    child
}

async fn until(what: &str, condition: impl Fn() -> bool) {
    let wait = async {
        while !condition() {
            time::sleep(Duration::from_millis(5)).await;
        }
    };
    time::timeout(BOUND, wait).await.unwrap_or_else(|_| panic!("not in time: {what}"));
}

#[tokio::test]
async fn a_child_that_is_asked_to_end_ends_with_its_own_status_and_its_output_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = started(folder.path(), POLITE).await;
    assert!(child.is_alive());
    child.terminate().await.unwrap();
    let status = child.wait(BOUND).await.unwrap().expect("it ends");
    assert_eq!(status.code(), Some(3));
    assert!(!child.is_alive());
    assert_eq!(child.last_lines(5), "started\nended politely");
    assert_eq!(child.terminate().await.unwrap_err().code(), "not_running");
}

#[tokio::test]
async fn a_child_that_ignores_the_request_is_killed_after_the_grace() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = started(folder.path(), STUBBORN).await;
    child.terminate().await.unwrap();
    assert_eq!(child.wait(Duration::from_millis(200)).await.unwrap(), None, "it ignores TERM");
    child.stop(Duration::from_millis(100)).await.unwrap();
    assert!(!child.is_alive());
}

#[tokio::test]
async fn a_frozen_child_lives_but_does_nothing_until_it_is_thawed() {
    let folder = tempfile::tempdir().unwrap();
    let child = started(folder.path(), "echo started; while :; do echo tick; sleep 0.02; done").await;
    let ticks = || child.last_lines(usize::MAX).lines().count();
    child.freeze().await.unwrap();
    assert!(child.is_alive());
    let frozen_at = ticks();
    time::sleep(Duration::from_millis(200)).await;
    // One line may have been on its way when the signal came.
    assert!(ticks() <= frozen_at + 1, "{frozen_at} then {}", ticks());
    child.thaw().await.unwrap();
    until("it ticks again", || ticks() > frozen_at + 2).await;
}

#[tokio::test]
async fn a_frozen_child_can_be_stopped_and_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = started(folder.path(), POLITE).await;
    child.freeze().await.unwrap();
    child.stop(BOUND).await.unwrap();
    assert!(child.last_lines(5).contains("ended politely"), "it was thawed to end by itself");
    let mut child = started(folder.path(), POLITE).await;
    child.freeze().await.unwrap();
    child.kill().await.unwrap();
    assert!(!child.is_alive());
}

#[tokio::test]
async fn a_program_that_is_not_there_is_seen_as_an_early_end_with_its_cause_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut missing = spec(folder.path(), "");
    missing.program = folder.path().join("no-such-program");
    let mut child = Guarded::spawn(missing).await.unwrap();
    let status = child.wait(BOUND).await.unwrap().expect("it ends at once");
    assert!(!status.success());
    assert!(child.last_lines(5).contains("no-such-program"), "{}", child.last_lines(5));
}

#[tokio::test]
async fn a_dropped_child_is_ended_even_if_it_is_stubborn() {
    let folder = tempfile::tempdir().unwrap();
    let child = started(folder.path(), STUBBORN).await;
    let pid = child.pid();
    drop(child);
    until("the guardian kills it", || !is_alive(pid)).await;
}

/// Runs twice: as a test it starts this binary again as a supervisor, kills that, and looks for its child.
#[tokio::test]
async fn a_supervisor_killed_with_sigkill_leaves_no_child() {
    if let Some(folder) = env::var_os(SUPERVISOR) {
        let child = started(Path::new(&folder), STUBBORN).await;
        println!("child={}", child.pid());
        std::future::pending::<()>().await;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut supervisor = Command::new(env::current_exe().unwrap())
        .args(["--exact", "process::a_supervisor_killed_with_sigkill_leaves_no_child", "--nocapture"])
        .env(SUPERVISOR, folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let pid: u32 = BufReader::new(supervisor.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok)
        .find_map(|line| line.split_once("child=").and_then(|(_, pid)| pid.trim().parse().ok()))
        .expect("the supervisor prints its child's id");
    assert!(is_alive(pid));
    supervisor.kill().unwrap();
    supervisor.wait().unwrap();
    until("the guardian kills the orphan", || !is_alive(pid)).await;
}
