//! Suites that break something on purpose.

pub(crate) mod server;
pub(crate) mod store;
