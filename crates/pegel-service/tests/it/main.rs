//! People as a whole: every case on a SQLite file and on a private PostgreSQL, with a clock that stands still.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod access;
mod catalog_figures;
mod catalog_house;
mod catalog_inventory;
mod catalog_liveness;
mod catalog_reads;
mod changes;
mod clusters;
mod clusters_live;
mod clusters_secrets;
mod egress;
mod first_start;
mod house;
mod login;
mod sessions;
mod tokens;
mod users;

/// Makes a test of each case for each database. A case takes a house without people.
macro_rules! on_both {
    ($($case:ident),* $(,)?) => {
        pegel_testkit::on_each_database!(crate::house::House; $($case),*);
    };
}
pub(crate) use on_both;
