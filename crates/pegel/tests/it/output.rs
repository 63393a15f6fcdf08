//! Streams, colour, help, completion, and the commands that ask nobody.

use std::process::Stdio;

use fluss_testkit::fake_server::{FakeCluster, NewTable};
use tokio::io::AsyncReadExt;

use crate::pegel::{ask, ask_as, command, finish, run};

#[tokio::test(flavor = "multi_thread")]
async fn json_is_one_document_with_the_envelope_in_order() {
    let cluster = FakeCluster::builder().table(NewTable::log("shop", "orders")).start().unwrap();
    let ran = ask(&cluster, "tables -o json").await;
    let json = ran.json(0);
    assert_eq!(ran.stderr, "");
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["status", "execution_id", "observed_at", "source", "data", "evidence", "warnings"]);
    let id = json["execution_id"].as_str().unwrap();
    assert_eq!((id.len(), &id[14..15]), (36, "7"), "a UUID of version 7");
    assert!(json["observed_at"].as_str().unwrap().ends_with('Z'));
    let share = &json["source"]["servers"][0];
    assert_eq!(share["address"], cluster.bootstrap());
    assert!(share["answered"].as_array().unwrap().contains(&"LIST_TABLES".into()), "{share}");
}

#[tokio::test(flavor = "multi_thread")]
async fn quiet_is_the_answer_alone() {
    let cluster = FakeCluster::builder().table(NewTable::log("shop", "orders")).start().unwrap();
    let ran = ask(&cluster, "tables --quiet").await;
    assert!(ran.text().starts_with("TABLE"), "{ran:?}");
    assert_eq!(ran.stdout.lines().count(), 2);
    let limited = ask(&cluster, "databases -q --search nothing").await;
    assert_eq!(limited.text(), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn colour_is_for_terminals_unless_asked_for() {
    let cluster = FakeCluster::builder().start().unwrap();
    assert!(!ask(&cluster, "servers").await.stdout.contains('\u{1b}'));
    assert!(ask(&cluster, "servers --color always").await.stdout.contains("\u{1b}["));
    assert!(!ask(&cluster, "servers --color never").await.stdout.contains('\u{1b}'));
    let env = [("NO_COLOR", "1")];
    assert!(!ask_as(&cluster, "servers --color auto", &env).await.stdout.contains('\u{1b}'));
}

#[tokio::test(flavor = "multi_thread")]
async fn closed_pipe_is_no_failure() {
    let mut command = command();
    command.args(["completion", "bash"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).await.unwrap();
    assert_eq!((child.wait().await.unwrap().code(), stderr.as_str()), (Some(0), ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn help_goes_to_stdout_and_usage_errors_to_stderr() {
    let help = run("--help").await;
    assert!(help.text().contains("Exit codes: 0 answered"), "{help:?}");
    for command in ["tables", "offsets", "acls", "demo"] {
        help.shows(&[command]);
    }
    assert!(run("--version").await.text().starts_with("pegel "));
    for line in ["", "tables --nonsense", "table orders", "cluster"] {
        let ran = run(line).await;
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{line}: {ran:?}");
        assert!(!ran.stderr.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn completion_knows_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let ran = run(&format!("completion {shell}")).await;
        assert!(ran.text().contains("cluster-config"), "{shell}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn error_codes_are_explained_without_a_cluster() {
    let list = run("errors").await;
    assert!(list.text().contains("coordinator_unavailable"), "{list:?}");
    let one = run("errors security_disabled").await;
    one.shows(&["Access control switched off", "what to do", "exit code     7"]);
    let json = run("errors [table_not_found] -o json").await.json(0);
    assert_eq!((&json["exit_code"], &json["http_status"]), (&6.into(), &404.into()));
    let unknown = run("errors nonsense").await;
    assert_eq!(unknown.code, 2);
    unknown.tells(&["error[invalid]: `nonsense` is not an error code", "hint: `pegel errors`"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn verbose_logs_to_stderr_only() {
    let cluster = FakeCluster::builder().start().unwrap();
    let mut command = command();
    command.args(["-v", "--bootstrap", &cluster.bootstrap(), "servers", "-o", "json"]);
    let ran = finish(command).await;
    assert_eq!(ran.json(0)["status"], "ok");
    assert!(ask(&cluster, "servers").await.stderr.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_a_demo_that_does_not_run_is_no_failure() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().display();
    let ran = run(&format!("demo --stop --dir {path}")).await;
    assert!(ran.text().starts_with("No demo is running in"), "{ran:?}");
    let json = run(&format!("demo --stop -o json --dir {path}")).await.json(0);
    assert_eq!(json["stopped"].as_array().unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn demo_refuses_a_folder_with_something_else_in_it() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("precious"), "x").unwrap();
    for line in ["demo", "demo --detach"] {
        let ran = run(&format!("{line} --dir {}", dir.path().display())).await;
        assert_eq!(ran.code, 2, "{ran:?}");
        ran.tells(&["error[invalid]", "choose another"]);
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}
