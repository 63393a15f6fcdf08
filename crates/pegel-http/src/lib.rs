//! What Pegel asks over the network by itself: probes and channels, over HTTP and plain TCP.
//!
//! Every exchange has one deadline over all of its phases, resolves names by itself and connects only to
//! the addresses it was given, each of which the egress policy has let pass. It starts no task: dropping
//! the future ends everything. What was seen on the way is reported also when it failed.
//!
//! It decides nothing about monitors and reads no settings; it never asks a proxy.

pub mod body;
pub mod certificate;
mod clock;
pub mod dial;
pub mod egress;
pub mod error;
mod exchange;
pub mod expect;
pub mod http;
pub mod json;
mod redirect;
pub mod report;
pub mod request;
pub mod resolve;
pub mod status;
pub mod tcp;
mod tls;
pub mod trust;

use std::sync::Arc;

use pegel_core::clock::Clock;

use crate::egress::Egress;
use crate::resolve::Resolve;
use crate::trust::Trust;

pub use error::Error;

/// What all exchanges share. Cheap to clone.
#[derive(Clone)]
pub struct Outbound {
    resolver: Arc<dyn Resolve>,
    egress: Arc<Egress>,
    trust: Trust,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for Outbound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbound").field("egress", &self.egress).finish_non_exhaustive()
    }
}

impl Outbound {
    /// Puts together what exchanges share; `clock` tells when certificates expire.
    pub fn new(resolver: Arc<dyn Resolve>, egress: Egress, trust: Trust, clock: Arc<dyn Clock>) -> Self {
        Self { resolver, egress: Arc::new(egress), trust, clock }
    }
}
