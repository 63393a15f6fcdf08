//! What every face of Pegel agrees on: error codes, the envelope of answers,
//! what is hidden in them, and how long a list may be.
//!
//! The crate is pure. It does no I/O, reads no clock and starts no task; times
//! and ids are arguments. It knows nothing of the Fluss protocol.

pub mod envelope;
pub mod error_code;
pub mod exact;
pub mod limits;
pub mod redaction;
