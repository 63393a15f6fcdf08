//! The whole service on an empty store, with hashes that cost next to nothing and a clock that stands still.

use std::sync::Arc;

use jiff::Timestamp;
use pegel_core::clock::{Clock, ManualClock};
use pegel_core::ids::ClusterSlug;
use pegel_core::monitor::kind::MonitorKind;
use pegel_core::monitor::severity::Severity;
use pegel_core::monitor::verdict::{Cause, Firing, FiringId, Rule};
use pegel_service::people::{self, HashSettings};
use pegel_service::{Service, ServiceSettings};
use pegel_store::secret_box::SecretBox;
use pegel_store::{Db, StoreConfig, incidents, monitors};
use secrecy::SecretString;
use serde_json::json;
use tempfile::TempDir;
use uuid::Uuid;

use crate::postgres;

/// When the clock stands at first.
const START: &str = "2026-03-01T12:00:00Z";

/// Hashes that cost next to nothing.
const CHEAP: HashSettings = HashSettings { memory_kib: 8, iterations: 1, lanes: 1, parallel: 2, waiting: 64 };

/// A service and what it stands on.
pub struct TestService {
    /// The service.
    pub service: Service,
    /// Its clock.
    pub clock: Arc<ManualClock>,
    _folder: Option<TempDir>,
}

impl TestService {
    /// Starts the service on a new SQLite file.
    ///
    /// # Panics
    /// When it cannot.
    pub async fn on_sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = StoreConfig::Sqlite { path: folder.path().join("pegel.db") };
        Self::start(&config, Some(folder)).await
    }

    /// Starts the service on a new PostgreSQL database; `None` where there is no PostgreSQL.
    ///
    /// # Panics
    /// When it cannot, or when PostgreSQL is required and absent.
    pub async fn on_postgres() -> Option<Self> {
        let url = SecretString::from(postgres::new_database().await?);
        Some(Self::start(&StoreConfig::Postgres { url }, None).await)
    }

    async fn start(config: &StoreConfig, folder: Option<TempDir>) -> Self {
        let clock = Arc::new(ManualClock::new(START.parse::<Timestamp>().unwrap()));
        let db = Db::open(config, Arc::clone(&clock) as Arc<dyn Clock>).await.unwrap();
        let key = SecretBox::from_text(&SecretString::from("7".repeat(64))).unwrap();
        let people = people::Settings { hash: CHEAP, ..people::Settings::default() };
        let settings = ServiceSettings { people, ..ServiceSettings::default() };
        let service = Service::start(db, key, settings).await.unwrap();
        Self { service, clock, _folder: folder }
    }
}

/// Opens an incident of a monitor of its own, as the engine does; returns its id.
///
/// # Panics
/// When there is one with this id, or no such cluster.
pub async fn open_incident(service: &Service, id: Uuid, cluster: Option<ClusterSlug>) -> Uuid {
    let now = service.db().clock().now();
    let firing = Firing {
        id: FiringId(id),
        cause: Cause::Bad,
        severity: Severity::High,
        since: now,
        fired_at: now,
        announced_at: None,
        acknowledged_at: None,
        reminded_at: None,
        told_flapping: false,
    };
    let rule = Rule {
        fails_to_fire: 1,
        oks_to_resolve: 1,
        interval_ms: 60_000,
        stale_after_ms: 120_000,
        severity: Severity::High,
        no_data_severity: None,
        remind_every_ms: None,
    };
    let settings = monitors::Settings {
        name: format!("monitor of {id}"),
        target: json!({ "url": "http://127.0.0.1:1/" }),
        rule,
        heartbeat_rule: None,
        labels: [("cluster".to_owned(), "eu".to_owned())].into(),
    };
    let opened = service.db().write(move |tx| {
        let (cluster, settings, firing) = (cluster.clone(), settings.clone(), firing.clone());
        Box::pin(async move {
            let monitor = monitors::create(tx, cluster.as_ref(), MonitorKind::Http, &settings).await?;
            incidents::open(tx, &monitor, &firing).await
        })
    });
    opened.await.unwrap();
    id
}
