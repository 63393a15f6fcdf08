//! A process that crash tests can kill: writes to a store and prints what was acknowledged.
//!
//! It is for tests alone and knows nothing of the product's settings. Each write registers a cluster and
//! appends the audit row that tells of it, so that a reader can compare the two.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use jiff::Timestamp;
use pegel_core::access::decision::PrincipalKind;
use pegel_core::clock::ManualClock;
use pegel_core::ids::{ClusterSlug, Environment};
use pegel_store::audit::{self, Verification};
use pegel_store::clusters::{self, Settings};
use pegel_store::{Db, Error, StoreConfig};
use secrecy::SecretString;
use serde_json::json;

/// How many tasks write at once.
const WRITERS: u32 = 8;

/// So much room is taken away before a disk is filled, and given back afterwards.
const BALLAST_BYTES: usize = 1024 * 1024;

/// The size of each write that fills a disk.
const FILLING_BYTES: usize = 32 * 1024;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["sqlite", path, run] => write_on(StoreConfig::Sqlite { path: PathBuf::from(path) }, run).await,
        ["postgres", variable, run] => {
            let url = SecretString::from(std::env::var(variable).unwrap_or_default());
            write_on(StoreConfig::Postgres { url }, run).await
        }
        ["fill", folder] => fill(Path::new(folder)).await,
        _ => {
            eprintln!("usage: store-writer sqlite FILE RUN | postgres VARIABLE RUN | fill FOLDER");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}: {:?}", error.code(), std::error::Error::source(&error));
            ExitCode::FAILURE
        }
    }
}

async fn open(config: StoreConfig) -> Result<Db, Error> {
    Db::open(&config, Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH))).await
}

/// Writes until the process is killed.
async fn write_on(config: StoreConfig, run: &str) -> Result<(), Error> {
    let db = open(config).await?;
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        let (db, run) = (db.clone(), run.to_owned());
        writers.push(tokio::spawn(async move {
            for count in 0_u64.. {
                let slug = format!("r{run}-{writer}-{count}");
                let seq = register(&db, &slug, 0).await?;
                say(&format!("ack {slug} {seq}"));
            }
            Ok::<(), Error>(())
        }));
    }
    for writer in writers {
        writer.await.map_err(|_| Error::JobPanicked)??;
    }
    Ok(())
}

/// Fills the disk that the folder is on, makes room again, and goes on.
async fn fill(folder: &Path) -> Result<(), Error> {
    let ballast = folder.join("ballast");
    let written = std::fs::write(&ballast, vec![0; BALLAST_BYTES]);
    if let Err(error) = written {
        eprintln!("ballast: {error}");
    }
    let db = open(StoreConfig::Sqlite { path: folder.join("pegel.db") }).await?;
    let mut kept = 0_u32;
    let mut refused = Vec::new();
    // Several at once, so that the disk becomes full in the middle of a group.
    while refused.is_empty() {
        let mut attempts = Vec::new();
        for writer in 0..WRITERS {
            let (db, slug) = (db.clone(), format!("f-{kept}-{writer}"));
            attempts.push(tokio::spawn(async move { (register(&db, &slug, FILLING_BYTES).await, slug) }));
        }
        for attempt in attempts {
            match attempt.await.map_err(|_| Error::JobPanicked)? {
                (Ok(_), _) => kept += 1,
                (Err(error), slug) => refused.push((error, slug)),
            }
        }
    }
    for (error, _) in &refused {
        say(&format!("refused {}", error.code()));
    }
    say(&format!("kept {kept}"));
    report(&db, "full").await?;
    if let Err(error) = std::fs::remove_file(&ballast) {
        eprintln!("ballast: {error}");
    }
    for (_, slug) in &refused {
        register(&db, slug, FILLING_BYTES).await?;
        kept += 1;
    }
    say(&format!("kept {kept}"));
    report(&db, "recovered").await?;
    db.close().await;
    Ok(())
}

/// Prints how many clusters and audit rows there are, and whether the chain is whole.
async fn report(db: &Db, when: &str) -> Result<(), Error> {
    let sql = "SELECT count(*) AS n FROM cluster";
    let clusters = db.read(|tx| Box::pin(async { tx.fetch_one(sql, &[]).await?.int("n") })).await?;
    match audit::verify(db, 0).await? {
        Verification::Whole { row_count, .. } => say(&format!("{when} {clusters} {row_count} whole")),
        Verification::Broken { seq, .. } => say(&format!("{when} {clusters} {seq} broken")),
    }
    Ok(())
}

/// Registers a cluster with an audit row and returns the row's number.
async fn register(db: &Db, slug: &str, size: usize) -> Result<i64, Error> {
    let parsed: ClusterSlug = slug.parse().map_err(|_| Error::InvalidSetting { reason: slug.to_owned() })?;
    let settings = Settings {
        name: slug.to_owned(),
        environment: Environment::Test,
        read_only: false,
        options: clusters::OptionsText::from(&json!({ "filling": "x".repeat(size) })),
    };
    let entry = audit::Entry {
        request_id: slug.to_owned(),
        principal_kind: PrincipalKind::System,
        principal_id: String::new(),
        principal_name: "store-writer".to_owned(),
        action: "clusters.create".to_owned(),
        target: clusters::resource_key(&parsed),
        outcome: "ok".to_owned(),
        detail: json!({}),
    };
    db.write(move |tx| {
        let (slug, settings, entry) = (parsed.clone(), settings.clone(), entry.clone());
        Box::pin(async move {
            clusters::create(tx, &slug, &settings).await?;
            Ok(audit::append(tx, &entry).await?.seq)
        })
    })
    .await
}

/// Prints a line at once. A reader that is gone ends the process, as it should.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}
