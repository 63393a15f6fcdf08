//! The documented default settings, which the binary carries.

/// Every key with its default, unit and range, as a file to begin with.
pub(crate) const DEFAULT_FILE: &str = include_str!("../../default.toml");
