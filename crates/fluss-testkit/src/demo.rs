//! A cluster with data for people to try: the library behind `pegel demo`.
//!
//! [`Demo::start`] starts a cluster on documented ports ([`crate::cluster::FixedPorts`]), fills it by the Java
//! client, keeps a small workload going and writes `demo.json`, which holds all that a client needs.
//! Every start begins afresh. Passwords are random and new each time.
//!
//! A demo ends with its process, whatever ends that. [`stop_recorded`] ends it from another process.

mod record;
mod stop;

use std::fs::{self, File, TryLockError};
use std::future::Future;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::artifacts::{Artifacts, FLUSS_VERSION, Jdk};
use crate::clock;
use crate::cluster::{ClusterBuilder, FixedPorts, PortChoice, RunningCluster, TlsOptions, User};
use crate::error::Error;
use crate::java::{JavaPeer, Workload};
use crate::paths;
use crate::process::PidRecord;
use crate::progress::Progress;
use crate::random;

pub use record::{DemoRecord, DemoServer, DemoUser, read_record};
pub use stop::{Stopped, stop_recorded};

/// The coordinator's port unless another is chosen.
pub const DEFAULT_PORT_BASE: u16 = 9123;

/// The option of `pegel demo` that moves all ports.
const PORT_OPTION: &str = "--port-base";

/// Letters of a demo password; five random bits each.
const PASSWORD_LENGTH: usize = 24;

/// How often the workload is looked at while the demo runs.
const WATCH: Duration = Duration::from_millis(500);

/// What a demo is to be like.
#[derive(Debug, Clone)]
pub struct DemoOptions {
    /// The folder of everything the demo writes; made if missing, refused if it holds something else.
    pub dir: PathBuf,
    /// Whether clients authenticate by SASL/PLAIN, and ACLs hold.
    pub sasl: bool,
    /// Whether clients come in over TLS.
    pub tls: bool,
    /// The coordinator's port for clients; all others follow from it.
    pub port_base: u16,
    /// How many tablet servers there are, 1 to 9.
    pub tablet_servers: u16,
}

impl DemoOptions {
    /// Describes a plain demo with three tablet servers on the default ports.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), sasl: false, tls: false, port_base: DEFAULT_PORT_BASE, tablet_servers: 3 }
    }
}

/// How the workload is called among those that are missed.
const WORKLOAD: &str = "workload";

/// A running demo. Dropping it kills everything at once.
#[derive(Debug)]
pub struct Demo {
    // The order matters when dropped: who writes ends before who serves, and the lock is let go last.
    workload: Workload,
    cluster: RunningCluster,
    record: DemoRecord,
    files: DemoFiles,
    progress: Progress,
    _lock: File,
}

/// The demo's own files in its folder.
#[derive(Debug, Clone)]
struct DemoFiles {
    dir: PathBuf,
}

impl DemoFiles {
    /// Held locked by the process that runs the demo; also marks the folder as a demo's.
    fn lock(&self) -> PathBuf {
        self.dir.join("demo.lock")
    }

    /// The process that runs the demo, from its first moment on.
    fn supervisor(&self) -> PathBuf {
        self.dir.join("demo.pid")
    }

    /// What clients need; there only while the demo is ready.
    fn record(&self) -> PathBuf {
        self.dir.join("demo.json")
    }

    fn pids(&self) -> PathBuf {
        crate::cluster::pids_of(&self.dir)
    }

    fn logs(&self) -> PathBuf {
        self.dir.join("logs")
    }

    /// Removes a file that may be missing.
    fn remove(path: &Path) -> Result<(), Error> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io("remove", path, error))
            }
            _ => Ok(()),
        }
    }
}

impl Demo {
    /// Starts the demo and returns when its data is there and `demo.json` is written.
    ///
    /// Everything that can be known beforehand is checked before anything starts: the folder, another demo
    /// in it, the JDK, the ports. If the future is dropped all that was started is ended.
    ///
    /// # Errors
    /// `demo_folder_foreign`, `demo_running`, `port_taken`, and those of [`ClusterBuilder::start`] and
    /// [`JavaPeer::start_workload`].
    pub async fn start(options: DemoOptions, progress: Progress) -> Result<Self, Error> {
        let dir =
            std::path::absolute(&options.dir).map_err(|source| Error::io("resolve", &options.dir, source))?;
        let files = DemoFiles { dir };
        let lock = take_folder(&files)?;
        let started = Box::pin(Self::start_in(&options, &files, progress.clone())).await;
        match started {
            Ok((workload, cluster, record)) => {
                Ok(Self { workload, cluster, record, files, progress, _lock: lock })
            }
            Err(error) => {
                // What was started has been ended already; nobody must look for it.
                stop::forget(&files)?;
                Err(error)
            }
        }
    }

    async fn start_in(
        options: &DemoOptions,
        files: &DemoFiles,
        progress: Progress,
    ) -> Result<(Workload, RunningCluster, DemoRecord), Error> {
        stop::end_leftovers(files).await?;
        Jdk::find()?;
        let people = people(options.sasl)?;
        let builder = builder(options, &files.dir, &people, progress.clone());
        builder.check_ports()?;
        start_afresh(files)?;

        let artifacts = Artifacts::ensure_async(progress.clone()).await?;
        let started = clock::now();
        let peer = JavaPeer::prepare_async(&artifacts).await?.with_pid_file(files.pids().join("samples.pid"));
        let admin = people.first().map(|person| &person.user);
        let (cluster, workload) = match Self::fill(builder, &peer, admin, files, &progress).await {
            // Fluss 0.9.1 now and then does not tell a server that it leads a new bucket, and writes
            // to that bucket then wait for ever. A cluster made anew is the way out.
            Err(Error::JavaProgramFailed { .. }) => {
                progress.say("a bucket's leader never came up; starting once more");
                start_afresh(files)?;
                let again = self::builder(options, &files.dir, &people, progress.clone());
                Self::fill(again, &peer, admin, files, &progress).await?
            }
            other => other?,
        };
        let record = describe(options, &cluster, &workload, &people);
        record.write(&files.record())?;
        progress.say(format!("ready after {:.1} s", started.elapsed().as_secs_f64()));
        Ok((workload, cluster, record))
    }

    /// Returns what `demo.json` says.
    pub fn record(&self) -> &DemoRecord {
        &self.record
    }

    /// Returns the path of `demo.json`.
    pub fn record_path(&self) -> PathBuf {
        self.files.record()
    }

    /// Returns the cluster.
    pub fn cluster(&self) -> &RunningCluster {
        &self.cluster
    }

    /// Starts the cluster and fills it; ends it again when that fails.
    async fn fill(
        builder: ClusterBuilder,
        peer: &JavaPeer,
        admin: Option<&User>,
        files: &DemoFiles,
        progress: &Progress,
    ) -> Result<(RunningCluster, Workload), Error> {
        let cluster = builder.start().await?;
        progress.say(format!("cluster serves after {:.1} s", cluster.started_in().as_secs_f64()));
        progress.say("making sample databases shop, telemetry and types");
        match peer.start_workload(&cluster.java_login(admin), &files.logs()).await {
            Ok(workload) => Ok((cluster, workload)),
            Err(error) => {
                cluster.stop().await?;
                Err(error)
            }
        }
    }

    /// Runs until `stop` is done, then ends everything in order.
    ///
    /// A coordinator, tablet server or workload that dies is told and missed: that is what
    /// a demo is there to show. Without ZooKeeper nothing can go on.
    ///
    /// # Errors
    /// `server_died` if ZooKeeper ended by itself, after all others were ended; those of [`Demo::stop`].
    pub async fn run_until(self, stop: impl Future<Output = ()>) -> Result<(), Error> {
        let died = tokio::select! {
            () = stop => None,
            error = self.wait_for_end() => Some(error),
        };
        let stopped = self.stop().await;
        match died {
            Some(error) => Err(error),
            None => stopped,
        }
    }

    /// Waits until ZooKeeper is gone, and tells of everything else that goes.
    async fn wait_for_end(&self) -> Error {
        let mut missed: Vec<&str> = Vec::new();
        loop {
            if let Err(error) = self.cluster.zookeeper().check_alive() {
                return error;
            }
            for server in self.cluster.fluss_servers() {
                if server.check_alive().is_err() && !missed.contains(&server.name()) {
                    missed.push(server.name());
                    let log = server.log().display();
                    self.progress.say(format!(
                        "{} ended by itself; the demo goes on without it (log {log})",
                        server.name()
                    ));
                }
            }
            if self.workload.check_alive().is_err() && !missed.contains(&WORKLOAD) {
                missed.push(WORKLOAD);
                self.progress.say("the sample workload ended; no more rows are written");
            }
            tokio::time::sleep(WATCH).await;
        }
    }

    /// Ends the workload, the servers and ZooKeeper, in that order; data and logs stay in the folder.
    ///
    /// # Errors
    /// `signal_failed`, `will_not_end`, `io_failed`.
    pub async fn stop(self) -> Result<(), Error> {
        // Whoever reads the file must not find a cluster that is on its way out.
        let removed = DemoFiles::remove(&self.files.record());
        let workload = self.workload.stop().await;
        let cluster = self.cluster.stop().await;
        let forgotten = stop::forget(&self.files);
        removed.and(workload).and(cluster).and(forgotten)
    }
}

/// Makes the folder, checks that it may be used, and locks it for this process.
fn take_folder(files: &DemoFiles) -> Result<File, Error> {
    paths::make_folder(&files.dir)?;
    let private = fs::Permissions::from_mode(0o700);
    fs::set_permissions(&files.dir, private).map_err(|source| Error::io("protect", &files.dir, source))?;
    let path = files.lock();
    if !path.exists() {
        let mut entries = fs::read_dir(&files.dir).map_err(|source| Error::io("read", &files.dir, source))?;
        if entries.next().is_some() {
            return Err(Error::DemoFolderForeign { dir: files.dir.clone() });
        }
    }
    let lock = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(|source| Error::io("write", &path, source))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => {
            let pid = PidRecord::read(&files.supervisor())?.map_or(0, |record| record.pid);
            Err(Error::DemoRunning { dir: files.dir.clone(), pid })
        }
        Err(TryLockError::Error(source)) => Err(Error::io("lock", &path, source)),
    }
}

/// Empties the folder and notes that this process runs the demo in it.
fn start_afresh(files: &DemoFiles) -> Result<(), Error> {
    wipe(files)?;
    match PidRecord::of("pegel demo", std::process::id()) {
        Some(me) => me.write(&files.supervisor()),
        None => Ok(()),
    }
}

/// Removes what an earlier demo left, and nothing that a demo does not write.
fn wipe(files: &DemoFiles) -> Result<(), Error> {
    DemoFiles::remove(&files.record())?;
    let entries = fs::read_dir(&files.dir).map_err(|source| Error::io("read", &files.dir, source))?;
    for entry in entries {
        let path = entry.map_err(|source| Error::io("read", &files.dir, source))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let ours =
            matches!(name.as_str(), "coordinator" | "zookeeper" | "remote" | "tmp" | "tls" | "logs" | "pids");
        if (ours || name.starts_with("tablet-server-")) && path.is_dir() {
            fs::remove_dir_all(&path).map_err(|source| Error::io("remove", &path, source))?;
        }
    }
    Ok(())
}

/// A user of the demo, and what it may do.
struct Person {
    user: User,
    role: &'static str,
}

/// Makes the users, the administrator first; none without SASL.
fn people(sasl: bool) -> Result<Vec<Person>, Error> {
    let roles = [
        ("admin", "super user: may do everything"),
        ("writer", "reads and writes the databases shop and telemetry"),
        ("reader", "reads the database shop"),
        ("stranger", "has no right to anything"),
    ];
    let wanted = if sasl { roles.as_slice() } else { &[] };
    wanted
        .iter()
        .map(|(name, role)| Ok(Person { user: User::new(*name, random::word(PASSWORD_LENGTH)?), role }))
        .collect()
}

fn builder(options: &DemoOptions, dir: &Path, people: &[Person], progress: Progress) -> ClusterBuilder {
    let mut builder = ClusterBuilder::new()
        .tablet_servers(options.tablet_servers)
        .ports(PortChoice::Fixed(FixedPorts { base: options.port_base, option: PORT_OPTION }))
        .dir(dir)
        .progress(progress);
    if options.sasl {
        builder = builder.sasl(people.iter().map(|person| person.user.clone())).authorizer(["admin"]);
    }
    if options.tls {
        builder = builder.tls(TlsOptions::default());
    }
    builder
}

fn describe(
    options: &DemoOptions,
    cluster: &RunningCluster,
    workload: &Workload,
    people: &[Person],
) -> DemoRecord {
    let servers = cluster
        .servers()
        .map(|server| DemoServer {
            name: server.name().to_owned(),
            pid: server.pid().unwrap_or_default(),
            address: server.address().to_owned(),
            metrics_url: server.metrics_address().map(|address| format!("http://{address}/metrics")),
            log: server.log().to_owned(),
        })
        .collect();
    DemoRecord {
        version: record::VERSION,
        fluss_version: FLUSS_VERSION.to_owned(),
        started_at: clock::wall(),
        dir: cluster.dir().to_owned(),
        logs_dir: cluster.logs(),
        supervisor_pid: std::process::id(),
        workload_pid: workload.pid(),
        bootstrap: cluster.bootstrap(),
        security_protocol: match (options.sasl, options.tls) {
            (false, false) => "PLAINTEXT",
            (false, true) => "TLS",
            (true, false) => "SASL_PLAINTEXT",
            (true, true) => "SASL_TLS",
        }
        .to_owned(),
        sasl_mechanism: options.sasl.then(|| "PLAIN".to_owned()),
        tls: options.tls,
        ca_path: cluster.tls().map(|tls| tls.ca_path().to_owned()),
        plain_bootstrap: options.tls.then(|| cluster.direct_bootstrap()),
        users: people
            .iter()
            .map(|person| DemoUser {
                name: person.user.name.clone(),
                password: person.user.password.clone(),
                role: person.role.to_owned(),
            })
            .collect(),
        zookeeper: cluster.zookeeper().address().to_owned(),
        metric_endpoints: cluster
            .metric_endpoints()
            .into_iter()
            .map(|address| format!("http://{address}/metrics"))
            .collect(),
        servers,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{DemoFiles, people, take_folder, wipe};

    #[test]
    fn a_folder_with_something_else_in_it_is_refused_and_untouched() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("logs")).unwrap();
        let files = DemoFiles { dir: dir.path().to_owned() };
        assert_eq!(take_folder(&files).unwrap_err().code(), "demo_folder_foreign");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn one_folder_holds_one_demo_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let files = DemoFiles { dir: dir.path().join("new").join("demo") };
        let lock = take_folder(&files).unwrap();
        assert_eq!(take_folder(&files).unwrap_err().code(), "demo_running");
        drop(lock);
        take_folder(&files).unwrap();
    }

    #[test]
    fn a_fresh_start_removes_the_old_cluster_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["tablet-server-0", "zookeeper", "notes"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        fs::write(dir.path().join("demo.json"), "{}").unwrap();
        fs::write(dir.path().join("logs"), "a file of that name is not the demo's").unwrap();
        wipe(&DemoFiles { dir: dir.path().to_owned() }).unwrap();
        let mut left: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["logs", "notes"]);
    }

    #[test]
    fn passwords_are_new_each_time_and_only_made_for_sasl() {
        assert!(people(false).unwrap().is_empty());
        let first = people(true).unwrap();
        let second = people(true).unwrap();
        assert_eq!(first[0].user.name, "admin");
        assert!(first.iter().zip(&second).all(|(a, b)| a.user.password != b.user.password));
        assert!(first.iter().all(|person| person.user.password.len() == 24));
    }
}
