//! The one thing that a face holds: people, clusters, alerting and the policy over one store.
//!
//! It owns what runs in the background; it does not own the store, which its opener closes afterwards.

use std::sync::Arc;

use pegel_monitor::judge::Judge;
use pegel_store::secret_box::SecretBox;
use pegel_store::{Db, secrets};

use crate::alerting::Alerting;
use crate::clusters::{self, Clusters};
use crate::cursor::Cursors;
use crate::error::Error;
use crate::monitoring::{self, Monitoring};
use crate::people::{self, People};
use crate::policy::Policy;

/// What can be set about the service.
#[derive(Debug, Clone, Default)]
pub struct ServiceSettings {
    /// Signing in.
    pub people: people::Settings,
    /// Registered clusters.
    pub clusters: clusters::Settings,
    /// Monitors and channels.
    pub monitoring: monitoring::Settings,
}

/// Everything a face may ask. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Service {
    db: Db,
    policy: Policy,
    people: People,
    clusters: Clusters,
    alerting: Alerting,
    monitoring: Monitoring,
    cursors: Cursors,
}

impl Service {
    /// Starts the service: loads the registered clusters and follows their changes from then on.
    ///
    /// A cluster that cannot be used does not keep the others, or the start, from going on.
    ///
    /// # Errors
    /// `secret_unreadable` when the stored secrets are of another key; `cryptography_unavailable`; or as the
    /// store.
    pub async fn start(db: Db, secrets: SecretBox, settings: ServiceSettings) -> Result<Self, Error> {
        let secrets = Arc::new(secrets);
        let checked = Arc::clone(&secrets);
        db.read(move |tx| {
            let checked = Arc::clone(&checked);
            Box::pin(async move { secrets::check_key(tx, &checked).await })
        })
        .await?;
        let people = People::new(db.clone(), settings.people)?;
        let cursors = Cursors::new(Arc::clone(&secrets));
        let judge = Judge::new(&db, settings.monitoring.base_url.clone()).await?;
        let kept = Arc::clone(&secrets);
        let clusters = Clusters::start(db.clone(), kept, judge.clone(), settings.clusters).await?;
        let registry = clusters.registry();
        let monitoring = Monitoring::start(db.clone(), secrets, judge, registry, settings.monitoring).await?;
        let (policy, alerting) = (Policy::new(db.clone()), Alerting::new(db.clone()));
        Ok(Self { policy, db, people, clusters, alerting, monitoring, cursors })
    }

    /// Returns the store.
    pub const fn db(&self) -> &Db {
        &self.db
    }

    /// Returns the gate.
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the service of people.
    pub const fn people(&self) -> &People {
        &self.people
    }

    /// Returns the service of clusters.
    pub const fn clusters(&self) -> &Clusters {
        &self.clusters
    }

    /// Returns the service of alerting.
    pub const fn alerting(&self) -> &Alerting {
        &self.alerting
    }

    /// Returns the service of monitors and channels.
    pub const fn monitoring(&self) -> &Monitoring {
        &self.monitoring
    }

    /// Returns what makes and reads the cursors of pages.
    pub const fn cursors(&self) -> &Cursors {
        &self.cursors
    }

    /// Ends what runs in the background and closes the connections to clusters. The store stays open.
    pub async fn shutdown(&self) {
        self.monitoring.shutdown().await;
        self.clusters.shutdown().await;
    }
}
