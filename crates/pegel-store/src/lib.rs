//! Pegel's store: one door to SQLite or PostgreSQL, and one module for each thing that is kept.
//!
//! [`db::Db`] opens the database and runs jobs in transactions ([`tx::Tx`]); what changed is
//! announced in the same transaction ([`change`]). The repositories are written once, on `Tx`, with
//! the same static statements for both databases. Nothing here decides who may do what.
//!
//! Rows are never trusted: getters return errors. Every table that grows has a bound ([`retention`]).

pub mod api_tokens;
pub mod audit;
pub mod blackouts;
pub mod change;
pub mod channels;
pub mod clusters;
pub mod db;
pub mod deliveries;
pub mod error;
pub mod incidents;
pub mod installation;
pub mod login_throttle;
pub mod migrate;
pub mod monitors;
pub mod outbox;
pub mod own_alerts;
pub mod pings;
pub mod quiet_times;
pub mod random;
pub mod retention;
pub mod routes;
pub mod samples;
pub mod secret_box;
pub mod secrets;
pub mod sessions;
pub mod storms;
pub mod token;
pub mod tx;
pub mod users;
pub mod value;

pub use db::{Db, StoreConfig};
pub use error::Error;
