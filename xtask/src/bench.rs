//! Suites that measure against goals.

pub(crate) mod console;
pub(crate) mod idle;
