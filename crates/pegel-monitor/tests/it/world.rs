//! A whole installation on an empty store, with time that is moved by hand.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use pegel_core::clock::{Clock, ManualClock};
use pegel_core::monitor::delivery::ChannelKind;
use pegel_core::monitor::heartbeat;
use pegel_core::monitor::kind::MonitorKind;
use pegel_core::monitor::labels::Labels;
use pegel_core::monitor::routing::Route;
use pegel_core::monitor::severity::Severity;
use pegel_core::monitor::verdict::{FiringId, Rule, Status};
use pegel_http::Outbound;
use pegel_http::egress::Egress;
use pegel_http::resolve::SystemResolver;
use pegel_http::trust::Trust;
use pegel_monitor::channel::secret;
use pegel_monitor::delivery::{self, Delivery};
use pegel_monitor::engine::{self, Engine};
use pegel_monitor::judge::{Applied, Change, Judge};
use pegel_monitor::pings::Pings;
use pegel_monitor::probe::{NoClusters, Probes};
use pegel_monitor::time::{ManualTime, SystemTime, Time};
use pegel_monitor::watch::{self, Anchor, Watch};
use pegel_store::incidents::{self, Incident};
use pegel_store::monitors::{self, Monitor, MonitorState, Settings};
use pegel_store::secret_box::SecretBox;
use pegel_store::{Db, StoreConfig, channels, routes};
use pegel_testkit::postgres;
use secrecy::SecretString;
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tokio::sync::Notify;
use uuid::Uuid;

use crate::end::{End, ROUTING_KEY, Role, SIGNING_SECRET};

/// Runs one expression as a write; what it uses is cloned in, since a job may run again.
macro_rules! write {
    ($db:expr, [$($captured:ident),*], |$tx:ident| $body:expr) => {{
        $(let $captured = $captured.clone();)*
        $db.write(move |$tx| {
            $(let $captured = $captured.clone();)*
            Box::pin(async move { $body })
        }).await
    }};
}
pub(crate) use write;

/// Runs one expression as a read.
macro_rules! read {
    ($db:expr, [$($captured:ident),*], |$tx:ident| $body:expr) => {{
        $(let $captured = $captured.clone();)*
        $db.read(move |$tx| {
            $(let $captured = $captured.clone();)*
            Box::pin(async move { $body })
        }).await.unwrap()
    }};
}
pub(crate) use read;

/// The interval of monitors in tests.
pub(crate) const INTERVAL_MS: u64 = 60_000;

/// An installation.
pub(crate) struct World {
    pub(crate) db: Db,
    pub(crate) time: Arc<ManualTime>,
    pub(crate) judge: Judge,
    pub(crate) engine: Engine,
    pub(crate) delivery: Delivery,
    pub(crate) pings: Pings,
    pub(crate) watch: Watch,
    pub(crate) outside: watch::Settings,
    shared: Option<Arc<dyn Time>>,
    pub(crate) key: Arc<SecretBox>,
    pub(crate) folder: PathBuf,
    _temporary: TempDir,
}

/// A rule that fires after so many failures and resolves after one success.
pub(crate) fn rule(fails_to_fire: u32) -> Rule {
    Rule {
        fails_to_fire,
        oks_to_resolve: 1,
        interval_ms: INTERVAL_MS,
        stale_after_ms: 10 * INTERVAL_MS,
        severity: Severity::Critical,
        no_data_severity: Some(Severity::Medium),
        remind_every_ms: None,
    }
}

impl World {
    pub(crate) async fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = StoreConfig::Sqlite { path: folder.path().join("pegel.db") };
        Self::open(config, folder).await
    }

    pub(crate) async fn postgres() -> Option<Self> {
        let url = SecretString::from(postgres::new_database().await?);
        Some(Self::open(StoreConfig::Postgres { url }, tempfile::tempdir().unwrap()).await)
    }

    async fn open(config: StoreConfig, temporary: TempDir) -> Self {
        let clock = Arc::new(ManualClock::new("2026-03-01T12:00:00Z".parse().unwrap()));
        let db = Db::open(&config, Arc::clone(&clock) as Arc<dyn Clock>).await.unwrap();
        let time = Arc::new(ManualTime::new(clock));
        let key = Arc::new(SecretBox::from_text(&SecretString::from("7".repeat(64))).unwrap());
        let folder = temporary.path().to_owned();
        let parts = Parts { db, time, key, outside: watch::Settings::default(), shared: None, folder };
        parts.assemble("a", temporary).await
    }

    /// Ends everything that runs, as a kill does, and starts anew on the same store.
    pub(crate) async fn restarted(self) -> Self {
        let Self { db, time, key, outside, shared, folder, _temporary: temporary, .. } = self;
        Parts { db, time, key, outside, shared, folder }.assemble("a", temporary).await
    }

    /// Starts another instance beside this one on the same store.
    pub(crate) async fn beside(&self, owner: &str) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let (db, time, key) = (self.db.clone(), Arc::clone(&self.time), Arc::clone(&self.key));
        let folder = temporary.path().to_owned();
        let (outside, shared) = (self.outside.clone(), self.shared.clone());
        Parts { db, time, key, outside, shared, folder }.assemble(owner, temporary).await
    }

    /// Starts anew with places that are reached whenever anything is.
    pub(crate) async fn anchored(mut self, anchors: Vec<Anchor>) -> Self {
        self.outside.anchors = anchors;
        self.restarted().await
    }

    /// Starts anew with somebody outside who is told each minute that all is well.
    pub(crate) async fn watched_by(mut self, url: String) -> Self {
        self.outside.dead_man_url = Some(url);
        self.restarted().await
    }

    /// Opens one on a new SQLite file in which the machine's time goes by.
    pub(crate) async fn in_real_time() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let config = StoreConfig::Sqlite { path: temporary.path().join("pegel.db") };
        let db = Db::open(&config, Arc::new(RealClock)).await.unwrap();
        let time = Arc::new(ManualTime::new(Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH))));
        let key = Arc::new(SecretBox::from_text(&SecretString::from("7".repeat(64))).unwrap());
        let folder = temporary.path().to_owned();
        let shared: Option<Arc<dyn Time>> = Some(Arc::new(SystemTime::new(Arc::new(RealClock))));
        let parts = Parts { db, time, key, outside: watch::Settings::default(), shared, folder };
        parts.assemble("a", temporary).await
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.time.now()
    }

    /// Lets time go by and does nothing.
    pub(crate) fn wait_ms(&self, ms: u64) {
        self.time.advance(Duration::from_millis(ms));
    }

    /// Does all that is due, and waits until it is done.
    pub(crate) async fn settle(&self) {
        self.engine.tick().await.unwrap();
        self.engine.settle().await;
        self.deliver().await;
    }

    /// Sends all that is due, and waits until it is done.
    pub(crate) async fn deliver(&self) {
        for _ in 0..3 {
            self.delivery.tick().await.unwrap();
            self.delivery.settle().await;
        }
    }

    /// Lets time go by interval after interval and does what is due in each.
    pub(crate) async fn rounds(&self, count: usize) {
        for _ in 0..count {
            self.minute().await;
        }
    }

    /// Lets an interval go by, awake all the time, and does what is due at its end.
    pub(crate) async fn minute(&self) {
        for _ in 0..6 {
            self.wait_ms(INTERVAL_MS / 6);
            self.watch.mark().await.unwrap();
        }
        self.settle().await;
    }

    /// Makes a monitor of an HTTP target.
    pub(crate) async fn http(&self, name: &str, url: &str, rule: Rule) -> Uuid {
        self.monitor(name, MonitorKind::Http, json!({ "url": url, "timeout_ms": 2_000 }), rule, None).await
    }

    pub(crate) async fn heartbeat(&self, name: &str, heartbeat: heartbeat::Rule) -> Uuid {
        let rule = heartbeat.verdict_rule(Severity::Critical, None);
        self.monitor(name, MonitorKind::Heartbeat, json!({}), rule, Some(heartbeat)).await
    }

    pub(crate) async fn monitor(
        &self,
        name: &str,
        kind: MonitorKind,
        target: Json,
        rule: Rule,
        heartbeat_rule: Option<heartbeat::Rule>,
    ) -> Uuid {
        let labels = Labels::from([("team".to_owned(), "streams".to_owned())]);
        let settings = Settings { name: name.to_owned(), target, rule, heartbeat_rule, labels };
        write!(self.db, [settings], |tx| monitors::create(tx, None, kind, &settings).await).unwrap().id
    }

    /// Makes a channel to an end, and a route that leads everything there too.
    pub(crate) async fn tell(&self, role: Role, end: &End) -> Uuid {
        let id = self.channel(role, end).await;
        self.route(&[id]).await;
        id
    }

    pub(crate) async fn channel(&self, role: Role, end: &End) -> Uuid {
        let (kind, field, value) = match role {
            Role::PagerDuty => (ChannelKind::Pagerduty, "routing_key", ROUTING_KEY.to_owned()),
            Role::Slack => (ChannelKind::Slack, "webhook_url", end.url()),
            Role::Webhook => (ChannelKind::Webhook, "signing_secret", SIGNING_SECRET.to_owned()),
        };
        let (url, key, name) = (end.url(), Arc::clone(&self.key), format!("{role:?} {}", end.address));
        let made = write!(self.db, [url, key, value, name], |tx| {
            let value = SecretString::from(value);
            let settings = channels::Settings { name, settings: json!({}), is_enabled: true };
            let made = channels::create(tx, kind, &settings).await?;
            let secret = secret::keep(tx, &key, made.id, field, &value).await?;
            let settings = match role {
                Role::PagerDuty => json!({ "routing_key": secret, "url": url }),
                Role::Slack => json!({ "webhook_url": secret }),
                Role::Webhook => json!({ "url": url, "signing_secrets": [secret] }),
            };
            let settings = channels::Settings { settings, ..made.settings };
            channels::update(tx, made.id, made.version, &settings).await?;
            Ok(made.id)
        });
        made.unwrap()
    }

    /// Adds a route that is for everything and goes on.
    pub(crate) async fn route(&self, channel_ids: &[Uuid]) -> Uuid {
        let route = Route {
            id: Uuid::from_u128(u128::from(channel_ids[0].as_u64_pair().1)),
            name: "everything".to_owned(),
            is_enabled: true,
            severities: Severity::ALL.into_iter().collect(),
            matchers: Vec::new(),
            channel_ids: channel_ids.to_vec(),
            is_continued: true,
        };
        let id = route.id;
        write!(self.db, [route], |tx| {
            let mut list = routes::get(tx).await?;
            list.routes.push(route);
            routes::replace(tx, list.version, &list.routes).await
        })
        .unwrap();
        id
    }

    pub(crate) async fn apply(&self, id: Uuid, change: Change) -> Applied {
        engine::apply(&self.db, &self.judge, id, change, "ann").await.unwrap()
    }

    pub(crate) async fn get(&self, id: Uuid) -> Monitor {
        read!(self.db, [], |tx| monitors::get(tx, id).await)
    }

    pub(crate) async fn state(&self, id: Uuid) -> MonitorState {
        read!(self.db, [], |tx| monitors::state(tx, id).await)
    }

    pub(crate) async fn status(&self, id: Uuid) -> Status {
        self.state(id).await.verdict.status()
    }

    pub(crate) async fn incidents(&self) -> Vec<Incident> {
        read!(self.db, [], |tx| incidents::list(tx, None, false, 100).await)
    }

    pub(crate) async fn story(&self, id: FiringId) -> Vec<String> {
        let events = read!(self.db, [], |tx| incidents::timeline(tx, id, None, 100).await);
        events.into_iter().map(|event| event.kind).collect()
    }
}

/// The machine's wall clock.
struct RealClock;

impl Clock for RealClock {
    #[expect(clippy::disallowed_methods, reason = "some tests are about real time")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

struct Parts {
    db: Db,
    time: Arc<ManualTime>,
    key: Arc<SecretBox>,
    outside: watch::Settings,
    /// Time that goes by, instead of the time that is moved.
    shared: Option<Arc<dyn Time>>,
    folder: PathBuf,
}

impl Parts {
    async fn assemble(self, owner: &str, temporary: TempDir) -> World {
        let Self { db, time, key, outside, shared: real, folder } = self;
        let shared = real.clone().unwrap_or_else(|| Arc::clone(&time) as Arc<dyn Time>);
        let clock = Arc::clone(db.clock());
        let egress = Egress::new(["127.0.0.1".to_owned(), "::1".to_owned(), "localhost".to_owned()]);
        let resolver = Arc::new(SystemResolver::default());
        let outbound = Outbound::new(resolver, egress, Trust::system(None).unwrap(), clock);
        let judge = Judge::new(&db, Some("https://pegel.example.com/".to_owned())).await.unwrap();
        let watch = Watch::new(db.clone(), Arc::clone(&shared), outbound.clone(), outside.clone());
        let bell = Arc::new(Notify::new());
        let pings = Pings::new(
            db.clone(),
            judge.clone(),
            Arc::clone(&shared),
            watch.clone(),
            &folder,
            Arc::clone(&bell),
        );
        let probes = Probes::new(outbound.clone(), db.clone(), Arc::clone(&key), Arc::new(NoClusters));
        let engine = Engine::new(
            engine::Parts {
                db: db.clone(),
                judge: judge.clone(),
                time: Arc::clone(&shared),
                probes,
                watch: watch.clone(),
                pings: pings.clone(),
                delivery_bell: Arc::clone(&bell),
            },
            engine::Settings::new(owner),
        );
        let delivery = Delivery::new(delivery::Parts {
            db: db.clone(),
            judge: judge.clone(),
            time: shared,
            outbound,
            secrets: Arc::clone(&key),
            watch: watch.clone(),
            owner: owner.to_owned(),
            bell,
        });
        World {
            db,
            time,
            judge,
            engine,
            delivery,
            pings,
            watch,
            outside,
            shared: real,
            key,
            folder,
            _temporary: temporary,
        }
    }
}
