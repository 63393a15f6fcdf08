//! A client for Apache Fluss clusters.
//!
//! [`settings::ConnectionOptions`] are what an operator writes;
//! [`settings::ConnectionSettings`] are those options checked;
//! [`client::FlussClient`] asks the cluster. Every dial and every request has a
//! deadline, every answer is checked before it is believed, and nothing is
//! repeated beyond the attempts that the settings allow.
//!
//! ```no_run
//! use fluss_client::client::FlussClient;
//! use fluss_client::settings::{ConnectionOptions, ConnectionSettings};
//!
//! # async fn example() -> Result<(), fluss_client::error::Error> {
//! let options = ConnectionOptions { endpoint: Some("localhost:9123".to_owned()), ..Default::default() };
//! let client = FlussClient::new(ConnectionSettings::try_from(options)?)?;
//! for database in client.list_databases().await? {
//!     println!("{database}: {} tables", client.list_tables(&database).await?.len());
//! }
//! # Ok(())
//! # }
//! ```

pub mod admin;
pub mod bootstrap;
pub mod bucket_read;
pub mod client;
pub mod connection_test;
pub mod error;
pub mod limit_scan;
pub mod lookup;
pub mod metadata;
pub mod observer;
pub mod parallel;
pub mod scan;
pub mod settings;
pub mod table;
pub mod write;

mod bucket_call;
pub mod budget;
mod clock;
mod connection;
mod dial;
mod hint;
mod pool;
mod tls;
