//! Exchanges with targets on loopback: well, broken and hostile.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod bodies;
mod certificates;
mod egress;
mod growth;
mod hostile;
mod target;
mod tcp;
