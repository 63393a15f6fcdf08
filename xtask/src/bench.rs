//! Suites that measure against goals.

mod child;
pub(crate) mod idle;
