//! A writing process killed at random moments loses nothing it has acknowledged.
//!
//! Few runs here; `PEGEL_STORE_KILL_RUNS` asks for more. The last line of each test says how many.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use pegel_store::audit::{self, Verification};
use pegel_store::{Db, StoreConfig};
use secrecy::{ExposeSecret, SecretString};

use crate::stores::manual_clock;
use pegel_testkit::postgres;

/// How many processes are killed when nobody asks for another number.
const RUNS: u32 = 10;

fn runs() -> u32 {
    std::env::var("PEGEL_STORE_KILL_RUNS").map_or(RUNS, |text| text.parse().unwrap())
}

/// A number below `end`, different each time.
fn chance(end: u64) -> u64 {
    let bytes = uuid::Uuid::now_v7().into_bytes();
    u64::from_be_bytes(bytes[8..].try_into().unwrap()) % end
}

fn spawn(config: &StoreConfig, run: u32) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_store-writer"));
    match config {
        StoreConfig::Sqlite { path } => command.arg("sqlite").arg(path),
        StoreConfig::Postgres { url } => {
            command.env("STORE_WRITER_URL", url.expose_secret()).args(["postgres", "STORE_WRITER_URL"])
        }
        StoreConfig::SqliteMemory => panic!("nothing of it survives"),
    };
    command.arg(run.to_string()).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap()
}

/// Lets a process write, kills it, and returns what it acknowledged.
fn kill_one(config: &StoreConfig, run: u32) -> Vec<(String, i64)> {
    let mut child = spawn(config, run);
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    // The first answer shows that it has begun; then it has up to a fifth of a second.
    output.read_line(&mut text).unwrap();
    std::thread::sleep(Duration::from_micros(chance(200_000)));
    child.kill().unwrap();
    output.read_to_string(&mut text).unwrap();
    child.wait().unwrap();
    // A line without an end was not said.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let answers = whole.lines().map(|line| {
        let (slug, seq) = line.strip_prefix("ack ").unwrap().split_once(' ').unwrap();
        (slug.to_owned(), seq.parse().unwrap())
    });
    answers.collect()
}

async fn kill_and_compare(database: &str, config: StoreConfig) {
    let (mut answered, runs) = (0, runs());
    for run in 0..runs {
        let (at, config_of_child) = (run, config.clone());
        let answers = tokio::task::spawn_blocking(move || kill_one(&config_of_child, at)).await.unwrap();
        assert!(!answers.is_empty(), "run {run} wrote nothing");
        answered += answers.len();
        let db = Db::open(&config, manual_clock()).await.unwrap();
        let rows = db.read(|tx| {
            let sql = "SELECT c.slug, a.seq FROM cluster c JOIN audit a ON a.request_id = c.slug";
            Box::pin(tx.fetch_all(sql, &[]))
        });
        let stored: BTreeSet<(String, i64)> = rows
            .await
            .unwrap()
            .iter()
            .map(|row| (row.text("slug").unwrap(), row.int("seq").unwrap()))
            .collect();
        let lost: Vec<_> = answers.iter().filter(|answer| !stored.contains(answer)).collect();
        assert!(lost.is_empty(), "run {run} lost {lost:?}");
        let clusters = "SELECT count(*) AS n FROM cluster";
        let clusters =
            db.read(move |tx| Box::pin(async move { tx.fetch_one(clusters, &[]).await?.int("n") }));
        assert_eq!(
            usize::try_from(clusters.await.unwrap()).unwrap(),
            stored.len(),
            "run {run} tore a transaction"
        );
        match audit::verify(&db, 0).await.unwrap() {
            Verification::Whole { row_count, .. } => {
                assert_eq!(usize::try_from(row_count).unwrap(), stored.len(), "run {run}");
            }
            broken @ Verification::Broken { .. } => panic!("run {run}: {broken:?}"),
        }
        db.close().await;
    }
    println!("killed {runs} processes on {database}, {answered} acknowledged writes, none lost");
}

#[tokio::test]
async fn killed_writers_lose_nothing_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    kill_and_compare("sqlite", StoreConfig::Sqlite { path: Path::new(folder.path()).join("pegel.db") }).await;
}

#[tokio::test]
async fn killed_writers_lose_nothing_on_postgres() {
    if let Some(url) = postgres::new_database().await {
        kill_and_compare("postgres", StoreConfig::Postgres { url: SecretString::from(url) }).await;
    }
}
