//! What Pegel says about itself over its channels: that one is broken, or that nobody hears of what a route leads to.
//!
//! It goes over all channels that it is not about, so that it does not depend on itself.

use jiff::Timestamp;
use pegel_core::monitor::delivery::retry::is_route_failing;
use pegel_core::monitor::severity::Severity;
use pegel_core::monitor::verdict::{Ending, Notice};
use pegel_store::channels::{self, Channel};
use pegel_store::error::Error;
use pegel_store::outbox::{self, Queued};
use pegel_store::own_alerts::{self, OwnAlert};
use pegel_store::routes;
use pegel_store::tx::Tx;
use uuid::Uuid;

use crate::delivery::queue;
use crate::judge::Judge;
use crate::judge::follow_up::{copy, follow_up, payload};
use crate::message::{MAX_SUMMARY_CHARS, Message, cut};

/// A channel that can deliver nothing until somebody changes it.
pub const CHANNEL_BROKEN: &str = "channel_broken";

/// A route all of whose channels have been failing for minutes.
pub const DELIVERY_FAILING: &str = "delivery_failing";

/// Opens and closes Pegel's own alerts by how its channels fare; returns how many notices were queued.
///
/// # Errors
/// As any statement.
pub async fn check(tx: &mut Tx<'_>, judge: &Judge) -> Result<usize, Error> {
    let channels = channels::list(tx).await?;
    let routes = routes::get(tx).await?.routes;
    let mut wanted: Vec<(&str, String, Severity, String, Vec<Uuid>)> = Vec::new();
    for channel in channels.iter().filter(|channel| channel.settings.is_enabled) {
        if let Some((_, reason)) = &channel.broken {
            let summary = format!("the channel {} can deliver nothing: {reason}", channel.settings.name);
            let id = channel.id;
            wanted.push((CHANNEL_BROKEN, id.to_string(), Severity::High, summary, vec![id]));
        }
    }
    for route in routes.iter().filter(|route| route.is_enabled) {
        let own = |channel: &&Channel| channel.settings.is_enabled && route.channel_ids.contains(&channel.id);
        let failing: Vec<Option<Timestamp>> =
            channels.iter().filter(own).map(|channel| channel.failing_since).collect();
        if is_route_failing(&failing, tx.now()) {
            let summary = format!("nobody hears of what the route {} leads to", route.name);
            let ids = route.channel_ids.clone();
            wanted.push((DELIVERY_FAILING, route.id.to_string(), Severity::Critical, summary, ids));
        }
    }
    let mut count = 0;
    for (kind, subject, severity, summary, about) in &wanted {
        if let Some(alert) = own_alerts::open(tx, kind, subject).await? {
            tracing::error!("{summary}");
            for channel in channels.iter().filter(|channel| may_tell(channel, about)) {
                let queued = trigger(judge, &alert, channel, *severity, summary, tx.now())?;
                queue::place(tx, queued).await?;
                count += 1;
            }
        }
    }
    let is_wanted = |alert: &OwnAlert| {
        wanted.iter().any(|(kind, subject, ..)| *kind == alert.kind && *subject == alert.subject)
    };
    for alert in own_alerts::list(tx).await?.into_iter().filter(|alert| !is_wanted(alert)) {
        count += close(tx, &alert).await?;
    }
    Ok(count)
}

fn may_tell(channel: &Channel, about: &[Uuid]) -> bool {
    channel.settings.is_enabled && channel.broken.is_none() && !about.contains(&channel.id)
}

async fn close(tx: &mut Tx<'_>, alert: &OwnAlert) -> Result<usize, Error> {
    own_alerts::close(tx, &alert.kind, &alert.subject).await?;
    let ending = Ending::Recovered;
    let mut count = 0;
    for opened in outbox::opened(tx, alert.firing_id).await? {
        let end = Some((tx.now(), ending));
        let queued = follow_up(tx.now(), &opened, alert.firing_id, Notice::Resolve(ending), end, "")?;
        queue::place(tx, queued).await?;
        count += 1;
    }
    Ok(count)
}

fn trigger(
    judge: &Judge,
    alert: &OwnAlert,
    channel: &Channel,
    severity: Severity,
    summary: &str,
    now: Timestamp,
) -> Result<Queued, Error> {
    let message = Message {
        monitor_id: Uuid::nil(),
        name: "Pegel".to_owned(),
        kind: alert.kind.clone(),
        cluster: None,
        labels: pegel_core::monitor::labels::Labels::default(),
        severity,
        cause: alert.kind.clone(),
        since: alert.since,
        summary: cut(summary, MAX_SUMMARY_CHARS),
        link: None,
        ended_at: None,
        ending: None,
        acknowledged_by: None,
        channel: copy(channel),
    };
    Ok(Queued {
        channel_id: channel.id,
        channel_kind: channel.kind,
        firing_id: alert.firing_id,
        monitor_id: Uuid::nil(),
        delivery_key: queue::key(judge.installation_id(), alert.firing_id, channel.id),
        notice: Notice::Trigger,
        payload: payload(&message)?,
        merge_group: queue::merge_group(None),
        next_at: now,
    })
}
