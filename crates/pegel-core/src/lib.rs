//! What every face of Pegel agrees on: error codes, the envelope of answers,
//! what is hidden in them, how long a list may be, who may do what, and which
//! addresses are never connected to.
//!
//! The crate is pure. It does no I/O, reads no clock and starts no task; times
//! and ids are arguments. It knows nothing of the Fluss protocol.

pub mod access;
pub mod clock;
pub mod egress;
pub mod envelope;
pub mod error_code;
pub mod exact;
pub mod ids;
pub mod limits;
pub mod monitor;
pub mod printable;
pub mod redaction;
