//! The HTTP API as a whole: the real router over the real service, on SQLite and on PostgreSQL.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod alerting;
mod app;
mod clusters;
mod coverage;
mod health;
mod monitoring;
mod openapi;
mod security_answers;
mod security_input;
mod security_requests;
mod serve;
mod session;
mod stream;
mod users;

/// Makes a test of each case for each database. A case takes an application without people.
macro_rules! on_both {
    ($($case:ident),* $(,)?) => {
        pegel_testkit::on_each_database!(crate::app::TestApp; $($case),*);
    };
}
pub(crate) use on_both;
