//! Looks after monitors: probes what is to be probed, hears what reports itself, and tells people.
//!
//! What a sample means, who is told and what is sent next is decided by `pegel_core::monitor`; here it is
//! done. [`judge`] brings every change of a monitor into the store in one transaction with all that follows
//! from it. [`engine`] probes on schedule, [`pings`] takes heartbeats, [`delivery`] empties the outbox, and
//! [`watch`] looks after Pegel itself. Nothing here decides who may do what.

pub mod channel;
mod clock;
pub mod delivery;
pub mod engine;
pub mod error;
pub mod judge;
pub mod message;
pub mod own_alert;
pub mod pings;
pub mod probe;
pub mod routing;
pub mod spill;
pub mod target;
pub mod time;
pub mod watch;

pub use error::Error;
