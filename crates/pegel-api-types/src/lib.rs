//! Requests and answers of the HTTP API as types, one module for each field of work.
//!
//! A request refuses unknown fields when it is read and says in `validate` what is wrong with the known ones.
//! Nothing here decides who may do what, and nothing here does anything.

pub mod alerting;
mod asked_time;
pub mod clusters;
pub mod monitoring;
pub mod operation;
pub mod operation_schema;
pub mod operations;
pub mod page;
pub mod people;
pub mod problem;
