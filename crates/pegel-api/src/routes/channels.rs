//! Channels.

mod create_channel;
mod get_channel;
mod list_channels;
mod remove_channel;
mod test_channel;
mod update_channel;

use crate::endpoint::Endpoint;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        list_channels::endpoint(),
        create_channel::endpoint(),
        get_channel::endpoint(),
        update_channel::endpoint(),
        remove_channel::endpoint(),
        test_channel::endpoint(),
    ]
}
