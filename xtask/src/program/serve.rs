//! A server of the program itself: started, asked until it is ready, stopped or killed, started again where it was.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use fluss_testkit::ports::FreePorts;
use hyper::Method;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::oneshot;
use tokio::time;

use crate::clock::Stopwatch;
use crate::program::http::{Connection, Credential};

/// How long a start may take before it counts as failed.
const START_BOUND: Duration = Duration::from_secs(30);
const BETWEEN_TRIES: Duration = Duration::from_millis(1);
/// How long a stop may take.
const STOP_BOUND: Duration = Duration::from_secs(30);
/// Lines of a server's messages that are kept for when something fails.
const KEPT_LINES: usize = 40;

/// Where a server runs and with which settings; a server that is started again is the same for its clients.
pub(crate) struct Plan {
    program: PathBuf,
    data_dir: PathBuf,
    authority: String,
    environment: Vec<(&'static str, String)>,
    wrapper: Vec<String>,
    _ports: FreePorts,
}

impl Plan {
    /// Plans a server on a free port, all else as installed.
    pub(crate) fn new(program: &Path, data_dir: &Path) -> anyhow::Result<Self> {
        let ports = FreePorts::claim(1)?;
        let port = ports.ports().first().context("no free port")?;
        Ok(Self {
            program: program.to_owned(),
            data_dir: data_dir.to_owned(),
            authority: format!("127.0.0.1:{port}"),
            environment: Vec::new(),
            wrapper: Vec::new(),
            _ports: ports,
        })
    }

    /// Sets an environment variable of the server.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// Starts the server by this program, which gets the server's own line of words and has to become it.
    pub(crate) fn started_by(mut self, words: &[&str]) -> Self {
        self.wrapper = words.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    /// Returns `host:port`.
    pub(crate) fn authority(&self) -> &str {
        &self.authority
    }

    /// Returns where the server keeps its data.
    pub(crate) fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Returns another command of the program, with the server's settings.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words).envs(self.environment.iter().map(|(name, value)| (*name, value)));
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    /// Starts the server and waits until it says that it is ready.
    pub(crate) async fn start(&self) -> anyhow::Result<Server> {
        let mut words = self.wrapper.iter().map(PathBuf::from).chain([self.program.clone()]);
        let mut command = Command::new(words.next().context("a line has a first word")?);
        command
            .args(words)
            .args(["serve", "--listen", &self.authority, "--data-dir"])
            .arg(&self.data_dir)
            .envs(self.environment.iter().map(|(name, value)| (*name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let stopwatch = Stopwatch::start();
        let mut child = command.spawn().context("starting the server")?;
        let stderr = child.stderr.take().context("the server's messages are a pipe")?;
        let (tell, first_password) = oneshot::channel();
        let messages = Arc::<Mutex<VecDeque<String>>>::default();
        let reading = tokio::spawn(read_messages(stderr, tell, Arc::clone(&messages)));
        let ended = tokio::select! {
            ready = time::timeout(START_BOUND, until_ready(&self.authority)) => {
                ready.err().map(|_| "the server is not ready".to_owned())
            }
            status = child.wait() => {
                // What it said last is what it ended of.
                let _ = reading.await;
                Some(format!("the server ended with {}", status?))
            }
        };
        let ready_after = stopwatch.elapsed();
        let authority = self.authority.clone();
        let server = Server { child, first_password, authority, ready_after, messages };
        match ended {
            None => Ok(server),
            Some(reason) => bail!("{reason}; it said: {}", server.messages()),
        }
    }
}

/// A running server.
pub(crate) struct Server {
    child: Child,
    first_password: oneshot::Receiver<String>,
    authority: String,
    ready_after: Duration,
    messages: Arc<Mutex<VecDeque<String>>>,
}

impl Server {
    /// From before the process was made until it answered that it is ready.
    pub(crate) fn ready_after(&self) -> Duration {
        self.ready_after
    }

    /// Returns the process's id.
    pub(crate) fn pid(&self) -> anyhow::Result<u32> {
        self.child.id().context("the server has ended")
    }

    /// Returns what the server said last.
    pub(crate) fn messages(&self) -> String {
        let lines = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    /// Returns resident memory in MiB.
    pub(crate) fn rss_mib(&self) -> anyhow::Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid()?))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib: f64 = line.and_then(|line| line.trim().strip_suffix(" kB")).context("no VmRSS")?.parse()?;
        Ok(kib / 1024.0)
    }

    /// Signs in as the first admin, whose password the first start prints.
    pub(crate) async fn first_admin(&mut self) -> anyhow::Result<Connection> {
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
        Ok(connection)
    }

    /// Signs in as the first admin and makes an access token.
    pub(crate) async fn first_token(&mut self) -> anyhow::Result<String> {
        make_token(&mut self.first_admin().await?, "measured").await
    }

    /// Connects with an access token.
    pub(crate) async fn connect(&self, token: &str) -> anyhow::Result<Connection> {
        Connection::open_with(&self.authority, Credential::Token(token.to_owned())).await
    }

    /// Ends the process as a loss of power does.
    pub(crate) async fn kill(mut self) -> anyhow::Result<()> {
        self.child.kill().await.context("killing the server")
    }

    /// Asks the server to end.
    pub(crate) async fn terminate(&self) -> anyhow::Result<()> {
        let told = Command::new("kill").args(["-TERM", &self.pid()?.to_string()]).status().await?;
        ensure!(told.success(), "the server cannot be told to end");
        Ok(())
    }

    /// Waits until the server has ended.
    pub(crate) async fn ended(&mut self, bound: Duration) -> anyhow::Result<ExitStatus> {
        let status = time::timeout(bound, self.child.wait()).await;
        Ok(status.with_context(|| format!("the server does not end; it said: {}", self.messages()))??)
    }

    /// Asks the server to end and waits for it.
    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        self.terminate().await?;
        let status = self.ended(STOP_BOUND).await?;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }
}

/// Makes an access token that may do all; returns it.
pub(crate) async fn make_token(admin: &mut Connection, name: &str) -> anyhow::Result<String> {
    let token = json!({
        "name": name, "role": "admin", "grants": ["fluss-plugin.*.*", "fluss-plugin.*.*.*", "pegel.*.*"],
        "scope": "all", "expires_in_days": 1,
    });
    let (made, _) = admin.expect(Method::POST, "/api/v1/account/tokens", Some(&token)).await?;
    let secret = made.get("secret").and_then(serde_json::Value::as_str);
    Ok(secret.context("the token is not shown")?.to_owned())
}

/// Reads what the server says, to the end so that it never waits for its reader, and tells the password it shows.
async fn read_messages(
    stderr: ChildStderr,
    tell: oneshot::Sender<String>,
    messages: Arc<Mutex<VecDeque<String>>>,
) {
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
        let mut kept = messages.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == KEPT_LINES {
            kept.pop_front();
        }
        kept.push_back(line);
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
