//! Real Fluss clusters of released Java servers on loopback.
//!
//! ```no_run
//! # async fn example() -> Result<(), fluss_testkit::Error> {
//! use fluss_testkit::cluster::ClusterBuilder;
//!
//! let cluster = ClusterBuilder::new().tablet_servers(3).start().await?;
//! println!("{}", cluster.bootstrap());
//! cluster.tablet_server(1)?.kill().await?;
//! cluster.tablet_server(1)?.start().await?;
//! cluster.stop().await?;
//! # Ok(())
//! # }
//! ```
//!
//! One coordinator, up to nine tablet servers and one ZooKeeper run as guarded children
//! ([`crate::process`]). Everything they write lies in one folder; starting a second cluster on the
//! same folder finds the data of the first.

mod plan;
mod running;
mod server;
mod settings;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::Error;
use crate::progress::Progress;

pub use plan::{FixedPorts, PortChoice};
pub(crate) use running::pids_of;
pub use running::{ClusterTls, RunningCluster};
pub use server::{Server, ServerKind};

/// A user of a cluster with SASL.
#[derive(Clone, PartialEq, Eq)]
pub struct User {
    /// The name: letters, digits, `_` and `-`.
    pub name: String,
    /// The password: printable ASCII without blanks, quotes, backslashes and semicolons.
    pub password: String,
}

impl User {
    /// Makes a user.
    pub fn new(name: impl Into<String>, password: impl Into<String>) -> Self {
        Self { name: name.into(), password: password.into() }
    }
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User").field("name", &self.name).finish_non_exhaustive()
    }
}

/// TLS in front of each server's listener for clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsOptions {
    /// The host that servers advertise and their certificates name: `localhost` or `127.0.0.1`.
    pub host: String,
    /// Whether clients must show a certificate of the same authority.
    pub require_client_certificate: bool,
}

impl Default for TlsOptions {
    fn default() -> Self {
        Self { host: "localhost".to_owned(), require_client_certificate: false }
    }
}

/// The largest heap of each kind of server, in MiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeapSizes {
    /// ZooKeeper's.
    pub zookeeper_mib: u32,
    /// The coordinator's.
    pub coordinator_mib: u32,
    /// Each tablet server's.
    pub tablet_server_mib: u32,
}

impl Default for HeapSizes {
    fn default() -> Self {
        Self { zookeeper_mib: 128, coordinator_mib: 384, tablet_server_mib: 512 }
    }
}

/// How the servers' machine code is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Jit {
    /// The first compiler tier and the serial collector: quickest start, least processor time at rest.
    #[default]
    Quick,
    /// The JVM's own defaults, for measuring throughput.
    Full,
}

/// What a cluster is to be like; [`ClusterBuilder::start`] makes it so.
#[derive(Debug, Clone)]
pub struct ClusterBuilder {
    tablet_servers: u16,
    racks: Option<Vec<String>>,
    users: Vec<User>,
    super_users: Option<Vec<String>>,
    tls: Option<TlsOptions>,
    proxies: bool,
    replication_factor: Option<u16>,
    min_in_sync_replicas: Option<u16>,
    bucket_count: u16,
    session_timeout: Option<Duration>,
    heaps: HeapSizes,
    jit: Jit,
    jvm_options: Vec<String>,
    settings: BTreeMap<String, String>,
    metrics: bool,
    ports: PortChoice,
    dir: Option<PathBuf>,
    ready_within: Duration,
    progress: Progress,
}

impl Default for ClusterBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl ClusterBuilder {
    /// Describes a plain cluster: 3 tablet servers in 3 racks, 3 buckets, replication 3, minimum ISR 2, metrics
    /// on, free ports, a temporary folder.
    pub fn new() -> Self {
        Self {
            tablet_servers: 3,
            racks: None,
            users: Vec::new(),
            super_users: None,
            tls: None,
            proxies: false,
            replication_factor: None,
            min_in_sync_replicas: None,
            bucket_count: 3,
            session_timeout: Some(Duration::from_secs(15)),
            heaps: HeapSizes::default(),
            jit: Jit::default(),
            jvm_options: Vec::new(),
            settings: BTreeMap::new(),
            metrics: true,
            ports: PortChoice::Free,
            dir: None,
            ready_within: Duration::from_secs(90),
            progress: Progress::silent(),
        }
    }

    /// Sets the number of tablet servers, 1 to 9.
    #[must_use]
    pub fn tablet_servers(mut self, count: u16) -> Self {
        self.tablet_servers = count;
        self
    }

    /// Sets the racks, given to tablet servers in turn; none at all if empty. Default: `rack-<n>`.
    #[must_use]
    pub fn racks<R: Into<String>>(mut self, racks: impl IntoIterator<Item = R>) -> Self {
        self.racks = Some(racks.into_iter().map(Into::into).collect());
        self
    }

    /// Makes clients authenticate by SASL/PLAIN as one of these users.
    #[must_use]
    pub fn sasl(mut self, users: impl IntoIterator<Item = User>) -> Self {
        self.users = users.into_iter().collect();
        self
    }

    /// Turns the authorizer on; these users may do everything, others only what ACLs allow.
    #[must_use]
    pub fn authorizer<N: Into<String>>(mut self, super_users: impl IntoIterator<Item = N>) -> Self {
        self.super_users = Some(super_users.into_iter().map(Into::into).collect());
        self
    }

    /// Puts TLS in front of every server; metadata then points at it.
    #[must_use]
    pub fn tls(mut self, options: TlsOptions) -> Self {
        self.tls = Some(options);
        self
    }

    /// Puts a [`crate::proxy::Proxy`] in front of every server (before TLS, if both are asked for).
    #[must_use]
    pub fn proxies(mut self, on: bool) -> Self {
        self.proxies = on;
        self
    }

    /// Sets the default replication factor of tables. Default: 3, or the number of tablet servers if smaller.
    #[must_use]
    pub fn default_replication_factor(mut self, factor: u16) -> Self {
        self.replication_factor = Some(factor);
        self
    }

    /// Sets how many replicas must be in sync for a write with acks −1. Default: 2, or 1 if there is one server.
    #[must_use]
    pub fn default_min_in_sync_replicas(mut self, count: u16) -> Self {
        self.min_in_sync_replicas = Some(count);
        self
    }

    /// Sets the default number of buckets of a table.
    #[must_use]
    pub fn default_bucket_count(mut self, count: u16) -> Self {
        self.bucket_count = count;
        self
    }

    /// Sets how long ZooKeeper keeps a dead server listed (6 to 60 s); `None` leaves Fluss's own 60 s. Default: 15 s.
    #[must_use]
    pub fn session_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.session_timeout = timeout;
        self
    }

    /// Sets the heap sizes.
    #[must_use]
    pub fn heaps(mut self, heaps: HeapSizes) -> Self {
        self.heaps = heaps;
        self
    }

    /// Sets how machine code is made.
    #[must_use]
    pub fn jit(mut self, jit: Jit) -> Self {
        self.jit = jit;
        self
    }

    /// Adds a JVM option to every server.
    #[must_use]
    pub fn jvm_option(mut self, option: impl Into<String>) -> Self {
        self.jvm_options.push(option.into());
        self
    }

    /// Adds a line to every `server.yaml`, in place of one that is made here.
    #[must_use]
    pub fn setting(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.insert(key.into(), value.into());
        self
    }

    /// Turns the Prometheus endpoint of each server on or off. Default: on.
    ///
    /// The released reporter listens on all addresses of the machine and has no setting for that.
    #[must_use]
    pub fn metrics(mut self, on: bool) -> Self {
        self.metrics = on;
        self
    }

    /// Sets where ports come from.
    #[must_use]
    pub fn ports(mut self, choice: PortChoice) -> Self {
        self.ports = choice;
        self
    }

    /// Sets the folder of data, configuration and logs; it stays when the cluster is gone.
    ///
    /// Without it a temporary folder is used, which is removed with the cluster unless a start or a test failed.
    #[must_use]
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.dir = Some(dir.into());
        self
    }

    /// Sets how long the servers may take until they serve. Default: 90 s.
    #[must_use]
    pub fn ready_within(mut self, bound: Duration) -> Self {
        self.ready_within = bound;
        self
    }

    /// Sends lines of progress somewhere.
    #[must_use]
    pub fn progress(mut self, progress: Progress) -> Self {
        self.progress = progress;
        self
    }

    /// Starts all servers at once and waits until the cluster serves.
    ///
    /// It serves when the coordinator answers as a coordinator, each tablet server answers as one, and each of
    /// them names the coordinator and all tablet servers. If the future is dropped, or a server ends early, all
    /// that was started is ended.
    ///
    /// # Errors
    /// Those of [`crate::artifacts::Artifacts::ensure`], `invalid_setting`, `port_taken`, `no_free_ports`,
    /// `spawn_failed`, `server_died`, `not_ready`, `io_failed`, `certificate_failed`, `tls_failed`.
    pub async fn start(self) -> Result<RunningCluster, Error> {
        self.validate()?;
        Box::pin(RunningCluster::start(self)).await
    }

    /// Checks that every fixed port is free; free ports are always.
    ///
    /// # Errors
    /// `invalid_setting`, `port_taken` for the first that is not.
    pub fn check_ports(&self) -> Result<(), Error> {
        self.validate()?;
        match self.ports {
            PortChoice::Free => Ok(()),
            PortChoice::Fixed(_) => plan::Plan::make(&self.ports, self.shape()).map(drop),
        }
    }

    fn client_host(&self) -> &str {
        self.tls.as_ref().map_or("127.0.0.1", |tls| tls.host.as_str())
    }

    fn replication_factor(&self) -> u16 {
        self.replication_factor.unwrap_or_else(|| self.tablet_servers.min(3))
    }

    fn min_in_sync_replicas(&self) -> u16 {
        self.min_in_sync_replicas.unwrap_or_else(|| self.replication_factor().min(2))
    }

    fn rack(&self, index: usize) -> Option<String> {
        match &self.racks {
            None => Some(format!("rack-{index}")),
            Some(racks) => racks.iter().cycle().nth(index).cloned(),
        }
    }

    fn shape(&self) -> plan::Shape {
        plan::Shape {
            tablet_servers: self.tablet_servers,
            sasl: !self.users.is_empty(),
            tls: self.tls.is_some(),
            proxies: self.proxies,
            metrics: self.metrics,
        }
    }

    fn validate(&self) -> Result<(), Error> {
        let refuse = |name: &'static str, reason: String| Err(Error::InvalidSetting { name, reason });
        let most = plan::MOST_TABLET_SERVERS;
        if !(1..=most).contains(&self.tablet_servers) {
            return refuse("tablet_servers", format!("{} is not within 1 to {most}", self.tablet_servers));
        }
        if let Some(timeout) = self.session_timeout {
            // ZooKeeper silently clamps to 2 and 20 of its ticks of 3 s.
            if !(6..=60).contains(&timeout.as_secs()) {
                return refuse("session_timeout", format!("{} s is not within 6 to 60", timeout.as_secs()));
            }
        }
        for user in &self.users {
            let name_ok = !user.name.is_empty()
                && user.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
            let password_ok = !user.password.is_empty()
                && user
                    .password
                    .chars()
                    .all(|c| c.is_ascii_graphic() && !matches!(c, '"' | '\\' | ';' | '\''));
            if !name_ok || !password_ok {
                return refuse("sasl", format!("user {:?} has a name or password out of range", user.name));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{ClusterBuilder, User};

    #[tokio::test]
    async fn senseless_settings_are_refused_before_anything_starts() {
        let check = async |builder: ClusterBuilder, name: &str| {
            let error = builder.start().await.unwrap_err();
            assert_eq!(error.code(), "invalid_setting");
            assert!(error.to_string().contains(name), "{error}");
        };
        check(ClusterBuilder::new().tablet_servers(0), "tablet_servers").await;
        check(ClusterBuilder::new().tablet_servers(10), "tablet_servers").await;
        check(ClusterBuilder::new().session_timeout(Some(Duration::from_secs(5))), "session_timeout").await;
        check(ClusterBuilder::new().sasl([User::new("a b", "p")]), "sasl").await;
        check(ClusterBuilder::new().sasl([User::new("a", "p\";")]), "sasl").await;
        check(ClusterBuilder::new().sasl([User::new("a", "")]), "sasl").await;
    }

    #[test]
    fn a_users_password_does_not_print() {
        let printed = format!("{:?}", ClusterBuilder::new().sasl([User::new("ada", "sesame")]));
        assert!(printed.contains("ada") && !printed.contains("sesame"), "{printed}");
    }

    #[test]
    fn replication_and_racks_follow_the_number_of_tablet_servers() {
        let one = ClusterBuilder::new().tablet_servers(1);
        assert_eq!((one.replication_factor(), one.min_in_sync_replicas()), (1, 1));
        let five = ClusterBuilder::new().tablet_servers(5).racks(["a", "b"]);
        assert_eq!((five.replication_factor(), five.min_in_sync_replicas()), (3, 2));
        assert_eq!((five.rack(2), five.rack(3)), (Some("a".to_owned()), Some("b".to_owned())));
        assert_eq!(ClusterBuilder::new().racks(Vec::<String>::new()).rack(0), None);
    }
}
