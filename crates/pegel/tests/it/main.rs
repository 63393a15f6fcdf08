//! The program as its users meet it: arguments in, two streams and an exit code
//! out, against a scripted cluster on loopback.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in what it calls")]

mod alerting;
mod audit;
mod catalog;
mod cluster;
mod clusters;
mod doctor;
mod failures;
mod https;
mod login;
mod output;
mod pegel;
mod scale;
mod serve;
mod serving;
mod settings;
mod user;
