//! Maintenance windows.

mod create_maintenance_window;
mod get_maintenance_window;
mod list_maintenance_windows;
mod remove_maintenance_window;
mod update_maintenance_window;

use crate::endpoint::Endpoint;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        list_maintenance_windows::endpoint(),
        create_maintenance_window::endpoint(),
        get_maintenance_window::endpoint(),
        update_maintenance_window::endpoint(),
        remove_maintenance_window::endpoint(),
    ]
}
