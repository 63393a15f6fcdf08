//! When something is due: at an interval with a phase of its own, or as a crontab says in a time zone.
//!
//! Nothing here waits or reads a clock.

pub mod cron;
pub mod interval;

pub use cron::{CronError, CronSchedule};
pub use interval::Interval;
