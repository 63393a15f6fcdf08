//! Connections by address: dialled when needed, shared, replaced when they end.
//!
//! Callers that need the same server wait for one dial, each until its own
//! deadline. After a failed dial the next one waits a little, longer each time:
//! within that pause callers get the last error at once, so that a dead server
//! is never hammered.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fluss_codec::server_type::ServerType;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::bootstrap::HostPort;
use crate::clock;
use crate::connection::{Connection, Limits};
use crate::dial::Dialer;
use crate::error::{Error, server_type_word};
use crate::observer::{Event, Observer};
use crate::settings::{ConnectionSettings, SaslCredentials};

/// Most servers that are remembered; a cluster that names more is not believed.
const MAX_SLOTS: usize = 10_000;
/// Longest rest after a failed dial.
const MAX_REST: Duration = Duration::from_secs(2);
/// A rest that ends within this time is waited out instead of giving its old error.
const SHORT_REST: Duration = Duration::from_secs(1);

type Shared = Result<Arc<Connection>, Error>;

/// A dial under way.
#[derive(Clone)]
struct Dial {
    result: watch::Receiver<Option<Shared>>,
    /// Set once the server has taken the connection: from then on silence is the server's.
    is_open: Arc<AtomicBool>,
}

/// What a caller finds who wants a connection.
enum Found {
    Ready(Arc<Connection>),
    Wait(Dial),
    Rest { until: Instant, error: Error },
}

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
    Dialling(Dial),
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
    /// What the dial ended with; `dial_timeout` or `request_timeout`, by how far it got,
    /// when it takes longer than `deadline`; `wrong_server_type` when another kind of
    /// server answers. Shortly after a failed dial its error again, without a new dial.
    pub(crate) async fn get(
        self: &Arc<Self>,
        address: &HostPort,
        expected: Option<ServerType>,
        deadline: Instant,
        api: &'static str,
    ) -> Result<Arc<Connection>, Error> {
        loop {
            match self.find(address, false)? {
                Found::Ready(connection) => return checked(connection, expected),
                Found::Wait(dial) => {
                    return checked(self.wait(address, dial, deadline, api).await?, expected);
                }
                Found::Rest { until, error } => {
                    if until >= deadline || clock::remaining(until) > SHORT_REST {
                        return Err(error);
                    }
                    sleep_until(until).await;
                }
            }
        }
    }

    /// Like [`Self::get`], but dials even when the last dial has just failed.
    pub(crate) async fn get_now(
        self: &Arc<Self>,
        address: &HostPort,
        expected: Option<ServerType>,
        deadline: Instant,
        api: &'static str,
    ) -> Result<Arc<Connection>, Error> {
        match self.find(address, true)? {
            Found::Ready(connection) => checked(connection, expected),
            Found::Wait(dial) => checked(self.wait(address, dial, deadline, api).await?, expected),
            Found::Rest { error, .. } => Err(error),
        }
    }

    async fn wait(
        &self,
        address: &HostPort,
        mut dial: Dial,
        deadline: Instant,
        api: &'static str,
    ) -> Result<Arc<Connection>, Error> {
        let started = clock::now();
        let outcome = timeout_at(deadline, dial.result.wait_for(Option::is_some)).await;
        let error = match outcome {
            Ok(Ok(result)) => match &*result {
                Some(result) => return result.clone(),
                None => lost(address, api),
            },
            Ok(Err(_)) => lost(address, api),
            Err(_) => {
                let timeout_ms = clock::waited_ms(started, self.limits.request_timeout);
                let address = address.clone();
                if dial.is_open.load(Ordering::Acquire) {
                    Error::RequestTimeout { address, api, timeout_ms }
                } else {
                    Error::DialTimeout { address, timeout_ms }
                }
            }
        };
        Err(error)
    }

    /// Returns the live connection, the dial to wait for, starting one where none is
    /// under way, or the rest after a failed one.
    fn find(self: &Arc<Self>, address: &HostPort, is_urgent: bool) -> Result<Found, Error> {
        let mut slots = self.lock();
        let failures = match slots.get(address) {
            Some(Slot::Ready(connection)) if !connection.is_closed() => {
                return Ok(Found::Ready(Arc::clone(connection)));
            }
            Some(Slot::Dialling(dial)) if dial.result.has_changed().is_ok() => {
                return Ok(Found::Wait(dial.clone()));
            }
            Some(Slot::Resting { until, error, .. }) if *until > clock::now() && !is_urgent => {
                return Ok(Found::Rest { until: *until, error: error.clone() });
            }
            Some(Slot::Resting { failures, .. }) => *failures,
            _ => 0,
        };
        if slots.len() >= MAX_SLOTS && !slots.contains_key(address) {
            return Err(Error::corrupt(address, format!("the cluster names more than {MAX_SLOTS} servers")));
        }
        let (sender, result) = watch::channel(None);
        let dial = Dial { result, is_open: Arc::new(AtomicBool::new(false)) };
        slots.insert(address.clone(), Slot::Dialling(dial.clone()));
        drop(slots);
        let (pool, address, mine) = (Arc::clone(self), address.clone(), dial.clone());
        tokio::spawn(async move {
            let outcome = pool.dial(&address, &mine.is_open).await;
            pool.settle(&address, &mine, &outcome, failures);
            let _ = sender.send(Some(outcome));
        });
        Ok(Found::Wait(dial))
    }

    fn settle(&self, address: &HostPort, dial: &Dial, outcome: &Shared, failures: u32) {
        let slot = match outcome {
            Ok(connection) => Slot::Ready(Arc::clone(connection)),
            Err(error) => Slot::Resting {
                until: clock::deadline_in(rest(failures)),
                error: error.clone(),
                failures: failures.saturating_add(1),
            },
        };
        let mut slots = self.lock();
        // A slot that was forgotten meanwhile stays so, and one dialled anew is not ours.
        if let Some(current) = slots.get_mut(address)
            && matches!(&*current, Slot::Dialling(now) if now.result.same_channel(&dial.result))
        {
            *current = slot;
        }
    }

    async fn dial(&self, address: &HostPort, is_open: &AtomicBool) -> Shared {
        let started = clock::now();
        let outcome = match self.dialer.dial(address).await {
            Ok(stream) => {
                is_open.store(true, Ordering::Release);
                let observer = Arc::clone(&self.observer);
                Connection::open(address, stream, self.sasl.as_ref(), &self.limits, observer, &self.dialer)
                    .await
            }
            Err(error) => Err(error),
        };
        self.observer.observe(&Event::Dial {
            address,
            error: outcome.as_ref().err().map(Error::code),
            duration: clock::now() - started,
        });
        outcome.map(Arc::new)
    }

    /// Returns whether a request to this server needs no dial.
    pub(crate) fn is_connected(&self, address: &HostPort) -> bool {
        matches!(self.lock().get(address), Some(Slot::Ready(connection)) if !connection.is_closed())
    }

    /// Forgets servers that are no longer part of the cluster.
    pub(crate) fn retain(&self, is_known: impl Fn(&HostPort) -> bool) {
        self.lock().retain(|address, _| is_known(address));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<HostPort, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn checked(connection: Arc<Connection>, expected: Option<ServerType>) -> Result<Arc<Connection>, Error> {
    let found = connection.server_type();
    match expected {
        Some(expected) if found != Some(expected) => Err(Error::WrongServerType {
            address: connection.address().clone(),
            expected: server_type_word(Some(expected)),
            found: server_type_word(found),
        }),
        _ => Ok(connection),
    }
}

/// Returns how long no new dial is made after a number of failed ones in a row: shorter
/// than the pause before a repeated read, so that its second attempt is a real one.
fn rest(failures: u32) -> Duration {
    const FIRST: Duration = Duration::from_millis(70);
    FIRST.saturating_mul(1 << failures.min(10)).min(MAX_REST)
}

fn lost(address: &HostPort, api: &'static str) -> Error {
    Error::ConnectionLost { address: address.clone(), api, source: None }
}
