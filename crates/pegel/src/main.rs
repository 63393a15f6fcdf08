//! Pegel.
fn main() {}
