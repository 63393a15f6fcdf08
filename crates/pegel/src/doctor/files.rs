//! The data directory and the key's file: there, for their owner alone, and with room to grow.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use pegel_store::secret_box::SecretBox;
use rustix::fs::{Access, access, statvfs};

use crate::doctor::{Finding, State};
use crate::settings::SecretSource;
use crate::settings::store::{Database, Store};

/// Free space below which the disk is nearly full, and below which it is as good as full, in bytes.
const LITTLE_BYTES: u64 = 1 << 30;
const NONE_BYTES: u64 = 64 << 20;

/// Looks at the data directory.
pub(super) fn data_dir(store: &Store) -> Vec<Finding> {
    let dir = &store.data_dir;
    if matches!(store.database, Database::Postgres { .. }) {
        let message = "PostgreSQL keeps the data; its disk is not looked at";
        return vec![Finding::new("data_dir", State::Skipped, message)];
    }
    let shown = dir.display();
    let metadata = match fs::metadata(dir) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let message = format!("{shown} is not there yet; the first start makes it");
            return vec![Finding::new("data_dir", State::Ok, message)];
        }
        Err(error) => {
            return vec![Finding::new("data_dir", State::Failed, format!("cannot look at {shown}: {error}"))];
        }
    };
    if !metadata.is_dir() {
        let finding = Finding::new("data_dir", State::Failed, format!("{shown} is not a directory"));
        return vec![finding.with_hint("move it away, or choose another directory in [store]")];
    }
    if let Err(error) = access(dir, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK) {
        let finding = Finding::new("data_dir", State::Failed, format!("{shown} cannot be written: {error}"));
        return vec![finding.with_hint("run this as the user that runs Pegel, or give that user the right")];
    }
    let mode = metadata.permissions().mode() & 0o777;
    let finding = if mode & 0o077 == 0 {
        Finding::new("data_dir", State::Ok, format!("{shown} is for its owner alone"))
    } else {
        let finding = Finding::new("data_dir", State::Warning, format!("{shown} has mode {mode:o}"));
        finding.with_hint(format!("others have no business there: chmod 700 {shown}"))
    };
    vec![finding, free_space(dir)]
}

fn free_space(dir: &Path) -> Finding {
    let space = match statvfs(dir) {
        Ok(space) => space,
        Err(error) => {
            return Finding::new("disk", State::Skipped, format!("free space is not known: {error}"));
        }
    };
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    let message = format!("{} MiB are free", free >> 20);
    if free < NONE_BYTES {
        Finding::new("disk", State::Failed, message)
            .with_hint("make room before the store cannot write any more")
    } else if free < LITTLE_BYTES {
        Finding::new("disk", State::Warning, message).with_hint("make room, or move the data directory")
    } else {
        Finding::new("disk", State::Ok, message)
    }
}

/// Looks at the key of stored secrets.
pub(super) fn secret_key(store: &Store) -> Finding {
    let path = match &store.secret_key {
        SecretSource::Value(_) => {
            return Finding::new("secret_key", State::Ok, "the key is given in the settings");
        }
        SecretSource::File(path) => path,
    };
    let shown = path.display();
    if !path.exists() {
        let has_store = matches!(&store.database, Database::Sqlite { path } if path.exists());
        return if has_store {
            Finding::new("secret_key", State::Warning, format!("{shown} is not there, but a store is"))
                .with_hint("put the key back from its copy; a new one does not open the clusters' passwords")
        } else {
            Finding::new(
                "secret_key",
                State::Ok,
                format!("{shown} is not there yet; the first start makes it"),
            )
        };
    }
    // The file is there, so that this makes none.
    match SecretBox::from_file(path) {
        Ok(_) => Finding::new("secret_key", State::Ok, format!("{shown} holds a key, for its owner alone")),
        Err(error) => Finding::failed("secret_key", &crate::serve::store::failure(&error, store)),
    }
}
