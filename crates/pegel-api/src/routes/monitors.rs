//! Monitors.

mod create_heartbeat_key;
mod create_monitor;
mod get_monitor;
mod list_monitors;
mod pause_monitor;
mod remove_monitor;
mod resume_monitor;
mod try_monitor;
mod update_monitor;

use crate::endpoint::Endpoint;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        list_monitors::endpoint(),
        create_monitor::endpoint(),
        get_monitor::endpoint(),
        update_monitor::endpoint(),
        remove_monitor::endpoint(),
        pause_monitor::endpoint(),
        resume_monitor::endpoint(),
        create_heartbeat_key::endpoint(),
        try_monitor::endpoint(),
    ]
}
