//! Queues the notices that a step causes.
//!
//! A trigger goes where the routes lead at that time. Everything after it goes where the trigger went, whatever
//! has become of routes, silences and channels since.

use jiff::Timestamp;
use pegel_core::monitor::delivery::lane::Placing;
use pegel_core::monitor::severity::Severity;
use pegel_core::monitor::verdict::{Cause, Effect, Ending, Firing, FiringId, Notice};
use pegel_store::channels::Channel;
use pegel_store::error::Error;
use pegel_store::incidents;
use pegel_store::monitors::Monitor;
use pegel_store::outbox::{self, Queued};
use pegel_store::tx::Tx;
use serde_json::json;

use crate::delivery::queue;
use crate::judge::Judge;
use crate::judge::follow_up::{copy, follow_up, payload};
use crate::judge::simulate::After;
use crate::message::{MAX_SUMMARY_CHARS, Message, cut};
use crate::routing;

/// One notice of a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    pub(super) firing_id: FiringId,
    pub(super) severity: Severity,
    pub(super) notice: Notice,
}

/// Queues a notice for all who are to hear of it; returns for how many.
pub(super) async fn place(
    judge: &Judge,
    tx: &mut Tx<'_>,
    monitor: &Monitor,
    after: &After,
    told: Told,
    actor: &str,
) -> Result<usize, Error> {
    if told.notice == Notice::Trigger {
        return trigger(judge, tx, monitor, after, told).await;
    }
    let end = end(after, told.firing_id);
    let mut count = 0;
    for opened in outbox::opened(tx, told.firing_id).await? {
        let queued = follow_up(tx.now(), &opened, told.firing_id, told.notice, end, actor)?;
        count += usize::from(queue::place(tx, queued).await? == Placing::Append);
    }
    Ok(count)
}

async fn trigger(
    judge: &Judge,
    tx: &mut Tx<'_>,
    monitor: &Monitor,
    after: &After,
    told: Told,
) -> Result<usize, Error> {
    let Some(firing) = firing(after, told.firing_id) else { return Ok(0) };
    let hears = routing::who_hears(tx, told.severity, &routing::labels_of(monitor)).await?;
    let names: Vec<&str> = hears.channels.iter().map(|one| one.settings.name.as_str()).collect();
    let kind = if names.is_empty() { "nobody_told" } else { "told" };
    incidents::note(tx, firing.id, kind, "", &json!({ "channels": names })).await?;
    let mut count = 0;
    for channel in &hears.channels {
        let queued = Queued {
            channel_id: channel.id,
            channel_kind: channel.kind,
            firing_id: firing.id,
            monitor_id: monitor.id,
            delivery_key: queue::key(judge.installation_id(), firing.id, channel.id),
            notice: Notice::Trigger,
            payload: payload(&message(judge, monitor, after, firing, channel))?,
            merge_group: queue::merge_group(monitor.cluster.as_ref().map(|slug| slug.as_str())),
            next_at: tx.now(),
        };
        count += usize::from(queue::place(tx, queued).await? == Placing::Append);
    }
    Ok(count)
}

fn message(judge: &Judge, monitor: &Monitor, after: &After, firing: &Firing, channel: &Channel) -> Message {
    let summary = match firing.cause {
        Cause::NoData => format!("nothing is known since {:.0}", firing.since),
        Cause::Bad => {
            let summary = after.evidence.as_ref().and_then(|evidence| evidence.get("summary")?.as_str());
            summary.unwrap_or("it is not as it should be").to_owned()
        }
    };
    Message {
        monitor_id: monitor.id,
        name: monitor.settings.name.clone(),
        kind: monitor.kind.as_str().to_owned(),
        cluster: monitor.cluster.as_ref().map(|slug| slug.as_str().to_owned()),
        labels: monitor.settings.labels.clone(),
        severity: firing.severity,
        cause: if firing.cause == Cause::Bad { "bad" } else { "no_data" }.to_owned(),
        since: firing.since,
        summary: cut(&summary, MAX_SUMMARY_CHARS),
        link: judge.link(firing.id),
        ended_at: None,
        ending: None,
        acknowledged_by: None,
        channel: copy(channel),
    }
}

fn firing(after: &After, id: FiringId) -> Option<&Firing> {
    let present = after.verdict.firing.iter();
    let passed = after.effects.iter().filter_map(|effect| match effect {
        Effect::Opened(firing) | Effect::Closed { firing, .. } => Some(firing),
        _ => None,
    });
    present.chain(passed).find(|firing| firing.id == id)
}

fn end(after: &After, id: FiringId) -> Option<(Timestamp, Ending)> {
    after.effects.iter().find_map(|effect| match effect {
        Effect::Closed { firing, ended_at, ending } if firing.id == id => Some((*ended_at, *ending)),
        _ => None,
    })
}
