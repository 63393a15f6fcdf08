//! What every handler can reach.

use std::ops::Deref;
use std::sync::Arc;

use pegel_service::Service;
use pegel_service::changes::ChangeFeed;

use crate::health::Readiness;
use crate::metrics::Metrics;
use crate::settings::ApiSettings;
use crate::sse::Streams;

/// What every handler can reach. Cheap to clone.
#[derive(Clone)]
pub(crate) struct App {
    inner: Arc<Inner>,
}

/// See [`App`].
pub(crate) struct Inner {
    pub(crate) service: Service,
    pub(crate) settings: ApiSettings,
    pub(crate) metrics: Metrics,
    pub(crate) readiness: Readiness,
    pub(crate) changes: ChangeFeed,
    pub(crate) streams: Streams,
}

impl App {
    pub(crate) fn new(service: Service, settings: ApiSettings) -> Self {
        let changes = ChangeFeed::new(service.db().clone());
        let streams = Streams::new(settings.max_streams, settings.max_streams_per_user);
        let metrics = Metrics::new(&settings.version);
        let readiness = Readiness::default();
        Self { inner: Arc::new(Inner { service, settings, metrics, readiness, changes, streams }) }
    }
}

impl Deref for App {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.inner
    }
}
