//! The engine and delivery on both databases, against targets and ends on loopback that do as they are told.
//!
//! Where a public bug report says what must not happen, a test's name ends with the number of the case.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod accounting;
mod channels;
mod end;
mod engine;
mod fluss;
mod heartbeats;
mod isolation;
mod mail;
mod pairing;
mod real_time;
mod restart;
mod routing;
mod target;
mod world;
