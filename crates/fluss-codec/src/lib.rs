//! Apache Fluss wire protocol: frames, messages, error codes, data types, schema and table JSON, keys,
//! buckets, rows and record batches.
//!
//! The crate is pure: it does no I/O, reads no clock and starts no task. Every decoder takes bytes that may
//! be hostile, so each has a stated limit and an error for every fault; none panics.
//!
//! Numbers in frame headers are big-endian, numbers inside record batches and rows little-endian. What is
//! said of servers was read in Apache Fluss 0.9.1-incubating and on main (1.0-SNAPSHOT).

pub mod api_key;
pub mod arrow;
pub mod bucket;
mod calendar;
pub mod change_type;
pub mod codes;
mod crc32c;
pub mod data_type;
pub mod database;
pub mod ddl;
pub mod error_code;
pub mod frame;
pub mod json;
pub mod key;
pub mod kv_batch;
pub mod kv_value;
pub mod log_batch;
pub mod messages;
pub mod name;
pub mod partition;
pub mod properties;
pub mod read_plan;
pub mod row;
pub mod schema;
pub mod server_type;
pub mod table;
pub mod value_json;
mod varint;
pub mod versions;
