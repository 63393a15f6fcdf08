//! Real Apache Fluss clusters, faults and certificates for tests and for `pegel demo`.
//!
//! The real part starts the released Java servers as guarded child processes on loopback
//! ([`cluster`], [`process`]), fetches what they need once into the user's cache ([`artifacts`]),
//! puts faults ([`proxy`]) and TLS ([`tls`]) in front of them, and runs the official Java client
//! beside them ([`java`]). [`demo`] bundles all of it for people.
//!
//! This crate must not know Pegel: it depends on the wire format alone. It listens on loopback only
//! (save for the servers' Prometheus endpoints, see [`cluster::ClusterBuilder::metrics`]), never
//! carries a default password and leaves no process behind.

pub mod artifacts;
mod clock;
pub mod cluster;
pub mod demo;
pub mod error;
pub mod fake_server;
pub mod java;
mod paths;
pub mod ports;
mod probe;
pub mod process;
pub mod progress;
pub mod proxy;
mod random;
pub mod tls;

pub use error::Error;
pub use progress::Progress;
