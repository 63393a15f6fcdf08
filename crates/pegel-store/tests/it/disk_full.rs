//! A full disk: a clear error, nothing torn, and on it goes once there is room.

use std::process::{Command, Stdio};

use crate::stores::{Store, write};

/// Mounts a small file system that only the child sees, and runs the program there. `$1` folder, `$2` program.
const ON_A_SMALL_DISK: &str = r#"mount -t tmpfs -o size=4m,mode=700 tmpfs "$1" && exec "$2" fill "$1""#;

#[test]
fn a_full_disk_is_reported_tears_nothing_and_is_recovered_from() {
    let folder = tempfile::tempdir().unwrap();
    let run = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c", script, "sh"]);
        command.arg(folder.path()).arg(env!("CARGO_BIN_EXE_store-writer")).stdin(Stdio::null()).output()
    };
    // Asked apart, so that a failure of the program itself is not taken for a missing right.
    if !run(r#"mount -t tmpfs -o size=4m tmpfs "$1""#).is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this system lets nobody mount a small disk of their own");
        return;
    }
    let output = run(ON_A_SMALL_DISK).unwrap();
    let (said, complained) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{complained}");
    let lines: Vec<&str> = said.lines().collect();
    let refused: Vec<_> = lines.iter().filter(|line| line.starts_with("refused ")).collect();
    assert!(!refused.is_empty() && refused.iter().all(|line| **line == "refused disk_full"), "{said}");
    let kept: Vec<u32> = lines.iter().filter_map(|line| line.strip_prefix("kept ")?.parse().ok()).collect();
    assert!(kept[0] > 0, "{said}");
    assert!(lines.contains(&format!("full {0} {0} whole", kept[0]).as_str()), "{said}");
    assert!(lines.contains(&format!("recovered {0} {0} whole", kept[1]).as_str()), "{said}");
    assert_eq!(usize::try_from(kept[1] - kept[0]).unwrap(), refused.len(), "{said}");
}

#[tokio::test]
async fn a_disk_that_had_no_room_for_a_change_is_full_though_a_trial_finds_some() {
    let store = Store::sqlite().await;
    let sql = "INSERT INTO secret (owner, field, key_id, ciphertext, changed_at)
        VALUES (hex(randomblob(8)), 'f', 'k', $1, 0)";
    let put = |size: usize| {
        let values = [vec![7; size].into()];
        store.db.write(move |tx| {
            let values = values.clone();
            Box::pin(async move { tx.execute(sql, &values).await })
        })
    };
    let full = async || store.db.check_writable().await.err().map(|error| error.code());
    // The writer's own connection refuses to grow the file, as a full disk does.
    write!(store, [], |tx| tx.execute("PRAGMA max_page_count = 100", &[]).await).unwrap();
    assert_eq!(full().await, None);
    assert_eq!(put(1_000_000).await.unwrap_err().code(), "disk_full");
    assert_eq!(full().await, Some("disk_full"));
    put(1).await.unwrap();
    assert_eq!(full().await, None, "a change was kept");
    assert_eq!(put(1_000_000).await.unwrap_err().code(), "disk_full");
    assert_eq!(full().await, Some("disk_full"));
    store.clock.advance(std::time::Duration::from_secs(10));
    assert_eq!(full().await, None, "nothing was tried for a while");
}

#[tokio::test]
async fn a_job_that_fills_the_file_takes_no_other_job_of_its_group_with_it() {
    let store = Store::sqlite().await;
    let insert =
        "INSERT INTO secret (owner, field, key_id, ciphertext, changed_at) VALUES ($1, 'f', 'k', $2, 0)";
    let put = |owner: &'static str, size: usize| {
        let db = store.db.clone();
        async move {
            let values = [owner.into(), vec![7; size].into()];
            db.write(move |tx| {
                let values = values.clone();
                Box::pin(async move { tx.execute(insert, &values).await })
            })
            .await
        }
    };
    // The writer's own connection refuses to grow the file, as a full disk does; SQLite then drops the
    // whole transaction. The first job only lets the others gather behind it.
    let limit = write!(store, [], |tx| tx.execute("PRAGMA max_page_count = 100", &[]).await);
    limit.unwrap();
    let (first, small, large, late) =
        tokio::join!(put("first", 1), put("small", 1), put("large", 1_000_000), put("late", 1));
    assert_eq!(large.unwrap_err().code(), "disk_full");
    assert!(first.is_ok() && small.is_ok() && late.is_ok());
    assert_eq!(store.count("SELECT count(*) AS n FROM secret").await, 3);
    write!(store, [], |tx| tx.execute("PRAGMA max_page_count = 100000", &[]).await).unwrap();
    put("large", 1_000_000).await.unwrap();
}
