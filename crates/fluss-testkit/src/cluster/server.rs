//! One server of a running cluster: how it is started, signalled, stopped and reached.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use fluss_codec::server_type::ServerType;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time;

use crate::clock::Deadline;
use crate::cluster::plan::ServerPorts;
use crate::error::Error;
use crate::ports;
use crate::probe;
use crate::process::{self, Guarded, ProcessSpec};
use crate::proxy::Proxy;
use crate::tls::TlsTerminator;

/// How many of a log's last lines go into an error.
pub(super) const TAIL_LINES: usize = 15;

/// How long a server may take to end by itself; a Fluss server needs about four seconds.
pub(super) const GRACE: Duration = Duration::from_secs(10);

/// How often a server is asked while waiting for it.
pub(super) const POLL: Duration = Duration::from_millis(50);

/// What a server of a cluster is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerKind {
    /// The one ZooKeeper.
    ZooKeeper,
    /// The one coordinator.
    Coordinator,
    /// A tablet server, by its number.
    TabletServer(usize),
}

impl ServerKind {
    /// Returns the name used for folders, logs and messages.
    pub fn name(self) -> String {
        match self {
            Self::ZooKeeper => "zookeeper".to_owned(),
            Self::Coordinator => "coordinator".to_owned(),
            Self::TabletServer(index) => format!("tablet-server-{index}"),
        }
    }
}

/// What is needed to start a server again and again.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) java: PathBuf,
    pub(super) arguments: Vec<OsString>,
    pub(super) folder: PathBuf,
    pub(super) log: PathBuf,
    pub(super) pid_file: PathBuf,
    pub(super) ready_within: Duration,
}

/// One server; all methods may be called from several tasks.
#[derive(Debug)]
pub struct Server {
    kind: ServerKind,
    name: String,
    launch: Launch,
    ports: Option<ServerPorts>,
    client_address: String,
    /// What answers the probe: the internal listener, or ZooKeeper's port.
    probe_address: SocketAddr,
    process: Mutex<Option<Guarded>>,
    /// The process id for callers that cannot wait for the lock; 0 while there is no process.
    pid: AtomicU32,
    proxy: Option<Proxy>,
    terminator: Option<TlsTerminator>,
}

impl Server {
    pub(super) fn new(kind: ServerKind, launch: Launch, probe_address: SocketAddr) -> Self {
        Self {
            kind,
            name: kind.name(),
            launch,
            ports: None,
            client_address: probe_address.to_string(),
            probe_address,
            process: Mutex::new(None),
            pid: AtomicU32::new(0),
            proxy: None,
            terminator: None,
        }
    }

    /// Adds what Fluss servers have and ZooKeeper has not.
    pub(super) fn with_listeners(
        mut self,
        ports: ServerPorts,
        client_host: &str,
        proxy: Option<Proxy>,
        terminator: Option<TlsTerminator>,
    ) -> Self {
        self.client_address = format!("{client_host}:{}", ports.client);
        self.ports = Some(ports);
        self.proxy = proxy;
        self.terminator = terminator;
        self
    }

    /// Returns what the server is.
    pub fn kind(&self) -> ServerKind {
        self.kind
    }

    /// Returns the name used for folders, logs and messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the process id of the JVM, or `None` if it was killed, stopped or not started.
    pub fn pid(&self) -> Option<u32> {
        Some(self.pid.load(Ordering::Acquire)).filter(|pid| *pid != 0)
    }

    /// Tells whether the JVM runs; a frozen one does.
    pub fn is_alive(&self) -> bool {
        self.pid().is_some_and(process::is_alive)
    }

    /// Returns the file of the server's output, over all its starts.
    pub fn log(&self) -> &Path {
        &self.launch.log
    }

    /// Returns the last lines of the server's output.
    pub fn last_lines(&self, count: usize) -> String {
        process::log_tail(&self.launch.log, count)
    }

    /// Returns the `host:port` that clients are told: before TLS and proxies, if there are any.
    pub fn address(&self) -> &str {
        &self.client_address
    }

    /// Returns the address with the security of clients but without TLS and proxies.
    pub fn direct_address(&self) -> SocketAddr {
        self.ports.as_ref().map_or(self.probe_address, ServerPorts::direct_address)
    }

    /// Returns the plain address that servers use among themselves.
    pub fn internal_address(&self) -> SocketAddr {
        self.probe_address
    }

    /// Returns the address of the Prometheus endpoint, path `/metrics`.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.ports.as_ref().and_then(|ports| ports.metrics).map(ports::loopback)
    }

    /// Returns the proxy before the server, if the cluster was built with proxies.
    pub fn proxy(&self) -> Option<&Proxy> {
        self.proxy.as_ref()
    }

    /// Returns the TLS end before the server, if the cluster was built with TLS.
    pub fn tls_terminator(&self) -> Option<&TlsTerminator> {
        self.terminator.as_ref()
    }

    /// Ends the server at once (SIGKILL) and waits until it is gone.
    ///
    /// # Errors
    /// `not_running`, `signal_failed`, `will_not_end`.
    pub async fn kill(&self) -> Result<(), Error> {
        let mut process = self.process.lock().await;
        let running = process.as_mut().ok_or_else(|| self.not_running())?;
        running.kill().await?;
        self.forget(&mut process);
        Ok(())
    }

    /// Asks the server to end (SIGTERM) and returns at once.
    ///
    /// # Errors
    /// `not_running`, `signal_failed`.
    pub async fn terminate(&self) -> Result<(), Error> {
        self.process.lock().await.as_ref().ok_or_else(|| self.not_running())?.terminate().await
    }

    /// Freezes the server (SIGSTOP): connections stay open, nothing answers.
    ///
    /// # Errors
    /// `not_running`, `signal_failed`.
    pub async fn freeze(&self) -> Result<(), Error> {
        self.process.lock().await.as_ref().ok_or_else(|| self.not_running())?.freeze().await
    }

    /// Lets a frozen server go on (SIGCONT).
    ///
    /// # Errors
    /// `not_running`, `signal_failed`.
    pub async fn thaw(&self) -> Result<(), Error> {
        self.process.lock().await.as_ref().ok_or_else(|| self.not_running())?.thaw().await
    }

    /// Ends the server: SIGTERM, up to ten seconds, SIGKILL. Does nothing if it does not run.
    ///
    /// # Errors
    /// `signal_failed`, `will_not_end`.
    pub async fn stop(&self) -> Result<(), Error> {
        self.stop_within(GRACE).await
    }

    /// As [`Server::stop`], with another time until SIGKILL.
    pub(super) async fn stop_within(&self, grace: Duration) -> Result<(), Error> {
        let mut process = self.process.lock().await;
        if let Some(running) = process.as_mut() {
            running.stop(grace).await?;
            self.forget(&mut process);
        }
        Ok(())
    }

    /// Starts the server, if it does not run, and waits until it answers as what it is.
    ///
    /// That other servers have heard of it takes longer: see [`super::RunningCluster::wait_until_ready`].
    ///
    /// # Errors
    /// `spawn_failed`, `server_died`, `not_ready`.
    pub async fn start(&self) -> Result<(), Error> {
        self.spawn().await?;
        let deadline = Deadline::after(self.launch.ready_within);
        while !self.answers().await {
            self.check_alive()?;
            if deadline.passed() {
                return Err(Error::NotReady {
                    after: deadline.elapsed(),
                    missing: format!("{} does not answer", self.name),
                    logs: self.launch.log.clone(),
                });
            }
            time::sleep(POLL).await;
        }
        Ok(())
    }

    /// Stops the server and starts it again.
    ///
    /// # Errors
    /// Those of [`Server::stop`] and [`Server::start`].
    pub async fn restart(&self) -> Result<(), Error> {
        self.stop().await?;
        self.start().await
    }

    /// Starts the process if there is none, without waiting for it to answer.
    pub(super) async fn spawn(&self) -> Result<(), Error> {
        let mut process = self.process.lock().await;
        if process.as_ref().is_some_and(Guarded::is_alive) {
            return Ok(());
        }
        let started = Guarded::spawn(ProcessSpec {
            name: self.name.clone(),
            program: self.launch.java.clone(),
            arguments: self.launch.arguments.clone(),
            folder: self.launch.folder.clone(),
            log: self.launch.log.clone(),
            grace: GRACE,
            pid_file: Some(self.launch.pid_file.clone()),
        })
        .await?;
        self.pid.store(started.pid(), Ordering::Release);
        *process = Some(started);
        Ok(())
    }

    /// Fails if the process has ended, with the end of its log.
    pub(crate) fn check_alive(&self) -> Result<(), Error> {
        if self.is_alive() {
            return Ok(());
        }
        Err(Error::ServerDied {
            server: self.name.clone(),
            log: self.launch.log.clone(),
            output: self.last_lines(TAIL_LINES),
        })
    }

    /// Tells whether the server answers as what it is.
    pub(super) async fn answers(&self) -> bool {
        let wanted = match self.kind {
            ServerKind::ZooKeeper => return TcpStream::connect(self.probe_address).await.is_ok(),
            ServerKind::Coordinator => ServerType::Coordinator,
            ServerKind::TabletServer(_) => ServerType::TabletServer,
        };
        probe::server_type(self.probe_address).await == Some(wanted)
    }

    fn forget(&self, process: &mut Option<Guarded>) {
        *process = None;
        self.pid.store(0, Ordering::Release);
    }

    fn not_running(&self) -> Error {
        Error::NotRunning { process: self.name.clone() }
    }
}
