//! The signals of a server: the first asks it to end, the second ends it at once, SIGHUP means nothing.

use pegel_api::Shutdown;
use pegel_service::failure::Failure;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that a server hears.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// Listens from now on.
    pub(super) fn listen() -> Result<Self, Failure> {
        let listen = |kind| {
            signal(kind).map_err(|error| Failure::internal("cannot listen for signals").with_cause(&error))
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for SIGINT or SIGTERM. A server outlives the terminal that it was started from.
    pub(super) async fn end(&mut self) {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => return,
                _ = self.terminate.recv() => return,
                _ = self.hangup.recv() => tracing::info!("SIGHUP is ignored: settings are read at the start"),
            }
        }
    }

    /// Passes the first signal on as a wish to drain and returns at the second, after saying so.
    pub(super) async fn pass_on(&mut self, shutdown: &Shutdown) {
        self.end().await;
        tracing::info!("ending: requests under way may finish");
        shutdown.drain.cancel();
        self.end().await;
        tracing::warn!("ending at once");
        shutdown.stop.cancel();
    }
}
