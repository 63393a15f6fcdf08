//! Suites that measure against goals.

mod child;
mod http;
pub(crate) mod idle;
mod serve;
