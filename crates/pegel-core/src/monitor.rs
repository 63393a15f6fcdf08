//! The rules of monitoring and alerting, without any of the doing.
//!
//! Probes, pings and the outbox live elsewhere; they ask here what a sample means ([`verdict`]), when
//! something is due ([`schedule`], [`heartbeat`]), who is told ([`routing`]), who is not just now
//! ([`quiet`]), what the next step of a notice is ([`delivery`]) and how much of a time was good
//! ([`uptime`]). Times, ids and chance are arguments. State is plain data, so that it can be stored in
//! the transaction of the sample that changed it.

pub mod blackout;
pub mod delivery;
pub mod heartbeat;
pub mod kind;
pub mod labels;
pub mod quiet;
pub mod routing;
pub mod schedule;
pub mod severity;
pub mod span;
pub mod uptime;
pub mod verdict;
