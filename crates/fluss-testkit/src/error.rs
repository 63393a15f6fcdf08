//! The one error type of this crate.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What can go wrong with a real cluster, a proxy, certificates or the demo.
///
/// Messages that come from a child process carry its last lines, since the reader has nothing else to go by.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No Java development kit was found.
    #[error("no JDK found: need java and javac 17 or newer in JAVA_HOME or PATH (looked at {looked_at})")]
    JdkNotFound {
        /// The places that were looked at.
        looked_at: String,
    },
    /// Every JDK found is too old.
    #[error("the JDK at {} is version {version}, need 17 or newer", path.display())]
    JdkTooOld {
        /// The java program.
        path: PathBuf,
        /// Its version as it prints it.
        version: String,
    },
    /// Maven is needed to fetch jars, and is not in PATH.
    #[error("maven not found: need mvn in PATH to fetch the Fluss jars once")]
    MavenNotFound,
    /// Maven could not fetch the jars.
    #[error("maven could not fetch the Fluss jars; its last lines:\n{output}")]
    DownloadFailed {
        /// The last lines Maven printed.
        output: String,
    },
    /// Maven said it succeeded, but a jar is missing.
    #[error("the fetched jars in {} lack {missing}", folder.display())]
    JarsIncomplete {
        /// The folder of the jars.
        folder: PathBuf,
        /// What was expected there.
        missing: String,
    },
    /// The Java compiler refused the embedded program.
    #[error("javac failed; its last lines:\n{output}")]
    CompileFailed {
        /// The last lines javac printed.
        output: String,
    },
    /// A Java program ended before its time or with an error.
    #[error("the Java program {program} failed; its last lines:\n{output}")]
    JavaProgramFailed {
        /// The main class.
        program: String,
        /// Its last lines.
        output: String,
    },
    /// A Java program printed something that is not the promised answer.
    #[error("the Java program {program} gave no usable answer: {detail}")]
    JavaAnswerUnusable {
        /// The main class.
        program: String,
        /// What was wrong with the answer.
        detail: String,
    },
    /// A file, folder or socket operation failed.
    #[error("could not {action} {subject}")]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// On what.
        subject: String,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// Neither XDG_CACHE_HOME nor HOME is an absolute path.
    #[error("no cache folder: neither XDG_CACHE_HOME nor HOME is an absolute path")]
    NoCacheFolder,
    /// The system gave no random bytes.
    #[error("the system gave no random bytes")]
    RandomnessUnavailable,
    /// A fixed port is in use.
    #[error("port {port} for {role} is taken{}; choose other ports with {option}", holder_words(.holder.as_deref()))]
    PortTaken {
        /// The port.
        port: u16,
        /// What it was meant for.
        role: String,
        /// The option that moves it.
        option: &'static str,
        /// Who holds it, if the system tells.
        holder: Option<String>,
    },
    /// No run of free ports was found.
    #[error("no free block of {count} ports on loopback")]
    NoFreePorts {
        /// How many were looked for.
        count: usize,
    },
    /// A setting makes no sense.
    #[error("setting {name}: {reason}")]
    InvalidSetting {
        /// The setting.
        name: &'static str,
        /// Why it was refused.
        reason: String,
    },
    /// A child process could not be started.
    #[error("could not start {process}")]
    SpawnFailed {
        /// Which process.
        process: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A server ended while it should run.
    #[error("{server} ended; log {}, its last lines:\n{output}", log.display())]
    ServerDied {
        /// Which server.
        server: String,
        /// Its whole log.
        log: PathBuf,
        /// The log's last lines.
        output: String,
    },
    /// The servers run, but do not serve in time.
    #[error("cluster not ready after {} s: {missing}; logs in {}", after.as_secs(), logs.display())]
    NotReady {
        /// How long was waited.
        after: Duration,
        /// What was still missing.
        missing: String,
        /// The folder of the logs.
        logs: PathBuf,
    },
    /// There is no tablet server of that number.
    #[error("no tablet server {index}: the cluster has {count}")]
    NoSuchServer {
        /// The number asked for.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A process was addressed that does not run.
    #[error("{process} is not running")]
    NotRunning {
        /// Which process.
        process: String,
    },
    /// A signal could not be sent.
    #[error("could not send SIG{signal} to {process} (pid {pid})")]
    SignalFailed {
        /// The signal's name without SIG.
        signal: &'static str,
        /// Which process.
        process: String,
        /// Its id.
        pid: u32,
    },
    /// A process outlived SIGKILL for longer than is reasonable.
    #[error("{process} (pid {pid}) did not end after SIGKILL")]
    WillNotEnd {
        /// Which process.
        process: String,
        /// Its id.
        pid: u32,
    },
    /// A certificate could not be made.
    #[error("could not make a certificate for {subject}")]
    CertificateFailed {
        /// For whom.
        subject: String,
        /// Why.
        #[source]
        source: rcgen::Error,
    },
    /// A TLS configuration was refused.
    #[error("could not set up TLS for {subject}")]
    TlsFailed {
        /// For what.
        subject: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A demo of this folder is running already.
    #[error("a demo is already running in {} (pid {pid}); stop it first", dir.display())]
    DemoRunning {
        /// The demo's folder.
        dir: PathBuf,
        /// The process that runs it.
        pid: u32,
    },
    /// The demo's folder holds something else.
    #[error("{} is neither empty nor the folder of a demo; choose another", dir.display())]
    DemoFolderForeign {
        /// The folder.
        dir: PathBuf,
    },
    /// A file of the demo does not hold what the demo writes.
    #[error("{} is not a file of the demo: {detail}", path.display())]
    DemoFileUnusable {
        /// The file.
        path: PathBuf,
        /// What was wrong with it.
        detail: String,
    },
}

fn holder_words(holder: Option<&str>) -> String {
    holder.map(|holder| format!(" by {holder}")).unwrap_or_default()
}

impl Error {
    /// Makes the error of a failed operation on a path.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, subject: path.display().to_string(), source }
    }

    /// Returns the stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::JdkNotFound { .. } => "jdk_not_found",
            Self::JdkTooOld { .. } => "jdk_too_old",
            Self::MavenNotFound => "maven_not_found",
            Self::DownloadFailed { .. } => "download_failed",
            Self::JarsIncomplete { .. } => "jars_incomplete",
            Self::CompileFailed { .. } => "compile_failed",
            Self::JavaProgramFailed { .. } => "java_program_failed",
            Self::JavaAnswerUnusable { .. } => "java_answer_unusable",
            Self::Io { .. } => "io_failed",
            Self::NoCacheFolder => "no_cache_folder",
            Self::RandomnessUnavailable => "randomness_unavailable",
            Self::PortTaken { .. } => "port_taken",
            Self::NoFreePorts { .. } => "no_free_ports",
            Self::InvalidSetting { .. } => "invalid_setting",
            Self::SpawnFailed { .. } => "spawn_failed",
            Self::ServerDied { .. } => "server_died",
            Self::NotReady { .. } => "not_ready",
            Self::NoSuchServer { .. } => "no_such_server",
            Self::NotRunning { .. } => "not_running",
            Self::SignalFailed { .. } => "signal_failed",
            Self::WillNotEnd { .. } => "will_not_end",
            Self::CertificateFailed { .. } => "certificate_failed",
            Self::TlsFailed { .. } => "tls_failed",
            Self::DemoRunning { .. } => "demo_running",
            Self::DemoFolderForeign { .. } => "demo_folder_foreign",
            Self::DemoFileUnusable { .. } => "demo_file_unusable",
        }
    }

    /// Tells whether the same call may succeed later with nothing changed.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::DownloadFailed { .. } | Self::NoFreePorts { .. } | Self::NotReady { .. })
    }

    /// Tells whether the machine lacks what a real cluster needs (Java, Maven or the jars).
    ///
    /// Tests that need a real cluster skip on these, unless they are required.
    pub fn is_missing_prerequisite(&self) -> bool {
        matches!(
            self,
            Self::JdkNotFound { .. }
                | Self::JdkTooOld { .. }
                | Self::MavenNotFound
                | Self::DownloadFailed { .. }
                | Self::NoCacheFolder
        )
    }
}
