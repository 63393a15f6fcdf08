//! Clients that write until their server is gone, and remember what it said was done.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use hyper::Method;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time;

use super::at;
use crate::program::http::{Answer, Connection, Credential};

/// How long the first answer of a round may take.
const FIRST_ANSWER: Duration = Duration::from_secs(20);

/// What the server said was done, in one round.
#[derive(Debug, Default)]
pub(super) struct Acknowledged {
    /// Users by id, with the password that was shown.
    pub(super) users: BTreeMap<String, (String, String)>,
    /// Clusters that were registered and not asked to be removed.
    pub(super) clusters: BTreeSet<String>,
    /// Clusters that were removed.
    pub(super) removed: BTreeSet<String>,
    /// Access tokens by id.
    pub(super) tokens: BTreeMap<String, String>,
    /// How many writes.
    pub(super) count: u64,
}

#[derive(Debug, Default)]
struct Ledger {
    acknowledged: Mutex<Acknowledged>,
    first: Notify,
}

impl Ledger {
    fn note(&self, write: impl FnOnce(&mut Acknowledged)) {
        let mut acknowledged = self.lock();
        write(&mut acknowledged);
        acknowledged.count += 1;
        self.first.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Acknowledged> {
        self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writers at work.
pub(super) struct Writers {
    tasks: JoinSet<anyhow::Result<()>>,
    ledger: Arc<Ledger>,
}

impl Writers {
    /// Sets several clients to work, each on a connection of its own.
    pub(super) async fn begin(authority: &str, admin: &Credential, round: u32) -> anyhow::Result<Self> {
        let (mut tasks, ledger) = (JoinSet::new(), Arc::<Ledger>::default());
        for lane in 0..5 {
            let connection = Connection::open_with(authority, admin.clone()).await?;
            let writer = Writer { connection, ledger: Arc::clone(&ledger), round, lane };
            match lane {
                0 | 1 => tasks.spawn(writer.make_users()),
                2 | 3 => tasks.spawn(writer.register_clusters()),
                _ => tasks.spawn(writer.make_tokens()),
            };
        }
        Ok(Self { tasks, ledger })
    }

    /// Waits until something was acknowledged.
    pub(super) async fn first(&self) -> anyhow::Result<()> {
        time::timeout(FIRST_ANSWER, self.ledger.first.notified()).await.context("no write is answered")
    }

    /// Waits until all have seen that the server is gone, and returns what was acknowledged.
    pub(super) async fn end(mut self) -> anyhow::Result<Acknowledged> {
        while let Some(ended) = self.tasks.join_next().await {
            ended??;
        }
        Ok(std::mem::take(&mut *self.ledger.lock()))
    }
}

struct Writer {
    connection: Connection,
    ledger: Arc<Ledger>,
    round: u32,
    lane: u32,
}

impl Writer {
    /// Sends a write; nothing when the server is gone.
    ///
    /// # Errors
    /// The server refuses what it should take.
    async fn write(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<Option<Answer>> {
        let Ok(answer) = self.connection.send(method, path, body).await else { return Ok(None) };
        ensure!(answer.status.is_success(), "{path} was answered with {}: {}", answer.status, answer.text());
        Ok(Some(answer))
    }

    async fn make_users(mut self) -> anyhow::Result<()> {
        for number in 0_u32.. {
            let name = format!("u-{}-{}-{number}", self.round, self.lane);
            let body = json!({ "name": name, "role": "viewer", "scope": "all" });
            let Some(answer) = self.write(Method::POST, "/api/v1/users", Some(&body)).await? else { break };
            let made = answer.json()?;
            let (id, password) = (text(&made, "/user/id")?, text(&made, "/password")?);
            self.ledger.note(|done| {
                done.users.insert(id, (name, password));
            });
        }
        Ok(())
    }

    /// Registers clusters that nobody runs, and removes every second one.
    async fn register_clusters(mut self) -> anyhow::Result<()> {
        for number in 0_u32.. {
            let slug = format!("c-{}-{}-{number}", self.round, self.lane);
            let body = json!({
                "slug": slug, "name": slug, "environment": "test", "save_despite_failure": true,
                "connection": {
                    "endpoint": endpoint(self.round, self.lane, number), "security_protocol": "SASL_PLAINTEXT",
                    "sasl_username": "pegel", "sasl_password": "a secret of some length",
                },
            });
            let Some(answer) = self.write(Method::POST, "/api/v1/clusters", Some(&body)).await? else {
                break;
            };
            let made = answer.json()?;
            let version = at(&made, "/cluster/version").as_i64().context("the cluster has no version")?;
            self.ledger.note(|done| {
                done.clusters.insert(slug.clone());
            });
            if number % 2 == 0 {
                continue;
            }
            // From here on nobody knows whether it is there, until the answer.
            self.ledger.lock().clusters.remove(&slug);
            let path = format!("/api/v1/clusters/{slug}?version={version}");
            if self.write(Method::DELETE, &path, None).await?.is_none() {
                break;
            }
            self.ledger.note(|done| {
                done.removed.insert(slug);
            });
        }
        Ok(())
    }

    /// Makes access tokens, and revokes all but the last.
    async fn make_tokens(mut self) -> anyhow::Result<()> {
        let mut last: Option<String> = None;
        for number in 0_u32.. {
            let body = json!({
                "name": format!("t-{}-{number}", self.round), "role": "viewer",
                "grants": ["pegel.clusters.read"], "scope": "all", "expires_in_days": 1,
            });
            let made = self.write(Method::POST, "/api/v1/account/tokens", Some(&body)).await?;
            let Some(made) = made else { break };
            let made = made.json()?;
            let (id, secret) = (text(&made, "/token/id")?, text(&made, "/secret")?);
            self.ledger.note(|done| {
                done.tokens.insert(id.clone(), secret);
            });
            if let Some(before) = last.replace(id) {
                self.ledger.lock().tokens.remove(&before);
                let path = format!("/api/v1/account/tokens/{before}");
                if self.write(Method::DELETE, &path, None).await?.is_none() {
                    break;
                }
                self.ledger.note(|_| {});
            }
        }
        Ok(())
    }
}

/// An address of this machine where nobody listens, another one for each cluster.
fn endpoint(round: u32, lane: u32, number: u32) -> String {
    format!("127.{}.{}.{}:1", 1 + round % 250, 1 + lane * 50 + number / 200 % 50, 1 + number % 200)
}

fn text(answer: &Value, pointer: &str) -> anyhow::Result<String> {
    match at(answer, pointer) {
        Value::String(text) => Ok(text.clone()),
        other => bail!("{pointer} of an answer is {other}"),
    }
}
