//! What the tests of several crates share: a private PostgreSQL server, and the service on either store.
//!
//! Only tests use it, so it panics where they would.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and nothing else calls this"
)]

pub mod postgres;
pub mod service;
