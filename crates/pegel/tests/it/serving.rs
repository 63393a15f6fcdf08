//! A server of the program itself, and people who use it from a home of their own.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::pegel::{Ran, command, file, finish};

/// Longest wait for anything; a test that gets there has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// The password that the admin chooses.
pub(crate) const PASSWORD: &str = "correct horse battery staple";

/// A folder with the data of a server and the home of a person.
pub(crate) struct Place {
    dir: TempDir,
}

/// A running server.
pub(crate) struct Server {
    child: Child,
    lines: watch::Receiver<Vec<String>>,
    url: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("home")).unwrap();
        Self { dir }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// Returns a command line of the person whose home this is.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = command();
        command.env("HOME", self.path().join("home")).args(line.split_whitespace());
        command
    }

    /// Runs a line of arguments.
    pub(crate) async fn run(&self, line: &str) -> Ran {
        let ran = timeout(PATIENCE, finish(self.command(line))).await;
        ran.unwrap_or_else(|_| panic!("`pegel {line}` does not end"))
    }

    /// Returns the command line of a server on the data here and a free port.
    pub(crate) fn serve_command(&self) -> Command {
        let mut command = self.command("serve --listen 127.0.0.1:0");
        command.arg("--data-dir").arg(self.data());
        command
    }

    /// Starts a server.
    pub(crate) async fn serve(&self) -> Server {
        Server::start(self.serve_command()).await
    }

    /// Starts a server that must refuse to start, and returns what it left behind.
    pub(crate) async fn serve_in_vain(&self) -> Ran {
        timeout(PATIENCE, finish(self.serve_command())).await.expect("the server gives up")
    }

    /// Writes a file for this place's owner alone.
    pub(crate) async fn file(&self, name: &str, text: &str) -> String {
        file(self.path(), name, text).await
    }

    /// Starts a server for the first time and signs its admin in, with another password.
    pub(crate) async fn serve_signed_in(&self) -> Server {
        let server = self.serve().await;
        let first = self.file("first", &server.first_password().expect("it is the first start")).await;
        let chosen = self.file("chosen", PASSWORD).await;
        let line = format!(
            "login --server {} --username admin --password-file {first} --new-password-file {chosen}",
            server.url()
        );
        let ran = self.run(&line).await;
        assert_eq!(ran.code, 0, "{ran:#?}");
        server
    }

    /// Runs a statement behind the store's back, while no server works with it.
    pub(crate) async fn tamper(&self, statements: &[&'static str]) {
        let path = self.data().join("pegel.sqlite");
        let clock = pegel_core::clock::ManualClock::new(jiff::Timestamp::UNIX_EPOCH);
        let config = pegel_store::StoreConfig::Sqlite { path };
        let db = pegel_store::Db::open(&config, Arc::new(clock)).await.unwrap();
        for statement in statements {
            let sql = *statement;
            db.write(move |tx| Box::pin(async move { tx.execute(sql, &[]).await })).await.unwrap();
        }
        db.close().await;
    }
}

impl Server {
    /// Starts a server and waits until it says where it listens.
    pub(crate) async fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = watch::channel(Vec::new());
        tokio::spawn(collect(child.stderr.take().unwrap(), sender));
        let mut server = Self { child, lines, url: String::new() };
        let line = server.line_with("listening on http://").await;
        server.url = line.split("listening on ").nth(1).unwrap().split(['"', ' ']).next().unwrap().to_owned();
        server
    }

    /// Waits for a line on stderr that holds a text, and returns it.
    pub(crate) async fn line_with(&mut self, part: &str) -> String {
        let is_said = |lines: &Vec<String>| lines.iter().any(|line| line.contains(part));
        // Whether it was said in time is seen below.
        let _ = timeout(PATIENCE, self.lines.wait_for(is_said)).await;
        let lines = self.lines.borrow();
        let found = lines.iter().find(|line| line.contains(part));
        found.unwrap_or_else(|| panic!("the server never said {part:?}: {lines:#?}")).clone()
    }

    /// Returns where it listens, as a URL.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns where it listens.
    pub(crate) fn address(&self) -> std::net::SocketAddr {
        self.url.trim_start_matches("http://").parse().unwrap()
    }

    /// Returns everything it has said on stderr.
    pub(crate) fn said(&self) -> String {
        self.lines.borrow().join("\n")
    }

    /// Returns the generated password, if it was shown.
    pub(crate) fn first_password(&self) -> Option<String> {
        let lines = self.lines.borrow();
        lines.iter().find_map(|line| line.strip_prefix("    ")).map(str::to_owned)
    }

    /// Sends a signal.
    pub(crate) async fn signal(&self, name: &str) {
        let pid = self.child.id().expect("it runs").to_string();
        let sent =
            Command::new("sh").args(["-c", "kill -s \"$1\" \"$2\"", "kill", name, &pid]).status().await;
        assert!(sent.unwrap().success());
    }

    /// Waits for the end and returns the exit code; nothing for a death by signal.
    pub(crate) async fn end(&mut self) -> Option<i32> {
        timeout(PATIENCE, self.child.wait()).await.expect("the server ends").unwrap().code()
    }

    /// Ends the server in order.
    pub(crate) async fn stop(mut self) -> String {
        self.signal("TERM").await;
        assert_eq!(self.end().await, Some(0), "{}", self.said());
        self.said()
    }

    /// Ends the server at once, as a crash would.
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Takes the pipe of stdout, which the server never writes to.
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Asks a path without signing in, and returns the status and the body.
    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let mut stream = tokio::net::TcpStream::connect(self.address()).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }
}

async fn collect(stderr: ChildStderr, sender: watch::Sender<Vec<String>>) {
    let mut lines = BufReader::new(stderr).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        sender.send_modify(|lines| lines.push(line));
    }
}
