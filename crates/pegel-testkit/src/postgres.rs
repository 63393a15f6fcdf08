//! A private PostgreSQL server for this test process: on loopback, gone when the process is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use fluss_testkit::ports::FreePorts;
use fluss_testkit::process::{Guarded, ProcessSpec};
use pegel_store::token;
use secrecy::ExposeSecret;
use sqlx::Connection as _;
use sqlx::postgres::PgConnection;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::time;

/// Makes a data folder, serves it, and removes it. `$1` folder of programs, `$2` port.
///
/// QUIT ends the server without a checkpoint: nothing is kept anyway.
const SERVE: &str = r#"
trap 'exit 143' TERM
umask 077
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
printf '%s' "$PEGEL_TEST_PASSWORD" >"$folder/password"
"$1/initdb" -D "$folder/data" -U pegel -A scram-sha-256 --pwfile="$folder/password" \
  -E UTF8 --no-locale --no-sync || exit 1
"$1/postgres" -D "$folder/data" -c listen_addresses=127.0.0.1 -c port="$2" -c unix_socket_directories= \
  -c fsync=on -c max_connections=400 -c shared_buffers=32MB &
server=$!
trap 'kill -QUIT "$server"' TERM
wait "$server"
wait "$server"
"#;

/// How long the server may take until it answers.
const START_BOUND: Duration = Duration::from_secs(60);
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

struct Server {
    /// Everything of an address but the database's name.
    address: String,
    _process: Guarded,
    _ports: FreePorts,
    _log: TempDir,
    /// Keeps the process's pipes; its threads end with the test process.
    _runtime: Runtime,
}

static SERVER: OnceLock<Option<Server>> = OnceLock::new();
static DATABASES: AtomicU32 = AtomicU32::new(0);

/// Makes an empty database and returns its address; `None` where there is no PostgreSQL.
/// # Panics
/// When the server does not start, or is required by `PEGEL_TEST_REQUIRE` and absent.
pub async fn new_database() -> Option<String> {
    // The first caller starts the server on a thread of its own, since each test has its own runtime.
    let start = || std::thread::spawn(|| SERVER.get_or_init(start).as_ref()).join().unwrap();
    let server = tokio::task::spawn_blocking(start).await.unwrap()?;
    let name = format!("case_{}", DATABASES.fetch_add(1, Ordering::SeqCst));
    let mut connection = PgConnection::connect(&format!("{}/postgres", server.address)).await.unwrap();
    let sql = sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"));
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    Some(format!("{}/{name}", server.address))
}

fn start() -> Option<Server> {
    let Some(programs) = programs() else {
        let required = std::env::var("PEGEL_TEST_REQUIRE").unwrap_or_default();
        assert!(
            !required.split(',').any(|word| word.trim() == "postgres"),
            "PostgreSQL is required and absent"
        );
        eprintln!("skipped: PostgreSQL's initdb is not installed");
        return None;
    };
    let runtime = Runtime::new().unwrap();
    let ports = FreePorts::claim(1).unwrap();
    let port = ports.ports()[0];
    let (password, _) = token::generate("").unwrap();
    let address = format!("postgres://pegel:{}@127.0.0.1:{port}", password.expose_secret());
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("postgres.log");
    let process = runtime.block_on(async {
        let spec = spec(&programs, port, password.expose_secret(), log);
        let mut process = Guarded::spawn(spec).await.unwrap();
        let answers = time::timeout(START_BOUND, until_it_answers(&address, &mut process)).await;
        assert!(answers.is_ok(), "PostgreSQL does not answer: {}", process.last_lines(20));
        process
    });
    Some(Server { address, _process: process, _ports: ports, _log: folder, _runtime: runtime })
}

async fn until_it_answers(address: &str, process: &mut Guarded) {
    while PgConnection::connect(&format!("{address}/postgres")).await.is_err() {
        let ended = process.wait(BETWEEN_TRIES).await.unwrap();
        assert!(ended.is_none(), "PostgreSQL ended: {}", process.last_lines(20));
    }
}

fn spec(programs: &Path, port: u16, password: &str, log: PathBuf) -> ProcessSpec {
    let mut words: Vec<OsString> = Vec::new();
    // The server refuses to run as root.
    if is_root() {
        words
            .extend(["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"].map(OsString::from));
    }
    words.extend(["env".into(), format!("PEGEL_TEST_PASSWORD={password}").into()]);
    words.extend(["sh", "-c", SERVE, "serve"].map(OsString::from));
    words.extend([programs.into(), port.to_string().into()]);
    ProcessSpec {
        name: "postgres".to_owned(),
        program: PathBuf::from(words.remove(0)),
        arguments: words,
        folder: PathBuf::from("/"),
        log,
        grace: Duration::from_secs(10),
        pid_file: None,
    }
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().unwrap();
    output.stdout.trim_ascii() == b"0"
}

/// Returns the newest installed server's folder of programs.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut folders: Vec<PathBuf> =
        versions.filter_map(Result::ok).map(|entry| entry.path().join("bin")).collect();
    folders.sort();
    folders.into_iter().rev().find(|folder| folder.join("initdb").exists())
}
