//! Who is told of what, when nobody is, and what there was to tell.

pub mod incidents;
pub mod quiet_times;
pub mod routes;
