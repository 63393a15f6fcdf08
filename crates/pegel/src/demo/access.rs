//! How to get at a demo: one configuration file for each of its users.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use fluss_testkit::demo::{DemoRecord, DemoUser};
use serde::Serialize;

use pegel_service::failure::Failure;

const CONFIG_NAME: &str = "pegel.toml";

/// How one user gets at the demo.
#[derive(Debug, Serialize)]
pub(super) struct Access {
    /// User name, absent without SASL.
    pub(super) user: Option<String>,
    /// What the user may do.
    pub(super) role: String,
    /// File for `pegel --config`.
    pub(super) config_file: PathBuf,
}

/// Writes the files anew, readable by their owner alone.
pub(super) fn write(record: &DemoRecord) -> Result<Vec<Access>, Failure> {
    remove(&record.dir)?;
    let users: Vec<Option<&DemoUser>> =
        if record.users.is_empty() { vec![None] } else { record.users.iter().map(Some).collect() };
    users
        .into_iter()
        .enumerate()
        .map(|(index, user)| {
            let name = match user {
                Some(user) if index > 0 => format!("pegel-{}.toml", user.name),
                _ => CONFIG_NAME.to_owned(),
            };
            let config_file = record.dir.join(name);
            private(&config_file, &config(record, user))?;
            Ok(Access {
                user: user.map(|user| user.name.clone()),
                role: user.map_or_else(|| "everyone may do everything".to_owned(), |user| user.role.clone()),
                config_file,
            })
        })
        .collect()
}

/// Removes the files of an earlier demo, whose passwords open nothing any more.
pub(super) fn remove(dir: &Path) -> Result<(), Failure> {
    let Ok(entries) = fs::read_dir(dir) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == CONFIG_NAME || (name.starts_with("pegel-") && name.ends_with(".toml")) {
            let path = entry.path();
            fs::remove_file(&path).map_err(|error| failed("remove", &path, &error))?;
        }
    }
    Ok(())
}

fn config(record: &DemoRecord, user: Option<&DemoUser>) -> String {
    let mut settings =
        vec![("endpoint", record.bootstrap.clone()), ("security_protocol", record.security_protocol.clone())];
    if let Some(user) = user {
        settings.push(("sasl_username", user.name.clone()));
        settings.push(("sasl_password", user.password.clone()));
    }
    if let Some(ca) = &record.ca_path {
        settings.push(("tls_ca_cert_file", ca.display().to_string()));
    }
    let mut text = String::from("[connection]\n");
    for (key, value) in settings {
        // A JSON string is a TOML string too.
        text.push_str(&format!("{key} = {}\n", serde_json::Value::String(value)));
    }
    text
}

fn private(path: &Path, text: &str) -> Result<(), Failure> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(|error| failed("write", path, &error))?;
    file.write_all(text.as_bytes()).map_err(|error| failed("write", path, &error))
}

fn failed(action: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::internal(format!("cannot {action} {}", path.display())).with_cause(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(dir: &Path) -> DemoRecord {
        let users: Vec<DemoUser> = ["admin", "reader"]
            .into_iter()
            .map(|name| DemoUser { name: name.to_owned(), password: "p\"w".to_owned(), role: "x".to_owned() })
            .collect();
        DemoRecord {
            version: 1,
            fluss_version: "0.9.1".to_owned(),
            started_at: jiff::Timestamp::UNIX_EPOCH,
            dir: dir.to_owned(),
            logs_dir: dir.join("logs"),
            supervisor_pid: 1,
            workload_pid: 2,
            bootstrap: "127.0.0.1:9123".to_owned(),
            security_protocol: "SASL_TLS".to_owned(),
            sasl_mechanism: Some("PLAIN".to_owned()),
            tls: false,
            ca_path: None,
            plain_bootstrap: None,
            users,
            zookeeper: "127.0.0.1:2181".to_owned(),
            metric_endpoints: Vec::new(),
            servers: Vec::new(),
        }
    }

    #[test]
    fn each_user_gets_a_file_that_pegel_reads_and_nobody_else_can() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("pegel-old.toml"), "x").unwrap();
        let access = write(&record(dir.path())).unwrap();
        assert_eq!(access.len(), 2);
        assert!(!dir.path().join("pegel-old.toml").exists());
        for (access, user) in access.iter().zip(["admin", "reader"]) {
            let settings = super::super::settings(&access.config_file).unwrap();
            assert_eq!(settings.sasl().unwrap().username(), user);
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                let mode = fs::metadata(&access.config_file).unwrap().permissions().mode();
                assert_eq!(mode & 0o777, 0o600);
            }
        }
        remove(dir.path()).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
