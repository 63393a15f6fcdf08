//! What is watched and over what people are told: monitors and channels as people see to them, and what runs for them.
//!
//! What a sample means and what is sent is decided and done in `pegel-monitor`; here people change what is watched.

mod channels;
mod clusters;
mod incidents;
mod monitors;
mod view;

use std::path::PathBuf;
use std::sync::Arc;

use pegel_api_types::problem::FieldProblem;
use pegel_http::Outbound;
use pegel_http::egress::Egress;
use pegel_http::resolve::SystemResolver;
use pegel_http::trust::Trust;
use pegel_monitor::delivery::{self, Delivery};
use pegel_monitor::engine::{self, Engine};
use pegel_monitor::judge::Judge;
use pegel_monitor::pings::{Kept, Pings};
use pegel_monitor::probe::Probes;
use pegel_monitor::time::{SystemTime, Time};
use pegel_monitor::watch::{self, Watch};
use pegel_store::Db;
use pegel_store::secret_box::SecretBox;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::error::Error;
use crate::live::registry::Registry;

pub use pegel_monitor::pings::{Request as PingRequest, kind_of as ping_kind};
pub use pegel_monitor::watch::{Anchor, Health};

/// How monitors are looked after.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The instance's name, the same over restarts; no two instances have the same.
    pub owner: String,
    /// A folder of this instance alone, for pings that the store cannot take at once.
    pub folder: PathBuf,
    /// Where people reach the console, for links in messages.
    pub base_url: Option<String>,
    /// Places that are reached whenever anything is.
    pub anchors: Vec<Anchor>,
    /// Who is told every minute that Pegel is well; silence tells the rest.
    pub dead_man_url: Option<String>,
    /// Hosts on loopback that monitors and channels may reach.
    pub loopback_hosts: Vec<String>,
    /// Whether this instance probes and sends; without it, it only lets people see to monitors.
    pub is_active: bool,
}

impl Default for Settings {
    /// For tests: nothing runs, and what cannot be stored goes to the folder of temporary files.
    fn default() -> Self {
        Self {
            owner: "pegel".to_owned(),
            folder: std::env::temp_dir(),
            base_url: None,
            anchors: Vec::new(),
            dead_man_url: None,
            loopback_hosts: Vec::new(),
            is_active: false,
        }
    }
}

/// The service of monitors and channels. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Monitoring {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    db: Db,
    secrets: Arc<SecretBox>,
    judge: Judge,
    engine: Engine,
    delivery: Delivery,
    delivery_bell: Arc<Notify>,
    pings: Pings,
    watch: Watch,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Monitoring {
    /// Puts everything together and, where it is to, begins to probe and to send.
    ///
    /// # Errors
    /// As the store.
    pub(crate) async fn start(
        db: Db,
        secrets: Arc<SecretBox>,
        judge: Judge,
        registry: Arc<Registry>,
        settings: Settings,
    ) -> Result<Self, Error> {
        let clock = Arc::clone(db.clock());
        let time: Arc<dyn Time> = Arc::new(SystemTime::new(Arc::clone(&clock)));
        let trust = Trust::system(None).map_err(|error| Error::Cryptography { reason: error.to_string() })?;
        let egress = Egress::new(settings.loopback_hosts);
        let outbound = Outbound::new(Arc::new(SystemResolver::default()), egress, trust, clock);
        let watching = watch::Settings { anchors: settings.anchors, dead_man_url: settings.dead_man_url };
        let watch = Watch::new(db.clone(), Arc::clone(&time), outbound.clone(), watching);
        let delivery_bell = Arc::new(Notify::new());
        let pings = Pings::new(
            db.clone(),
            judge.clone(),
            Arc::clone(&time),
            watch.clone(),
            &settings.folder,
            Arc::clone(&delivery_bell),
        );
        let clusters = Arc::new(clusters::Registered::new(registry));
        let probes = Probes::new(outbound.clone(), db.clone(), Arc::clone(&secrets), clusters);
        let engine = Engine::new(
            engine::Parts {
                db: db.clone(),
                judge: judge.clone(),
                time: Arc::clone(&time),
                probes,
                watch: watch.clone(),
                pings: pings.clone(),
                delivery_bell: Arc::clone(&delivery_bell),
            },
            engine::Settings::new(&settings.owner),
        );
        let delivery = Delivery::new(delivery::Parts {
            db: db.clone(),
            judge: judge.clone(),
            time,
            outbound,
            secrets: Arc::clone(&secrets),
            watch: watch.clone(),
            owner: settings.owner,
            bell: Arc::clone(&delivery_bell),
        });
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        if settings.is_active {
            pings.learn_keys().await?;
            let (working, until) = (engine.clone(), stop.clone());
            tasks.spawn(async move { working.run(until).await });
            let (working, until) = (delivery.clone(), stop.clone());
            tasks.spawn(async move { working.run(until).await });
        }
        let inner = Inner { db, secrets, judge, engine, delivery, delivery_bell, pings, watch, tasks, stop };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Keeps a ping of a heartbeat; whoever has its key may send it. It is on disk when this returns.
    ///
    /// # Errors
    /// `not_found` for a key of nothing; those of the store only if it could be kept nowhere.
    pub async fn ping(&self, request: PingRequest) -> Result<Kept, Error> {
        Ok(self.inner.pings.receive(request).await?)
    }

    /// Tells how the looking-after fares, for whoever watches Pegel.
    pub async fn health(&self) -> Health {
        self.inner.watch.health(self.inner.engine.figures().late_ms_max).await
    }

    /// Ends probing and sending; what is under way is waited for.
    pub(crate) async fn shutdown(&self) {
        self.inner.stop.cancel();
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
    }
}

impl From<pegel_monitor::Error> for Error {
    fn from(error: pegel_monitor::Error) -> Self {
        match error {
            pegel_monitor::Error::Invalid { field, reason } => Self::Invalid {
                problems: vec![FieldProblem::new(format!("/{}", field.replace('.', "/")), "value", reason)],
            },
            pegel_monitor::Error::UnknownKey => Self::not_found("heartbeat", "of this key"),
            pegel_monitor::Error::NotKept { source } | pegel_monitor::Error::Store(source) => source.into(),
            other => Self::Failed(Box::new(crate::failure::Failure::internal(other.to_string()))),
        }
    }
}
