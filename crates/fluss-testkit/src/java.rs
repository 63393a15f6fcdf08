//! The official Java client beside a real cluster: sample data, and a second opinion on everything Pegel says.
//!
//! The programs' sources are embedded and compiled once per change into the user's cache. The Java client
//! knows no TLS, so it comes in where nothing stands before the servers
//! ([`crate::cluster::RunningCluster::direct_bootstrap`]).

use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time;

use crate::artifacts::{self, Artifacts};
use crate::clock::Deadline;
use crate::cluster::User;
use crate::error::Error;
use crate::paths;
use crate::process::{self, Guarded, ProcessSpec};

/// The embedded sources: file name and text.
const SOURCES: [(&str, &str); 8] = [
    ("Ask.java", include_str!("../../../peers/java/src/org/pegel/peer/Ask.java")),
    ("Codec.java", include_str!("../../../peers/java/src/org/pegel/peer/Codec.java")),
    ("Login.java", include_str!("../../../peers/java/src/org/pegel/peer/Login.java")),
    ("SampleTable.java", include_str!("../../../peers/java/src/org/pegel/peer/SampleTable.java")),
    ("Samples.java", include_str!("../../../peers/java/src/org/pegel/peer/Samples.java")),
    ("ShopTables.java", include_str!("../../../peers/java/src/org/pegel/peer/ShopTables.java")),
    ("TelemetryTables.java", include_str!("../../../peers/java/src/org/pegel/peer/TelemetryTables.java")),
    ("TypesTables.java", include_str!("../../../peers/java/src/org/pegel/peer/TypesTables.java")),
];

const ASK: &str = "org.pegel.peer.Ask";
const CODEC: &str = "org.pegel.peer.Codec";
const SAMPLES: &str = "org.pegel.peer.Samples";

/// What the sample program prints when the initial rows are written.
const READY: &str = "ready";

/// How many of a program's last lines go into an error.
const TAIL_LINES: usize = 15;

/// How long making the sample tables and their first rows may take.
const SAMPLES_WITHIN: Duration = Duration::from_secs(60);

/// How long answering all questions of one call may take.
const ANSWERS_WITHIN: Duration = Duration::from_secs(120);

/// How often the log of the sample program is looked at.
const POLL: Duration = Duration::from_millis(50);

/// Where the Java client connects, and as whom.
#[derive(Debug, Clone)]
pub struct JavaLogin {
    /// `host:port` of some servers, comma separated.
    pub bootstrap: String,
    /// The SASL user, or `None` on a listener without authentication.
    pub user: Option<User>,
}

/// The compiled Java programs.
#[derive(Debug, Clone)]
pub struct JavaPeer {
    artifacts: Artifacts,
    classes: PathBuf,
    pid_file: Option<PathBuf>,
}

/// The sample program that goes on writing a few rows a second. Dropping it ends it.
#[derive(Debug)]
pub struct Workload {
    process: Guarded,
}

impl JavaPeer {
    /// Compiles the programs unless the cache has them. Blocks for some seconds the first time.
    ///
    /// # Errors
    /// `compile_failed`, `io_failed`, `spawn_failed`.
    pub fn prepare(artifacts: &Artifacts) -> Result<Self, Error> {
        let folder = artifacts.folder();
        let classes = folder.join(format!("classes-{:016x}", content_hash(artifacts.jdk().version())));
        let peer = Self { artifacts: artifacts.clone(), classes, pid_file: None };
        if peer.classes.is_dir() {
            return Ok(peer);
        }
        let _lock = artifacts::lock(&folder.join("classes.lock"))?;
        if !peer.classes.is_dir() {
            peer.compile(folder)?;
        }
        Ok(peer)
    }

    /// As [`JavaPeer::prepare`], for callers inside a tokio runtime.
    ///
    /// # Errors
    /// Those of [`JavaPeer::prepare`].
    pub async fn prepare_async(artifacts: &Artifacts) -> Result<Self, Error> {
        let artifacts = artifacts.clone();
        tokio::task::spawn_blocking(move || Self::prepare(&artifacts))
            .await
            .map_err(|failed| Error::io("wait for", Path::new("javac"), std::io::Error::other(failed)))?
    }

    /// Has the sample program's process id written to a file.
    #[must_use]
    pub fn with_pid_file(mut self, path: PathBuf) -> Self {
        self.pid_file = Some(path);
        self
    }

    fn compile(&self, folder: &Path) -> Result<(), Error> {
        let work = tempfile::Builder::new()
            .prefix("compiling-")
            .tempdir_in(folder)
            .map_err(|source| Error::io("create a folder in", folder, source))?;
        let classes = work.path().join("classes");
        paths::make_folder(&classes)?;
        let javac = self.artifacts.jdk().javac();
        let mut command = std::process::Command::new(javac);
        command
            .args(["-encoding", "UTF-8", "-proc:none", "-nowarn", "--release", "17", "-d"])
            .arg(&classes)
            .arg("-cp")
            .arg(self.artifacts.client_classpath())
            .stdin(Stdio::null());
        for (name, text) in SOURCES {
            let file = work.path().join(name);
            paths::write(&file, text)?;
            command.arg(file);
        }
        let output = command
            .output()
            .map_err(|source| Error::SpawnFailed { process: javac.display().to_string(), source })?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            return Err(Error::CompileFailed { output: process::last_lines(&text, TAIL_LINES) });
        }
        fs::rename(&classes, &self.classes).map_err(|source| Error::io("rename to", &self.classes, source))
    }

    /// Puts questions to the cluster and returns one answer for each, in order.
    ///
    /// What can be asked is documented at the Java class `Ask`. An answer is `{"ok": value}` or
    /// `{"error": {"type", "message"}}`. If the future is dropped the program is killed.
    ///
    /// # Errors
    /// `java_program_failed` if the program fails as a whole (it cannot connect), `java_answer_unusable`,
    /// `spawn_failed`, `io_failed`.
    pub async fn ask(&self, login: &JavaLogin, questions: &[Value]) -> Result<Vec<Value>, Error> {
        let secrets = tempfile::tempdir()
            .map_err(|source| Error::io("create a folder in", &std::env::temp_dir(), source))?;
        self.converse(ASK, self.arguments(ASK, login, secrets.path())?, questions).await
    }

    /// Has the official classes write and read bytes, without a cluster, and returns one answer for each question.
    ///
    /// What can be asked is documented at the Java class `Codec`. An answer is `{"ok": value}` or
    /// `{"error": text}`. If the future is dropped the program is killed.
    ///
    /// # Errors
    /// `java_program_failed`, `java_answer_unusable`, `spawn_failed`.
    pub async fn codec(&self, questions: &[Value]) -> Result<Vec<Value>, Error> {
        let mut arguments = self.machine_arguments();
        arguments.push(CODEC.into());
        self.converse(CODEC, arguments, questions).await
    }

    /// Writes the questions to a program and reads its answers.
    async fn converse(
        &self,
        class: &'static str,
        arguments: Vec<OsString>,
        questions: &[Value],
    ) -> Result<Vec<Value>, Error> {
        let spawn_failed = |source| Error::SpawnFailed { process: class.to_owned(), source };
        let mut child = Command::new(self.artifacts.jdk().java())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(spawn_failed)?;
        let mut lines = String::new();
        for question in questions {
            lines.push_str(&question.to_string());
            lines.push('\n');
        }
        let mut input = child.stdin.take();
        let exchange = async {
            let write = async {
                if let Some(mut input) = input.take() {
                    // A program that ended early says why on its error stream; a broken pipe says less.
                    drop(input.write_all(lines.as_bytes()).await);
                }
            };
            let ((), output) = tokio::join!(write, child.wait_with_output());
            output
        };
        let failed = |output: String| Error::JavaProgramFailed { program: class.to_owned(), output };
        let output = time::timeout(ANSWERS_WITHIN, exchange)
            .await
            .map_err(|_| failed(format!("(no answers within {} s)", ANSWERS_WITHIN.as_secs())))?
            .map_err(spawn_failed)?;
        if !output.status.success() {
            return Err(failed(process::last_lines(&String::from_utf8_lossy(&output.stderr), TAIL_LINES)));
        }
        answers(class, &output.stdout, questions.len())
    }

    /// Makes the sample databases (with SASL also ACLs for users `writer` and `reader`) and writes their initial rows; every row is acknowledged when this returns.
    ///
    /// `folder` takes the program's log and, for its run, the password.
    ///
    /// # Errors
    /// `java_program_failed`, `spawn_failed`, `io_failed`.
    pub async fn write_samples(&self, login: &JavaLogin, folder: &Path) -> Result<(), Error> {
        // The program ends by itself then; whether it already has makes no difference.
        self.samples(login, folder, false).await?.stop().await
    }

    /// As [`JavaPeer::write_samples`], and goes on writing about 130 rows a second until stopped.
    ///
    /// # Errors
    /// Those of [`JavaPeer::write_samples`].
    pub async fn start_workload(&self, login: &JavaLogin, folder: &Path) -> Result<Workload, Error> {
        self.samples(login, folder, true).await
    }

    async fn samples(&self, login: &JavaLogin, folder: &Path, steady: bool) -> Result<Workload, Error> {
        let log = folder.join("samples.log");
        // An older log would say ready too early.
        match fs::remove_file(&log) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io("remove", &log, error));
            }
            _ => {}
        }
        let mut arguments = self.arguments(SAMPLES, login, folder)?;
        if steady {
            arguments.push("--steady".into());
        }
        if login.user.is_some() {
            arguments.push("--grants".into());
        }
        let mut process = Guarded::spawn(ProcessSpec {
            name: "samples".to_owned(),
            program: self.artifacts.jdk().java().to_owned(),
            arguments,
            folder: folder.to_owned(),
            log: log.clone(),
            grace: Duration::from_secs(2),
            pid_file: self.pid_file.clone(),
        })
        .await?;
        let deadline = Deadline::after(SAMPLES_WITHIN);
        loop {
            // Looked at before the log, since a program may be ready and end between the two.
            let ended = process.wait(POLL).await?.is_some();
            if fs::read_to_string(&log).is_ok_and(|text| text.lines().any(|line| line == READY)) {
                return Ok(Workload { process });
            }
            if ended || deadline.passed() {
                let output = process.last_lines(TAIL_LINES);
                return Err(Error::JavaProgramFailed { program: SAMPLES.to_owned(), output });
            }
        }
    }

    /// Returns the JVM's command line up to the programs' common options; writes the password to `folder`.
    fn arguments(&self, class: &str, login: &JavaLogin, folder: &Path) -> Result<Vec<OsString>, Error> {
        let mut arguments = self.machine_arguments();
        arguments.extend(process::words([class, "--bootstrap", &login.bootstrap]));
        if let Some(user) = &login.user {
            let file = folder.join("samples.password");
            paths::write_private(&file, user.password.as_bytes())?;
            arguments.extend(process::words(["--user", &user.name, "--password-file"]));
            arguments.push(file.into());
        }
        Ok(arguments)
    }

    /// Returns the JVM's command line up to the program's class.
    fn machine_arguments(&self) -> Vec<OsString> {
        let mut classpath = OsString::from(&self.classes);
        classpath.push(":");
        classpath.push(self.artifacts.client_classpath());
        let mut arguments = process::words([
            "-Xmx192m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:-UsePerfData",
            "--add-opens=java.base/java.nio=ALL-UNNAMED",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-Dorg.slf4j.simpleLogger.showDateTime=true",
            // While a leader is missing the client warns of every try, thousands of times a second.
            "-Dorg.slf4j.simpleLogger.log.org.apache.fluss.client.write.Sender=error",
            "-cp",
        ]);
        arguments.push(classpath);
        arguments
    }
}

impl Workload {
    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Returns the file of the program's output.
    pub fn log(&self) -> &Path {
        self.process.log()
    }

    /// Fails if the program has ended, with the end of its log.
    ///
    /// # Errors
    /// `java_program_failed`.
    pub fn check_alive(&self) -> Result<(), Error> {
        if self.process.is_alive() {
            return Ok(());
        }
        let output = self.process.last_lines(TAIL_LINES);
        Err(Error::JavaProgramFailed { program: SAMPLES.to_owned(), output })
    }

    /// Ends the program.
    ///
    /// # Errors
    /// `signal_failed`, `will_not_end`.
    pub async fn stop(mut self) -> Result<(), Error> {
        self.process.stop(Duration::from_secs(2)).await
    }
}

/// Names a state of the sources, so that each is compiled once.
fn content_hash(jdk: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    SOURCES.hash(&mut hasher);
    jdk.hash(&mut hasher);
    hasher.finish()
}

fn answers(program: &str, output: &[u8], expected: usize) -> Result<Vec<Value>, Error> {
    let unusable = |detail: String| Error::JavaAnswerUnusable { program: program.to_owned(), detail };
    let text = String::from_utf8_lossy(output);
    let answers = text
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<Vec<Value>, _>>()
        .map_err(|error| unusable(error.to_string()))?;
    if answers.len() != expected {
        return Err(unusable(format!("{} answers to {expected} questions", answers.len())));
    }
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use super::{ASK, answers};

    #[test]
    fn each_question_needs_its_answer() {
        assert_eq!(answers(ASK, b"{\"ok\":1}\n{\"ok\":2}\n", 2).unwrap().len(), 2);
        let check = |output: &[u8], part: &str| {
            let error = answers(ASK, output, 2).unwrap_err();
            assert_eq!(error.code(), "java_answer_unusable");
            assert!(error.to_string().contains(part), "{error}");
        };
        check(b"{\"ok\":1}\n", "1 answers to 2 questions");
        check(b"{\"ok\":1}\nException in thread\n", "expected value");
    }
}
