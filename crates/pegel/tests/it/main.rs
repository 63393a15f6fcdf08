//! The program as its users meet it: arguments in, two streams and an exit code
//! out, against a scripted cluster on loopback.

mod catalog;
mod cluster;
mod failures;
mod output;
mod pegel;
mod scale;
