//! Incidents.

mod acknowledge_incident;
mod comment_incident;
mod get_incident;
mod list_incident_events;
mod list_incidents;

use crate::endpoint::Endpoint;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        list_incidents::endpoint(),
        get_incident::endpoint(),
        list_incident_events::endpoint(),
        acknowledge_incident::endpoint(),
        comment_incident::endpoint(),
    ]
}
