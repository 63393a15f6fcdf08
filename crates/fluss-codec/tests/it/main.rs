//! Tests of the whole codec: golden vectors of the Java classes, and hostile input for every decoder.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a helper of a test fails the test by panicking"
)]

mod batches;
mod corrupted;
mod golden;
mod hostile_json;
mod hostile_messages;
mod java;
mod json_values;
mod judge;
mod logs;
mod message_rules;
mod rows;
mod sample;
mod values;
