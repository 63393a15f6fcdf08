//! A full disk under a server: it says so, goes on answering what needs no room, and writes again once there is some.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use hyper::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time;

use super::{at, row};
use crate::clock::Stopwatch;
use crate::evidence::{Goal, Measurement};
use crate::program::folder::Folder;
use crate::program::http::{Answer, Connection};
use crate::program::serve::{Plan, Server};

/// Mounts a small file system that only the child sees, and becomes the rest of the line. `$0` folder.
const ON_A_SMALL_DISK: &str = r#"mount -t tmpfs -o size=8m,mode=700 tmpfs "$0" && exec "$@""#;
/// Writes that are tried on a full disk. The first few may find room that the database has already.
const WRITES: u32 = 60;
/// How soon the server writes again once there is room.
const AGAIN: Duration = Duration::from_secs(5);
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

/// Measures.
///
/// # Errors
/// Nobody may mount a file system here, or the server does what it must not.
pub(super) async fn measure(program: &Path) -> anyhow::Result<Vec<Measurement>> {
    let folder = Folder::new("chaos-disk")?;
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700))?;
    let place = folder.path().to_str().context("the folder's name is no text")?;
    let wrapper = ["unshare", "--map-root-user", "--mount", "sh", "-c", ON_A_SMALL_DISK, place];
    check_mounts(&wrapper).await?;
    let plan = Plan::new(program, folder.path())?.started_by(&wrapper);
    let mut server = plan.start().await?;
    let token = server.first_token().await?;
    let mut connection = server.connect(&token).await?;
    let (first, login) = must_create(&mut connection, 0).await?;
    let mut kept = vec![first];
    for number in 1..20 {
        kept.push(must_create(&mut connection, number).await?.0);
    }
    let ballast = Ballast::fill(&server, folder.path())?;
    let full = FullDisk::meet(&mut connection, &mut kept).await.with_context(|| said(&server))?;
    refused(&sign_in(&plan, &login).await?).context("signing in on a full disk")?;
    reads(&mut connection, &kept).await.context("reading on a full disk")?;
    let readiness = connection.send(Method::GET, "/readyz", None).await?;
    ensure!(
        readiness.status == StatusCode::SERVICE_UNAVAILABLE
            && *at(&readiness.json()?, "/reason") == "disk_full",
        "/readyz does not say what is wrong: {} {}",
        readiness.status,
        readiness.text()
    );
    let health = connection.send(Method::GET, "/healthz", None).await?;
    ensure!(health.status.is_success(), "/healthz says {}", health.status);
    ballast.throw_off()?;
    let stopwatch = Stopwatch::start();
    let mut number = 10_000;
    while !try_create(&mut connection, number, &mut kept).await?.status.is_success() {
        ensure!(
            stopwatch.elapsed() < AGAIN,
            "there is room, and the server does not write: {}",
            said(&server)
        );
        number += 1;
        time::sleep(BETWEEN_TRIES).await;
    }
    let again = stopwatch.elapsed();
    reads(&mut connection, &kept).await.context("reading once there is room")?;
    until_ready(&mut connection).await?;
    let signed_in = sign_in(&plan, &login).await?;
    ensure!(signed_in.status.is_success(), "nobody can sign in once there is room: {}", signed_in.text());
    let chain = connection.get("/api/v1/audit/verify").await?;
    ensure!(*at(&chain, "/state") == "whole", "the audit chain is not whole: {chain}");
    println!(
        "full disk: {} writes refused, each as disk_full; {} users kept and readable; written again after {:.2} s; \
         audit chain whole, {} rows",
        full.refused,
        kept.len(),
        again.as_secs_f64(),
        at(&chain, "/row_count")
    );
    server.stop().await?;
    Ok(vec![
        row(
            "writes on a full disk refused as disk_full, all others kept",
            f64::from(full.refused),
            "count",
            Goal::AtLeast(20.0),
            WRITES,
        ),
        row(
            "writes again once there is room",
            again.as_secs_f64(),
            "s",
            Goal::AtMost(AGAIN.as_secs_f64()),
            1,
        ),
    ])
}

/// Makes sure that a failure to mount is told as one.
async fn check_mounts(wrapper: &[&str]) -> anyhow::Result<()> {
    let (program, words) = wrapper.split_first().context("a line has a first word")?;
    let output = Command::new(program).args(words).arg("true").stdin(Stdio::null()).output().await?;
    if !output.status.success() {
        bail!(
            "nobody may mount a small disk here, which takes root or user namespaces: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(())
}

fn said(server: &Server) -> String {
    format!("the server said: {}", server.messages())
}

async fn until_ready(connection: &mut Connection) -> anyhow::Result<()> {
    let stopwatch = Stopwatch::start();
    while !connection.send(Method::GET, "/readyz", None).await?.status.is_success() {
        ensure!(stopwatch.elapsed() < AGAIN, "/readyz does not see that there is room");
        time::sleep(BETWEEN_TRIES).await;
    }
    Ok(())
}

/// A file that leaves no room. The server's file system is seen through its process.
struct Ballast(PathBuf);

impl Ballast {
    fn fill(server: &Server, folder: &Path) -> anyhow::Result<Self> {
        use std::io::Write as _;
        let root = PathBuf::from(format!("/proc/{}/root", server.pid()?));
        let path = root.join(folder.strip_prefix("/")?).join("ballast");
        let mut file = std::fs::File::create(&path).with_context(|| format!("making {}", path.display()))?;
        let block = [0_u8; 4096];
        for _ in 0..10_000 {
            if file.write_all(&block).is_err() {
                return Ok(Self(path));
            }
        }
        bail!("the disk is not small");
    }

    fn throw_off(self) -> anyhow::Result<()> {
        std::fs::remove_file(&self.0).context("removing the ballast")
    }
}

fn user(number: u32) -> Value {
    json!({ "name": format!("u-{number}"), "display_name": "x".repeat(200), "role": "viewer", "scope": "all" })
}

/// Makes a user and returns its id and what it signs in with.
async fn must_create(connection: &mut Connection, number: u32) -> anyhow::Result<(String, Value)> {
    let mut kept = Vec::new();
    let answer = try_create(connection, number, &mut kept).await?;
    ensure!(answer.status.is_success(), "a user cannot be made: {} {}", answer.status, answer.text());
    let made = answer.json()?;
    let login = json!({ "name": at(&made, "/user/name"), "password": at(&made, "/password") });
    Ok((kept.pop().context("the user has no id")?, login))
}

async fn sign_in(plan: &Plan, login: &Value) -> anyhow::Result<Answer> {
    Connection::open(plan.authority()).await?.send(Method::POST, "/api/v1/session", Some(login)).await
}

/// Checks that a write was refused with a problem that says why.
fn refused(answer: &Answer) -> anyhow::Result<()> {
    ensure!(
        answer.status == StatusCode::INSUFFICIENT_STORAGE && *at(&answer.json()?, "/code") == "disk_full",
        "a write on a full disk is answered with {}: {}",
        answer.status,
        answer.text()
    );
    Ok(())
}

async fn try_create(
    connection: &mut Connection,
    number: u32,
    kept: &mut Vec<String>,
) -> anyhow::Result<Answer> {
    let answer = connection.send(Method::POST, "/api/v1/users", Some(&user(number))).await?;
    if answer.status.is_success() {
        let made = answer.json()?;
        kept.push(at(&made, "/user/id").as_str().context("the user has no id")?.to_owned());
    }
    Ok(answer)
}

/// What writes met on a full disk.
struct FullDisk {
    refused: u32,
}

impl FullDisk {
    async fn meet(connection: &mut Connection, kept: &mut Vec<String>) -> anyhow::Result<Self> {
        let mut refused = 0;
        for number in 100..100 + WRITES {
            let answer = try_create(connection, number, kept).await?;
            if answer.status.is_success() {
                continue;
            }
            self::refused(&answer)?;
            refused += 1;
        }
        ensure!(refused > 0, "the disk does not fill");
        Ok(Self { refused })
    }
}

/// Checks that everything that needs no room is answered.
async fn reads(connection: &mut Connection, kept: &[String]) -> anyhow::Result<()> {
    for path in ["/api/v1/session", "/api/v1/clusters", "/api/v1/audit?limit=10", "/api/v1/account/tokens"] {
        let answer = connection.send(Method::GET, path, None).await?;
        // Tokens are listed for people who are signed in; a refusal of that kind is an answer too.
        ensure!(
            answer.status.is_success() || answer.status == StatusCode::FORBIDDEN,
            "{path}: {} {}",
            answer.status,
            answer.text()
        );
    }
    for id in kept {
        connection.get(&format!("/api/v1/users/{id}")).await?;
    }
    let listed = connection.get("/api/v1/users?limit=1000").await?;
    let listed = at(&listed, "/items").as_array().context("a page has items")?;
    // The first admin stands beside them.
    ensure!(listed.len() == kept.len() + 1, "{} users are listed, {} were kept", listed.len(), kept.len());
    Ok(())
}
