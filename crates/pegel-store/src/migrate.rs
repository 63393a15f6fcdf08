//! Brings a database's schema up to date: forward only, one transaction a migration.
//!
//! Applied migrations are recorded with the hash of their text; a text that changed afterwards is
//! refused, and so is a database of a newer Pegel. A SQLite file is copied beside itself first. A
//! database of PostgreSQL is its operator's to back up; the log says so.

use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use aws_lc_rs::digest::{SHA256, digest};
use jiff::Timestamp;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;

use crate::error::Error;
use crate::tx::{Connection, Tx};
use crate::value::Value;

/// How many copies made before migrations are kept beside the database.
pub const KEPT_BACKUPS: usize = 3;

/// The advisory lock under which one instance migrates while others wait ("pegel" in ASCII).
const LOCK: i64 = 0x70_65_67_65_6c;

/// One step from a schema version to the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Migration {
    pub(crate) number: i64,
    pub(crate) name: &'static str,
    pub(crate) sqlite: &'static str,
    pub(crate) postgres: &'static str,
}

/// Declares a migration by the name both of its files have.
macro_rules! migration {
    ($number:literal, $file:literal) => {
        Migration {
            number: $number,
            name: $file,
            sqlite: include_str!(concat!("../migrations/sqlite/", $file, ".sql")),
            postgres: include_str!(concat!("../migrations/postgres/", $file, ".sql")),
        }
    };
}

/// All migrations in their order, numbered from 1 without gaps.
pub(crate) const MIGRATIONS: &[Migration] = &[
    migration!(1, "0001_change_feed"),
    migration!(2, "0002_secrets"),
    migration!(3, "0003_access"),
    migration!(4, "0004_clusters"),
    migration!(5, "0005_audit"),
    migration!(6, "0006_password_change"),
    migration!(7, "0007_monitoring"),
    migration!(8, "0008_delivery"),
];

/// What opening did to the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migrated {
    /// The version found; 0 for a new database.
    pub from_version: i64,
    /// The version now.
    pub to_version: i64,
    /// The copy made before, if one was.
    pub backup: Option<PathBuf>,
}

/// What opening may do to the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upkeep {
    /// Bring it up to date.
    Migrate,
    /// Nothing: a schema that is not the newest is refused.
    None,
}

/// Takes a schema as it is.
///
/// # Errors
/// `schema_outdated`, `schema_too_new`, `migration_changed`, `store_unavailable`.
pub(crate) async fn check(connection: Connection<'_>, now: Timestamp) -> Result<Migrated, Error> {
    let mut tx = Tx::new(connection, now);
    let (found, pending) = pending(&mut tx, MIGRATIONS).await?;
    match pending.last() {
        Some(newest) => Err(Error::SchemaOutdated { found, known: newest.number }),
        None => Ok(Migrated { from_version: found, to_version: found, backup: None }),
    }
}

/// Brings a SQLite database up to date, with a copy beforehand if there is anything to lose.
///
/// # Errors
/// `schema_too_new`, `migration_changed`, `migration_failed`, `io_failed`, `disk_full`, `store_unavailable`.
pub(crate) async fn sqlite(
    connection: &mut SqliteConnection,
    path: Option<&Path>,
    list: &'static [Migration],
    now: Timestamp,
) -> Result<Migrated, Error> {
    let mut tx = Tx::new(Connection::Sqlite(connection), now);
    let (from_version, pending) = pending(&mut tx, list).await?;
    let mut backup = None;
    if let (Some(path), false) = (path, pending.is_empty()) {
        let tables = "SELECT count(*) AS n FROM sqlite_schema";
        if tx.fetch_one(tables, &[]).await?.int("n")? > 0 {
            backup = Some(back_up(&mut tx, path, from_version, now).await?);
        }
    }
    let to_version = apply(&mut tx, from_version, pending).await?;
    Ok(Migrated { from_version, to_version, backup })
}

/// Brings a PostgreSQL database up to date while other instances wait.
///
/// The connection is to be closed afterwards: it holds the lock until then.
///
/// # Errors
/// `schema_too_new`, `migration_changed`, `migration_failed`, `store_unavailable`, `store_busy`.
pub(crate) async fn postgres(
    connection: &mut PgConnection,
    list: &'static [Migration],
    now: Timestamp,
) -> Result<Migrated, Error> {
    let mut tx = Tx::new(Connection::Postgres(connection), now);
    // Another instance may migrate for long, and so may this one.
    tx.run_script("SET statement_timeout = 0; SET lock_timeout = 0").await?;
    tx.execute("SELECT pg_advisory_lock($1)", &[LOCK.into()]).await?;
    let (from_version, pending) = pending(&mut tx, list).await?;
    if from_version > 0 && !pending.is_empty() {
        tracing::warn!(
            from_version,
            "changing the schema of the PostgreSQL database; Pegel cannot back it up, its operator must"
        );
    }
    let to_version = apply(&mut tx, from_version, pending).await?;
    Ok(Migrated { from_version, to_version, backup: None })
}

/// Makes the database file for its owner only, if it is not there yet; what lies beside it follows.
///
/// # Errors
/// `io_failed`.
pub(crate) fn create_private(path: &Path) -> Result<(), Error> {
    match File::options().create_new(true).write(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(Error::file("create", path, error)),
    }
}

/// Returns the version of the database and the migrations it lacks.
async fn pending(tx: &mut Tx<'_>, list: &'static [Migration]) -> Result<(i64, &'static [Migration]), Error> {
    let table = if tx.is_postgres() {
        "SELECT count(*) AS n FROM information_schema.tables
         WHERE table_schema = current_schema() AND table_name = 'migration'"
    } else {
        "SELECT count(*) AS n FROM sqlite_schema WHERE type = 'table' AND name = 'migration'"
    };
    if tx.fetch_one(table, &[]).await?.int("n")? == 0 {
        return Ok((0, list));
    }
    let rows = tx.fetch_all("SELECT number, checksum FROM migration ORDER BY number", &[]).await?;
    let known = list.last().map_or(0, |last| last.number);
    if let Some(row) = rows.get(list.len()) {
        return Err(Error::SchemaTooNew { found: rows.last().unwrap_or(row).int("number")?, known });
    }
    for (row, migration) in rows.iter().zip(list) {
        let number = row.int("number")?;
        if number != migration.number || row.blob("checksum")? != checksum(migration, tx.is_postgres()) {
            return Err(Error::MigrationChanged { number });
        }
    }
    let from_version = rows.last().map_or(Ok(0), |row| row.int("number"))?;
    Ok((from_version, list.get(rows.len()..).unwrap_or_default()))
}

/// Applies migrations and returns the version reached.
async fn apply(tx: &mut Tx<'_>, from_version: i64, pending: &[Migration]) -> Result<i64, Error> {
    let table = if tx.is_postgres() {
        "CREATE TABLE IF NOT EXISTS migration (number BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL,
         checksum BYTEA NOT NULL, applied_at BIGINT NOT NULL)"
    } else {
        "CREATE TABLE IF NOT EXISTS migration (number INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL,
         checksum BLOB NOT NULL, applied_at INTEGER NOT NULL) STRICT"
    };
    if !pending.is_empty() {
        tx.execute(table, &[]).await?;
    }
    let mut version = from_version;
    for migration in pending {
        let begin = if tx.is_postgres() { "BEGIN" } else { "BEGIN IMMEDIATE" };
        tx.execute(begin, &[]).await?;
        match apply_one(tx, migration).await {
            Ok(()) => version = migration.number,
            Err(error) => {
                // The first error is the one that says something.
                let _ = tx.execute("ROLLBACK", &[]).await;
                return Err(Error::MigrationFailed { number: migration.number, source: Box::new(error) });
            }
        }
    }
    Ok(version)
}

async fn apply_one(tx: &mut Tx<'_>, migration: &Migration) -> Result<(), Error> {
    let is_postgres = tx.is_postgres();
    // Another process may have been faster while this one waited for the lock.
    let done = "SELECT count(*) AS n FROM migration WHERE number = $1";
    if tx.fetch_one(done, &[migration.number.into()]).await?.int("n")? == 0 {
        tx.run_script(if is_postgres { migration.postgres } else { migration.sqlite }).await?;
        let record = "INSERT INTO migration (number, name, checksum, applied_at) VALUES ($1, $2, $3, $4)";
        let checksum = checksum(migration, is_postgres);
        let values = [migration.number.into(), migration.name.into(), checksum.into(), tx.now().into()];
        tx.execute(record, &values).await?;
    }
    tx.execute("COMMIT", &[]).await?;
    Ok(())
}

fn checksum(migration: &Migration, is_postgres: bool) -> Vec<u8> {
    let text = if is_postgres { migration.postgres } else { migration.sqlite };
    digest(&SHA256, text.as_bytes()).as_ref().to_vec()
}

/// Copies the database beside itself and drops the oldest copies.
async fn back_up(tx: &mut Tx<'_>, path: &Path, from_version: i64, now: Timestamp) -> Result<PathBuf, Error> {
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name
        .ok_or_else(|| Error::InvalidSetting { reason: "the store's file name is not UTF-8".to_owned() })?;
    let prefix = format!("{name}.backup-");
    let backup = path.with_file_name(format!("{prefix}{from_version:04}-{}", now.strftime("%Y%m%dT%H%M%SZ")));
    // A copy begun by a process that was killed is in the way, and worth nothing.
    match fs::remove_file(&backup) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Error::file("replace", &backup, error));
        }
        _ => create_private(&backup)?,
    }
    let target = backup
        .to_str()
        .ok_or_else(|| Error::InvalidSetting { reason: "the path of the store is not UTF-8".to_owned() })?;
    tx.execute("VACUUM INTO $1", &[Value::from(target)]).await?;
    let synced = File::open(&backup).and_then(|file| file.sync_all());
    synced.map_err(|error| Error::file("flush", &backup, error))?;
    tracing::info!(backup = %backup.display(), from_version, "backed up the store before changing its schema");
    drop_old_backups(path, &prefix)?;
    Ok(backup)
}

fn drop_old_backups(path: &Path, prefix: &str) -> Result<(), Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let listed = fs::read_dir(folder).map_err(|error| Error::file("list", folder, error))?;
    let mut backups: Vec<(String, PathBuf)> = listed
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name().to_str()?.strip_prefix(prefix)?.to_owned();
            let (version, at) = name.split_once('-')?;
            let is_ours = version.parse::<u32>().is_ok() && at.ends_with('Z');
            is_ours.then(|| (format!("{at}-{version}"), entry.path()))
        })
        .collect();
    backups.sort();
    let surplus = backups.len().saturating_sub(KEPT_BACKUPS);
    for (_, old) in backups.into_iter().take(surplus) {
        fs::remove_file(&old).map_err(|error| Error::file("remove", &old, error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use sqlx::Connection as _;
    use sqlx::sqlite::SqliteConnectOptions;

    use super::*;

    const FIRST: Migration =
        Migration { number: 1, name: "0001_a", sqlite: "CREATE TABLE a (x TEXT) STRICT", postgres: "" };
    const ONE: &[Migration] = &[FIRST];
    const TWO: &[Migration] = &[
        FIRST,
        Migration {
            number: 2,
            name: "0002_b",
            sqlite: "CREATE TABLE b (x TEXT) STRICT; INSERT INTO b SELECT x FROM a",
            postgres: "",
        },
    ];
    const BROKEN: &[Migration] = &[
        FIRST,
        Migration {
            number: 2,
            name: "0002_b",
            sqlite: "CREATE TABLE b (x TEXT) STRICT; INSERT INTO b VALUES (1, 2, 3)",
            postgres: "",
        },
    ];

    async fn open(path: &Path) -> SqliteConnection {
        SqliteConnection::connect_with(&SqliteConnectOptions::new().filename(path).create_if_missing(true))
            .await
            .unwrap()
    }

    async fn count(connection: &mut SqliteConnection, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(connection).await.unwrap()
    }

    fn at(minute: u32) -> Timestamp {
        format!("2026-03-01T12:{minute:02}:00Z").parse().unwrap()
    }

    #[test]
    fn migrations_are_numbered_without_gaps_and_named_after_their_files() {
        for (place, migration) in MIGRATIONS.iter().enumerate() {
            assert_eq!(usize::try_from(migration.number).unwrap(), place + 1);
            assert!(migration.name.starts_with(&format!("{:04}_", migration.number)), "{}", migration.name);
        }
        for database in ["sqlite", "postgres"] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(database);
            let mut files: Vec<_> =
                fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            files.sort();
            let named: Vec<_> = MIGRATIONS.iter().map(|m| format!("{}.sql", m.name)).collect();
            assert_eq!(files, named.iter().map(std::ffi::OsString::from).collect::<Vec<_>>(), "{database}");
        }
    }

    #[tokio::test]
    async fn a_database_with_data_is_copied_before_it_is_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pegel.db");
        let mut connection = open(&path).await;
        let first = sqlite(&mut connection, Some(&path), ONE, at(0)).await.unwrap();
        assert_eq!(first, Migrated { from_version: 0, to_version: 1, backup: None });
        sqlx::query("INSERT INTO a VALUES ('kept')").execute(&mut connection).await.unwrap();
        let second = sqlite(&mut connection, Some(&path), TWO, at(1)).await.unwrap();
        let backup = folder.path().join("pegel.db.backup-0001-20260301T120100Z");
        assert_eq!(second, Migrated { from_version: 1, to_version: 2, backup: Some(backup.clone()) });
        assert_eq!(count(&mut connection, "SELECT count(*) FROM b").await, 1);
        let mut copy = open(&backup).await;
        assert_eq!(count(&mut copy, "SELECT count(*) FROM a").await, 1);
        assert_eq!(count(&mut copy, "SELECT count(*) FROM sqlite_schema WHERE name = 'b'").await, 0);
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&backup).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }

    #[tokio::test]
    async fn a_failed_migration_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pegel.db");
        let mut connection = open(&path).await;
        sqlite(&mut connection, Some(&path), ONE, at(0)).await.unwrap();
        let error = sqlite(&mut connection, Some(&path), BROKEN, at(1)).await.unwrap_err();
        assert_eq!(error.code(), "migration_failed");
        assert_eq!(count(&mut connection, "SELECT count(*) FROM sqlite_schema WHERE name = 'b'").await, 0);
        assert_eq!(sqlite(&mut connection, Some(&path), TWO, at(2)).await.unwrap().to_version, 2);
    }

    #[tokio::test]
    async fn only_the_last_copies_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pegel.db");
        let mut connection = open(&path).await;
        sqlite(&mut connection, Some(&path), ONE, at(0)).await.unwrap();
        fs::write(folder.path().join("pegel.db.backup-mine"), "made by hand").unwrap();
        for minute in 1..=5 {
            sqlite(&mut connection, Some(&path), BROKEN, at(minute)).await.unwrap_err();
        }
        let mut names: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter_map(|name| name.strip_prefix("pegel.db.backup-").map(str::to_owned))
            .collect();
        names.sort();
        assert_eq!(
            names,
            ["0001-20260301T120300Z", "0001-20260301T120400Z", "0001-20260301T120500Z", "mine"]
        );
    }
}
