//! One suite for both databases: every case runs on SQLite and on a private PostgreSQL.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod audit;
mod changes;
mod clusters;
mod disk_full;
mod kill;
mod login;
mod migrations;
mod monitoring;
mod outbox;
mod retention;
mod samples;
mod secrets;
mod stores;
mod users;
mod writes;

/// Makes a test of each case for each database. A case takes an empty store.
macro_rules! on_both {
    ($($case:ident),* $(,)?) => {
        pegel_testkit::on_each_database!(crate::stores::Store; $($case),*);
    };
}
pub(crate) use on_both;
