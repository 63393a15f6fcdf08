//! Connections by address: dialled when needed, shared, replaced when they end.
//!
//! Callers that need the same server wait for one dial, each until its own
//! deadline. After a failed dial the next one waits a little, longer each time:
//! within that pause callers get the last error at once, so that a dead server
//! is never hammered.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fluss_codec::server_type::ServerType;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::bootstrap::HostPort;
use crate::clock;
use crate::connection::{Connection, Limits, backoff};
use crate::dial::Dialer;
use crate::error::{Error, ProtocolFault, server_type_word};
use crate::observer::{Event, Observer};
use crate::settings::{ConnectionSettings, SaslCredentials};

/// Most servers that are remembered; a cluster that names more is not believed.
const MAX_SLOTS: usize = 10_000;

type Shared = Result<Arc<Connection>, Error>;

/// All connections of one client.
pub(crate) struct Pool {
    dialer: Dialer,
    sasl: Option<SaslCredentials>,
    limits: Limits,
    observer: Arc<dyn Observer>,
    slots: Mutex<HashMap<HostPort, Slot>>,
}

enum Slot {
    /// A dial is under way; its result will appear in the channel.
    Dialling(watch::Receiver<Option<Shared>>),
    /// There is a connection, which may have ended since.
    Ready(Arc<Connection>),
    /// The last dial failed and the next one waits.
    Resting { until: Instant, error: Error, failures: u32 },
}

impl Pool {
    pub(crate) fn new(
        settings: &ConnectionSettings,
        observer: Arc<dyn Observer>,
    ) -> Result<Arc<Self>, Error> {
        Ok(Arc::new(Self {
            dialer: Dialer::new(settings)?,
            sasl: settings.sasl().cloned(),
            limits: Limits {
                request_timeout: settings.request_timeout(),
                max_frame_bytes: settings.max_frame_bytes,
            },
            observer,
            slots: Mutex::new(HashMap::new()),
        }))
    }

    pub(crate) fn observer(&self) -> &Arc<dyn Observer> {
        &self.observer
    }

    /// Returns a connection to `address` that answers as `expected`.
    ///
    /// # Errors
    /// What the dial ended with, `request_timeout` when it takes longer than
    /// `deadline`, `wrong_server_type` when another kind of server answers.
    pub(crate) async fn get(
        self: &Arc<Self>,
        address: &HostPort,
        expected: Option<ServerType>,
        deadline: Instant,
        api: &'static str,
    ) -> Result<Arc<Connection>, Error> {
        let connection = match self.ready_or_dialling(address)? {
            Ok(connection) => connection,
            Err(mut dial) => match timeout_at(deadline, dial.wait_for(Option::is_some)).await {
                Err(_) => {
                    return Err(Error::RequestTimeout {
                        address: address.clone(),
                        api,
                        timeout_ms: clock::millis(self.limits.request_timeout),
                    });
                }
                Ok(Ok(result)) => match &*result {
                    Some(result) => result.clone()?,
                    None => return Err(lost(address, api)),
                },
                Ok(Err(_)) => return Err(lost(address, api)),
            },
        };
        let found = connection.server_type();
        match expected {
            Some(expected) if found != Some(expected) => Err(Error::WrongServerType {
                address: address.clone(),
                expected: server_type_word(Some(expected)),
                found: server_type_word(found),
            }),
            _ => Ok(connection),
        }
    }

    /// Returns the live connection, or the dial to wait for, starting one where none is under way.
    fn ready_or_dialling(
        self: &Arc<Self>,
        address: &HostPort,
    ) -> Result<Result<Arc<Connection>, watch::Receiver<Option<Shared>>>, Error> {
        let mut slots = self.lock();
        let failures = match slots.get(address) {
            Some(Slot::Ready(connection)) if !connection.is_closed() => {
                return Ok(Ok(Arc::clone(connection)));
            }
            Some(Slot::Dialling(dial)) if dial.has_changed().is_ok() => return Ok(Err(dial.clone())),
            Some(Slot::Resting { until, error, .. }) if *until > clock::now() => return Err(error.clone()),
            Some(Slot::Resting { failures, .. }) => *failures,
            _ => 0,
        };
        if slots.len() >= MAX_SLOTS && !slots.contains_key(address) {
            return Err(Error::corrupt(address, format!("the cluster names more than {MAX_SLOTS} servers")));
        }
        let (result, dial) = watch::channel(None);
        slots.insert(address.clone(), Slot::Dialling(dial.clone()));
        drop(slots);
        let pool = Arc::clone(self);
        let address = address.clone();
        tokio::spawn(async move {
            let outcome = pool.dial(&address).await;
            pool.settle(&address, &outcome, failures);
            let _ = result.send(Some(outcome));
        });
        Ok(Err(dial))
    }

    fn settle(&self, address: &HostPort, outcome: &Shared, failures: u32) {
        let slot = match outcome {
            Ok(connection) => Slot::Ready(Arc::clone(connection)),
            Err(error) => Slot::Resting {
                until: clock::deadline_in(backoff(failures)),
                error: error.clone(),
                failures: failures.saturating_add(1),
            },
        };
        let mut slots = self.lock();
        // A slot that was forgotten meanwhile stays forgotten.
        if let Some(current) = slots.get_mut(address) {
            *current = slot;
        }
    }

    async fn dial(&self, address: &HostPort) -> Shared {
        let started = clock::now();
        let outcome = self.open(address).await;
        self.observer.observe(&Event::Dial {
            address,
            error: outcome.as_ref().err().map(Error::code),
            duration: clock::now() - started,
        });
        outcome.map(Arc::new)
    }

    async fn open(&self, address: &HostPort) -> Result<Connection, Error> {
        let stream = self.dialer.dial(address).await?;
        let opened =
            Connection::open(address, stream, self.sasl.as_ref(), &self.limits, Arc::clone(&self.observer))
                .await;
        match opened {
            Err(Error::Protocol { address, fault: ProtocolFault::Closed })
                if !self.dialer.uses_tls() && self.dialer.speaks_tls(&address).await =>
            {
                Err(Error::Protocol { address, fault: ProtocolFault::TlsExpected })
            }
            other => other,
        }
    }

    /// Forgets servers that are no longer part of the cluster.
    pub(crate) fn retain(&self, is_known: impl Fn(&HostPort) -> bool) {
        self.lock().retain(|address, _| is_known(address));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<HostPort, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn lost(address: &HostPort, api: &'static str) -> Error {
    Error::ConnectionLost { address: address.clone(), api, source: None }
}
