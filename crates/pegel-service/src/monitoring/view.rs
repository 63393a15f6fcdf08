//! How monitors and channels are shown.

use jiff::Timestamp;
use pegel_api_types::monitoring::channels::{BrokenChannel, ChannelView};
use pegel_api_types::monitoring::monitors::{MonitorStateView, MonitorView};
use pegel_core::monitor::delivery::ChannelKind;
use pegel_store::channels::Channel;
use pegel_store::monitors::{Monitor, MonitorState};
use serde_json::{Map, Value as Json};

pub(super) fn monitor(monitor: Monitor, state: &MonitorState, now: Timestamp) -> MonitorView {
    MonitorView {
        id: monitor.id,
        kind: monitor.kind,
        cluster: monitor.cluster,
        name: monitor.settings.name,
        target: monitor.settings.target,
        rule: monitor.settings.rule,
        heartbeat_rule: monitor.settings.heartbeat_rule,
        labels: monitor.settings.labels,
        state: state_view(state, now),
        created_at: monitor.created_at,
        updated_at: monitor.updated_at,
        version: monitor.version,
    }
}

fn state_view(state: &MonitorState, now: Timestamp) -> MonitorStateView {
    let verdict = &state.verdict;
    let (firing, heartbeat) = (verdict.firing.as_ref(), state.heartbeat.as_ref());
    MonitorStateView {
        status: verdict.status(),
        known_at: verdict.known_at,
        firing_since: firing.map(|firing| firing.since),
        incident_id: firing.map(|firing| firing.id.0),
        firing_severity: firing.map(|firing| firing.severity),
        is_acknowledged: firing.is_some_and(|firing| firing.acknowledged_at.is_some()),
        is_flapping: verdict.flapping_changed_at.is_some(),
        expected_at: heartbeat.and_then(|heartbeat| heartbeat.expected_at),
        deadline_at: heartbeat.and_then(|heartbeat| heartbeat.deadline_at),
        is_late: heartbeat.is_some_and(|heartbeat| heartbeat.is_late(now)),
        open_run_count: heartbeat.map_or(0, |heartbeat| heartbeat.runs.len()),
    }
}

pub(super) fn channel(channel: Channel) -> ChannelView {
    let (settings, secret_fields) = without_secrets(channel.kind, channel.settings.settings);
    ChannelView {
        id: channel.id,
        kind: channel.kind,
        name: channel.settings.name,
        settings,
        secret_fields,
        is_enabled: channel.settings.is_enabled,
        failing_since: channel.failing_since,
        broken: channel.broken.map(|(since, reason)| BrokenChannel { since, reason }),
        created_at: channel.created_at,
        updated_at: channel.updated_at,
        version: channel.version,
    }
}

/// The secret of a channel: how people call it, and where its name stands in the stored settings.
pub(super) const fn secret_of(kind: ChannelKind) -> Option<(&'static str, &'static str)> {
    match kind {
        ChannelKind::Pagerduty => Some(("routing_key", "routing_key")),
        ChannelKind::Slack => Some(("webhook_url", "webhook_url")),
        ChannelKind::Webhook => Some(("signing_secret", "signing_secrets")),
        ChannelKind::Smtp => Some(("password", "password")),
        ChannelKind::Teams | ChannelKind::Opsgenie | ChannelKind::Alertmanager => None,
    }
}

fn without_secrets(kind: ChannelKind, settings: Json) -> (Json, Vec<String>) {
    let mut fields: Map<String, Json> = match settings {
        Json::Object(fields) => fields,
        _ => Map::new(),
    };
    let secret = secret_of(kind).and_then(|(field, place)| {
        let kept = fields.remove(place)?;
        (!kept.is_null()).then(|| field.to_owned())
    });
    (Json::Object(fields), secret.into_iter().collect())
}
