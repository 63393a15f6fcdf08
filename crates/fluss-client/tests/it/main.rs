//! The client against a scripted server that speaks real frames, and against TLS ends.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that panics has failed, and its own time is real time"
)]

mod address_rule;
mod bootstrap;
mod bucket_read;
mod connection_life;
mod connection_test;
mod deadlines;
mod glance;
mod hostile_bytes;
mod metadata_batches;
mod security_messages;
mod support;
mod writes;
