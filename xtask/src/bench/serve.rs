//! A server of its own for a measurement: started, asked until it is ready, stopped.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use fluss_testkit::ports::FreePorts;
use hyper::Method;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::oneshot;
use tokio::time;

use crate::bench::http::{Connection, Credential};
use crate::clock::Stopwatch;

/// How long a start may take before it counts as failed.
const START_BOUND: Duration = Duration::from_secs(30);
const BETWEEN_TRIES: Duration = Duration::from_millis(1);
/// How long a stop may take.
const STOP_BOUND: Duration = Duration::from_secs(30);

/// A running server.
pub(super) struct Server {
    child: Child,
    first_password: oneshot::Receiver<String>,
    authority: String,
    ready_after: Duration,
    _ports: FreePorts,
}

impl Server {
    /// Starts the program's server on a free port and waits until it says that it is ready.
    pub(super) async fn start(program: &Path, data_dir: &Path) -> anyhow::Result<Self> {
        let ports = FreePorts::claim(1)?;
        let port = ports.ports().first().context("no free port")?;
        let authority = format!("127.0.0.1:{port}");
        let stopwatch = Stopwatch::start();
        let mut child = Command::new(program)
            .args(["serve", "--listen", &authority, "--data-dir"])
            .arg(data_dir)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("starting the server")?;
        let stderr = child.stderr.take().context("the server's messages are a pipe")?;
        let (tell, first_password) = oneshot::channel();
        tokio::spawn(read_messages(stderr, tell));
        let ready = time::timeout(START_BOUND, until_ready(&authority));
        ready.await.context("the server is not ready")?;
        let ready_after = stopwatch.elapsed();
        Ok(Self { child, first_password, authority, ready_after, _ports: ports })
    }

    /// From before the process was made until it answered that it is ready.
    pub(super) fn ready_after(&self) -> Duration {
        self.ready_after
    }

    /// Returns resident memory in MiB.
    pub(super) fn rss_mib(&self) -> anyhow::Result<f64> {
        let pid = self.child.id().context("the server has ended")?;
        let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib: f64 = line.and_then(|line| line.trim().strip_suffix(" kB")).context("no VmRSS")?.parse()?;
        Ok(kib / 1024.0)
    }

    /// Signs in as the first admin, whose password the first start prints, and makes an access token.
    pub(super) async fn first_token(&mut self) -> anyhow::Result<String> {
        let password = time::timeout(START_BOUND, &mut self.first_password).await;
        let password = password.ok().and_then(Result::ok).context("the first start shows no password")?;
        let mut connection = Connection::open(&self.authority).await?;
        let login = json!({ "name": "admin", "password": password });
        let answer = connection.send(Method::POST, "/api/v1/session", Some(&login)).await?;
        ensure!(answer.status.is_success(), "the first admin cannot sign in: {}", answer.status);
        connection.credential = Credential::Cookie(answer.cookie.context("the login gave no cookie")?);
        let change = json!({ "current_password": password, "new_password": format!("{password}-changed") });
        let answer = connection.send(Method::POST, "/api/v1/account/password", Some(&change)).await?;
        ensure!(answer.status.is_success(), "the password cannot be changed: {}", answer.status);
        if let Some(cookie) = answer.cookie {
            connection.credential = Credential::Cookie(cookie);
        }
        let token = json!({
            "name": "bench", "role": "admin", "grants": ["fluss-plugin.*.*", "fluss-plugin.*.*.*", "pegel.*.*"], "scope": "all", "expires_in_days": 1,
        });
        let (made, _) = connection.expect(Method::POST, "/api/v1/account/tokens", Some(&token)).await?;
        let secret = made.get("secret").and_then(serde_json::Value::as_str);
        Ok(secret.context("the token is not shown")?.to_owned())
    }

    /// Connects with an access token.
    pub(super) async fn connect(&self, token: &str) -> anyhow::Result<Connection> {
        let mut connection = Connection::open(&self.authority).await?;
        connection.credential = Credential::Token(token.to_owned());
        Ok(connection)
    }

    /// Asks the server to end and waits for it.
    pub(super) async fn stop(mut self) -> anyhow::Result<()> {
        let pid = self.child.id().context("the server has ended")?;
        let told = Command::new("kill").args(["-TERM", &pid.to_string()]).status().await?;
        ensure!(told.success(), "the server cannot be told to end");
        let status =
            time::timeout(STOP_BOUND, self.child.wait()).await.context("the server does not end")??;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }
}

/// Reads what the server says, to the end so that it never waits for its reader, and tells the password it shows.
async fn read_messages(stderr: ChildStderr, tell: oneshot::Sender<String>) {
    let mut lines = BufReader::new(stderr).lines();
    let (mut tell, mut is_announced) = (Some(tell), false);
    while let Ok(Some(line)) = lines.next_line().await {
        // The password stands alone on the first line after its announcement that is not empty.
        if is_announced
            && !line.trim().is_empty()
            && let Some(tell) = tell.take()
        {
            let _ = tell.send(line.trim().to_owned());
        }
        is_announced |= line.ends_with("with the password");
    }
}

async fn until_ready(authority: &str) {
    loop {
        if let Ok(mut connection) = Connection::open(authority).await
            && let Ok(answer) = connection.send(Method::GET, "/readyz", None).await
            && answer.status.is_success()
        {
            return;
        }
        time::sleep(BETWEEN_TRIES).await;
    }
}
