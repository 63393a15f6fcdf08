//! Runs the program and looks at what came out.

use std::process::Stdio;

use fluss_testkit::fake_server::FakeCluster;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// What the program left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A command line with a clean environment.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pegel"));
    command.env_clear().env("LANG", "C.UTF-8").stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// Runs the program and collects both streams.
pub(crate) async fn finish(mut command: Command) -> Ran {
    let output = command.output().await.expect("the program can be started");
    Ran {
        code: output.status.code().expect("the program ended by itself"),
        stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
    }
}

/// Runs a line of arguments.
pub(crate) async fn run(line: &str) -> Ran {
    let mut command = command();
    command.args(line.split_whitespace());
    finish(command).await
}

/// Runs a line of arguments against a cluster, with short limits.
pub(crate) async fn ask(cluster: &FakeCluster, line: &str) -> Ran {
    ask_as(cluster, line, &[]).await
}

/// As [`ask`], with more environment.
pub(crate) async fn ask_as(cluster: &FakeCluster, line: &str, env: &[(&str, &str)]) -> Ran {
    let mut command = command();
    command.args([
        "--bootstrap",
        &cluster.bootstrap(),
        "--dial-timeout-seconds=2",
        "--request-timeout-seconds=3",
    ]);
    command.args(line.split_whitespace()).envs(env.iter().copied());
    finish(command).await
}

/// The environment of a user who logs in.
pub(crate) fn login<'a>(user: &'a str, password: &'a str) -> [(&'a str, &'a str); 3] {
    [
        ("PEGEL_SECURITY_PROTOCOL", "SASL_PLAINTEXT"),
        ("PEGEL_SASL_USERNAME", user),
        ("PEGEL_SASL_PASSWORD", password),
    ]
}

impl Ran {
    /// Returns the one JSON document on stdout, after checking the exit code.
    #[track_caller]
    pub(crate) fn json(&self, code: i32) -> Value {
        assert_eq!(self.code, code, "{self:#?}");
        serde_json::from_str(&self.stdout).expect("stdout is one JSON document")
    }

    /// Returns stdout, after checking the exit code and that stderr is empty.
    #[track_caller]
    pub(crate) fn text(&self) -> &str {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{self:#?}");
        &self.stdout
    }

    /// Checks that stdout has each of the parts.
    #[track_caller]
    pub(crate) fn shows(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.stdout.contains(part), "no {part:?}: {self:#?}");
        }
    }

    /// Checks that stderr has each of the parts.
    #[track_caller]
    pub(crate) fn tells(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?}: {self:#?}");
        }
    }
}

/// Writes a file for one test.
pub(crate) async fn file(dir: &std::path::Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    let mut options = tokio::fs::OpenOptions::new();
    let mut file = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&path)
        .await
        .expect("the folder of a test can be written");
    file.write_all(text.as_bytes()).await.expect("the folder of a test can be written");
    file.flush().await.expect("the folder of a test can be written");
    path.display().to_string()
}
