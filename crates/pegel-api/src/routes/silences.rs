//! Silences.

mod create_silence;
mod get_silence;
mod list_silences;
mod remove_silence;
mod update_silence;

use crate::endpoint::Endpoint;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        list_silences::endpoint(),
        create_silence::endpoint(),
        get_silence::endpoint(),
        update_silence::endpoint(),
        remove_silence::endpoint(),
    ]
}
