//! Notices that follow a trigger: they are made of its message and go where it went.

use jiff::Timestamp;
use pegel_core::monitor::verdict::{Ending, FiringId, Notice};
use pegel_store::channels::Channel;
use pegel_store::error::Error;
use pegel_store::outbox::{Opened, Queued};

use crate::message::{ChannelCopy, Message};

/// Copies what has to be known of a channel until the last notice of a firing has gone.
pub(crate) fn copy(channel: &Channel) -> ChannelCopy {
    ChannelCopy {
        kind: channel.kind,
        name: channel.settings.name.clone(),
        settings: channel.settings.settings.clone(),
    }
}

/// Makes a notice that follows a trigger.
pub(crate) fn follow_up(
    now: Timestamp,
    opened: &Opened,
    firing_id: FiringId,
    notice: Notice,
    end: Option<(Timestamp, Ending)>,
    actor: &str,
) -> Result<Queued, Error> {
    let mut message: Message = serde_json::from_value(opened.payload.clone())
        .map_err(|error| Error::CorruptRow { column: "payload".to_owned(), reason: error.to_string() })?;
    message.ended_at = end.map(|(at, _)| at);
    message.ending = end.map(|(_, ending)| ending);
    message.acknowledged_by = (notice == Notice::Acknowledge).then(|| actor.to_owned());
    Ok(Queued {
        channel_id: opened.channel_id,
        channel_kind: opened.channel_kind,
        firing_id,
        monitor_id: opened.monitor_id,
        delivery_key: opened.delivery_key.clone(),
        notice,
        payload: payload(&message)?,
        merge_group: opened.merge_group.clone(),
        next_at: now,
    })
}

pub(crate) fn payload(message: &Message) -> Result<serde_json::Value, Error> {
    serde_json::to_value(message)
        .map_err(|error| Error::CorruptRow { column: "payload".to_owned(), reason: error.to_string() })
}
