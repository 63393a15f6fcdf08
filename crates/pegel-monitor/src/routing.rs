//! Who would hear of what.

use pegel_core::monitor::labels::Labels;
use pegel_core::monitor::routing::{Decision, decide};
use pegel_core::monitor::severity::Severity;
use pegel_store::channels::{self, Channel};
use pegel_store::error::Error;
use pegel_store::monitors::Monitor;
use pegel_store::routes;
use pegel_store::tx::Tx;

use crate::judge::{Withheld, withheld};

/// Who hears of something.
#[derive(Debug, Clone, PartialEq)]
pub struct Hears {
    /// What became of each route.
    pub decision: Decision,
    /// The channels that are in use, in the order of the routes.
    pub channels: Vec<Channel>,
    /// Channels to which a route leads, but which somebody has switched off.
    pub disabled: Vec<Channel>,
}

/// Who would hear if a monitor fired now.
#[derive(Debug, Clone, PartialEq)]
pub struct DryRun {
    /// By the routes.
    pub hears: Hears,
    /// What keeps them from being told for the time being.
    pub withheld: Option<Withheld>,
}

/// Returns the labels by which routes and silences know a monitor: its own, and `cluster` and `kind` unless it
/// has labels of these names.
pub fn labels_of(monitor: &Monitor) -> Labels {
    let mut labels = monitor.settings.labels.clone();
    labels.entry("kind".to_owned()).or_insert_with(|| monitor.kind.as_str().to_owned());
    if let Some(cluster) = &monitor.cluster {
        labels.entry("cluster".to_owned()).or_insert_with(|| cluster.as_str().to_owned());
    }
    labels
}

/// Returns who hears of something this bad with these labels.
///
/// # Errors
/// As any statement.
pub async fn who_hears(tx: &mut Tx<'_>, severity: Severity, labels: &Labels) -> Result<Hears, Error> {
    let routes = routes::get(tx).await?.routes;
    let decision = decide(&routes, severity, labels);
    let (mut in_use, mut disabled) = (Vec::new(), Vec::new());
    if !decision.channel_ids.is_empty() {
        let all = channels::list(tx).await?;
        // A route may name a channel that is gone.
        for id in &decision.channel_ids {
            if let Some(channel) = all.iter().find(|channel| channel.id == *id) {
                let list = if channel.settings.is_enabled { &mut in_use } else { &mut disabled };
                list.push(channel.clone());
            }
        }
    }
    Ok(Hears { decision, channels: in_use, disabled })
}

/// Returns who would hear if a monitor fired now, by the very functions that decide it.
///
/// # Errors
/// As any statement.
pub async fn dry_run(tx: &mut Tx<'_>, monitor: &Monitor, severity: Severity) -> Result<DryRun, Error> {
    let hears = who_hears(tx, severity, &labels_of(monitor)).await?;
    Ok(DryRun { hears, withheld: withheld(tx, monitor).await? })
}
