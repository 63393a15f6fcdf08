//! Suites that break something on purpose.

pub(crate) mod store;
