//! The demo's Pegel server: this same program, run as `pegel serve` on the demo's own data.
//!
//! It is a guarded child, so that it cannot outlive the demo. The first admin's password is changed at once through
//! the API; the one that holds from then on, and an access token, go into `demo.json`, which only its owner can read.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fluss_testkit::demo::DemoRecord;
use fluss_testkit::ports;
use fluss_testkit::process::{Guarded, ProcessSpec};
use http::Method;
use pegel_api_types::clusters::connection::{ConnectionForm, SecretChange};
use pegel_api_types::clusters::{RegisterCluster, SavedCluster};
use pegel_api_types::people::{CreateToken, NewTokenView};
use pegel_core::access::scope::Scope;
use pegel_core::error_code::ErrorCode;
use pegel_core::ids::Environment;
use pegel_service::failure::Failure;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde_json::Value;

use crate::demo::failure;
use crate::private_file;
use crate::remote::Server;
use crate::remote::login::{SignedIn, sign_in};
use crate::server_url::ServerUrl;
use crate::settings::server::DEFAULT_LISTEN;

/// How the cluster is called at the server.
pub(super) const CLUSTER: &str = "demo";

/// The file of the password alone, for `pegel login --password-file`.
const PASSWORD_FILE: &str = "pegel.password";

/// How long the server may take to be ready, and how often it is looked at.
const READY_WITHIN: Duration = Duration::from_secs(30);
const WATCH: Duration = Duration::from_millis(50);

/// How long the server may take to end.
const GRACE: Duration = Duration::from_secs(10);

/// Days that the demo's access token lives.
const TOKEN_DAYS: u32 = 30;

/// The demo's server, and who may sign in there.
pub(super) struct DemoServer {
    process: Guarded,
}

/// How to sign in at the demo's server; the rest is in the files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct SignIn {
    pub(super) url: String,
    pub(super) username: String,
    pub(super) password_file: PathBuf,
}

/// Starts the server, has it know the demo's cluster, and writes into `demo.json` how to sign in.
///
/// If the future is dropped the server is ended.
///
/// # Errors
/// `demo_failed`, with the end of the server's log; those of the server.
pub(super) async fn start(record: &DemoRecord, tell: &dyn Fn(&str)) -> Result<DemoServer, Failure> {
    let data_dir = record.dir.join("pegel");
    let log = record.logs_dir.join("pegel.log");
    match fs::remove_dir_all(&data_dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(failed("cannot remove the data of an earlier demo").with_cause(&error));
        }
        _ => {}
    }
    let port = if ports::is_free(DEFAULT_LISTEN.port()) { DEFAULT_LISTEN.port() } else { 0 };
    let spec = spec(record, &data_dir, &log, port)?;
    let mut process = Guarded::spawn(spec).await.map_err(|error| failure(&error))?;
    let (url, password) = ready(&mut process).await?;
    if port == 0 {
        tell(&format!("port {} is taken; Pegel serves on {url}", DEFAULT_LISTEN.port()));
    } else {
        tell(&format!("Pegel serves on {url}"));
    }
    let admin = admin(&url, password).await?;
    register(&admin.signed_in, record).await?;
    admin.write_down(record, &url).await?;
    Ok(DemoServer { process })
}

impl DemoServer {
    /// Waits until the server has ended by itself, which it does only if it fails or is killed.
    pub(super) async fn wait_for_end(&mut self) {
        while self.process.is_alive() {
            tokio::time::sleep(WATCH * 10).await;
        }
    }

    /// Ends the server in order.
    ///
    /// # Errors
    /// `demo_failed` when it will not end.
    pub(super) async fn stop(mut self) -> Result<(), Failure> {
        self.process.stop(GRACE).await.map_err(|error| failure(&error))
    }
}

/// Returns how to sign in at the server of a demo that is ready; nothing while it is not.
pub(super) fn sign_in_of(dir: &Path) -> Option<SignIn> {
    let record: Value = serde_json::from_str(&private_file::read_text(&dir.join("demo.json")).ok()?).ok()?;
    let text = |key: &str| record.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(SignIn { url: text("url")?, username: text("username")?, password_file: dir.join(PASSWORD_FILE) })
}

/// Removes what opens nothing any more.
pub(super) fn forget(dir: &Path) -> Result<(), Failure> {
    match fs::remove_file(dir.join(PASSWORD_FILE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(failed("cannot remove the password of an earlier demo").with_cause(&error))
        }
        _ => Ok(()),
    }
}

fn spec(record: &DemoRecord, data_dir: &Path, log: &Path, port: u16) -> Result<ProcessSpec, Failure> {
    let program = std::env::current_exe();
    let program =
        program.map_err(|error| failed("the program does not know its own path").with_cause(&error))?;
    // Nothing of this user's environment says how the demo's server works.
    let mut arguments: Vec<OsString> = vec!["-i".into(), program.into()];
    arguments.extend(["serve", "--data-dir"].map(OsString::from));
    arguments.push(data_dir.into());
    arguments.extend(["--listen".into(), ports::loopback(port).to_string().into()]);
    Ok(ProcessSpec {
        name: "pegel".to_owned(),
        program: "env".into(),
        arguments,
        folder: record.dir.clone(),
        log: log.to_owned(),
        grace: GRACE,
        pid_file: Some(record.dir.join("pids").join("pegel.pid")),
    })
}

/// Waits until the server listens; returns where, and the first admin's password, which stands on a line of its own
/// before that.
async fn ready(process: &mut Guarded) -> Result<(ServerUrl, SecretString), Failure> {
    let polls = READY_WITHIN.as_millis() / WATCH.as_millis();
    for _ in 0..polls {
        let text = private_file::read_text(process.log()).unwrap_or_default();
        if let Some((url, password)) = announced(&text) {
            return Ok((url, password));
        }
        if !process.is_alive() {
            break;
        }
        tokio::time::sleep(WATCH).await;
    }
    let mut failure = failed("the Pegel server did not become ready");
    failure.causes.extend(process.last_lines(10).lines().map(str::to_owned));
    Err(failure)
}

fn announced(text: &str) -> Option<(ServerUrl, SecretString)> {
    let (before, after) = text.split_once("listening on ")?;
    let (url, _) = after.split_once('\n')?;
    let is_password =
        |line: &str| line.len() > 20 && line.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-');
    let password =
        before.lines().filter_map(|line| line.strip_prefix("    ")).find(|line| is_password(line))?;
    Some((url.parse().ok()?, SecretString::from(password)))
}

/// The admin with a password and a token that hold.
struct Admin {
    signed_in: SignedIn,
    password: SecretString,
}

async fn admin(url: &ServerUrl, first: SecretString) -> Result<Admin, Failure> {
    let server = Server::new(url.clone(), None, false)?;
    let (password, _) = pegel_store::token::generate("")
        .map_err(|error| failed("no password could be made").with_cause(&error))?;
    let signed_in = sign_in(server, "admin", first.clone()).await?;
    let signed_in = signed_in.change_password(first, password.clone()).await?;
    Ok(Admin { signed_in, password })
}

async fn register(admin: &SignedIn, record: &DemoRecord) -> Result<(), Failure> {
    let user = record.users.first();
    let ca = record.ca_path.as_deref().map(private_file::read_text).transpose();
    let ca = ca.map_err(|error| failed("cannot read the demo's authority").with_cause(&error))?;
    let request = RegisterCluster {
        slug: CLUSTER.parse().map_err(|_| failed("the cluster has no name"))?,
        name: "Demo".to_owned(),
        environment: Environment::Test,
        read_only: false,
        connection: ConnectionForm {
            endpoint: Some(record.bootstrap.clone()),
            security_protocol: Some(record.security_protocol.clone()),
            sasl_username: user.map(|user| user.name.clone()),
            sasl_password: user
                .map_or(SecretChange::Keep, |user| SecretChange::replace(user.password.as_str())),
            tls_ca_cert: ca,
            ..ConnectionForm::default()
        },
        // The workload may have killed a server on purpose; the console shows that better than a refusal.
        save_despite_failure: true,
    };
    admin.server.send::<SavedCluster>(Method::POST, "/clusters", &request).await.map(drop)
}

impl Admin {
    /// Makes an access token and writes everything into the demo's files.
    async fn write_down(&self, record: &DemoRecord, url: &ServerUrl) -> Result<(), Failure> {
        let info = &self.signed_in.info;
        let request = CreateToken {
            name: "demo".to_owned(),
            role: info.role,
            grants: info.grants.clone(),
            scope: Scope::All,
            expires_in_days: TOKEN_DAYS,
        };
        let token: NewTokenView =
            self.signed_in.server.send(Method::POST, "/account/tokens", &request).await?;
        let failed_to_write =
            |error: &dyn std::error::Error| failed("cannot write how to sign in").with_cause(error);
        let password = self.password.expose_secret();
        let file = record.dir.join(PASSWORD_FILE);
        private_file::replace(&file, format!("{password}\n").as_bytes())
            .map_err(|error| failed_to_write(&error))?;
        let path = record.dir.join("demo.json");
        let text = private_file::read_text(&path).map_err(|error| failed_to_write(&error))?;
        let mut json: Value = serde_json::from_str(&text).map_err(|error| failed_to_write(&error))?;
        let fields = [
            ("url", url.to_string()),
            ("username", info.name.clone()),
            ("password", password.to_owned()),
            ("token", token.secret.secret().expose_secret().to_owned()),
        ];
        if let Some(object) = json.as_object_mut() {
            object.extend(fields.map(|(key, value)| (key.to_owned(), Value::String(value))));
        }
        let mut text = serde_json::to_vec_pretty(&json).map_err(|error| failed_to_write(&error))?;
        text.push(b'\n');
        private_file::replace(&path, &text).map_err(|error| failed_to_write(&error))
    }
}

fn failed(message: &str) -> Failure {
    Failure::new(ErrorCode::DemoFailed, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_and_first_password_are_read_from_what_the_server_says() {
        let text = "2026-11-30T20:11:55.731936Z  INFO pegel: the store's schema was brought up to date\n\n\
                    This is the first start. Sign in as `admin` with the password\n\n    \
                    6tdxrg-epkffx-g39ti9-9zsnsy\n\nIt is shown only this once.\n\nlistening on http://127.0.0.1:8420";
        assert!(announced(text).is_none(), "the line is not complete");
        let (url, password) = announced(&format!("{text}\n")).unwrap();
        assert_eq!(url.to_string(), "http://127.0.0.1:8420");
        assert_eq!(password.expose_secret(), "6tdxrg-epkffx-g39ti9-9zsnsy");
    }

    #[test]
    fn demo_without_a_server_says_nothing_of_signing_in() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(sign_in_of(dir.path()), None);
        fs::write(dir.path().join("demo.json"), "{\"bootstrap\":\"a:1\"}").unwrap();
        assert_eq!(sign_in_of(dir.path()), None);
        fs::write(dir.path().join("demo.json"), "{\"url\":\"http://a:1\",\"username\":\"admin\"}").unwrap();
        assert_eq!(sign_in_of(dir.path()).unwrap().url, "http://a:1");
    }
}
