//! A cluster that serves, and its start and stop.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use tokio::time;

use crate::artifacts::Artifacts;
use crate::clock::Deadline;
use crate::cluster::plan::{Plan, ServerPorts};
use crate::cluster::server::{GRACE, Launch, POLL, Server, ServerKind};
use crate::cluster::settings::{self, Role};
use crate::cluster::{ClusterBuilder, HeapSizes, Jit, User};
use crate::error::Error;
use crate::java::JavaLogin;
use crate::paths;
use crate::ports;
use crate::probe::{self, Answer};
use crate::process;
use crate::proxy::Proxy;
use crate::tls::{Identity, TestCa, TlsTerminator};

const ZOOKEEPER_CLASS: &str =
    "org.apache.fluss.shaded.zookeeper3.org.apache.zookeeper.server.quorum.QuorumPeerMain";
const COORDINATOR_CLASS: &str = "org.apache.fluss.server.coordinator.CoordinatorServer";
const TABLET_SERVER_CLASS: &str = "org.apache.fluss.server.tablet.TabletServer";

/// The certificates of a cluster with TLS.
#[derive(Debug)]
pub struct ClusterTls {
    ca: TestCa,
    ca_path: PathBuf,
    client: Identity,
    client_paths: (PathBuf, PathBuf),
}

impl ClusterTls {
    /// Returns the authority, which can issue more.
    pub fn ca(&self) -> &TestCa {
        &self.ca
    }

    /// Returns the file with the authority's certificate.
    pub fn ca_path(&self) -> &Path {
        &self.ca_path
    }

    /// Returns a client's certificate and key.
    pub fn client(&self) -> &Identity {
        &self.client
    }

    /// Returns the files with the client's certificate and key.
    pub fn client_paths(&self) -> (&Path, &Path) {
        (&self.client_paths.0, &self.client_paths.1)
    }
}

/// A cluster that serves.
///
/// Dropping it kills every server at once. [`RunningCluster::stop`] ends them in order, as an operator would.
#[derive(Debug)]
pub struct RunningCluster {
    zookeeper: Server,
    coordinator: Server,
    tablet_servers: Vec<Server>,
    tls: Option<ClusterTls>,
    artifacts: Artifacts,
    users: Vec<User>,
    dir: PathBuf,
    temporary: Option<TempDir>,
    ready_within: Duration,
    started_in: Duration,
    _plan: Plan,
}

impl RunningCluster {
    pub(super) async fn start(builder: ClusterBuilder) -> Result<Self, Error> {
        let artifacts = Artifacts::ensure_async(builder.progress.clone()).await?;
        let started = Deadline::after(builder.ready_within);
        let mut temporary = match &builder.dir {
            Some(_) => None,
            None => Some(
                tempfile::Builder::new()
                    .prefix("fluss-cluster-")
                    .tempdir()
                    .map_err(|source| Error::io("create", &std::env::temp_dir(), source))?,
            ),
        };
        let dir = match (&builder.dir, &temporary) {
            (Some(dir), _) => std::path::absolute(dir).map_err(|source| Error::io("resolve", dir, source))?,
            (None, Some(temporary)) => temporary.path().to_owned(),
            (None, None) => return Err(Error::NoCacheFolder),
        };
        let plan = Plan::make(&builder.ports, builder.shape())?;
        let prepared = Preparation { builder: &builder, artifacts: &artifacts, dir: &dir, plan: &plan };
        let (zookeeper, coordinator, tablet_servers, tls) = prepared.servers().await?;
        let mut cluster = Self {
            zookeeper,
            coordinator,
            tablet_servers,
            tls,
            artifacts,
            users: builder.users.clone(),
            dir,
            temporary: None,
            ready_within: builder.ready_within,
            started_in: Duration::ZERO,
            _plan: plan,
        };
        builder.progress.say("starting ZooKeeper, the coordinator and the tablet servers");
        // On failure `cluster` is dropped, which kills what was started.
        let served = cluster.spawn_all().await;
        let served = match served {
            Ok(()) => cluster.wait_until_ready().await,
            failed => failed,
        };
        if let Err(error) = served {
            // The logs are all there is to find the cause with.
            temporary.take().map(TempDir::keep);
            return Err(error);
        }
        cluster.temporary = temporary;
        cluster.started_in = started.elapsed();
        Ok(cluster)
    }

    async fn spawn_all(&self) -> Result<(), Error> {
        // Servers retry until ZooKeeper is there, so nothing has to wait for anything.
        for server in self.servers() {
            server.spawn().await?;
        }
        Ok(())
    }

    /// Waits until every server runs, answers as what it is and names all the others.
    ///
    /// # Errors
    /// `server_died` for a server that does not run, `not_ready` after the builder's bound.
    pub async fn wait_until_ready(&self) -> Result<(), Error> {
        let deadline = Deadline::after(self.ready_within);
        loop {
            for server in self.servers() {
                server.check_alive()?;
            }
            let Some(missing) = self.first_missing().await else { return Ok(()) };
            if deadline.passed() {
                return Err(Error::NotReady { after: deadline.elapsed(), missing, logs: self.logs() });
            }
            time::sleep(POLL).await;
        }
    }

    /// Returns what keeps the cluster from being ready, or `None` if nothing does.
    async fn first_missing(&self) -> Option<String> {
        for server in self.servers() {
            if !server.answers().await {
                return Some(format!("{} does not answer", server.name()));
            }
        }
        for server in self.fluss_servers() {
            let Some(answer) = probe::ask(server.internal_address()).await else {
                return Some(format!("{} gives no metadata", server.name()));
            };
            if !knows_all(&answer, self.tablet_servers.len()) {
                return Some(format!("{} does not know all servers yet", server.name()));
            }
        }
        None
    }

    /// Returns the time from the first process to the cluster serving; fetching jars is not counted.
    pub fn started_in(&self) -> Duration {
        self.started_in
    }

    /// Returns ZooKeeper.
    pub fn zookeeper(&self) -> &Server {
        &self.zookeeper
    }

    /// Returns the coordinator.
    pub fn coordinator(&self) -> &Server {
        &self.coordinator
    }

    /// Returns a tablet server by its number, from 0.
    ///
    /// # Errors
    /// `no_such_server`.
    pub fn tablet_server(&self, index: usize) -> Result<&Server, Error> {
        self.tablet_servers.get(index).ok_or(Error::NoSuchServer { index, count: self.tablet_servers.len() })
    }

    /// Returns the tablet servers in order.
    pub fn tablet_servers(&self) -> &[Server] {
        &self.tablet_servers
    }

    /// Returns the coordinator and the tablet servers.
    pub fn fluss_servers(&self) -> impl Iterator<Item = &Server> {
        std::iter::once(&self.coordinator).chain(&self.tablet_servers)
    }

    /// Returns ZooKeeper, the coordinator and the tablet servers.
    pub fn servers(&self) -> impl Iterator<Item = &Server> {
        std::iter::once(&self.zookeeper).chain(self.fluss_servers())
    }

    /// Returns the bootstrap list for clients: the coordinator and all tablet servers, through TLS and proxies.
    pub fn bootstrap(&self) -> String {
        join(self.fluss_servers().map(|server| server.address().to_owned()))
    }

    /// Returns the bootstrap list with the same security but past TLS and proxies.
    pub fn direct_bootstrap(&self) -> String {
        join(self.fluss_servers().map(|server| server.direct_address().to_string()))
    }

    /// Returns the bootstrap list of the plain listener between servers, which asks for no credentials.
    pub fn internal_bootstrap(&self) -> String {
        join(self.fluss_servers().map(|server| server.internal_address().to_string()))
    }

    /// Returns the Prometheus endpoints, the coordinator's first.
    pub fn metric_endpoints(&self) -> Vec<SocketAddr> {
        self.fluss_servers().filter_map(Server::metrics_address).collect()
    }

    /// Returns the process ids of all servers that run.
    pub fn pids(&self) -> Vec<u32> {
        self.servers().filter_map(Server::pid).collect()
    }

    /// Returns a user of the cluster by name.
    pub fn user(&self, name: &str) -> Option<&User> {
        self.users.iter().find(|user| user.name == name)
    }

    /// Returns how the Java client connects as `user`, or without credentials, as servers do among themselves.
    pub fn java_login(&self, user: Option<&User>) -> JavaLogin {
        let bootstrap = if user.is_some() { self.direct_bootstrap() } else { self.internal_bootstrap() };
        JavaLogin { bootstrap, user: user.cloned() }
    }

    /// Returns the certificates, if the cluster was built with TLS.
    pub fn tls(&self) -> Option<&ClusterTls> {
        self.tls.as_ref()
    }

    /// Returns the JDK and jars that the cluster runs on.
    pub fn artifacts(&self) -> &Artifacts {
        &self.artifacts
    }

    /// Returns the folder of data, configuration and logs.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the folder that tablet servers copy log segments and snapshots to.
    pub fn remote_dir(&self) -> PathBuf {
        self.dir.join("remote")
    }

    /// Returns the folder of the logs, one file per server.
    pub fn logs(&self) -> PathBuf {
        logs_of(&self.dir)
    }

    /// Keeps the folder when the cluster is gone, even if it is a temporary one.
    pub fn keep_dir(&mut self) {
        self.temporary.take().map(TempDir::keep);
    }

    /// Ends all servers as an operator would: Fluss first, all at once, ZooKeeper last, SIGKILL for any that stay.
    ///
    /// # Errors
    /// `signal_failed`, `will_not_end`; the other servers are ended all the same.
    pub async fn stop(&self) -> Result<(), Error> {
        let mut outcome = Ok(());
        for server in self.fluss_servers() {
            // One that is gone already needs no signal.
            if let Err(error) = server.terminate().await {
                tracing::debug!(server = server.name(), %error, "no signal sent");
            }
        }
        // They end at the same time, so they share the time until they are killed.
        let deadline = Deadline::after(GRACE);
        for server in self.fluss_servers() {
            outcome = outcome.and(server.stop_within(deadline.left()).await);
        }
        outcome.and(self.zookeeper.stop().await)
    }

    /// Kills all servers at once, as a power cut would.
    ///
    /// # Errors
    /// `signal_failed`, `will_not_end`; the other servers are killed all the same.
    pub async fn kill_all(&self) -> Result<(), Error> {
        let mut outcome = Ok(());
        for server in self.servers() {
            match server.kill().await {
                Err(Error::NotRunning { .. }) => {}
                other => outcome = outcome.and(other),
            }
        }
        outcome
    }
}

impl Drop for RunningCluster {
    fn drop(&mut self) {
        let pids = self.pids();
        process::kill_now(&pids);
        let Some(temporary) = self.temporary.take() else { return };
        if std::thread::panicking() {
            let dir = temporary.keep();
            tracing::warn!(dir = %dir.display(), "the cluster's folder is kept because a test failed");
            return;
        }
        // A process that is still on its way out could put files back into a folder being removed.
        process::wait_gone_blocking(&pids, Duration::from_secs(5));
    }
}

fn join(addresses: impl Iterator<Item = String>) -> String {
    addresses.collect::<Vec<_>>().join(",")
}

/// Returns the folder of the process ids of a cluster in `dir`.
pub(crate) fn pids_of(dir: &Path) -> PathBuf {
    dir.join("pids")
}

fn logs_of(dir: &Path) -> PathBuf {
    dir.join("logs")
}

fn knows_all(answer: &Answer, tablet_servers: usize) -> bool {
    answer.coordinator_known
        && answer.tablet_servers.len() == tablet_servers
        && (0..tablet_servers)
            .all(|index| i32::try_from(index).is_ok_and(|index| answer.tablet_servers.contains(&index)))
}

/// Everything that is settled before the first process starts.
struct Preparation<'a> {
    builder: &'a ClusterBuilder,
    artifacts: &'a Artifacts,
    dir: &'a Path,
    plan: &'a Plan,
}

impl Preparation<'_> {
    /// Writes configuration and certificates, opens proxies and TLS ends, and describes all servers.
    async fn servers(&self) -> Result<(Server, Server, Vec<Server>, Option<ClusterTls>), Error> {
        for folder in ["logs", "pids", "remote", "tmp", "zookeeper/data"] {
            paths::make_folder(&self.dir.join(folder))?;
        }
        let tls = self.builder.tls.as_ref().map(|_| self.certificates()).transpose()?;
        let mut tablet_servers = Vec::new();
        for (index, server_ports) in self.plan.tablet_servers.iter().enumerate() {
            tablet_servers
                .push(self.fluss(ServerKind::TabletServer(index), server_ports, tls.as_ref()).await?);
        }
        let coordinator = self.fluss(ServerKind::Coordinator, &self.plan.coordinator, tls.as_ref()).await?;
        Ok((self.zookeeper()?, coordinator, tablet_servers, tls))
    }

    fn zookeeper(&self) -> Result<Server, Error> {
        let folder = self.dir.join("zookeeper");
        let file = folder.join("zk.properties");
        paths::write(&file, &settings::zookeeper(&folder.join("data"), self.plan.zookeeper))?;
        let kind = ServerKind::ZooKeeper;
        let launch = self.launch(kind, ZOOKEEPER_CLASS, [file.as_os_str()]);
        Ok(Server::new(kind, launch, ports::loopback(self.plan.zookeeper)))
    }

    async fn fluss(
        &self,
        kind: ServerKind,
        server_ports: &ServerPorts,
        tls: Option<&ClusterTls>,
    ) -> Result<Server, Error> {
        let folder = self.dir.join(kind.name());
        let data = folder.join("data");
        paths::make_folder(&data)?;
        let rack = match kind {
            ServerKind::TabletServer(index) => self.builder.rack(index),
            ServerKind::Coordinator | ServerKind::ZooKeeper => None,
        };
        let (role, class) = match kind {
            ServerKind::TabletServer(index) => {
                (Role::TabletServer { index, rack: rack.as_deref(), data: &data }, TABLET_SERVER_CLASS)
            }
            ServerKind::Coordinator | ServerKind::ZooKeeper => (Role::Coordinator, COORDINATOR_CLASS),
        };
        let remote = self.dir.join("remote");
        let settings = settings::of_server(self.builder, role, server_ports, self.plan.zookeeper, &remote);
        // The file may hold passwords.
        paths::write_private(&folder.join("server.yaml"), settings::yaml(&settings)?.as_bytes())?;

        let terminator = match (tls, server_ports.behind) {
            (Some(tls), Some(behind)) => {
                let identity = tls.ca.server(&[self.builder.client_host()])?;
                let client_ca = self
                    .builder
                    .tls
                    .as_ref()
                    .filter(|options| options.require_client_certificate)
                    .map(|_| tls.ca());
                let bind = ports::loopback(server_ports.tls_end.unwrap_or(server_ports.client));
                Some(TlsTerminator::start(bind, ports::loopback(behind), &identity, client_ca).await?)
            }
            _ => None,
        };
        let proxy = match (self.builder.proxies, server_ports.tls_end.or(server_ports.behind)) {
            (true, Some(next)) => {
                Some(Proxy::start(ports::loopback(server_ports.client), ports::loopback(next)).await?)
            }
            _ => None,
        };
        let launch = self.launch(kind, class, ["--configDir".as_ref(), folder.as_os_str()]);
        Ok(Server::new(kind, launch, server_ports.internal_address()).with_listeners(
            server_ports.clone(),
            self.builder.client_host(),
            proxy,
            terminator,
        ))
    }

    fn launch<const N: usize>(&self, kind: ServerKind, class: &str, rest: [&std::ffi::OsStr; N]) -> Launch {
        let HeapSizes { zookeeper_mib, coordinator_mib, tablet_server_mib } = self.builder.heaps;
        let heap = match kind {
            ServerKind::ZooKeeper => zookeeper_mib,
            ServerKind::Coordinator => coordinator_mib,
            ServerKind::TabletServer(_) => tablet_server_mib,
        };
        let mut options = vec![
            format!("-Xmx{heap}m"),
            format!("-Xms{}m", heap / 8),
            "-Xshare:auto".to_owned(),
            "-XX:-UsePerfData".to_owned(),
        ];
        if self.builder.jit == Jit::Quick {
            options.extend(["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"].map(str::to_owned));
        }
        // Arrow reaches into these packages.
        for package in ["java.nio", "java.lang", "java.util"] {
            options.push(format!("--add-opens=java.base/{package}=ALL-UNNAMED"));
        }
        // Native libraries are unpacked there; the folder goes with the cluster.
        options.push(format!("-Djava.io.tmpdir={}", self.dir.join("tmp").display()));
        options.push("-Dorg.slf4j.simpleLogger.showDateTime=true".to_owned());
        options.push("-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSXXX".to_owned());
        // At its end a server looks for a logging library that is not there; the trace would hide the real cause.
        options.push(
            "-Dorg.slf4j.simpleLogger.log.org.apache.fluss.server.utils.LogShutdownUtil=off".to_owned(),
        );
        options.extend(self.builder.jvm_options.iter().cloned());
        let mut arguments = process::words(options);
        arguments.push("-cp".into());
        arguments.push(self.artifacts.server_classpath());
        arguments.push(class.into());
        arguments.extend(process::words(rest));
        Launch {
            java: self.artifacts.jdk().java().to_owned(),
            arguments,
            folder: self.dir.to_owned(),
            log: logs_of(self.dir).join(format!("{}.log", kind.name())),
            pid_file: pids_of(self.dir).join(format!("{}.pid", kind.name())),
            ready_within: self.builder.ready_within,
        }
    }

    fn certificates(&self) -> Result<ClusterTls, Error> {
        let folder = self.dir.join("tls");
        paths::make_private_folder(&folder)?;
        let ca = TestCa::new("fluss-testkit")?;
        let ca_path = folder.join("ca.pem");
        ca.write_certificate(&ca_path)?;
        let client = ca.client("fluss-testkit-client")?;
        let client_paths = client.write(&folder, "client")?;
        Ok(ClusterTls { ca, ca_path, client, client_paths })
    }
}
